//! A folder of files in which the command runs, compilers that are scripts around the real one, and
//! what a run prints and reports.

use super::needs;
use super::run::{self, kept};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use super::run::Run;

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
        run::write_script(self.path(name), &format!("#!/bin/sh\n{text}"))
    }

    /// A compiler: the script runs before the real one, with its arguments.
    pub fn compiler(&self, name: &str, script: &str) -> PathBuf {
        let real = self.futhark.display();
        self.script(name, &format!("{script}\nexec '{real}' \"$@\"\n"))
    }

    /// A command in the folder, with these arguments, separated by spaces.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = run::command();
        command.current_dir(self.folder.path());
        command.args(arguments.split(' '));
        command
    }

    /// The command with the compiler, and the build folder of all tests.
    pub fn compiling(&self, arguments: &str) -> Command {
        let mut command = self.command(arguments);
        command.arg("--build-dir").arg(kept());
        command.arg("--futhark").arg(&self.futhark);
        command
    }

    /// Fails unless a command with these arguments ends with this code. Returns what it printed.
    #[track_caller]
    pub fn ends(&self, arguments: &str, code: i32) -> String {
        let run = self.ended(&mut self.command(arguments));
        run.ends_with(code)
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
        Run::new(command, &self.path("report.jsonl"))
    }
}
