//! The check `differential`: the same generated inputs, here and elsewhere.
//!
//! Each entry point takes two steps. In the first the other library answers,
//! and says how long it took; it may not answer at all, as nobody knows what a
//! program does with numbers that somebody made up. In the second the library
//! under test has to give the same answers.

use crate::harness::content::Within;
use crate::harness::env::Env;
use crate::harness::sides::{Session, Side, Sides};
use crate::harness::steps::{StepResult, Steps, Stop};
use crate::inputs::{Kept, Store};
use futhark_manifest::{Backend, EntryPoint};
use futhark_safe::dynamic::Library;
use std::time::Duration;

/// How long the other library may take over its answers before nothing is
/// expected of anybody.
const ORACLE_LIMIT: Duration = Duration::from_secs(10);

/// Every entry point.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    let mut oracle = Err(Stop::skip(""));
    steps.prepare("differential", "oracle", || {
        oracle = find_oracle(env);
        Ok(())
    });
    let (library, name) = match oracle {
        Ok(oracle) => oracle,
        Err(
            Stop::Skip { reason }
            | Stop::Fail {
                message: reason, ..
            },
        ) => {
            return steps.skip("differential", "", &reason);
        }
    };
    let alone = match env.inputs.input.as_deref().map(Kept::read).transpose() {
        Ok(alone) => alone,
        Err(error) => {
            let message = format!("the input cannot be read: {error}");
            steps.run("differential", "", || Err(Stop::error(message)));
            return;
        }
    };
    let backend = env.program().backend;
    let here = format!("{backend} of Futhark {}", env.program().version);
    // Several devices may be at work on one program.
    let place = format!("{here} {}", env.device.name);
    let store = Store::open(&env.inputs.regressions, &env.others.source, &place);
    let sides = Sides {
        env,
        tested: &Side::tested(env),
        oracle: &Side::other(env, library),
        names: (&here, &name),
        store: &store,
        cases: env.inputs.cases(),
        within: Within::Tolerance,
        untrapped: backend.is_gpu(),
    };
    for entry in env.program().entries() {
        if alone.as_ref().is_some_and(|kept| kept.entry != entry.name) {
            continue;
        }
        if is_unordered(env, entry) {
            let reason = format!(
                "tagged unordered_{}: the result is not determined for every input",
                entry.name
            );
            steps.skip("differential", &entry.name, &reason);
            continue;
        }
        let mut session = None;
        steps.attempt("differential", &entry.name, ORACLE_LIMIT, || {
            session = Some(Session::prepare(&sides, entry, alone.as_ref()));
        });
        env.step(steps, "differential", &entry.name, |_| match session {
            Some(session) => session?.compare(&sides),
            None => Err(Stop::skip(format!(
                "{name} gave no answer: it died, or took more than {} s, as generated numbers may mean work without end",
                ORACLE_LIMIT.as_secs()
            ))),
        });
    }
}

/// Whether the test blocks say that the order of the work may decide what
/// comes out: where one place is written twice, for example. Only the first
/// block of a program can have tags, so the tag names the entry point.
fn is_unordered(env: &Env<'_>, entry: &EntryPoint) -> bool {
    env.blocks
        .tags
        .contains(&format!("unordered_{}", entry.name))
}

/// What to compare with: the sequential backend of the same compiler, and for
/// that itself another compiler's.
fn find_oracle(env: &Env<'_>) -> StepResult<(Library, String)> {
    let others = &env.others;
    if env.program().backend != Backend::C {
        let library = others.backend(Backend::C)?;
        return Ok((library, "c".to_owned()));
    }
    let Some(compiler) = others.compilers.last() else {
        return Err(Stop::skip(
            "there is nothing to compare with: c is compared with the c of another compiler; name one with --against",
        ));
    };
    let library = others.by(compiler, Backend::C)?;
    let name = format!("c of Futhark {}", library.program().version);
    Ok((library, name))
}
