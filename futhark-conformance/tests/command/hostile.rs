//! Compilers and programs that hang, crash, grow, print without end or leave processes behind.

#![cfg(target_os = "linux")]

use super::needs;
use super::run::write_script;
use super::scene::{PROGRAM, Run, Scene, assert_has};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Longer than anything here takes, on a busy machine.
const LONG: Duration = Duration::from_secs(600);

/// A program whose compiler does what a script says. The probe has the real compiler.
struct Hostile {
    scene: Scene,
    /// The name of the program, which no other run has, so that its builds are its own.
    program: String,
}

impl Hostile {
    /// `script` runs before the real compiler, with its arguments, if these match `pattern` of `case`.
    /// It can write to `$FUTHARK_TESTS_LOG`.
    fn new(pattern: &str, script: &str) -> Option<Hostile> {
        let mut scene = Scene::new(&[("log", "")])?;
        scene.futhark = compiler().to_owned();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let number = now.expect("it is after 1970").subsec_nanos();
        let program = format!("hostile_{number}.fut");
        scene.write(
            "script",
            format!("case \"$*\" in {pattern})\n{script}\n;; esac\n"),
        );
        scene.write(&program, format!("entry f (x: i32) = x + {number}\n"));
        Some(Hostile { scene, program })
    }

    fn command(&self, arguments: &str) -> Command {
        let run = format!("run {} --backend c{arguments}", self.program);
        let mut command = self.scene.compiling(&run);
        command.env(self.mark().0, self.mark().1);
        command.env("FUTHARK_TESTS_SCRIPT", self.scene.path("script"));
        command.env("FUTHARK_TESTS_LOG", self.scene.path("log"));
        command
    }

    /// A variable in the environment of every process of the runs.
    fn mark(&self) -> (&'static str, PathBuf) {
        ("FUTHARK_TESTS_MARK", self.scene.path(""))
    }

    /// The check, cause and message of the only failure of a run.
    fn failure(&self, arguments: &str) -> [String; 3] {
        let run = self.run(arguments);
        run.ends_with(1);
        let failed = run.records().filter(|record| record["outcome"] == "fail");
        let failed: Vec<&Value> = failed.collect();
        assert_eq!(failed.len(), 1, "{failed:?}");
        let text = |key| failed[0][key].as_str().expect("a text").to_owned();
        ["check", "cause", "message"].map(text)
    }

    fn run(&self, arguments: &str) -> Run {
        let arguments = format!("{arguments} --json report.jsonl");
        self.scene.ended(&mut self.command(&arguments))
    }

    /// What the scripts wrote.
    fn log(&self) -> String {
        self.scene.read("log")
    }

    fn wait_for_log(&self) {
        wait_until("the script runs", || !self.log().is_empty());
    }

    /// The processes of the runs, with their command lines.
    fn processes(&self) -> Vec<String> {
        let (name, value) = self.mark();
        let mark = format!("{name}={}", value.display());
        let entries = fs::read_dir("/proc").expect("Linux has it").flatten();
        let of_runs = entries.filter_map(|entry| {
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let mut variables = environment.split(|&byte| byte == 0);
            variables.find(|variable| *variable == mark.as_bytes())?;
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            Some(String::from_utf8_lossy(&command).replace('\0', " "))
        });
        of_runs.collect()
    }

    /// Fails if a process remains for longer than the kernel needs to end it.
    fn assert_no_process_remains(&self) {
        let begun = Instant::now();
        while !self.processes().is_empty() {
            assert!(begun.elapsed() < LONG, "{:?}", self.processes());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A compiler that first runs the script in `$FUTHARK_TESTS_SCRIPT`. Always the same file, so that the build of the
/// probe is found again.
fn compiler() -> &'static Path {
    static COMPILER: LazyLock<PathBuf> = LazyLock::new(|| {
        let real = needs::compiler_path().expect("the caller has asked");
        let text = format!(
            "#!/bin/sh\n. \"$FUTHARK_TESTS_SCRIPT\"\nexec '{}' \"$@\"\n",
            real.display()
        );
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile-futhark");
        if fs::read_to_string(&path).is_ok_and(|before| before == text) {
            return path;
        }
        write_script(path, &text)
    });
    &COMPILER
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_compile_that_hangs_or_ends_its_process_is_reported_once_and_not_repeated() {
    for (script, options, expected) in [
        ("sleep 100", " --timeout 2", "timeout"),
        ("kill -9 $PPID; exit", "", "crash"),
    ] {
        let script = format!("echo begun >>$FUTHARK_TESTS_LOG; {script}");
        let hostile = needed!(Hostile::new("'c '*hostile*", &script));
        let [check, cause, _] = hostile.failure(options);
        assert_eq!([&*check, &cause], ["compile", expected]);
        assert_eq!(hostile.log(), "begun\n");
        hostile.assert_no_process_remains();
    }
}

#[test]
fn a_compiler_whose_version_hangs_is_an_error() {
    let hostile = needed!(Hostile::new("--version", "sleep 100"));
    let shown = hostile.run(" --timeout 1").ends_with(2);
    assert_has(&shown, "hostile-futhark --version` did not end within 1 s");
    hostile.assert_no_process_remains();
}

/// The command with the usual effect of signals. A shell that starts the tests in the background makes
/// them ignore SIGINT, and nohup SIGHUP.
fn with_default_signals(command: &Command) -> Command {
    let mut outer = Command::new("env");
    outer
        .arg("--default-signal=INT,HUP")
        .arg(command.get_program());
    outer.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        outer.current_dir(folder);
    }
    outer
}

/// Processes of a job, and below the runner itself.
#[test]
fn a_runner_that_is_ended_by_a_signal_leaves_no_process_behind() {
    const SCRIPT: &str = "sleep 100 & echo begun >>$FUTHARK_TESTS_LOG; sleep 100";
    let end = |pattern: &str, signal: Signal| {
        let hostile = needed!(Hostile::new(pattern, SCRIPT));
        let mut command = with_default_signals(&hostile.command(""));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut runner = command.spawn().expect("the program starts");
        hostile.wait_for_log();
        assert!(hostile.processes().len() >= 4, "{:?}", hostile.processes());
        kill_process(Pid::from_child(&runner), signal).expect("it runs");
        assert!(!runner.wait().expect("it was started").success());
        hostile.assert_no_process_remains();
    };
    thread::scope(|scope| {
        for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::KILL] {
            scope.spawn(move || end("'c '*hostile*", signal));
        }
        scope.spawn(|| end("--version", Signal::KILL));
    });
}

#[test]
fn a_process_that_a_compiler_leaves_behind_is_ended() {
    let script = "sleep 100 &";
    let hostile = needed!(Hostile::new("'c '*hostile*", script));
    hostile.run(" --check compile").ends_with(0);
    hostile.assert_no_process_remains();
}

#[test]
fn a_compiler_that_grows_is_stopped_by_the_memory_limit() {
    // The shell doubles a text.
    let script = "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done";
    let hostile = needed!(Hostile::new("'c '*hostile*", script));
    let [check, cause, _] = hostile.failure(" --memory 256");
    assert_eq!(check, "compile");
    assert_ne!(cause, "timeout");
}

#[test]
fn a_memory_limit_that_is_too_low_for_anything_is_a_failure() {
    let hostile = needed!(Hostile::new("never", ""));
    let run = hostile.run(" --memory 1");
    let shown = run.shown();
    // Of the job, or of the probe before it.
    assert!(matches!(run.code(), Some(1 | 3)), "{shown}");
    assert!(!shown.contains("panicked"), "{shown}");
}

#[test]
fn a_compiler_that_writes_without_end_does_not_fill_the_disk() {
    let script = "exec cat /dev/zero >$FUTHARK_TESTS_LOG";
    let hostile = needed!(Hostile::new("'c '*hostile*", script));
    let [.., message] = hostile.failure(" --memory 256");
    assert_has(&message, "SIGXFSZ");
    let log = hostile.scene.path("log");
    let written = fs::metadata(log).expect("it exists").len();
    assert_eq!(written, 256 << 20);
}

#[test]
fn a_compiler_that_prints_without_end_takes_no_memory() {
    // With what it takes anyway, more than the memory limit of each process.
    let script =
        "echo first >&2; head -c 250000000 /dev/zero | tr '\\0' x >&2; echo last >&2; exit 2";
    let hostile = needed!(Hostile::new("'c '*hostile*", script));
    let [.., message] = hostile.failure(" --memory 256");
    assert!(message.len() < 100_000, "{}", message.len());
    for part in ["first\nxxx", "bytes omitted", "xxxlast"] {
        assert!(message.contains(part), "{part}: {message:.1000}");
    }
}

#[test]
fn a_program_that_allocates_everything_fails_alone() {
    let hostile = needed!(Hostile::new("never", ""));
    let program = "\
-- ==
-- entry: f
-- input { 1000000000000i64 } output { 0i64 }
entry f (n: i64): i64 = let xs = scan (+) 0 (iota n) in xs[n / 2]
";
    hostile.scene.write(&hostile.program, program);
    let [.., message] = hostile.failure(" --check blocks --memory 512");
    assert_has(&message, "memory");
}

/// The other run takes longer than this one's time limit.
#[test]
fn waiting_for_another_run_is_not_a_timeout() {
    needed!(needs::full());
    let script = "echo begun >>$FUTHARK_TESTS_LOG; sleep 5";
    let hostile = needed!(Hostile::new("'c '*hostile*", script));
    let mut first = hostile.command(" --check compile --timeout 100");
    first.stdout(Stdio::null());
    let mut first = Running(first.stderr(Stdio::null()).spawn().expect("it starts"));
    hostile.wait_for_log();
    hostile.run(" --check compile --timeout 4").ends_with(0);
    assert_eq!(hostile.log(), "begun\n", "the second run has its own build");
    assert!(first.0.wait().expect("it was started").success());
}

/// A process that does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn absurd_numbers_are_errors_of_usage() {
    let scene = Scene::without_compiler(&[("a.fut", PROGRAM)]);
    const HUGE: &str = "18446744073709551615";
    for option in [
        "--timeout",
        "--memory",
        "--jobs",
        "--cases",
        "--seed=x --jobs",
    ] {
        for number in [HUGE, "18446744073709551616", "-1", "nan"] {
            let arguments = format!("run a.fut --futhark /nowhere/futhark {option} {number}");
            let shown = scene.ends(&arguments, 2);
            assert!(!shown.contains("panicked"), "{option} {number}: {shown}");
        }
    }
}
