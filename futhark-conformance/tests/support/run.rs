//! The program `futhark-conformance` as its users run it: the build folder of all tests, and what a run prints and
//! reports.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The build folder of all test binaries: the emulated device, its kernels, and programs. Later runs
/// reuse it, and so does `.ci/run`. Programs are given by relative paths, so that tests with the same program share its
/// build.
pub fn kept() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds")
}

/// The command.
pub fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_futhark-conformance"))
}

/// The standard output and the standard error.
pub fn text(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    format!("{}{error}", String::from_utf8_lossy(&output.stdout))
}

/// Writes a program that is a script.
pub fn write_script(path: PathBuf, text: &str) -> PathBuf {
    fs::write(&path, text).expect("the folder can be written");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&path, mode).expect("the file was created by this test");
    path
}

/// The outcome of a run.
pub struct Run {
    pub output: Output,
    /// The header, the records and the end of the report; null for a line that is cut off.
    pub lines: Vec<Value>,
}

impl Run {
    /// The outcome of a command that writes this report.
    pub fn new(command: &mut Command, report: &Path) -> Run {
        let output = command.output().expect("the program starts");
        let report = fs::read_to_string(report).unwrap_or_default();
        let count = report.lines().count();
        let read = |(number, line)| match serde_json::from_str(line) {
            Ok(value) => value,
            // A run that was killed can cut it short.
            Err(_) if number + 1 == count => Value::Null,
            Err(error) => panic!("line {number} is not JSON: {error}: {line}"),
        };
        Run {
            lines: report.lines().enumerate().map(read).collect(),
            output,
        }
    }

    pub fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    pub fn shown(&self) -> String {
        text(&self.output)
    }

    /// Fails unless the command ended with this code. Returns what it printed.
    #[track_caller]
    pub fn ends_with(&self, code: i32) -> String {
        let shown = self.shown();
        assert_eq!(self.code(), Some(code), "{shown}");
        shown
    }

    pub fn records(&self) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(|line| line["outcome"].is_string())
    }

    /// The given keys of each record.
    pub fn texts<const N: usize>(&self, keys: [&str; N]) -> Vec<[&str; N]> {
        let records = self.records();
        let texts = records.map(|record| keys.map(|key| record[key].as_str().unwrap_or_default()));
        texts.collect()
    }

    /// Outcome and message of a case, in the first job that has it.
    #[track_caller]
    pub fn case(&self, check: &str, case: &str) -> (&str, &str) {
        let of = |record: &&Value| record["check"] == check && record["case"] == case;
        let Some(found) = self.records().find(of) else {
            panic!("no {check}:{case} in\n{}", self.shown());
        };
        let text = |key: &str| found[key].as_str().unwrap_or_default();
        (text("outcome"), text("message"))
    }
}
