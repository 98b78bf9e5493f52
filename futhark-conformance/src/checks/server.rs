//! The check `server`: the program that `futhark c --server` compiles from the same source gives
//! the same results, in a process of its own.

use super::differential::prepare;
use crate::compare::Within;
use crate::harness::cases::{Cases, CheckResult, Stop};
use crate::harness::content::{Content, Reading};
use crate::harness::env::Env;
use crate::harness::session::{self, CallResult, Implementation, Side, Sides};
use crate::inputs::{Input, Refusal, elem_of};
use crate::lines::{Lines, shortened};
use crate::values::data;
use futhark_manifest::{Backend, EntryPoint};
use futhark_safe::ErrorKind;
use futhark_safe::compile::process;
use futhark_safe::dynamic::Value;
use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// The number of inputs per entry point, unless the user chose one.
const CASES: u32 = 16;

/// The most bytes to keep of a line of the server, and of an error.
const LINE: usize = 64 << 10;

/// The most lines to keep of an error.
const LINES: usize = 1000;

pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    if env.program().backend != Backend::C {
        return cases.skip(
            "server",
            "",
            "only backend c is compared with server programs",
        );
    }
    let Some(server) = prepare(cases, "server", "build", || Server::build(env)) else {
        return;
    };
    let sides = Sides {
        env,
        tested: &server,
        // Called first. If the library refuses a size, the server is not called (`ignores_overflow`).
        oracle: &server.library,
        names: ("the server program", "the library"),
        store: &env.store("server"),
        cases: env.cases().unwrap_or(CASES),
        within: Within::Bits,
        ignores_overflow: true,
    };
    for entry in env.program().entries() {
        cases.run_generated(env, "server", &entry.name, || {
            session::compare(&sides, entry, None)
        });
    }
}

/// The server program, started on first use and again after it has died.
struct Server<'a> {
    library: Side<'a>,
    program: PathBuf,
    folder: TempDir,
    running: RefCell<Option<Running>>,
}

impl<'a> Server<'a> {
    /// Compiles the program into the folder of the library, unless it is already there.
    fn build(env: &'a Env<'a>) -> CheckResult<Server<'a>> {
        let unmade = |error: &str| Stop::skip(format!("no server program: {error}"));
        let failed = |error: std::io::Error| unmade(&error.to_string());
        let futhark = env.open(&env.spec.compiler);
        let futhark = futhark.map_err(|error| unmade(&format!("{error:#}")))?;
        let compiler = futhark.compiler().map_err(|error| unmade(&error))?;
        let program = env.artifact.folder().join("server");
        if !program.is_file() {
            // A rename puts the program into place, so the work folder must be in the same file system.
            let work = tempfile::tempdir_in(&env.spec.run.build_dir).map_err(failed)?;
            let made = work.path().join("server");
            let level = if env.spec.run.optimise { "-O3" } else { "-O0" };
            let mut command = Command::new(compiler.program());
            command.args(["c", "--server", "-o"]);
            command.args([&made, env.source]);
            command.env("CFLAGS", format!("{level} -std=c99 -ffp-contract=off"));
            let output = process::run(&mut command).map_err(failed)?;
            if !output.status.success() {
                return Err(unmade(output.stderr().trim()));
            }
            std::fs::rename(&made, &program).map_err(failed)?;
        }
        Ok(Server {
            library: Side::tested(env, Reading::Stored),
            program,
            folder: tempfile::tempdir().map_err(failed)?,
            running: RefCell::default(),
        })
    }

    /// Writes the arguments as the server reads them: one file per argument.
    fn write(&self, entry: &EntryPoint, arguments: &[Input]) -> CheckResult<Result<(), Refusal>> {
        let context = self.library.context()?;
        for (number, (input, parameter)) in arguments.iter().zip(&entry.inputs).enumerate() {
            let bytes = match input {
                Input::Host(value) => data::write(value),
                _ => match input.upload(&context, parameter.ty) {
                    Ok(Value::Opaque(opaque)) => opaque.store()?.body().to_vec(),
                    Ok(Value::Array(_) | Value::Scalar(_)) => return Ok(Err(Refusal::Unfit)),
                    Err(refusal) => return Ok(Err(refusal)),
                },
            };
            std::fs::write(self.file(&format!("in{number}")), bytes)
                .map_err(|error| Stop::skip(format!("failed to write an argument: {error}")))?;
        }
        Ok(Ok(()))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Sends commands until one fails.
    fn talk(&self, commands: &[String]) -> Result<(), Refusal> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&self.program).ok_or_else(died)?,
        };
        let reply = commands
            .iter()
            .try_for_each(|command| running.command(command));
        // Otherwise the process is dropped, which kills it.
        if !matches!(&reply, Err(Refusal::Error { kind, .. }) if *kind == ErrorKind::ContextLost) {
            self.running.replace(Some(running));
        }
        reply
    }

    /// Calls the entry point; the results are in files.
    fn call(&self, entry: &EntryPoint) -> Result<(), Refusal> {
        let program = self.library.program();
        let file = |name: &str| word(&self.file(name).to_string_lossy());
        let variables = |prefix: &str, count: usize| -> Vec<String> {
            (0..count)
                .map(|number| format!("{prefix}{number}"))
                .collect()
        };
        let arguments = variables("in", entry.inputs.len());
        let results = variables("out", entry.outputs.len());
        let restored = arguments.iter().zip(&entry.inputs).map(|(name, input)| {
            let ty = word(program.name_of(input.ty));
            format!("restore {} {name} {ty}", file(name))
        });
        let mut commands: Vec<String> = restored.collect();
        let all = [&results[..], &arguments].concat();
        let call = format!("call {} {}", word(&entry.name), all.join(" "));
        commands.push(call.trim_end().to_owned());
        let stored = results.iter();
        commands.extend(stored.map(|name| format!("store {} {name}", file(name))));
        let reply = self.talk(&commands);
        // A failed call may or may not have created its variables.
        for name in all {
            let _ = self.talk(&[format!("free {name}")]);
        }
        reply
    }

    fn results(&self, entry: &EntryPoint) -> CheckResult<Vec<Content>> {
        let program = self.library.program();
        let contents = entry.outputs.iter().enumerate().map(|(number, output)| {
            let bytes = std::fs::read(self.file(&format!("out{number}"))).unwrap_or_default();
            let mut parts = data::read(&bytes).ok_or_else(|| {
                Stop::mismatch(format!(
                    "the server program stored result {number} in an undocumented format"
                ))
            })?;
            Ok(match (elem_of(program, output.ty), parts.len()) {
                (Some(_), 1) => Content::Host(parts.remove(0)),
                _ => Content::stored(parts).without_units(program, output.ty),
            })
        });
        contents.collect()
    }
}

impl Implementation for Server<'_> {
    fn call_entry(&self, entry: &str, arguments: &[Input]) -> CheckResult<CallResult> {
        let entry = self.library.program().entry(entry);
        // Without parameters and results there is nothing to compare.
        let entry = entry.filter(|entry| !entry.inputs.is_empty() || !entry.outputs.is_empty());
        let Some(entry) = entry else {
            return Ok(Err(Refusal::Unfit));
        };
        let written = self.write(entry, arguments)?;
        match written.and_then(|()| self.call(entry)) {
            Ok(()) => self.results(entry).map(Ok),
            Err(refusal) => Ok(Err(refusal)),
        }
    }
}

/// An error of the library ends a plain program.
fn died() -> Refusal {
    Refusal::Error {
        kind: ErrorKind::ContextLost,
        message: "the server program died".to_owned(),
    }
}

/// The name as one word of a command.
fn word(name: &str) -> String {
    if name.contains(char::is_whitespace) {
        format!("\"{name}\"")
    } else {
        name.to_owned()
    }
}

/// A running server program. A command is one line; the answer is any number of lines, then a line
/// that ends it. Dropping this kills the process; the time limit of the case ends one that hangs.
struct Running {
    child: Child,
    commands: ChildStdin,
    lines: Lines<ChildStdout>,
}

impl Running {
    /// Starts a program, and waits until it is ready. `None` if it does not become ready.
    fn start(program: &Path) -> Option<Running> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // The error messages of this process are not needed.
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut running = Running {
            commands: child.stdin.take()?,
            lines: Lines::new(child.stdout.take()?, LINE),
            child,
        };
        running.reply().is_ok().then_some(running)
    }

    /// Sends a command. If the server has died, it cannot be used after that.
    fn command(&mut self, command: &str) -> Result<(), Refusal> {
        writeln!(self.commands, "{command}").map_err(|_| died())?;
        self.reply()
    }

    fn reply(&mut self) -> Result<(), Refusal> {
        let mut error: Option<Vec<String>> = None;
        for (line, _) in self.lines.by_ref() {
            let line = String::from_utf8_lossy(&line);
            match (line.trim_end(), &mut error) {
                ("%%% OK", None) => return Ok(()),
                ("%%% OK", Some(text)) => {
                    return Err(Refusal::Error {
                        kind: ErrorKind::Program,
                        message: shortened(text.join("\n"), LINE),
                    });
                }
                ("%%% FAILURE", _) => error = Some(Vec::new()),
                (line, Some(text)) if text.len() < LINES => text.push(line.to_owned()),
                _ => {}
            }
        }
        Err(died())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // This fails if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn script(text: &str) -> (TempDir, Option<Running>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server");
        fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        let running = Running::start(&path);
        (folder, running)
    }

    #[test]
    fn failures_are_distinguished_from_answers() {
        let text = "echo '%%% OK'; read a; echo runtime: 5; echo '%%% OK'\n\
                    read a; echo '%%% FAILURE'; echo \"no $a\"; echo '%%% OK'; read a\n";
        let (_folder, running) = script(text);
        let mut running = running.unwrap();
        assert!(running.command("call f").is_ok());
        let failed = running.command("call g").unwrap_err();
        assert!(matches!(failed, Refusal::Error { message, .. } if message == "no call g"));
    }

    #[test]
    fn a_server_that_dies_is_lost() {
        let (_folder, running) = script("echo '%%% OK'; read a; exit 1\n");
        let lost = running.unwrap().command("call f").unwrap_err();
        assert!(matches!(lost, Refusal::Error { kind, .. } if kind == ErrorKind::ContextLost));
        assert!(script("exit 0\n").1.is_none());
    }
}
