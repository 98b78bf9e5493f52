//! Tests the promises of `emulated/README.md`. The cases are in `emulated/tests/device.cpp`, which
//! calls the drivers' functions as a program does.

#[macro_use]
mod support;

use futhark_conformance::emulated::{Emulated, FINDINGS};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The cases, each with the settings of its runs.
const CASES: &str = "\
errors_of_the_driver: default
errors_of_the_compiler: default
grids_of_every_shape: default delayed,blocks=reversed unguarded,threads=3
barriers_and_shared_memory: default order=reversed,threads=2 order=alternating,blocks=reversed
forward_order: default
reversed_order: order=reversed
alternating_order: order=alternating
threads_end_after_different_barriers: default order=alternating,threads=3
failures_after_a_barrier: default
limits_of_a_launch: default
out_of_range_after: default delayed,threads=2
out_of_range_before: default
writes_next_to_an_allocation: default
use_of_freed_memory: default
freed_twice: default
leaks: default unguarded
divergent_barriers: default
endless_kernels: seconds=1 seconds=1,threads=2
divisions: default
stack_overflow: default
invalid_texts: default
large_stack_frames: default
beyond_shared_memory: default
invalid_addresses: default
empty_copies: default delayed
destroyed_contexts: default
primary_contexts: default
contexts_of_addresses: default
freeing_waits_for_the_owning_context: delayed
no_temporary_folder: default
hip_without_devices: devices=0
delayed_copies_wait_for_a_sync: delayed
copies_run_at_once_by_default: default
requested_failures: fail-allocation=2,fail-copy=2,fail-launch=2
fresh_memory_is_poisoned: poison=0x5b
damaged_images: default
halves: default
hip_runs_and_recovers: default";

/// The cases with one of their settings each.
fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = CASES.lines().map(|line| line.split_once(": ").unwrap());
    let pairs =
        |(case, all): (&'static str, &'static str)| all.split(' ').map(move |one| (case, one));
    lines
        .flat_map(pairs)
        .map(|(case, one)| (case, one.trim_start_matches("default")))
}

#[test]
fn every_case_passes() {
    let device = needed!(device());
    let mut broken = String::new();
    for (case, settings) in cases() {
        let output = device.run(case, settings, &[]);
        if !output.status.success() {
            broken += &format!("{case} [{settings}]: {}\n{}", output.status, text(&output));
        }
    }
    assert!(broken.is_empty(), "{broken}");
}

#[test]
fn every_case_is_run() {
    let source = include_str!("../emulated/tests/device.cpp");
    let named = source.split("CASE(").skip(2);
    for case in named.filter_map(|rest| rest.split(')').next()) {
        let elsewhere = ["no_compiler", "faults_of_the_host", "common_kernels"].contains(&case);
        assert!(elsewhere || cases().any(|(name, _)| name == case), "{case}");
    }
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
    assert!(
        text(&output).contains("`delaied` is not a setting"),
        "{}",
        text(&output)
    );
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
    let output = Command::new(env!("CARGO_BIN_EXE_futhark-conformance"))
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
    assert!(output.status.success(), "{}", text(&output));
    assert!(
        text(&output).contains(" passed, 0 failed"),
        "{}",
        text(&output)
    );
}

/// The switch between fibers without assembly, for processors other than x86-64.
#[test]
fn the_portable_fiber_switch_works() {
    let device = needed!(portable());
    let cases = "barriers_and_shared_memory out_of_range_after stack_overflow alternating_order \
                 threads_end_after_different_barriers failures_after_a_barrier divergent_barriers";
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
    fn run(&self, case: &str, settings: &str, variables: &[(&str, &str)]) -> Output {
        let findings = tempfile::NamedTempFile::new().unwrap();
        Command::new(&self.program)
            .arg(case)
            .envs(self.emulated.environment(settings))
            .env(FINDINGS, findings.path())
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

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
