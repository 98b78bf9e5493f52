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
use futhark_manifest::Backend;
use futhark_safe::dynamic::Library;

/// The number of inputs per entry point, unless the user chose one.
const CASES: u32 = 24;

/// The same on slow devices.
const CASES_IF_SLOW: u32 = 4;

pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let oracle = cases.prepare("differential", "oracle", || find_oracle(env));
    let Some((library, name)) = oracle else {
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
        let arguments = only_input.as_ref().map(|kept| kept.arguments.clone());
        cases.run_generated(env, "differential", &entry.name, || {
            env.must_be_ordered(entry)?;
            session::compare(&sides, entry, arguments)
        });
    }
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
