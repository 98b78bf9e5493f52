//! The check `lifecycle`: contexts and how long values live.

use super::blocks::accept_start_error;
use super::bridge::{download, upload};
use super::env::Env;
use super::make::{Random, any_bits};
use crate::child::steps::{StepResult, Steps, Stop};
use crate::compare::identical;
use crate::values::HostValue;
use futhark_manifest::TypeKind;
use futhark_safe::Kind;
use futhark_safe::dynamic::Context;
use std::time::{Duration, Instant};

/// How many contexts are made one after another, unless that takes too long.
const IN_A_ROW: usize = 20;

/// Devices take their time to make a context; then a few must do.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// Creates the first context. Whether there is one is the answer: a program
/// whose constants fail has none, and may be right in that.
pub fn start(env: &Env<'_>, steps: &mut Steps<'_>) -> bool {
    let mut started = false;
    steps.run_always("lifecycle", "start", || match env.new_context() {
        Ok(context) => {
            started = true;
            env.keep_context(context);
            Ok(())
        }
        Err(error) => accept_start_error(env, &error),
    });
    started
}

/// Everything else.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    steps.run("lifecycle", "many in a row", || {
        let begun = Instant::now();
        for number in 0..IN_A_ROW {
            if number >= 2 && begun.elapsed() > LONG_ENOUGH {
                break;
            }
            let context = env
                .new_context()
                .map_err(|error| Stop::from(error).at(&format!("context {number}")))?;
            works(env, &context)?;
        }
        Ok(())
    });
    steps.run("lifecycle", "two at once", || {
        let (first, second) = (env.new_context()?, env.new_context()?);
        works(env, &first)?;
        works(env, &second)?;
        foreign(env, &first, &second)?;
        drop(first);
        works(env, &second)
    });
    steps.run("lifecycle", "a value outlives its context's handle", || {
        let Some(contents) = sample(env) else {
            return Err(Stop::skip("the program has no array type"));
        };
        let context = env.new_context()?;
        let value = upload(&context, &contents)?;
        drop(context);
        let back = download(&value)?;
        identical(&back, &contents).map_err(|difference| Stop::mismatch(difference.to_string()))
    });
}

/// An array of the program's first array type.
fn sample(env: &Env<'_>) -> Option<HostValue> {
    env.program().types().iter().find_map(|ty| match &ty.kind {
        TypeKind::Array(array) => {
            let mut random = Random::new(env.seed, "lifecycle");
            Some(any_bits(&mut random, array.elem, &vec![2; array.rank]))
        }
        TypeKind::Opaque(_) => None,
    })
}

fn works(env: &Env<'_>, context: &Context) -> StepResult {
    if let Some(contents) = sample(env) {
        let back = download(&upload(context, &contents)?)?;
        identical(&back, &contents).map_err(|difference| Stop::mismatch(difference.to_string()))?;
    }
    context.sync().map_err(Stop::from)
}

/// A value of one context is refused by another.
fn foreign(env: &Env<'_>, first: &Context, second: &Context) -> StepResult {
    use futhark_manifest::TypeRef;
    let program = env.program();
    // An entry point whose one argument is an array will do.
    let entry = program
        .entries()
        .iter()
        .find_map(|entry| match entry.inputs.as_slice() {
            [input] => {
                let TypeRef::Type(id) = input.ty else {
                    return None;
                };
                Some((entry, program.get(id).as_array()?))
            }
            _ => None,
        });
    let Some((entry, array)) = entry else {
        return Ok(());
    };
    let mut random = Random::new(env.seed, "foreign");
    let value = upload(
        first,
        &any_bits(&mut random, array.elem, &vec![1; array.rank]),
    )?;
    match super::calls::call(second, entry, vec![value]).0 {
        Ok(_) => Err(Stop::mismatch("a value of another context was accepted")),
        Err(error) if error.kind() == Kind::WrongContext => Ok(()),
        Err(error) => Err(Stop::mismatch(format!(
            "a value of another context was refused for another reason: {error}"
        ))),
    }
}
