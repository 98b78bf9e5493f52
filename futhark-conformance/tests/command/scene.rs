//! A folder of small programs and of compilers that are scripts around the real one.

use super::{build_dir, command, needs};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The smallest program.
pub const PROGRAM: &str = "entry f (x: i32): i32 = x\n";

pub struct Scene {
    folder: tempfile::TempDir,
    real: PathBuf,
}

impl Scene {
    /// `None` without a Futhark compiler.
    pub fn new() -> Option<Scene> {
        Some(Scene {
            real: needs::compiler_path()?,
            folder: tempfile::tempdir().expect("a folder for temporary files"),
        })
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: impl AsRef<Path>, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A compiler: the script runs before the real one, with its arguments.
    pub fn compiler(&self, name: &str, script: &str) -> PathBuf {
        let real = self.real.display();
        let path = self.write(
            name,
            &format!("#!/bin/sh\n{script}\nexec '{real}' \"$@\"\n"),
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn real(&self) -> &Path {
        &self.real
    }

    /// A command in the folder.
    pub fn command(&self, subcommand: &str) -> Command {
        let mut command = command(self.folder.path());
        command.arg(subcommand);
        command
    }

    /// `run` of the check `compile` on backend c, with these arguments, into `report.jsonl`.
    pub fn run_command(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = self.command("run");
        command.args([
            "--backend",
            "c",
            "--check",
            "compile",
            "--json",
            "report.jsonl",
            "--all",
        ]);
        command.arg("--build-dir").arg(build_dir()).args(arguments);
        command
    }

    /// The result of [`run_command`](Scene::run_command).
    pub fn run(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
        let output = self.run_command(arguments).output();
        output.expect("the program starts")
    }

    /// The lines of `report.jsonl`.
    pub fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("report.jsonl")).expect("there is a report");
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("each line is JSON"))
            .collect()
    }

    /// The records of `report.jsonl`: the given keys of each.
    pub fn records<const N: usize>(&self, keys: [&str; N]) -> Vec<[String; N]> {
        let lines = self.lines();
        let records = lines.iter().filter(|line| line["outcome"].is_string());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        records
            .map(|record| keys.map(|key| text(&record[key])))
            .collect()
    }
}
