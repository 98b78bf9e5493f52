//! The emulated device keeps what `emulated/README.md` promises. The cases are in
//! `emulated/tests/device.cpp`, which calls the functions of the drivers as a program does.

use futhark_conformance::emulated::{Emulated, FINDINGS};
use futhark_safe::compile::Compiler;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A case and the settings that it needs.
const CASES: &[(&str, &str)] = &[
    ("errors_of_the_driver", ""),
    ("errors_of_the_compiler", ""),
    ("grids_of_every_shape", ""),
    ("grids_of_every_shape", "delayed,blocks=reversed"),
    ("grids_of_every_shape", "unguarded,threads=3"),
    ("barriers_and_shared_memory", ""),
    ("barriers_and_shared_memory", "order=reversed,threads=2"),
    (
        "barriers_and_shared_memory",
        "order=alternating,blocks=reversed",
    ),
    ("limits_of_a_launch", ""),
    ("out_of_range_behind", ""),
    ("out_of_range_behind", "delayed,threads=2"),
    ("out_of_range_before", ""),
    ("written_beside", ""),
    ("use_of_freed_memory", ""),
    ("freed_twice", ""),
    ("leaks", ""),
    ("leaks", "unguarded"),
    ("divergent_barriers", ""),
    ("endless_kernels", "seconds=1"),
    ("endless_kernels", "seconds=1,threads=2"),
    ("divisions", ""),
    ("stack_overflow", ""),
    ("odd_texts", ""),
    ("big_frames", ""),
    ("beyond_shared_memory", ""),
    ("wild_addresses", ""),
    ("empty_copies", ""),
    ("empty_copies", "delayed"),
    ("destroyed_contexts", ""),
    ("work_of_another_context", "delayed"),
    ("no_temporary_folder", ""),
    ("hip_without_devices", "devices=0"),
    ("copies_wait", "delayed"),
    ("without_delay_copies_do_not_wait", ""),
    (
        "the_second_one_fails",
        "fail-allocation=2,fail-copy=2,fail-launch=2",
    ),
    ("fresh_memory_is_poisoned", "poison=0x5b"),
    ("damaged_images", ""),
    ("halves", ""),
    ("hip_runs_and_recovers", ""),
];

#[test]
fn it_keeps_its_promises() {
    let device = Device::build(&[]);
    let mut broken = String::new();
    for (case, settings) in CASES {
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
        let elsewhere = ["no_compiler", "faults_of_the_host"].contains(&case);
        assert!(
            elsewhere || CASES.iter().any(|(name, _)| *name == case),
            "{case}"
        );
    }
}

#[test]
fn without_a_compiler_a_kernel_is_refused_in_words() {
    let device = Device::build(&[]);
    let missing = [("FUTHARK_EMULATED_CXX", "/nowhere/c++")];
    let output = device.run("no_compiler", "", &missing);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn a_fault_of_the_host_ends_the_process_as_ever() {
    let device = Device::build(&[]);
    let output = device.run("faults_of_the_host", "", &[]);
    const SIGSEGV: i32 = 11;
    assert_eq!(output.status.signal(), Some(SIGSEGV), "{}", text(&output));
}

#[test]
fn a_mistyped_setting_is_refused() {
    let device = Device::build(&[]);
    let output = device.run("leaks", "delaied", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("`delaied` is not a setting"),
        "{}",
        text(&output)
    );
}

#[test]
fn a_setting_out_of_range_is_refused() {
    let device = Device::build(&[]);
    for setting in ["threads=65", "threads=0", "poison=256"] {
        let output = device.run("leaks", setting, &[]);
        assert_eq!(output.status.code(), Some(2), "{setting}");
        let wanted = format!("`{setting}` is out of range");
        assert!(text(&output).contains(&wanted), "{}", text(&output));
    }
}

/// A program that wants a thousand threads and some more in one block.
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
fn a_block_of_too_many_threads_is_an_error_and_the_context_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("threads.fut");
    std::fs::write(&program, TOO_MANY_THREADS).unwrap();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated");
    let newest = Compiler::all().pop().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_futhark-conformance"))
        .arg("run")
        .arg(&program)
        .args(["--backend", "cuda,hip", "--emulate", "always"])
        .args(["--check", "blocks", "--build-dir"])
        .arg(kept)
        .arg("--futhark")
        .arg(newest.program())
        .output()
        .unwrap();
    // The middle case is the error, and the ones around it are the results.
    assert!(output.status.success(), "{}", text(&output));
    assert!(
        text(&output).contains(" passed, 0 failed"),
        "{}",
        text(&output)
    );
}

/// What processors without a switch of their own use.
#[test]
fn the_portable_switch_works_too() {
    let device = Device::build(&["-DEMULATED_PORTABLE"]);
    for case in [
        "barriers_and_shared_memory",
        "out_of_range_behind",
        "stack_overflow",
    ] {
        let output = device.run(case, "order=alternating", &[]);
        assert!(output.status.success(), "{case}: {}", text(&output));
    }
}

/// The library and the program with the cases.
struct Device {
    folder: tempfile::TempDir,
    emulated: Emulated,
    program: PathBuf,
}

impl Device {
    /// With `flags`, the library is compiled once more, with them.
    fn build(flags: &[&str]) -> Device {
        // Shared by the tests: the library is compiled once, and kept for the next run.
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated");
        let emulated = Emulated::build(&kept).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("emulated");
        let program = folder.path().join("cases");
        let mut command = Command::new("c++");
        command.args(["-std=c++17", "-O1", "-o"]).arg(&program);
        command.arg(sources.join("tests/device.cpp"));
        if flags.is_empty() {
            let library = library_of(&emulated);
            command.arg(&library).arg(format!(
                "-Wl,-rpath,{}",
                library.parent().unwrap().display()
            ));
        } else {
            // The headers for kernels are looked for beside the code.
            let headers = folder.path().join("device");
            std::os::unix::fs::symlink(sources.join("device"), headers).unwrap();
            command.args(flags);
            for entry in std::fs::read_dir(sources.join("src")).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "cpp") {
                    command.arg(path);
                }
            }
        }
        let output = command.args(["-ldl", "-pthread"]).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        Device {
            folder,
            emulated,
            program,
        }
    }

    fn run(&self, case: &str, settings: &str, variables: &[(&str, &str)]) -> Output {
        let findings = self.folder.path().join("findings");
        std::fs::write(&findings, "").unwrap();
        Command::new(&self.program)
            .arg(case)
            .envs(self.emulated.environment(settings))
            .env(FINDINGS, findings)
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
