//! The check `blocks`: the test cases in the program's test blocks pass.

use super::properties;
use crate::blocks::{Case, Expected, Source};
use crate::compare::{Within, compare};
use crate::harness::calls::{self, listed_outputs, message_of};
use crate::harness::cases::{Cases, CheckResult, Stop, ensure, mismatch};
use crate::harness::env::Env;
use crate::harness::test_cases;
use crate::values::{HostValue, found};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::Context;
use std::time::{Duration, Instant};

/// After a call that takes longer, no second call is made.
const LONG: Duration = Duration::from_millis(500);

pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    for case in &env.blocks.cases {
        cases.run_in_context(env, "blocks", &case.title(), |context| {
            run_test_case(env, context, case)
        });
    }
    for property in &env.blocks.properties {
        cases.run_generated(env, "blocks", property, || {
            env.fitting_tuning()?;
            properties::check(env, property)
        });
    }
}

fn run_test_case(env: &Env<'_>, context: &Context, case: &Case) -> CheckResult {
    if let Some(reason) = case.excluded(env.library.backend()) {
        return Err(Stop::skip(reason));
    }
    env.fitting_tuning()?;
    let program = env.program();
    let entry = program.entry(&case.entry).ok_or_else(|| {
        Stop::error(format!(
            "the program has no entry point {}",
            found(&case.entry)
        ))
        .at(&env.location(case.line))
    })?;
    let expected = test_cases::expected(env, entry, case)?;
    let begun = Instant::now();
    let mut arguments = test_cases::arguments(env, context, entry, case)?;
    let result = calls::call_observing(context, entry, &mut arguments)?;
    match (result, &case.expected) {
        (Ok(_), Expected::Error(pattern)) => {
            mismatch!("expected an error with {pattern}, but the call succeeded")
        }
        (Ok(outputs), _) => {
            let Some(expected) = expected else {
                return Ok(());
            };
            compare_outputs(&listed_outputs(program, entry, outputs)?, &expected)?;
            if begun.elapsed() > LONG {
                return Ok(());
            }
            leaves_nothing(env, context, case)
        }
        (Err(error), Expected::Error(pattern)) => {
            let message = message_of(&error);
            ensure!(
                pattern.matches(&message),
                "expected an error with {pattern}, got: {message}"
            );
            // A caller that only tests the return code must see the error, too.
            if error.kind() != ErrorKind::ContextLost && error.code() == Some(0) {
                mismatch!("the function returned 0, but reported an error: {message}");
            }
            usable_after(env, context, case, &error)
        }
        (Err(error), _) => Err(error.into()),
    }
}

fn compare_outputs(actual: &[HostValue], expected: &[HostValue]) -> CheckResult {
    ensure!(
        actual.len() == expected.len(),
        "expected {} results, got {}",
        expected.len(),
        actual.len()
    );
    for (number, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        compare(actual, expected, Within::Tolerance)
            .map_err(|difference| difference.at(&format!("result {number}")))?;
    }
    Ok(())
}

/// A call must not depend on an earlier one. Calls the entry point again, with the next test case
/// if there is one, because other arguments reveal a stale result.
fn leaves_nothing(env: &Env<'_>, context: &Context, case: &Case) -> CheckResult {
    let test_cases = env.blocks.cases.iter();
    let alike: Vec<&Case> = test_cases
        .filter(|other| other.entry == case.entry && succeeds(other))
        .collect();
    let own = alike.iter().position(|other| std::ptr::eq(*other, case));
    let Some(next) = own.map(|own| alike[(own + 1) % alike.len()]) else {
        return Ok(());
    };
    let Err(Stop::Fail { cause, message }) = run_plainly(env, context, next) else {
        return Ok(());
    };
    env.forget_context();
    // A failure in a fresh context belongs to the other test case.
    if run_plainly(env, &*env.context()?, next).is_err() {
        return Ok(());
    }
    let message = format!(
        "the next call in the same context, {}: {message}",
        next.title()
    );
    Err(Stop::Fail { cause, message })
}

/// Whether the test block contains the result of a case.
fn succeeds(case: &Case) -> bool {
    matches!(case.expected, Expected::Values(Source::Text(_)))
}

/// After an error the context must work; if it was lost, another context must.
fn usable_after(
    env: &Env<'_>,
    context: &Context,
    failed: &Case,
    error: &futhark_safe::Error,
) -> CheckResult {
    let fresh;
    let context = if error.kind() == ErrorKind::ContextLost {
        env.forget_context();
        fresh = env.context()?;
        &*fresh
    } else {
        context
    };
    let test_cases = env.blocks.cases.iter();
    let mut good: Vec<&Case> = test_cases.filter(|case| succeeds(case)).collect();
    // Another case of the same entry point is the most likely to fail.
    good.sort_by_key(|case| case.entry != failed.entry);
    let after = |stop: Stop| stop.at("after the error, the context is not usable");
    let own = good.partition_point(|case| case.entry == failed.entry);
    let others = &good[own..];
    // One of another entry point, which depends on the failing case.
    let other = others.get(failed.line % others.len().max(1));
    for case in good[..own].first().into_iter().chain(other) {
        if let Err(stop @ Stop::Fail { .. }) = run_plainly(env, context, case) {
            return Err(after(stop));
        }
    }
    context.sync().map_err(|error| after(error.into()))
}

/// Runs a case and compares its results, without the other assertions.
fn run_plainly(env: &Env<'_>, context: &Context, case: &Case) -> CheckResult {
    let program = env.program();
    let Some(entry) = program.entry(&case.entry) else {
        return Ok(());
    };
    let Some(expected) = test_cases::expected(env, entry, case)? else {
        return Ok(());
    };
    let mut arguments = test_cases::arguments(env, context, entry, case)?;
    let outputs = calls::call(context, entry, &mut arguments)?;
    compare_outputs(&listed_outputs(program, entry, outputs)?, &expected)
}
