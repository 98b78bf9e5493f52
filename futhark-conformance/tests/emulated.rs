//! Tests the promises of `emulated/README.md`. The cases are in `emulated/tests/device.cpp`, which
//! calls the drivers' functions as a program does.

#[macro_use]
mod support;

use futhark_conformance::emulated::{Emulated, MISUSE_REPORTS};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use support::run::text;

#[test]
fn every_case_passes() {
    let device = needed!(device());
    let list = device.run("", "", &[]).stdout;
    let list = String::from_utf8(list).expect("names and settings");
    let (mut broken, mut runs) = (String::new(), 0);
    for line in list.lines() {
        let (case, all) = line.split_once(": ").expect(line);
        for settings in all.split(' ').filter(|settings| !settings.is_empty()) {
            let output = device.run(case, settings.trim_start_matches("default"), &[]);
            if !output.status.success() {
                broken += &format!("{case} [{settings}]: {}\n{}", output.status, text(&output));
            }
            runs += 1;
        }
    }
    assert!(broken.is_empty(), "{broken}");
    assert!(runs > 30, "{runs}: {list}");
}

#[test]
fn without_a_compiler_a_kernel_is_an_error_with_a_message() {
    let device = needed!(device());
    let missing = [("FUTHARK_EMULATED_CXX", "/nowhere/c++")];
    let output = device.run("no_compiler", "", &missing);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn a_fault_of_the_host_ends_the_process_with_its_signal() {
    let device = needed!(device());
    let output = device.run("faults_of_the_host", "", &[]);
    const SIGSEGV: i32 = 11;
    assert_eq!(output.status.signal(), Some(SIGSEGV), "{}", text(&output));
}

#[test]
fn a_damaged_object_of_common_kernels_is_not_used() {
    let device = needed!(device());
    let cache = tempfile::tempdir().unwrap();
    let path = cache.path().to_str().unwrap();
    let files = |extension: &str| -> Vec<PathBuf> {
        std::fs::read_dir(cache.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|found| found == extension))
            .collect()
    };
    for damaged in [false, true] {
        let output = device.run("common_kernels", "", &[("FUTHARK_EMULATED_CACHE", path)]);
        assert!(output.status.success(), "{damaged}: {}", text(&output));
        let [object] = &files("o")[..] else {
            panic!("{:?}", files("o"));
        };
        std::fs::write(object, "damaged").unwrap();
        for image in files("image") {
            std::fs::remove_file(image).unwrap();
        }
    }
}

#[test]
fn unknown_settings_are_rejected() {
    let device = needed!(device());
    let output = device.run("leaks", "delaied", &[]);
    assert_eq!(output.status.code(), Some(2));
    let wanted = "`delaied` is not a setting";
    assert!(text(&output).contains(wanted), "{}", text(&output));
}

#[test]
fn settings_out_of_range_are_rejected() {
    let device = needed!(device());
    for setting in ["threads=65", "threads=0", "poison=256"] {
        let output = device.run("leaks", setting, &[]);
        assert_eq!(output.status.code(), Some(2), "{setting}");
        let wanted = format!("`{setting}` is out of range");
        assert!(text(&output).contains(&wanted), "{}", text(&output));
    }
}

/// A program that launches blocks of more than 1024 threads.
const TOO_MANY_THREADS: &str = r#"
-- ==
-- entry: sums
-- input { 3i64 } output { [3i64, 6i64] }
-- input { 1025i64 } error: invalid argument
-- input { 1024i64 } output { [523776i64, 524800i64] }
entry sums (n: i64): [2]i64 =
  #[incremental_flattening(only_intra)]
  map (\i -> i64.sum (map (+ i) (iota n))) [0, 1]
"#;

#[test]
fn too_large_blocks_are_errors_and_the_context_stays_usable() {
    let compiler = needed!(support::needs::compiler_path());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("threads.fut"), TOO_MANY_THREADS).unwrap();
    let output = support::run::command()
        .current_dir(folder.path())
        // A relative path, so that later runs find the build.
        .args(["run", "threads.fut"])
        .args(["--backend", "cuda,hip", "--emulate", "always"])
        .args(["--check", "blocks", "--build-dir"])
        .arg(support::kept())
        .arg("--futhark")
        .arg(compiler)
        .output()
        .unwrap();
    // The cases before and after the error return results.
    let said = text(&output);
    assert!(
        output.status.success() && said.contains(" passed, 0 failed"),
        "{said}"
    );
}

/// The switch between fibers without assembly, for processors other than x86-64.
#[test]
fn the_portable_fiber_switch_works() {
    let device = needed!(portable());
    let cases = "barriers_and_shared_memory failures_of_kernels order_of_threads \
                 threads_end_after_different_barriers failures_after_a_barrier";
    for case in cases.split(' ') {
        let output = device.run(case, "order=alternating", &[]);
        assert!(output.status.success(), "{case}: {}", text(&output));
    }
}

/// The device, and the program with the cases.
struct Device {
    emulated: Emulated,
    program: PathBuf,
}

/// The device as `futhark-conformance` compiles it.
fn device() -> Option<&'static Device> {
    static DEVICE: OnceLock<Option<Device>> = OnceLock::new();
    let build = || {
        let emulated = support::emulated()?;
        let library = library_of(&emulated);
        let folder = library.parent().unwrap().display();
        let path = format!("-Wl,-rpath,{folder}");
        let program = compile("cases", &[library.as_os_str(), path.as_ref()]);
        Some(Device { emulated, program })
    };
    DEVICE.get_or_init(build).as_ref()
}

/// The device with the switch between fibers that is not written in assembly.
fn portable() -> Option<Device> {
    let emulated = support::emulated()?;
    // The device finds the headers for kernels next to its own code.
    let headers = support::kept().join("device");
    let _ = std::fs::remove_file(&headers);
    std::os::unix::fs::symlink(sources().join("device"), headers).unwrap();
    let files = std::fs::read_dir(sources().join("src")).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    let mut arguments = vec![OsString::from("-DEMULATED_PORTABLE")];
    arguments.extend(
        paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
            .map(OsString::from),
    );
    let arguments: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
    let program = compile("cases-portable", &arguments);
    Some(Device { emulated, program })
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("emulated")
}

/// Compiles the program with the cases.
fn compile(name: &str, arguments: &[&OsStr]) -> PathBuf {
    let program = support::kept().join(name);
    let output = Command::new("c++")
        .args(["-std=c++17", "-O1", "-o"])
        .arg(&program)
        .arg(sources().join("tests/device.cpp"))
        .args(arguments)
        .args(["-ldl", "-pthread"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    program
}

impl Device {
    /// Runs a case, or lists all if the name is empty.
    fn run(&self, case: &str, settings: &str, variables: &[(&str, &str)]) -> Output {
        let findings = tempfile::NamedTempFile::new().unwrap();
        Command::new(&self.program)
            .args(case.split_whitespace())
            .envs(self.emulated.environment(settings))
            .env(MISUSE_REPORTS, findings.path())
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    }
}

fn library_of(emulated: &Emulated) -> PathBuf {
    let variables = emulated.environment("");
    let (_, library) = variables
        .iter()
        .find(|(name, _)| name == "FUTHARK_LIBCUDA")
        .unwrap();
    library.into()
}
