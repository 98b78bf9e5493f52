//! Several devices for one backend: the OpenCL device of the environment, such as Oclgrind, and
//! PoCL of the toolchain (`ci/setup --only opencl,pocl`). If one of them is missing, these tests
//! are skipped with a message, unless `FUTHARK_TESTS_NEED_COMPILERS` is set.

use super::{build_dir, command, list_constructs, needs, repeat_command, text};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The first test case is correct, the second wrong; neither launches a kernel.
const PROGRAM: &str = "\
-- ==
-- entry: next
-- input { 1 } output { 2 }
-- input { 2 } output { 2 }
entry next (x: i32): i32 = x + 1
";

const POCL: &str = "Portable Computing Language: ";

/// A folder with the program.
struct Here {
    folder: TempDir,
    compiler: PathBuf,
}

impl Here {
    fn new() -> Option<Here> {
        let compiler = needs::compiler_path()?;
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        fs::write(folder.path().join("next.fut"), PROGRAM).expect("the folder can be written");
        Some(Here { folder, compiler })
    }

    /// As [`Here::new`], if this machine has both devices.
    fn with_two() -> Option<Here> {
        needs::or_skip(both().map_err(|why| format!("{why}; run `ci/setup --only opencl,pocl`")))?;
        Here::new()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, subcommand: &str) -> Command {
        let mut command = command(self.folder.path());
        command.arg(subcommand);
        command
    }

    /// On OpenCL, with the newest compiler.
    fn opencl(&self, subcommand: &str, arguments: &[&str]) -> Command {
        let mut command = self.command(subcommand);
        command.args(["--backend", "opencl", "--futhark"]);
        command.arg(&self.compiler);
        // Shared by all tests, because PoCL needs seconds to compile.
        command.arg("--build-dir").arg(build_dir());
        command.env("HOME", self.folder.path());
        command.args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = self.opencl("run", &["next.fut", "--check", "blocks"]);
        command.args(["--json", "report.jsonl"]).args(arguments);
        self.ended(command)
    }

    fn ended(&self, mut command: Command) -> Run {
        let output = command.output().expect("the program starts");
        let text = fs::read_to_string(self.path("report.jsonl")).unwrap_or_default();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("each line is JSON"));
        Run {
            lines: lines.collect(),
            output,
        }
    }
}

/// Checks that the environment names an OpenCL device, and that the toolchain has PoCL.
fn both() -> Result<(), &'static str> {
    let named = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
    let vendors = named("OCL_ICD_VENDORS").ok_or("OCL_ICD_VENDORS names no OpenCL device")?;
    if !vendors.exists() || vendors.to_string_lossy().contains("pocl") {
        return Err("OCL_ICD_VENDORS names no OpenCL device other than PoCL");
    }
    let toolchain = named("FUTHARK_TOOLCHAIN").ok_or("FUTHARK_TOOLCHAIN names no toolchain")?;
    match toolchain.join("pocl/lib/host/libpocl.so").is_file() {
        true => Ok(()),
        false => Err("the toolchain has no PoCL"),
    }
}

struct Run {
    output: Output,
    lines: Vec<Value>,
}

impl Run {
    fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    fn shown(&self) -> String {
        text(&self.output)
    }

    /// The outcomes of a test case, each with its device.
    fn outcomes(&self, case: &str) -> Vec<(String, String)> {
        let records = self.lines.iter().filter(|record| record["case"] == case);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let outcomes = records.map(|record| (text(&record["device"]), text(&record["outcome"])));
        let mut outcomes: Vec<_> = outcomes.collect();
        // PoCL comes second, whatever the name of the first.
        outcomes.sort_by_key(|(device, _)| device.starts_with(POCL));
        outcomes
    }

    /// The names of the devices in the header, usable ones only.
    fn devices(&self) -> Vec<&str> {
        let devices = self.lines[0]["devices"].as_array().expect("a list");
        let usable = devices.iter().filter(|device| device["usable"] == true);
        usable
            .filter_map(|device| device["device"].as_str())
            .collect()
    }
}

#[test]
fn every_device_is_listed() {
    let Some(here) = Here::with_two() else { return };
    let run = here.ended(here.opencl("devices", &[]));
    assert_eq!(run.code(), Some(0), "{}", run.shown());
    let shown = run.shown();
    let lines = shown.lines().filter(|line| line.starts_with("opencl "));
    let lines: Vec<&str> = lines.filter(|line| line.contains(" usable")).collect();
    assert_eq!(lines.len(), 2, "{shown}");
    assert!(
        !lines[0].contains(POCL) && lines[1].contains(POCL),
        "{shown}"
    );
}

#[test]
fn each_device_has_a_column_and_expectations_of_its_own() {
    let Some(here) = Here::with_two() else { return };
    let expected = "[[expect]]\nprogram = \"next.fut\"\ncheck = \"blocks:next #1\"\n\
                    device = \"Portable*\"\nreason = \"known\"\n";
    fs::write(here.path("expectations.toml"), expected).unwrap();
    let run = here.run(&["--junit", "junit.xml"]);
    let shown = run.shown();
    assert_eq!(run.code(), Some(1), "{shown}");
    let outcomes = |case: &str| {
        let outcomes = run.outcomes(case).into_iter();
        outcomes.map(|(_, outcome)| outcome).collect::<Vec<_>>()
    };
    assert_eq!(outcomes("next #0"), ["pass", "pass"], "{shown}");
    assert_eq!(outcomes("next #1"), ["fail", "expected-fail"], "{shown}");

    // The command repeats the failure on its device only.
    let failed = &run.outcomes("next #1")[0].0;
    let repeat = repeat_command(&shown);
    assert!(
        repeat.contains("--device") && repeat.contains(failed),
        "{repeat}"
    );
    let again = here.run(&["--device", failed, "--check", "blocks:next #1"]);
    assert_eq!(again.outcomes("next #1").len(), 1, "{}", again.shown());

    // Every report has both devices.
    let rows = shown.lines().filter(|line| line.starts_with("opencl  "));
    let counts: Vec<&str> = rows.filter_map(|row| row.rsplit("  ").next()).collect();
    let expected = ["1 passed, 1 FAILED", "1 passed, 1 failed as expected"];
    assert_eq!(counts, expected, "{shown}");
    let junit = fs::read_to_string(here.path("junit.xml")).unwrap();
    assert_eq!(junit.matches("<testsuite name=").count(), 2, "{junit}");
    here.run(&[]);
    let mut report = here.command("report");
    report.args(["report.jsonl", "--html", "report.html"]);
    let merged = here.ended(report).shown();
    assert!(
        merged.contains("1 passed, 1 FAILED") && merged.contains("Portable"),
        "{merged}"
    );
    let html = fs::read_to_string(here.path("report.html")).unwrap();
    assert_eq!(
        html.matches("<tr><th scope=\"row\">opencl</th>").count(),
        2,
        "{html}"
    );
}

#[test]
fn devices_are_chosen_by_name() {
    let Some(here) = Here::with_two() else { return };
    let run = here.run(&["--device", "Portable*"]);
    assert_eq!(run.devices().len(), 1, "{}", run.shown());
    let outcomes = run.outcomes("next #0");
    assert!(
        matches!(&outcomes[..], [(device, _)] if device.starts_with(POCL)),
        "{outcomes:?}"
    );
    // PoCL caches its kernels in the build folder, not in the user's home.
    assert!(build_dir().join("pocl-kernels").is_dir());
    assert!(!here.path(".cache").exists());

    for subcommand in ["run", "devices"] {
        let mut command = here.opencl(subcommand, &["--device", "No such *"]);
        if subcommand == "run" {
            command.arg("next.fut");
        }
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{subcommand}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains("\"No such *\"") && said.contains(POCL),
            "{said}"
        );
    }
}

#[test]
fn a_device_that_computes_wrong_results_runs_a_part_unless_it_is_named() {
    let Some(here) = Here::with_two() else { return };
    // The same constructs.
    fs::write(here.path("other.fut"), PROGRAM).expect("the folder can be written");
    let case: &[&str] = &["a case"];
    list_constructs(&here.path(""), &[("next.fut", case), ("other.fut", case)]);
    for (options, on_pocl) in [(&["--all"][..], 1), (&["--all", "--device", "*"], 2)] {
        let mut command = here.opencl("run", &[".", "--check", "blocks"]);
        command.args(["--json", "report.jsonl"]).args(options);
        let run = here.ended(command);
        let devices = run.lines[0]["devices"].as_array().expect("a list");
        let known = devices.iter().filter(|device| device["known_bad"] == true);
        let known: Vec<&str> = known
            .filter_map(|device| device["device"].as_str())
            .collect();
        assert!(
            matches!(known[..], [name] if name.starts_with(POCL)),
            "{known:?}"
        );
        let outcomes = run.outcomes("next #0");
        let (pocl, others): (Vec<_>, Vec<_>) = outcomes
            .iter()
            .partition(|(device, _)| device.starts_with(POCL));
        assert_eq!((others.len(), pocl.len()), (2, on_pocl), "{}", run.shown());
        let is_told = run.shown().contains("1 job left out, --device");
        assert_eq!(is_told, on_pocl == 1, "{}", run.shown());
    }
}

/// Without PoCL in the toolchain, the run has one column fewer and works otherwise.
#[test]
fn without_pocl_there_is_one_column_fewer() {
    let Some(here) = Here::with_two() else { return };
    let toolchain = std::env::var_os("FUTHARK_TOOLCHAIN").expect("there is one");
    // Headers and loader are still needed.
    let opencl = Path::new(&toolchain).join("opencl");
    let opencl = opencl.canonicalize().expect("the toolchain has OpenCL");
    let other = here.path("toolchain");
    fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(opencl, other.join("opencl")).unwrap();
    let mut command = here.opencl("run", &["next.fut", "--json", "report.jsonl"]);
    command.args(["--check", "blocks:next #0"]);
    command.env("FUTHARK_TOOLCHAIN", &other);
    let run = here.ended(command);
    assert_eq!(run.code(), Some(0), "{}", run.shown());
    let outcomes = run.outcomes("next #0");
    let [(device, outcome)] = &outcomes[..] else {
        panic!("{outcomes:?}")
    };
    assert!(
        !device.starts_with(POCL) && outcome == "pass",
        "{outcomes:?}"
    );
}

#[test]
fn the_host_can_be_selected_as_a_device() {
    let Some(here) = Here::new() else { return };
    let mut command = here.command("run");
    command.args([
        "next.fut",
        "--backend",
        "c",
        "--device",
        "cpu",
        "--check",
        "blocks:next #0",
    ]);
    command.arg("--futhark").arg(&here.compiler);
    command.arg("--build-dir").arg(build_dir());
    let output = command.output().expect("the program starts");
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{shown}");
}

/// Writes a compiler that calls itself 0.99.0, whose kernels for HIP do not compile, and whose code
/// for multicore ends the process.
fn newer_compiler(here: &Here) -> PathBuf {
    let script = here.path("futhark-0.99.0");
    let text = format!(
        r##"#!/bin/sh
case $1 in
--version) echo 'Futhark 0.99.0.'; exit ;;
esac
'{real}' "$@" || exit
case "$1 $2" in
'hip --library')
    sed 's/^static const char \*gpu_program\[\] = {{/& "#error newer\\n",/' "$5.c" >"$5.new" && mv "$5.new" "$5.c" ;;
'multicore --library')
    sed -i '/^int futhark_entry_.*)$/{{n;s/{{/{{ *(volatile int *)0 = 1;/}}' "$5.c" ;;
esac
"##,
        real = here.compiler.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}

#[test]
fn a_device_that_fails_with_a_newer_compiler_fails_its_jobs() {
    let Some(here) = Here::new() else { return };
    let newer = newer_compiler(&here);
    let emulated = |subcommand: &str| {
        let mut command = here.command(subcommand);
        command.args(["--backend", "hip", "--emulate", "always", "--futhark"]);
        command.arg(&newer).arg("--build-dir").arg(build_dir());
        command
    };

    // Alone: the emulated device works wherever a C++ compiler does, so it is not missing.
    let run = here.ended(emulated("devices"));
    assert_eq!(run.code(), Some(3), "{}", run.shown());
    for part in ["hip        fails: emulated", "#error newer"] {
        assert!(run.shown().contains(part), "{}", run.shown());
    }

    let mut command = emulated("run");
    command.arg("--futhark").arg(&here.compiler);
    command.args(["next.fut", "--check", "blocks:next #0"]);
    command.args(["--json", "report.jsonl"]);
    let run = here.ended(command);
    let shown = run.shown();
    assert_eq!(run.code(), Some(1), "{shown}");
    assert!(shown.contains("fails with 0.99.0: "), "{shown}");
    let outcome = |record: &Value| {
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        [text("compiler"), text("check"), text("outcome")]
    };
    let failed = run.lines.iter().map(outcome).filter(|one| one[2] == "fail");
    let failed: Vec<_> = failed.collect();
    assert_eq!(failed, [["0.99.0", "lifecycle", "fail"].map(str::to_owned)]);
    let passed = run.lines.iter().map(outcome).filter(|one| one[2] == "pass");
    assert!(passed.count() > 0, "{shown}");
}

#[test]
fn the_processor_is_never_missing() {
    let Some(here) = Here::new() else { return };
    let newer = newer_compiler(&here);
    let mut command = here.command("run");
    command.args([
        "next.fut",
        "--backend",
        "c,multicore",
        "--check",
        "blocks:next #0",
    ]);
    command.arg("--futhark").arg(&newer);
    command.arg("--build-dir").arg(build_dir());
    let run = here.ended(command);
    let shown = run.shown();
    assert_eq!(run.code(), Some(1), "{shown}");
    assert!(shown.contains("killed by signal 11"), "{shown}");
}

#[test]
fn devices_says_what_works_and_what_to_install() {
    let Some(here) = Here::new() else { return };
    let devices = || {
        let mut command = here.command("devices");
        command
            .args(["--backend", "c,cuda", "--build-dir"])
            .arg(build_dir());
        command
    };
    let mut command = devices();
    command.env("FUTHARK_LIBCUDA", "/nonexistent/libcuda.so.1");
    let run = here.ended(command);
    assert_eq!(run.code(), Some(0), "{}", run.shown());
    let words = [
        "Futhark ",
        "c          usable: cpu\n",
        "/nonexistent/libcuda.so.1",
        "apt-get install nvidia-driver",
    ];
    for word in words {
        assert!(run.shown().contains(word), "{word}: {}", run.shown());
    }

    let mut command = devices();
    let empty = here.path("empty");
    command
        .env("PATH", &empty)
        .env_remove("FUTHARK")
        .env_remove("FUTHARK_TOOLCHAIN");
    let run = here.ended(command);
    assert_eq!(run.code(), Some(3), "{}", run.shown());
    assert!(
        run.shown()
            .contains("apt-get install --no-install-recommends futhark"),
        "{}",
        run.shown()
    );
}

/// With a compiler whose kernels PoCL refuses under a condition of its preprocessor.
fn with_kernels_that_pocl_refuses(here: Here, condition: &str) -> Here {
    let script = here.path("futhark-newer");
    let text = format!(
        r##"#!/bin/sh
'{real}' "$@" || exit
case "$1 $2" in
'opencl --library')
    sed 's/^static const char \*gpu_program\[\] = {{/& "#if defined(POCL_DEVICE_ADDRESS_BITS) \&\& {condition}\\n#error refused\\n#endif\\n",/' "$5.c" >"$5.new" && mv "$5.new" "$5.c" ;;
esac
"##,
        real = here.compiler.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    Here {
        compiler: script,
        ..here
    }
}

#[test]
fn a_device_that_refuses_the_programs_is_in_the_report_with_the_reason() {
    let Some(here) = Here::with_two() else { return };
    let here = with_kernels_that_pocl_refuses(here, "1");
    let run = here.run(&["--summary", "summary.md", "--check", "blocks:next #0"]);
    let shown = run.shown();
    let line = "not usable: opencl on Portable Computing Language: ";
    let printed = String::from_utf8_lossy(&run.output.stdout).into_owned();
    assert!(printed.contains(line), "{shown}");
    assert!(printed.contains("error"), "{shown}");
    let announced = String::from_utf8_lossy(&run.output.stderr);
    assert!(announced.contains(line), "{shown}");
    let summary = fs::read_to_string(here.path("summary.md")).unwrap();
    assert!(
        summary.contains("Not usable: opencl on Portable"),
        "{summary}"
    );
    // The device of the environment is checked.
    assert_eq!(run.devices().len(), 1, "{shown}");
    // The lines remain when reports are merged.
    let mut report = here.command("report");
    report.arg("report.jsonl");
    let merged = here.ended(report).shown();
    assert!(merged.contains(line), "{merged}");

    let devices = here.ended(here.opencl("devices", &[])).shown();
    let unusable = "opencl     not usable: Portable Computing Language: ";
    assert!(devices.contains(unusable), "{devices}");
    assert!(!devices.contains("apt-get install"), "{devices}");
}

#[test]
fn pocl_gets_an_option_for_programs_that_need_it() {
    let Some(here) = Here::with_two() else { return };
    let here = with_kernels_that_pocl_refuses(here, "__OPENCL_C_VERSION__ != 120");
    let devices = here.ended(here.opencl("devices", &[])).shown();
    let usable = "usable with -cl-std=CL1.2, known to compute wrong results: Portable";
    assert!(devices.contains(usable), "{devices}");
    let run = here.run(&["--device", "Portable*"]);
    let outcomes = run.outcomes("next #0");
    assert!(
        matches!(&outcomes[..], [(_, outcome)] if outcome == "pass"),
        "{}",
        run.shown()
    );
}

/// Has a threshold for each of two versions of its code, on GPU backends.
const NESTED: &str = "\
-- ==
-- entry: sums
-- input { [[1, 2], [3, 4]] } output { [3, 7] }
entry sums [n] [m] (xss: [n][m]i32) : [n]i32 = map i32.sum xss
";

#[test]
fn a_tuning_file_beside_the_program_is_used() {
    let Some(here) = Here::with_two() else { return };
    fs::write(here.path("next.fut"), NESTED).unwrap();
    let outcome = |tuning: &str| {
        fs::write(here.path("next.fut.tuning"), tuning).unwrap();
        let run = here.run(&["--check", "lifecycle", "--device", "Oclgrind*"]);
        let of = |case: &str| {
            let of = run.lines.iter().find(|record| record["case"] == case);
            let of = of.map(|record| record["outcome"].as_str().unwrap_or_default().to_owned());
            of.unwrap_or_else(|| run.shown())
        };
        [of("sums #0"), of("many in a row"), run.shown()]
    };
    let [blocks, ..] = outcome("sums.suff_outer_par_0=1\ndefault_tile_size=16\n");
    assert_eq!(blocks, "pass");
    // Only the test cases fail, as in `futhark test`.
    let [blocks, others, shown] = outcome("sums.suff_outer_par_7=1\n");
    assert_eq!([&*blocks, &others], ["fail", "pass"], "{shown}");
    let reason = "opencl has no tuning parameter \"sums.suff_outer_par_7\"";
    assert!(shown.contains(reason), "{shown}");
}
