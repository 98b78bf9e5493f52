//! A client of the protocol of `futhark c --server`, which the drivers of bridges also follow (`docs/bridges.md`): a
//! process that has variables and executes commands.

use super::calls::download;
use super::cases::CheckResult;
use super::content::Content;
use super::session::{CallResult, Implementation, Side};
use crate::inputs::{Input, Refusal, elem_of};
use crate::lines::{Lines, shortened};
use crate::values::data;
use futhark_manifest::{EntryPoint, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::Value;
use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// The most bytes to keep of a line of the process, and of an error.
const LINE: usize = 64 << 10;

/// The most lines to keep of an answer.
const LINES: usize = 1000;

/// The line before the message of a failure.
const FAILURE: &str = "%%% FAILURE";

/// A process that executes commands, started on first use and again after it has died.
pub struct Server<'a> {
    /// Makes arguments.
    pub library: Side<'a>,
    folder: TempDir,
    command: RefCell<Command>,
    running: RefCell<Option<Running>>,
    /// The number of variables and files so far, because each has its own name.
    names: Cell<usize>,
}

/// The answer to a command: what was asked for, or the error. After one of kind [`ErrorKind::ContextLost`] the process
/// has ended, and all variables are lost.
pub type Reply<T> = Result<T, Refusal>;

impl<'a> Server<'a> {
    /// Will start the command, and exchange values with it by files in the folder.
    pub fn new(library: Side<'a>, folder: TempDir, command: Command) -> Server<'a> {
        Server {
            library,
            folder,
            command: RefCell::new(command),
            running: RefCell::default(),
            names: Cell::default(),
        }
    }

    /// A name that no variable has.
    pub fn fresh(&self) -> String {
        self.names.set(self.names.get() + 1);
        format!("v{}", self.names.get())
    }

    /// A name for each element.
    pub fn fresh_for<T>(&self, elements: &[T]) -> Vec<String> {
        elements.iter().map(|_| self.fresh()).collect()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Executes a command of these words. Returns the lines of the answer.
    pub fn send<W: AsRef<str>>(&self, words: &[W]) -> Reply<Vec<String>> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&mut self.command.borrow_mut(), &self.file("stderr"))?,
        };
        let reply = running.command(&line_of(words));
        // Otherwise the process is dropped, which kills it.
        if !has_ended(&reply) {
            self.running.replace(Some(running));
        }
        reply
    }

    /// Ends the process. The next command starts it again.
    pub fn stop(&self) {
        self.running.take();
    }

    /// Writes a value to a file, and restores it in a new variable.
    pub fn put(&self, ty: TypeRef, value: &Value) -> Reply<String> {
        let bytes = match value {
            Value::Opaque(opaque) => opaque.store()?.body().to_vec(),
            value => data::write(&download(value).map_err(|_| Refusal::Unfit)?),
        };
        let variable = self.fresh();
        self.restore(&variable, ty, &bytes)?;
        Ok(variable)
    }

    /// Restores a variable from these bytes.
    pub fn restore(&self, variable: &str, ty: TypeRef, bytes: &[u8]) -> Reply<()> {
        let file = self.file(variable);
        // A full disk says nothing about the process, as missing memory.
        let failed = |error: io::Error| refusal(ErrorKind::OutOfMemory, error.to_string());
        fs::write(&file, bytes).map_err(failed)?;
        let ty = self.library.program().name_of(ty);
        let restored = self.send(&["restore", &file.to_string_lossy(), variable, ty]);
        let _ = fs::remove_file(file);
        restored.map(drop)
    }

    /// The bytes that the process stores for a variable.
    pub fn store(&self, variable: &str) -> Reply<Vec<u8>> {
        let file = self.file(variable);
        self.send(&["store", &file.to_string_lossy(), variable])?;
        let bytes = fs::read(&file);
        let _ = fs::remove_file(file);
        bytes.map_err(|error| refusal(ErrorKind::Program, format!("it stored no file: {error}")))
    }

    /// The value of a variable.
    pub fn get(&self, ty: TypeRef, variable: &str) -> Reply<Content> {
        let (program, parts) = (self.library.program(), data::read(&self.store(variable)?));
        let unreadable = || format!("{variable} is stored in an undocumented format");
        let mut parts = parts.ok_or_else(|| refusal(ErrorKind::Program, unreadable()))?;
        Ok(match (elem_of(program, ty), parts.len()) {
            (Some(_), 1) => Content::Host(parts.remove(0)),
            _ => Content::stored(parts).without_units(program, ty),
        })
    }

    /// Calls an entry point. Returns the variables of its results.
    pub fn call(&self, entry: &EntryPoint, arguments: &[String]) -> Reply<Vec<String>> {
        let results = self.fresh_for(&entry.outputs);
        let words = ["call".to_owned(), entry.name.to_string()];
        self.send(&[&words, &*results, arguments].concat())?;
        Ok(results)
    }

    /// Calls an entry point with values. Adds all variables to `variables`.
    fn results(
        &self,
        entry: &EntryPoint,
        values: &[Value],
        variables: &mut Vec<String>,
    ) -> Reply<Vec<Content>> {
        for (input, value) in entry.inputs.iter().zip(values) {
            variables.push(self.put(input.ty, value)?);
        }
        let results = self.call(entry, variables)?;
        variables.extend_from_slice(&results);
        let results = entry.outputs.iter().zip(&results);
        results
            .map(|(output, variable)| self.get(output.ty, variable))
            .collect()
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
        let values = match Input::upload_all(arguments, &*self.library.context()?, entry) {
            Ok(values) => values,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut variables = Vec::new();
        let results = self.results(entry, &values, &mut variables);
        if !has_ended(&results) {
            for variable in variables {
                let _ = self.send(&["free", &variable]);
            }
        }
        Ok(results)
    }
}

/// Whether the process has ended instead of answering.
pub fn has_ended<T>(reply: &Reply<T>) -> bool {
    matches!(reply, Err(Refusal::Error { kind, .. }) if *kind == ErrorKind::ContextLost)
}

/// The message of a command that has failed without ending the process.
pub fn failure<T>(reply: &Reply<T>) -> Option<&str> {
    match reply {
        Err(Refusal::Error { kind, message }) if *kind != ErrorKind::ContextLost => Some(message),
        _ => None,
    }
}

fn refusal(kind: ErrorKind, message: String) -> Refusal {
    Refusal::Error { kind, message }
}

/// The words as a line.
fn line_of<W: AsRef<str>>(words: &[W]) -> String {
    let words = words.iter().map(AsRef::as_ref);
    let quoted = words.map(|word| match word.contains(char::is_whitespace) {
        true => format!("\"{word}\""),
        false => word.to_owned(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// A running process. A command is one line; the answer is any number of lines, then a line that ends it. Dropping this
/// kills the process; the time limit of the case ends one that hangs.
struct Running {
    child: Child,
    commands: ChildStdin,
    lines: Lines<ChildStdout>,
    errors: PathBuf,
}

impl Running {
    /// Starts a process, whose standard error goes to the file `errors`, and waits until it is ready.
    fn start(command: &mut Command, errors: &Path) -> Reply<Running> {
        let mut start = || {
            let mut child = command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(File::create(errors)?)
                .spawn()?;
            let pipes = child.stdin.take().zip(child.stdout.take());
            let (commands, stdout) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
            Ok(Running {
                child,
                commands,
                lines: Lines::new(stdout, LINE),
                errors: errors.to_owned(),
            })
        };
        let failed = |error: io::Error| refusal(ErrorKind::ContextLost, error.to_string());
        let mut running = start().map_err(failed)?;
        running.reply()?;
        Ok(running)
    }

    fn command(&mut self, line: &str) -> Reply<Vec<String>> {
        // If the process has ended, so has the answer.
        let _ = writeln!(self.commands, "{line}");
        self.reply()
    }

    fn reply(&mut self) -> Reply<Vec<String>> {
        let mut text: Vec<String> = Vec::new();
        for (line, _) in self.lines.by_ref() {
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            if line == "%%% OK" {
                let Some(at) = text.iter().position(|line| line == FAILURE) else {
                    return Ok(text);
                };
                let message = shortened(text[at + 1..].join("\n"), LINE);
                return Err(refusal(ErrorKind::Program, message));
            }
            if text.len() < LINES || line == FAILURE {
                text.push(line);
            }
        }
        Err(self.ended())
    }

    /// The error of a process that has closed its standard output.
    fn ended(&mut self) -> Refusal {
        let _ = self.child.kill();
        let status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let errors = fs::read(&self.errors).unwrap_or_default();
        let errors = shortened(String::from_utf8_lossy(&errors).trim().to_owned(), LINE);
        let message = format!("the process has ended ({status}): {errors}");
        refusal(ErrorKind::ContextLost, message)
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

    fn script(text: &str) -> (TempDir, Reply<Running>) {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        let command = command.args(["-c", text]);
        let running = Running::start(command, &folder.path().join("stderr"));
        (folder, running)
    }

    fn message<T>(reply: Reply<T>) -> String {
        match reply {
            Err(Refusal::Error { message, .. }) => message,
            _ => panic!("expected an error"),
        }
    }

    #[test]
    fn failures_are_distinguished_from_answers() {
        let text = "echo '%%% OK'; read a; echo runtime: 5; echo '%%% OK'\n\
                    read a; echo noise; echo '%%% FAILURE'; echo \"no $a\"; echo '%%% OK'; read a\n";
        let (_folder, running) = script(text);
        let mut running = running.unwrap_or_else(|_| panic!("it starts"));
        assert_eq!(running.command("call f").unwrap(), ["runtime: 5"]);
        assert_eq!(message(running.command("call g")), "no call g");
    }

    #[test]
    fn a_process_that_ends_is_lost() {
        let (_folder, running) = script("echo '%%% OK'; read a; echo why >&2; exit 3\n");
        let mut running = running.unwrap_or_else(|_| panic!("it starts"));
        let reply = running.command("call f");
        assert!(has_ended(&reply));
        let text = message(reply);
        assert!(
            text.contains("exit status: 3") && text.ends_with(": why"),
            "{text}"
        );
        assert!(has_ended(&script("exit 0\n").1));
    }

    #[test]
    fn words_with_spaces_are_quoted() {
        assert_eq!(
            line_of(&["new", "v1", "(i32, bool)"]),
            "new v1 \"(i32, bool)\""
        );
    }
}
