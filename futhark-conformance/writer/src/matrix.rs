//! Runs programs on compilers and backends, with and without the checks that futhark-sys adds, by `futhark-conformance`.

use anyhow::{Context as _, Result, ensure};
use futhark_conformance::{Cause, Outcome, Record};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where programs run.
#[derive(Clone)]
pub struct Matrix {
    /// Paths of compilers.
    pub compilers: Vec<String>,
    pub backends: Vec<String>,
    /// Backends that also run without the checks.
    pub plain: Vec<String>,
}

/// What went wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Wrong,
    Death,
    Hang,
    /// An error only there, or only in the interpreter.
    Error,
    /// The program does not compile.
    Refused,
}

/// The failure of a call, or of a program.
#[derive(Clone)]
pub struct Failure {
    /// Compiler, backend, and `hardened` or `plain`.
    pub setup: String,
    pub program: String,
    pub case: String,
    pub kind: Kind,
    pub message: String,
}

#[derive(Default)]
pub struct Run {
    pub failures: Vec<Failure>,
    /// The setups that ran.
    pub setups: BTreeSet<String>,
    pub compared: usize,
}

impl Matrix {
    /// Runs the programs of a folder.
    pub fn run(&self, folder: &Path) -> Result<Run> {
        let mut run = Run::default();
        for (how, backends) in [("hardened", &self.backends), ("plain", &self.plain)] {
            if backends.is_empty() {
                continue;
            }
            let json = folder.join(how).with_extension("jsonl");
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["run", "--all", "--check", "compile", "--check", "blocks"]);
            command.args(["--timeout", "30", "--emulate", "always"]);
            command.arg("--backend").arg(backends.join(","));
            command
                .arg("--build-dir")
                .arg(folder.with_file_name("build"));
            command.arg("--json").arg(&json).arg(folder);
            for compiler in &self.compilers {
                command.args(["--futhark", compiler]);
            }
            for backend in backends {
                // PoCL 3.1, which is found as well, computes wrong results.
                let device = match backend.as_str() {
                    "opencl" => "Oclgrind*",
                    "cuda" | "hip" => "emulated",
                    _ => "cpu",
                };
                command.args(["--device", device]);
            }
            command.env("FUTHARK_HARDENED", if how == "plain" { "0" } else { "1" });
            let output = command.stdin(Stdio::null()).output()?;
            let text = std::fs::read_to_string(&json).unwrap_or_default();
            let is_complete = text
                .lines()
                .last()
                .is_some_and(|end| end.contains("\"records\""));
            ensure!(is_complete, "{}", String::from_utf8_lossy(&output.stderr));
            for line in text.lines().filter(|line| line.contains("\"outcome\"")) {
                run.add(
                    serde_json::from_str(line).with_context(|| line.to_owned())?,
                    how,
                );
            }
        }
        Ok(run)
    }
}

impl Run {
    fn add(&mut self, Record { job, result }: Record, how: &str) {
        let setup = format!("{} {} {how}", job.compiler, job.backend);
        if result.check == "blocks" && result.outcome != Outcome::Skip {
            self.compared += 1;
            self.setups.insert(setup.clone());
        }
        let kind = match (result.outcome, result.cause) {
            (Outcome::Pass | Outcome::Skip | Outcome::ExpectedFail, _) => return,
            // 0.25.27 does not end for some programs that 0.25.32 compiles at once.
            (_, Some(Cause::Timeout)) if result.check == "compile" => {
                println!("{}: not compiled in time with {setup}", job.program);
                return;
            }
            _ if result.check != "blocks" => Kind::Refused,
            (_, Some(Cause::Crash)) => Kind::Death,
            (_, Some(Cause::Timeout)) => Kind::Hang,
            (_, Some(Cause::Error)) => Kind::Error,
            _ if result.message.starts_with("expected an error") => Kind::Error,
            _ => Kind::Wrong,
        };
        let program = job
            .program
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        let (case, message) = (result.case, result.message);
        self.failures.push(Failure {
            setup,
            program,
            case,
            kind,
            message,
        });
    }

    /// The failures of a program.
    pub fn of(&self, program: &str) -> impl Iterator<Item = &Failure> {
        self.failures
            .iter()
            .filter(move |failure| failure.program == program)
    }
}
