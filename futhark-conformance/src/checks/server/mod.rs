//! The check `server`: the program that `futhark c --server` compiles from the same source gives
//! the same results, in a process of its own.

mod build;
mod process;

use crate::harness::content::{Content, Within};
use crate::harness::env::Env;
use crate::harness::sides::{Answer, Look, Outcome, Session, Side, Sides};
use crate::harness::steps::{StepResult, Steps, Stop};
use crate::inputs::{Failure, Input, Store, binary};
use futhark_manifest::{Backend, EntryPoint};
use futhark_safe::dynamic::Value;
use futhark_safe::{ErrorKind, Tuning};
use process::{Reply, Server};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// The number of inputs per entry point, unless the user chose one.
const CASES: u32 = 8;

/// The time limit of either side.
const LIMIT: Duration = Duration::from_secs(10);

/// Compares every entry point.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    if env.program().backend != Backend::C {
        return steps.skip(
            "server",
            "",
            "only backend c is compared with server programs",
        );
    }
    let mut built = Err(Stop::skip("it ended an earlier process"));
    steps.need("server", "build", None, || {
        built = Servers::build(env);
        Ok(())
    });
    let servers = match built {
        Ok(servers) => servers,
        Err(
            Stop::Skip { reason }
            | Stop::Fail {
                message: reason, ..
            },
        ) => {
            return steps.skip("server", "", &reason);
        }
    };
    let name = "the server program";
    let place = format!("server-{}", env.others.label(&env.others.compiler));
    let store = Store::open(&env.inputs, &env.others.source, &place);
    let sides = Sides {
        env,
        tested: &servers,
        // The server is called first, because a call that does not end can be killed.
        oracle: &servers.library,
        names: (name, "the library"),
        store: &store,
        cases: env.inputs.cases.unwrap_or(CASES),
        within: Within::Bits,
        untrapped: true,
    };
    steps.excuse(env.excuse());
    for entry in env.program().entries() {
        let step = ("server", entry.name.as_str());
        env.step_within(steps, env.limit(), step, |_| {
            Session::prepare(&sides, entry, None)?.compare(&sides)
        });
    }
    steps.excuse(None);
}

/// The server program, started on first use and again after it has died.
struct Servers<'a> {
    library: Side<'a>,
    program: PathBuf,
    tuning: Tuning,
    folder: TempDir,
    running: RefCell<Option<Server>>,
}

impl<'a> Servers<'a> {
    fn build(env: &'a Env<'a>) -> StepResult<Servers<'a>> {
        let others = &env.others;
        let compiler = others.open(&others.compiler);
        let program = compiler
            .map_err(|error| format!("{error:#}"))
            .and_then(|compiler| {
                let folder = &others.build_dir;
                build::server(&others.source, &compiler, folder, others.optimise)
            });
        let unmade = |error| Stop::skip(format!("no server program: {error}"));
        let folder = tempfile::tempdir();
        Ok(Servers {
            library: Side::tested(env).looking_at(Look::Stored),
            program: program.map_err(unmade)?,
            tuning: env.tuning.clone().unwrap_or_default(),
            folder: folder.map_err(|error| unmade(error.to_string()))?,
            running: RefCell::default(),
        })
    }

    /// Writes the arguments as the server reads them: one file per argument.
    fn write(&self, entry: &EntryPoint, arguments: &[Input]) -> StepResult<Result<(), Outcome>> {
        let context = self.library.context()?;
        for (place, (input, parameter)) in arguments.iter().zip(&entry.inputs).enumerate() {
            let bytes = match input {
                Input::Host(value) => binary::write(value),
                _ => match input.upload(&context, parameter.ty) {
                    Ok(Value::Opaque(opaque)) => opaque.store()?.body().to_vec(),
                    Ok(Value::Array(_) | Value::Scalar(_)) | Err(Failure::Unfit(_)) => {
                        return Ok(Err(Outcome::Unfit));
                    }
                    Err(Failure::Library(error)) => return Ok(Err(Outcome::of(&error))),
                },
            };
            std::fs::write(self.file(&format!("in{place}")), bytes)
                .map_err(|error| Stop::skip(format!("failed to write an argument: {error}")))?;
        }
        Ok(Ok(()))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Sends commands until one fails. `None` if the server has died.
    fn talk(&self, commands: &[String]) -> Option<Reply> {
        let mut running = self.running.borrow_mut();
        if running.is_none() {
            *running = Server::start(&self.program, LIMIT).ok();
            // A parameter of another backend is an error, which changes nothing.
            for (name, value) in self.tuning.values() {
                running
                    .as_mut()?
                    .command(&format!("set_tuning_param {} {value}", word(name)))?;
            }
        }
        let mut last = None;
        for command in commands {
            let reply = running.as_mut()?.command(command);
            match reply {
                Some(reply) if !reply.failed => last = Some(reply),
                Some(reply) => return Some(reply),
                None => {
                    // Dropping the server kills it.
                    running.take();
                    return None;
                }
            }
        }
        last
    }

    /// Calls the entry point; the results are in files.
    fn call(&self, entry: &EntryPoint) -> Option<Reply> {
        let program = self.library.program();
        let names = |what: &str, count: usize| -> String {
            (0..count).map(|place| format!(" {what}{place}")).collect()
        };
        let (ins, outs) = (entry.inputs.len(), entry.outputs.len());
        let mut commands = Vec::new();
        for (place, input) in entry.inputs.iter().enumerate() {
            let file = quoted(&self.file(&format!("in{place}")));
            let ty = program.name_of(input.ty);
            commands.push(format!("restore {file} in{place} {}", word(ty)));
        }
        let (given, made) = (names("in", ins), names("out", outs));
        commands.push(format!("call {}{made}{given}", word(&entry.name)));
        for place in 0..outs {
            let file = quoted(&self.file(&format!("out{place}")));
            commands.push(format!("store {file} out{place}"));
        }
        let reply = self.talk(&commands);
        // A failed call may or may not have created its variables.
        let freed = (0..ins).map(|place| format!("free in{place}"));
        for command in freed.chain((0..outs).map(|place| format!("free out{place}"))) {
            self.talk(&[command]);
        }
        reply
    }

    fn results(&self, entry: &EntryPoint) -> StepResult<Vec<Content>> {
        let program = self.library.program();
        let contents = entry.outputs.iter().enumerate().map(|(place, output)| {
            let bytes = std::fs::read(self.file(&format!("out{place}"))).unwrap_or_default();
            let mut parts = binary::read(&bytes).ok_or_else(|| {
                Stop::mismatch(format!(
                    "the server program stored result {place} in an undocumented format"
                ))
            })?;
            let opaque = output
                .ty
                .as_type()
                .is_some_and(|id| program.get(id).as_opaque().is_some());
            Ok(match (opaque, parts.len()) {
                (false, 1) => Content::Host(parts.remove(0)),
                _ => Content::Stored(parts).without_units(program, output.ty),
            })
        });
        contents.collect()
    }
}

impl Answer for Servers<'_> {
    fn run(&self, entry: &str, arguments: &[Input]) -> StepResult<Outcome> {
        let Some(entry) = self.library.program().entry(entry) else {
            return Ok(Outcome::Unfit);
        };
        if let Err(outcome) = self.write(entry, arguments)? {
            return Ok(outcome);
        }
        match self.call(entry) {
            Some(reply) if reply.failed => Ok(Outcome::Error {
                kind: ErrorKind::Program,
                message: reply.text,
            }),
            Some(_) => self.results(entry).map(Outcome::Values),
            None if entry.inputs.is_empty() && entry.outputs.is_empty() => Ok(Outcome::Unfit),
            // An error of the library ends a plain program.
            None => Ok(Outcome::Error {
                kind: ErrorKind::ContextLost,
                message: "the server program died".to_owned(),
            }),
        }
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

fn quoted(path: &Path) -> String {
    word(&path.to_string_lossy())
}
