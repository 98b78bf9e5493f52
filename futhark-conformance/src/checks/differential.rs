//! The check `differential`: another backend or compiler gives the same results for generated
//! inputs.
//!
//! Each case calls the other library first, then the library under test, and compares the results. It
//! has a budget, because a program may run very long on arbitrary inputs.

use crate::harness::content::Within;
use crate::harness::env::Env;
use crate::harness::session::{Session, Sides};
use crate::harness::sides::Side;
use crate::harness::steps::{StepResult, Steps, Stop};
use crate::inputs::{Kept, Store};
use futhark_manifest::{Backend, EntryPoint};
use futhark_safe::dynamic::Library;

/// Compares every entry point.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    let Some((library, name)) = prepare(steps, "differential", "oracle", || find_oracle(env))
    else {
        return;
    };
    let alone = match env.inputs.input.as_deref().map(Kept::read).transpose() {
        Ok(alone) => alone,
        Err(error) => {
            let message = format!("failed to read the input: {error}");
            steps.run("differential", "", || Err(Stop::error(message)));
            return;
        }
    };
    let backend = env.program().backend;
    let label = env.others.label(&env.others.compiler);
    let here = format!("{backend} of Futhark {label}");
    // Jobs for several devices may check the same program at the same time.
    let place = format!("{here} {}", env.device.name);
    let store = Store::open(&env.inputs, &env.others.source, &place);
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
    steps.excuse(env.excuse());
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
        compare(steps, "differential", &sides, entry, alone.as_ref());
    }
    steps.excuse(None);
}

/// Prepares what all cases of a check need. If that fails, the check is skipped with the reason.
pub(super) fn prepare<T>(
    steps: &mut Steps<'_>,
    check: &str,
    what: &str,
    work: impl FnOnce() -> StepResult<T>,
) -> Option<T> {
    let mut prepared = Err(Stop::skip("it ended an earlier process"));
    steps.need(check, what, None, || {
        prepared = work();
        Ok(())
    });
    let reason = match prepared {
        Ok(prepared) => return Some(prepared),
        Err(Stop::Skip { reason }) => reason,
        Err(Stop::Fail { message, .. }) => message,
    };
    steps.skip(check, "", &reason);
    None
}

/// Compares an entry point, with generated inputs or with one that was kept.
pub(super) fn compare(
    steps: &mut Steps<'_>,
    check: &str,
    sides: &Sides<'_>,
    entry: &EntryPoint,
    alone: Option<&Kept>,
) {
    let step = (check, entry.name.as_str());
    let env = sides.env;
    env.step_within(steps, env.limit(), step, |_| {
        Session::prepare(sides, entry, alone)?.compare(sides)
    });
}

/// Whether a tag says that the results of an entry point depend on the order of execution, for
/// example where it writes one element twice. Only the first test block of a program can have tags,
/// so the tag contains the name of the entry point.
fn is_unordered(env: &Env<'_>, entry: &EntryPoint) -> bool {
    env.blocks
        .tags
        .contains(&format!("unordered_{}", entry.name))
}

/// The library to compare with: the sequential backend by the same compiler; for the sequential
/// backend, the library by another compiler.
fn find_oracle(env: &Env<'_>) -> StepResult<(Library, String)> {
    let others = &env.others;
    if env.program().backend != Backend::C {
        let library = others.backend(Backend::C)?;
        return Ok((library, "c".to_owned()));
    }
    let Some(compiler) = others.compilers.last() else {
        return Err(Stop::skip(
            "no library to compare with: backend c is compared between compilers; add one with --against",
        ));
    };
    let library = others.by(compiler, Backend::C)?;
    let name = format!("c of Futhark {}", others.label(compiler));
    Ok((library, name))
}
