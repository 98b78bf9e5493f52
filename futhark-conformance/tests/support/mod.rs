//! Helpers for tests on the emulated device.

pub mod needs;

use futhark_conformance::emulated::{Emulated, FINDINGS};
use futhark_safe::Backend;
use futhark_safe::compile::Build;
use futhark_safe::dynamic::Library;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The build folder of all test binaries: the emulated device, its kernels, and programs. Later runs
/// reuse it, and so does `.ci/run`.
pub fn kept() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds")
}

/// The emulated device, if there is a C++ compiler.
pub fn emulated() -> Option<Emulated> {
    needs::or_skip(Emulated::build(&kept()).map_err(|error| format!("{error:#}")))
}

/// A program, built for a backend.
#[allow(dead_code, reason = "only tests of one program use it")]
pub fn library(name: &str, program: &str, backend: Backend) -> Library {
    let source = kept().join(name);
    write_at_once(&source, program);
    let build = Build::new(&source, backend).out_dir(kept()).fast(true);
    Library::build(&build).unwrap()
}

/// Replaces a file atomically: another test may compile it at the same time.
pub fn write_at_once(path: &Path, text: &str) {
    let folder = path.parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let temporary = tempfile::NamedTempFile::new_in(folder).unwrap();
    std::fs::write(&temporary, text).unwrap();
    temporary.persist(path).unwrap();
}

/// Runs the test in a process whose driver is the emulated device. Returns `true` in that
/// process, and `false` in the one that starts it.
#[allow(dead_code, reason = "tests that start other processes do not use it")]
pub fn in_a_process_with_the_device(test: &str, settings: &str) -> bool {
    if is_inside() {
        return true;
    }
    if needs::compiler().is_none() {
        return false;
    }
    let Some(emulated) = emulated() else {
        return false;
    };
    let findings = kept().join(test);
    let _ = std::fs::remove_file(&findings);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .envs(emulated.environment(settings))
        .env(FINDINGS, &findings)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let findings = std::fs::read_to_string(&findings).unwrap_or_default();
    assert!(!findings.contains("stack of some thread"), "{findings}");
    false
}

/// Whether the driver of this process is the emulated device.
#[allow(dead_code, reason = "tests that start other processes do not use it")]
pub fn is_inside() -> bool {
    let file = std::env::var_os("FUTHARK_LIBCUDA");
    file.is_some_and(|file| Path::new(&file).ends_with("libfuthark-emulated.so"))
}
