//! The check `server`: the program that `futhark c --server` compiles from the same source gives
//! the same results, in a process of its own.

use crate::compare::Within;
use crate::harness::cases::{Cases, CheckResult, Stop};
use crate::harness::content::Reading;
use crate::harness::env::Env;
use crate::harness::server::Server;
use crate::harness::session::{self, Side, Sides};
use futhark_manifest::Backend;
use futhark_safe::compile::process;
use std::process::Command;

/// The number of inputs per entry point, unless the user chose one.
const CASES: u32 = 16;

pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    if env.program().backend != Backend::C {
        return cases.skip(
            "server",
            "",
            "only backend c is compared with server programs",
        );
    }
    let Some(server) = cases.prepare("server", "build", || build(env)) else {
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

/// Compiles the program into the folder of the library, unless it is already there.
fn build<'a>(env: &'a Env<'a>) -> CheckResult<Server<'a>> {
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
    let folder = tempfile::tempdir().map_err(failed)?;
    let library = Side::tested(env, Reading::Stored);
    Ok(Server::new(library, folder, Command::new(program)))
}
