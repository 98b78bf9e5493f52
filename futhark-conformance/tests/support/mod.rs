//! Helpers for tests on the emulated device.

#[macro_use]
pub mod needs;
#[allow(dead_code, reason = "other test programs use the other functions")]
pub mod run;

use futhark_conformance::emulated::{Emulated, MISUSE_REPORTS};
use futhark_safe::Backend;
use futhark_safe::compile::Build;
use futhark_safe::dynamic::Library;
pub use run::kept;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The emulated device, if there is a C++ compiler.
pub fn emulated() -> Option<Emulated> {
    needs::or_skip(Emulated::build(&kept()).map_err(|error| format!("{error:#}")))
}

/// A program, built for a backend.
#[allow(dead_code, reason = "only tests of one program use it")]
pub fn library(name: &str, program: &str, backend: Backend) -> Library {
    let source = source(&kept(), name, program);
    let build = Build::new(&source, backend).out_dir(kept()).fast(true);
    Library::build(&build).unwrap()
}

/// A source file that is written once: the folder has the name of the text's hash. Another process
/// of the same test may compile the file at the same time, and a build whose source is written
/// while it runs is an error.
pub fn source(folder: &Path, name: &str, text: &str) -> PathBuf {
    let mut hash = DefaultHasher::new();
    text.hash(&mut hash);
    let folder = folder.join(format!("{:016x}", hash.finish()));
    std::fs::create_dir_all(&folder).unwrap();
    let temporary = tempfile::NamedTempFile::new_in(&folder).unwrap();
    std::fs::write(&temporary, text).unwrap();
    let path = folder.join(name);
    if let Err(error) = temporary.persist_noclobber(&path) {
        assert_eq!(error.error.kind(), ErrorKind::AlreadyExists, "{error}");
    }
    path
}

/// Runs the test in a process whose driver is the emulated device. Returns `true` in that
/// process, and `false` in the one that starts it.
#[allow(dead_code, reason = "tests that start other processes do not use it")]
pub fn in_a_process_with_the_device(settings: &str) -> bool {
    if is_inside() {
        return true;
    }
    if needs::compiler().is_none() {
        return false;
    }
    let Some(emulated) = emulated() else {
        return false;
    };
    let thread = std::thread::current();
    let test = thread.name().expect("tests have names");
    let findings = kept().join(test);
    let _ = std::fs::remove_file(&findings);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .envs(emulated.environment(settings))
        .env(MISUSE_REPORTS, &findings)
        .output()
        .unwrap();
    let text = run::text(&output);
    assert!(
        output.status.success() && text.contains(" 1 passed"),
        "{text}"
    );
    let findings = std::fs::read_to_string(&findings).unwrap_or_default();
    assert!(!findings.contains("stack of some thread"), "{findings}");
    false
}

/// Runs `check` with cuda on the emulated device, and with `FUTHARK_TESTS_FULL` also with hip, in a process of its own.
#[allow(dead_code, reason = "tests that start other processes do not use it")]
pub fn on_cuda_and_hip(settings: &str, check: impl Fn(Backend)) {
    if in_a_process_with_the_device(settings) {
        check(Backend::Cuda);
        if needs::full().is_some() {
            check(Backend::Hip);
        }
    }
}

/// Whether the driver of this process is the emulated device.
#[allow(dead_code, reason = "tests that start other processes do not use it")]
pub fn is_inside() -> bool {
    let file = std::env::var_os("FUTHARK_LIBCUDA");
    file.is_some_and(|file| Path::new(&file).ends_with("libfuthark-emulated.so"))
}
