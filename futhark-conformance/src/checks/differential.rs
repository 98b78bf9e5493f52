//! The check `differential`: another backend or compiler gives the same results for generated
//! inputs.
//!
//! Each case calls the other library first, then the library under test, and compares the results. It
//! has a budget, because a program may run very long on arbitrary inputs.

use crate::compare::Within;
use crate::harness::cases::{Cases, CheckResult, Stop, skip};
use crate::harness::content::Reading;
use crate::harness::env::Env;
use crate::harness::session::{self, Side, Sides};
use crate::inputs::Kept;
use futhark_manifest::{Backend, EntryPoint};
use futhark_safe::dynamic::Library;

/// The number of inputs per entry point, unless the user chose one.
const CASES: u32 = 24;

/// The same on slow devices.
const CASES_IF_SLOW: u32 = 4;

pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let Some((library, name)) = prepare(cases, "differential", "oracle", || find_oracle(env))
    else {
        return;
    };
    let input = env.spec.run.input.as_deref();
    let only_input = match input.map(Kept::read).transpose() {
        Ok(kept) => kept,
        Err(error) => {
            let message = format!("failed to read the input: {error}");
            cases.run("differential", "", || Err(Stop::error(message)));
            return;
        }
    };
    let backend = env.program().backend;
    let label = &env.spec.compiler.version;
    let here = format!("{backend} of Futhark {label}");
    let sides = Sides {
        env,
        tested: &Side::tested(env, Reading::Parts),
        oracle: &Side::other(env, library),
        names: (&here, &name),
        store: &env.store("differential"),
        cases: env.cases().unwrap_or(match env.device().is_slow() {
            true => CASES_IF_SLOW,
            false => CASES,
        }),
        within: Within::Tolerance,
        ignores_overflow: backend.is_gpu(),
    };
    for entry in env.program().entries() {
        if only_input
            .as_ref()
            .is_some_and(|kept| kept.entry != entry.name)
        {
            continue;
        }
        if is_unordered(env, entry) {
            let reason = format!(
                "tagged unordered_{}: the result is not determined for every input",
                entry.name
            );
            cases.skip("differential", &entry.name, &reason);
            continue;
        }
        let arguments = only_input.as_ref().map(|kept| kept.arguments.clone());
        cases.run_generated(env, "differential", &entry.name, || {
            session::compare(&sides, entry, arguments)
        });
    }
}

/// Prepares what all cases of a check need. If that fails, the check is skipped with the reason.
pub(super) fn prepare<T>(
    cases: &mut Cases<'_>,
    check: &str,
    what: &str,
    work: impl FnOnce() -> CheckResult<T>,
) -> Option<T> {
    let reason = match cases.obtain(check, what, || Ok(work())) {
        Some(Ok(prepared)) => return Some(prepared),
        Some(Err(Stop::Skip { reason })) => reason,
        Some(Err(Stop::Fail { message, .. })) => message,
        None => "it ended an earlier process".to_owned(),
    };
    cases.skip(check, "", &reason);
    None
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
fn find_oracle(env: &Env<'_>) -> CheckResult<(Library, String)> {
    let own = &env.spec.compiler;
    if env.program().backend != Backend::C {
        return Ok((env.sequential(own)?, "c".to_owned()));
    }
    let mut others = env.spec.run.compilers.iter();
    let Some(compiler) = others.rfind(|other| other.path != own.path) else {
        skip!(
            "no library to compare with: backend c is compared between compilers; add one with --against"
        );
    };
    let name = format!("c of Futhark {}", compiler.version);
    Ok((env.sequential(compiler)?, name))
}
