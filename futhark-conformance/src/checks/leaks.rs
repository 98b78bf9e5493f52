//! The check `leaks`: whatever is done again and again, the memory of the
//! process stays flat.

use crate::blocks::Expected;
use crate::harness::answers::{Answer, arguments, by_size};
use crate::harness::calls::{self, upload_all};
use crate::harness::cases::on_host;
use crate::harness::env::Env;
use crate::harness::limits;
use crate::harness::make::{Maker, Random, any_bits};
use crate::harness::steps::{StepResult, Steps, Stop};
use crate::harness::transfer::{download, upload};
use crate::record::Cause;
use futhark_manifest::{Structure, TypeId, TypeKind, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Opaque, Value};
use std::time::{Duration, Instant};

/// Memory is looked at this often, after equally much work. A leak grows
/// between any two looks; what an allocator does with its pages does not.
const LOOKS: usize = 13;

/// So much growth between two looks is no growth, in bytes: a page or two come
/// and go.
const NOISE: u64 = 8 << 10;

/// The work between two looks: so often, or as often as this time lets it be.
const TIMES: usize = 1500;
const LONG_ENOUGH: Duration = Duration::from_millis(5);

/// But this often in any case, unless it takes far too long: the least that can leak, 32
/// bytes of the heap, must become more than noise, on a machine that is busy as well.
const AT_LEAST: usize = 500;
const FAR_TOO_LONG: Duration = Duration::from_millis(100);

/// So many entry points of a program are called again and again.
const MAX_ENTRIES: usize = 12;

/// Arrays are so large that one that leaks is a page at least.
const BYTES: usize = 8 << 10;

/// The memory of devices is not this process's, so only host backends are
/// watched.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    let program = env.program();
    if program.backend.is_gpu() {
        return;
    }
    steps.run("leaks", "contexts", || {
        let context = env.new_context()?;
        let answer = Answer::any(env, &context).ok();
        drop(context);
        watch(|| {
            let context = env.new_context()?;
            answer
                .iter()
                .try_for_each(|answer| answer.ask_again(env, &context))
        })
    });
    // Each type has functions of its own.
    for ty in program.types() {
        let Some(array) = ty.as_array() else { continue };
        let mut shape = vec![1; array.rank];
        shape[0] = BYTES / array.elem.size();
        let mut random = Random::new(env.seed, "leaks");
        let contents = any_bits(&mut random, array.elem, &shape);
        env.step(steps, "leaks", &format!("arrays {}", ty.name), |context| {
            watch(|| {
                let value = upload(context, &contents)?;
                download(&value).map(drop)
            })
        });
    }
    for entry in by_size(env).into_iter().take(MAX_ENTRIES) {
        let case = format!("calls of {}", entry.name);
        env.step(steps, "leaks", &case, |context| {
            let (first, _) = calls::call(context, entry, arguments(env, context, entry)?);
            if let Err(error) = first {
                return Err(Stop::skip(format!(
                    "no arguments are known that it accepts: {error}"
                )));
            }
            watch(|| {
                let (outputs, _) = calls::call(context, entry, arguments(env, context, entry)?);
                outputs.map(drop).map_err(Stop::from)
            })
        });
    }
    failing_calls(env, steps);
    for (id, described) in program.types_with_ids() {
        if let TypeKind::Opaque(_) = &described.kind {
            let case = format!("values of {}", described.name);
            env.step(steps, "leaks", &case, |context| values(env, context, id));
        }
    }
}

/// One test case of each entry point that is expected to fail.
fn failing_calls(env: &Env<'_>, steps: &mut Steps<'_>) {
    let program = env.program();
    for entry in program.entries() {
        let fails = |case: &&crate::blocks::Case| {
            case.entry == entry.name && matches!(case.expected, Expected::Error(_))
        };
        let Some(case) = env.blocks.cases.iter().find(fails) else {
            continue;
        };
        let name = format!("failing calls of {}", entry.name);
        env.step(steps, "leaks", &name, |context| {
            let inputs = on_host(env, entry, &case.input)?;
            let call = || {
                let values = upload_all(context, &inputs)?;
                Ok(calls::call(context, entry, values).0)
            };
            match call()? {
                Ok(_) => return Err(Stop::skip("the call succeeds, which `blocks` tells")),
                Err(error) if error.kind() == ErrorKind::ContextLost => {
                    env.forget_context();
                    return Err(Stop::skip("the call loses its context"));
                }
                Err(_) => {}
            }
            watch(|| call().map(drop))
        });
    }
}

/// Everything that can be done with a value of an opaque type.
fn values(env: &Env<'_>, context: &Context, id: TypeId) -> StepResult {
    let program = env.program();
    let random = Random::new(env.seed, "leaks");
    let mut maker = Maker::new(program, context, random, 2);
    watch(|| {
        // Made by the program's functions, entry points among them; another one each time,
        // as a reference too many shows only when the whole is gone.
        let Value::Opaque(whole) = maker.value(TypeRef::Type(id))? else {
            return Err(Stop::mismatch("a value of an opaque type is not opaque"));
        };
        take_apart(&whole)?;
        if program
            .get(id)
            .as_opaque()
            .is_some_and(|ty| ty.ops.store.is_some())
        {
            drop(context.restore(&whole.store()?)?);
        }
        Ok(())
    })
}

fn take_apart(whole: &Opaque) -> StepResult {
    let Some(ty) = whole.ty().as_opaque() else {
        return Ok(());
    };
    match &ty.structure {
        Structure::Record(record) => {
            for field in &record.fields {
                drop(whole.project(&field.name)?);
            }
        }
        Structure::Sum(_) => drop(whole.destruct(&whole.variant()?)?),
        Structure::RecordArray(array) => {
            for field in &array.fields {
                drop(whole.project(&field.name)?);
            }
            element(whole, array.rank)?;
        }
        Structure::OpaqueArray(array) => element(whole, array.rank)?,
        Structure::Plain => {}
    }
    Ok(())
}

/// The first element, if there is one.
fn element(whole: &Opaque, rank: usize) -> StepResult {
    if !whole.shape()?.contains(&0) {
        drop(whole.index(&vec![0; rank])?);
    }
    Ok(())
}

/// Does something again and again, and looks whether memory grows.
fn watch(mut work: impl FnMut() -> StepResult) -> StepResult {
    let mut round = |times: usize| -> StepResult<usize> {
        let begun = Instant::now();
        for done in 0..times {
            work()?;
            let long = if done < AT_LEAST {
                FAR_TOO_LONG
            } else {
                LONG_ENOUGH
            };
            if begun.elapsed() > long {
                return Ok(done + 1);
            }
        }
        Ok(times)
    };
    let room = soak()?;
    // What is kept for later calls is there afterwards; and each round is as
    // long as this one.
    let times = round(TIMES)?;
    let mut before = resident()?;
    let mut least = u64::MAX;
    for _ in 1..LOOKS {
        for _ in 0..times {
            round(1)?;
        }
        let now = resident()?;
        least = least.min(now.saturating_sub(before));
        if least <= NOISE {
            return Ok(());
        }
        before = now;
    }
    drop(room);
    Err(Stop::Fail {
        cause: Cause::Leak,
        message: format!(
            "memory grew by {least} bytes or more in each of {} rounds of {times} repetitions: {} bytes each time",
            LOOKS - 1,
            least / times as u64
        ),
    })
}

/// Takes what the heap has to spare: a leak would be fed from that, and the
/// process would not grow. In the smallest pieces, so that no gap is too small.
#[expect(
    clippy::vec_box,
    reason = "each piece is taken from the heap by itself"
)]
fn soak() -> StepResult<Vec<Box<[u8; 24]>>> {
    const PIECES: usize = 4096;
    const ROUNDS: usize = 512;
    // All of it now: what moves grows, too.
    let mut taken = Vec::with_capacity(ROUNDS * PIECES);
    let mut grown = 0;
    // At last the pieces come from the system.
    while grown < 2 && taken.len() < ROUNDS * PIECES {
        let before = resident()?;
        taken.extend((0..PIECES).map(|_| Box::new([1; 24])));
        let growth = resident()?.saturating_sub(before);
        grown += usize::from(growth >= PIECES as u64 * 24);
    }
    Ok(taken)
}

fn resident() -> StepResult<u64> {
    limits::resident().ok_or_else(|| Stop::skip("this system does not tell what a process uses"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaks_is_seen_and_what_does_not_is_not() {
        let mut kept: Vec<Vec<u8>> = Vec::new();
        let leak = watch(|| {
            kept.push(vec![1; 100]);
            Ok(())
        });
        assert!(
            matches!(
                &leak,
                Err(Stop::Fail {
                    cause: Cause::Leak,
                    ..
                })
            ),
            "{leak:?}"
        );
        let flat = watch(|| {
            drop(std::hint::black_box(vec![1u8; 100_000]));
            Ok(())
        });
        assert_eq!(flat, Ok(()));
    }
}
