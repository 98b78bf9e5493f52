//! Several devices for one backend: the OpenCL device of the environment, such as Oclgrind, and
//! PoCL of the toolchain (`ci/setup --only opencl,pocl`). If one of them is missing, these tests
//! are skipped with a message, unless `FUTHARK_TESTS_NEED_COMPILERS` is set.

use super::run::kept;
use super::scene::{Run, Scene, assert_has};
use super::{list_constructs, needs, repeat_command};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first test case is correct, the second wrong; neither launches a kernel.
const PROGRAM: &str = "\
-- ==
-- entry: next
-- input { 1 } output { 2 }
-- input { 2 } output { 2 }
entry next (x: i32): i32 = x + 1
";

const POCL: &str = "Portable Computing Language: ";

/// With the program, if this machine has both devices.
fn with_two() -> Option<Scene> {
    needs::or_skip(both().map_err(|why| format!("{why}; run `ci/setup --only opencl,pocl`")))?;
    Scene::new(&[("next.fut", PROGRAM)])
}

/// A command on OpenCL. The build folder is shared by all tests, because PoCL needs seconds to compile.
fn opencl(scene: &Scene, arguments: &str) -> Command {
    let mut command = scene.compiling(&format!("{arguments} --backend opencl"));
    command.env("HOME", scene.path(""));
    command
}

/// Runs the test cases of the program on OpenCL.
fn run(scene: &Scene, arguments: &str) -> Run {
    run_with(scene, &[], arguments)
}

/// The same with further arguments, which may contain spaces.
fn run_with(scene: &Scene, further: &[&str], arguments: &str) -> Run {
    let mut command = opencl(
        scene,
        &format!("run next.fut --json report.jsonl {arguments}"),
    );
    scene.ended(command.args(further))
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

/// A folder in place of the toolchain, with the headers and the loader of OpenCL.
fn toolchain_with_only_opencl(scene: &Scene) -> PathBuf {
    let toolchain = std::env::var_os("FUTHARK_TOOLCHAIN").expect("there is one");
    let folder = Path::new(&toolchain).join("opencl");
    let folder = folder.canonicalize().expect("the toolchain has OpenCL");
    let other = scene.path("toolchain");
    std::fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(folder, other.join("opencl")).unwrap();
    other
}

/// The outcomes of a test case, each with its device. PoCL comes second, whatever the name of the first.
fn outcomes<'r>(run: &'r Run, case: &str) -> Vec<(&'r str, &'r str)> {
    let texts = run.texts(["case", "device", "outcome"]).into_iter();
    let of_case = texts.filter(|[of, ..]| *of == case);
    let mut outcomes: Vec<_> = of_case
        .map(|[_, device, outcome]| (device, outcome))
        .collect();
    outcomes.sort_by_key(|(device, _)| device.starts_with(POCL));
    outcomes
}

/// The names of the devices in the header that have this property.
fn devices<'r>(run: &'r Run, property: &str) -> Vec<&'r str> {
    let devices = run.lines[0]["devices"].as_array().expect("a list");
    let having = devices.iter().filter(|device| device[property] == true);
    having
        .filter_map(|device| device["device"].as_str())
        .collect()
}

#[test]
fn every_device_is_listed() {
    let scene = needed!(with_two());
    let shown = scene.ended(&mut opencl(&scene, "devices")).ends_with(0);
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
    needed!(needs::full());
    let scene = needed!(with_two());
    let expected = "[[expect]]\nprogram = \"next.fut\"\ncheck = \"blocks:next #1\"\n\
                    device = \"Portable*\"\nreason = \"known\"\n";
    scene.write("expectations.toml", expected);
    let both = run(&scene, "--check blocks --junit junit.xml");
    let shown = both.ends_with(1);
    let of = |case: &str| {
        let outcomes = outcomes(&both, case).into_iter();
        outcomes.map(|(_, outcome)| outcome).collect::<Vec<_>>()
    };
    assert_eq!(of("next #0"), ["pass", "pass"], "{shown}");
    assert_eq!(of("next #1"), ["fail", "expected-fail"], "{shown}");

    // The command repeats the failure on its device only.
    let failed = outcomes(&both, "next #1")[0].0;
    let repeat = repeat_command(&shown);
    assert!(
        repeat.contains("--device") && repeat.contains(failed),
        "{repeat}"
    );
    let only = ["--device", failed, "--check", "blocks:next #1"];
    let again = run_with(&scene, &only, "--check blocks");
    assert_eq!(outcomes(&again, "next #1").len(), 1, "{}", again.shown());

    // Every report has both devices.
    let rows = shown.lines().filter(|line| line.starts_with("opencl  "));
    let counts: Vec<&str> = rows.filter_map(|row| row.rsplit("  ").next()).collect();
    let expected = ["1 passed, 1 FAILED", "1 passed, 1 failed as expected"];
    assert_eq!(counts, expected, "{shown}");
    let junit = scene.read("junit.xml");
    assert_eq!(junit.matches("<testsuite name=").count(), 2, "{junit}");
    run(&scene, "--check blocks");
    let mut report = scene.command("report report.jsonl --html report.html");
    let merged = scene.ended(&mut report).shown();
    assert_has(&merged, "1 passed, 1 FAILED");
    assert_has(&merged, "Portable");
    let html = scene.read("report.html");
    assert_eq!(
        html.matches("<tr><th scope=\"row\">opencl</th>").count(),
        2,
        "{html}"
    );
}

#[test]
fn devices_are_chosen_by_name() {
    needed!(needs::full());
    let scene = needed!(with_two());
    let run = run(&scene, "--check blocks --device Portable*");
    assert_eq!(devices(&run, "usable").len(), 1, "{}", run.shown());
    let outcomes = outcomes(&run, "next #0");
    assert!(
        matches!(&outcomes[..], [(device, _)] if device.starts_with(POCL)),
        "{outcomes:?}"
    );
    // PoCL caches its kernels in the build folder, not in the user's home.
    assert!(kept().join("pocl-kernels").is_dir());
    assert!(!scene.path(".cache").exists());

    for subcommand in ["run next.fut", "devices"] {
        let mut command = opencl(&scene, subcommand);
        let said = scene
            .ended(command.args(["--device", "No such *"]))
            .ends_with(2);
        assert_has(&said, "\"No such *\"");
        assert_has(&said, POCL);
    }
}

/// Only with `FUTHARK_TESTS_FULL`, because PoCL takes long to compile.
#[test]
fn a_device_that_computes_wrong_results_runs_a_part_unless_it_is_named() {
    needed!(needs::full());
    let scene = needed!(with_two());
    // The same constructs.
    scene.write("other.fut", PROGRAM);
    let case: &[&str] = &["a case"];
    list_constructs(&scene.path(""), &[("next.fut", case), ("other.fut", case)]);
    for (options, on_pocl) in [("--all", 1), ("--all --device *", 2)] {
        let arguments = format!("run . --check blocks --json report.jsonl {options}");
        let run = scene.ended(&mut opencl(&scene, &arguments));
        let known = devices(&run, "known_bad");
        assert!(
            matches!(known[..], [name] if name.starts_with(POCL)),
            "{known:?}"
        );
        let outcomes = outcomes(&run, "next #0");
        let is_pocl = |(device, _): &&(&str, &str)| device.starts_with(POCL);
        let pocl = outcomes.iter().filter(is_pocl).count();
        assert_eq!(
            (outcomes.len() - pocl, pocl),
            (2, on_pocl),
            "{}",
            run.shown()
        );
        let is_told = run.shown().contains("1 job left out, --device");
        assert_eq!(is_told, on_pocl == 1, "{}", run.shown());
    }
}

/// Without PoCL in the toolchain, the run has one column fewer and works otherwise.
#[test]
fn without_pocl_there_is_one_column_fewer() {
    needed!(needs::full());
    let scene = needed!(with_two());
    let other = toolchain_with_only_opencl(&scene);
    let arguments = "run next.fut --json report.jsonl --check blocks";
    let mut command = opencl(&scene, arguments);
    let run = scene.ended(command.env("FUTHARK_TOOLCHAIN", &other));
    let outcomes = outcomes(&run, "next #0");
    assert!(
        matches!(outcomes[..], [(device, "pass")] if !device.starts_with(POCL)),
        "{outcomes:?}: {}",
        run.shown()
    );
}

#[test]
fn the_host_can_be_selected_as_a_device() {
    let scene = needed!(Scene::new(&[("next.fut", PROGRAM)]));
    let first = ["--check", "blocks:next #0"];
    scene
        .run_with(&first, "next.fut --backend c --device cpu")
        .ends_with(0);
}

/// Writes a compiler that calls itself 0.99.0, whose kernels for HIP do not compile, and whose code
/// for multicore ends the process.
fn newer_compiler(scene: &Scene) -> PathBuf {
    let text = r##"case $1 in
--version) echo 'Futhark 0.99.0.'; exit ;;
esac
'REAL' "$@" || exit
case "$1 $2" in
'hip --library')
    sed 's/^static const char \*gpu_program\[\] = {/& "#error newer\\n",/' "$5.c" >"$5.new" && mv "$5.new" "$5.c" ;;
'multicore --library')
    sed -i '/^int futhark_entry_.*)$/{n;s/{/{ *(volatile int *)0 = 1;/}' "$5.c" ;;
esac
"##;
    let real = scene.futhark.display().to_string();
    scene.script("futhark-0.99.0", &text.replace("REAL", &real))
}

#[test]
fn a_device_that_fails_with_a_newer_compiler_fails_its_jobs() {
    needed!(needs::full());
    let scene = needed!(Scene::new(&[("next.fut", PROGRAM)]));
    let newer = newer_compiler(&scene);
    let emulated = |arguments: &str| {
        let mut command = scene.command(&format!("{arguments} --backend hip --emulate always"));
        command.arg("--futhark").arg(&newer);
        command.arg("--build-dir").arg(kept());
        command
    };

    // Alone: the emulated device works wherever a C++ compiler does, so it is not missing.
    let shown = scene.ended(&mut emulated("devices")).ends_with(3);
    for part in ["hip        fails: emulated", "#error newer"] {
        assert_has(&shown, part);
    }

    let mut command = emulated("run next.fut --json report.jsonl");
    command.arg("--futhark").arg(&scene.futhark);
    let run = scene.ended(command.args(["--check", "blocks:next #0"]));
    let shown = run.ends_with(1);
    assert_has(&shown, "fails with 0.99.0: ");
    let outcomes = run.texts(["compiler", "check", "outcome"]);
    let failed: Vec<_> = outcomes.iter().filter(|one| one[2] == "fail").collect();
    // The probe and the job.
    let expected = ["compile", "lifecycle"].map(|check| ["0.99.0", check, "fail"]);
    assert_eq!(failed, [&expected[0], &expected[1]]);
    assert!(outcomes.iter().any(|one| one[2] == "pass"), "{shown}");
}

#[test]
fn the_processor_is_never_missing() {
    needed!(needs::full());
    let mut scene = needed!(Scene::new(&[("next.fut", PROGRAM)]));
    scene.futhark = newer_compiler(&scene);
    let first = ["--check", "blocks:next #0"];
    let shown = scene
        .run_with(&first, "next.fut --backend c,multicore")
        .ends_with(1);
    assert_has(&shown, "killed by signal 11");
}

/// No option names the backends. The headers of CUDA and HIP are missing, and the processor works.
#[test]
fn code_that_does_not_compile_or_is_refused_fails_the_run_and_a_missing_header_does_not() {
    let mut scene = needed!(with_two());
    let toolchain = toolchain_with_only_opencl(&scene);
    let run = |scene: &Scene, arguments: &str| {
        let mut command = scene.compiling(&format!("{arguments} --emulate never"));
        for variable in ["CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "HIP_PATH"] {
            command.env_remove(variable);
        }
        command.env("FUTHARK_LIBCUDA", "/nonexistent/libcuda.so.1");
        scene.ended(command.env("FUTHARK_TOOLCHAIN", &toolchain))
    };
    let reports = "--json report.jsonl --html page.html --junit junit.xml";
    let arguments = format!("run next.fut --check compile {reports}");
    run(&scene, &arguments).ends_with(0);

    let text = r##"'REAL' "$@" || exit
case "$1 $2" in
'opencl --library') sed -i 's/^int futhark_context_clear_caches(/#error newer\n&/' "$5.c" ;;
'hip --library') sed -i 's/\bget_failure_msg\b/failure_text/' "$5.c" ;;
esac
"##;
    let text = text.replace("REAL", &scene.futhark.display().to_string());
    scene.futhark = scene.script("futhark-newer", &text);
    let causes = [("opencl", "#error newer"), ("hip", "`backends/hip.h`")];
    let failed = run(&scene, &arguments);
    let shown = failed.ends_with(1);
    let records = failed.texts(["backend", "outcome", "message"]);
    let failures = records.iter().filter(|record| record[1] == "fail");
    assert_eq!(failures.count(), causes.len(), "{shown}");
    assert!(
        records.iter().any(|record| record[..2] == ["c", "pass"]),
        "{shown}"
    );
    let devices = run(&scene, "devices").ends_with(1);
    for (backend, cause) in causes {
        let is_told = |[of, _, message]: &[&str; 3]| *of == backend && message.contains(cause);
        assert!(records.iter().any(is_told), "{shown}");
        for text in [&shown, &scene.read("page.html"), &scene.read("junit.xml")] {
            assert_has(text, cause);
        }
        assert_has(&devices, &format!("{backend:10} fails:\n"));
        assert_has(&devices, cause);
    }
    assert_has(&devices, "cuda       not usable: ");
}

/// The driver is not missing. The emulated device works, and runs too.
#[test]
fn a_driver_that_crashes_fails_the_run() {
    needed!(needs::full());
    let scene = needed!(Scene::new(&[("next.fut", PROGRAM)]));
    let text = "__attribute__((constructor)) static void start(void) { __builtin_trap(); }";
    let (source, driver) = (scene.write("driver.c", text), scene.path("libcuda.so"));
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC"]).arg(&source);
    let compiled = compiler.arg("-o").arg(&driver).status();
    assert!(compiled.expect("there is a C compiler").success());

    let mut command = scene.compiling("run next.fut --backend cuda --json report.jsonl");
    command.args(["--check", "blocks:next #0"]);
    let run = scene.ended(command.env("FUTHARK_LIBCUDA", &driver));
    let shown = run.ends_with(1);
    let outcomes = run.texts(["program", "device", "outcome"]);
    let expected = [["-", "", "fail"], ["next.fut", "emulated", "pass"]];
    assert_eq!(outcomes, expected, "{shown}");
    assert_has(&shown, "killed by signal 4");
    let repeat = repeat_command(&shown);
    assert!(
        repeat.starts_with("futhark-conformance devices --backend cuda "),
        "{repeat}"
    );
}

#[test]
fn devices_says_what_works_and_what_to_install() {
    needed!(needs::full());
    let scene = needed!(Scene::new(&[("next.fut", PROGRAM)]));
    let devices = || {
        let mut command = scene.command("devices --backend c,cuda");
        command.arg("--build-dir").arg(kept());
        command
    };
    let mut command = devices();
    let missing = "/nonexistent/libcuda.so.1";
    let shown = scene
        .ended(command.env("FUTHARK_LIBCUDA", missing))
        .ends_with(0);
    let words = [
        "Futhark ",
        "c          usable: cpu\n",
        missing,
        "apt-get install nvidia-driver",
    ];
    for word in words {
        assert!(shown.contains(word), "{word}: {shown}");
    }

    let mut command = devices();
    command.env("PATH", scene.path("empty"));
    command
        .env_remove("FUTHARK")
        .env_remove("FUTHARK_TOOLCHAIN");
    let shown = scene.ended(&mut command).ends_with(3);
    assert_has(&shown, "apt-get install --no-install-recommends futhark");
}

/// With a compiler whose kernels PoCL refuses under a condition of its preprocessor.
fn with_kernels_that_pocl_refuses(scene: &mut Scene, condition: &str) {
    let text = r##"'REAL' "$@" || exit
case "$1 $2" in
'opencl --library')
    sed 's/^static const char \*gpu_program\[\] = {/& "#if defined(POCL_DEVICE_ADDRESS_BITS) \&\& CONDITION\\n#error refused\\n#endif\\n",/' "$5.c" >"$5.new" && mv "$5.new" "$5.c" ;;
esac
"##;
    let real = scene.futhark.display().to_string();
    let text = text.replace("REAL", &real).replace("CONDITION", condition);
    scene.futhark = scene.script("futhark-newer", &text);
}

/// Only with `FUTHARK_TESTS_FULL`, because PoCL takes long to compile.
#[test]
fn a_device_that_refuses_the_programs_is_in_the_report_with_the_reason() {
    needed!(needs::full());
    let mut scene = needed!(with_two());
    with_kernels_that_pocl_refuses(&mut scene, "1");
    let run = run(&scene, "--check blocks --summary summary.md");
    let shown = run.shown();
    let line = "not usable: opencl on Portable Computing Language: ";
    let printed = String::from_utf8_lossy(&run.output.stdout).into_owned();
    assert!(printed.contains(line), "{shown}");
    assert!(printed.contains("error"), "{shown}");
    let announced = String::from_utf8_lossy(&run.output.stderr);
    assert!(announced.contains(line), "{shown}");
    let summary = scene.read("summary.md");
    assert_has(&summary, "Not usable: opencl on Portable");
    // The device of the environment is checked.
    assert_eq!(devices(&run, "usable").len(), 1, "{shown}");
    // The lines remain when reports are merged.
    let merged = scene
        .ended(&mut scene.command("report report.jsonl"))
        .shown();
    assert_has(&merged, line);

    let devices = scene.ended(&mut opencl(&scene, "devices")).shown();
    assert_has(
        &devices,
        "opencl     not usable: Portable Computing Language: ",
    );
    assert!(!devices.contains("apt-get install"), "{devices}");
}

/// Only with `FUTHARK_TESTS_FULL`, because PoCL takes long to compile.
#[test]
fn pocl_gets_an_option_for_programs_that_need_it() {
    needed!(needs::full());
    let mut scene = needed!(with_two());
    with_kernels_that_pocl_refuses(&mut scene, "__OPENCL_C_VERSION__ != 120");
    let devices = scene.ended(&mut opencl(&scene, "devices")).shown();
    assert_has(
        &devices,
        "usable with -cl-std=CL1.2, known to compute wrong results: Portable",
    );
    let run = run(&scene, "--check blocks --device Portable*");
    let outcomes = outcomes(&run, "next #0");
    assert!(matches!(outcomes[..], [(_, "pass")]), "{}", run.shown());
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
    needed!(needs::full());
    let scene = needed!(with_two());
    scene.write("next.fut", NESTED);
    let outcome = |tuning: &str| {
        scene.write("next.fut.tuning", tuning);
        let run = run(
            &scene,
            "--check blocks --check lifecycle --device Oclgrind*",
        );
        let [blocks, others] = [("blocks", "sums #0"), ("lifecycle", "many in a row")]
            .map(|(check, case)| run.case(check, case).0.to_owned());
        [blocks, others, run.shown()]
    };
    let [blocks, ..] = outcome("sums.suff_outer_par_0=1\ndefault_tile_size=16\n");
    assert_eq!(blocks, "pass");
    // Only the test cases fail, as in `futhark test`.
    let [blocks, others, shown] = outcome("sums.suff_outer_par_7=1\n");
    assert_eq!([&*blocks, &others], ["fail", "pass"], "{shown}");
    assert_has(
        &shown,
        "opencl has no tuning parameter \"sums.suff_outer_par_7\"",
    );
}
