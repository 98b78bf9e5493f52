//! A folder of files in which the command runs, compilers that are scripts around the real one, and
//! what a run prints and reports.

use super::{build_dir, command, needs, text};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The smallest program.
pub const PROGRAM: &str = "entry f (x: i32): i32 = x\n";

/// Fails, and shows the text, unless it has the words.
#[track_caller]
pub fn assert_has(text: &str, words: &str) {
    assert!(text.contains(words), "no {words:?} in\n{text}");
}

pub struct Scene {
    folder: tempfile::TempDir,
    /// The newest compiler.
    pub futhark: PathBuf,
}

impl Scene {
    /// `None` without a Futhark compiler.
    pub fn new(files: &[(&str, &str)]) -> Option<Scene> {
        let futhark = needs::compiler_path()?;
        Some(Scene {
            futhark,
            ..Scene::without_compiler(files)
        })
    }

    /// For commands that need none.
    pub fn without_compiler(files: &[(&str, &str)]) -> Scene {
        let scene = Scene {
            folder: tempfile::tempdir().expect("a folder for temporary files"),
            futhark: PathBuf::new(),
        };
        for (name, text) in files {
            scene.write(name, text);
        }
        scene
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A program that is a script.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, format!("#!/bin/sh\n{text}"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A compiler: the script runs before the real one, with its arguments.
    pub fn compiler(&self, name: &str, script: &str) -> PathBuf {
        let real = self.futhark.display();
        self.script(name, &format!("{script}\nexec '{real}' \"$@\"\n"))
    }

    /// A command in the folder, with these arguments, separated by spaces.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = command(self.folder.path());
        command.args(arguments.split(' '));
        command
    }

    /// The command with the compiler, and the build folder of all tests.
    pub fn compiling(&self, arguments: &str) -> Command {
        let mut command = self.command(arguments);
        command.arg("--build-dir").arg(build_dir());
        command.arg("--futhark").arg(&self.futhark);
        command
    }

    /// `run` with these arguments, which writes `report.jsonl`.
    pub fn run(&self, arguments: &str) -> Run {
        self.run_with(&[], arguments)
    }

    /// The same with further arguments, which may contain spaces.
    pub fn run_with(&self, further: &[&str], arguments: &str) -> Run {
        let mut command = self.compiling(&format!("run --json report.jsonl {arguments}"));
        self.ended(command.args(further))
    }

    /// A command line for a shell that finds the command.
    pub fn shell(&self, line: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_futhark-conformance"));
        let folder = program.parent().expect("it is in a folder").display();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        command
            .args(["-c", line])
            .env("PATH", format!("{folder}:{path}"));
        command.current_dir(self.folder.path());
        command
    }

    /// The outcome of a command, with the lines of `report.jsonl`.
    pub fn ended(&self, command: &mut Command) -> Run {
        let output = command.output().expect("the program starts");
        let report = fs::read_to_string(self.path("report.jsonl")).unwrap_or_default();
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
}

pub struct Run {
    pub output: Output,
    /// The header, the records and the end of the report; null for a line that is cut off.
    pub lines: Vec<Value>,
}

impl Run {
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
