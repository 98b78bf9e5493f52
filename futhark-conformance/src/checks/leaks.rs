//! The check `leaks`: repeated operations do not increase the memory of the process.

use crate::blocks::Case;
use crate::harness::answers::{self, Answer, arguments, by_size};
use crate::harness::calls::{self, download, upload, upload_all};
use crate::harness::cases::{Cases, CheckResult, Stop, skip};
use crate::harness::content::{Content, Reading};
use crate::harness::env::{Env, locked};
use crate::harness::limits;
use crate::harness::make::{Maker, as_opaque};
use crate::harness::test_cases::on_host;
use crate::inputs::any_bits;
use crate::record::Cause;
use futhark_manifest::{OpaqueOps, TypeId, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::Context;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The number of measurements, with the same work between them. A leak grows between all of them;
/// the page management of an allocator does not.
const MEASUREMENTS: usize = 13;

/// The growth in bytes between two measurements that is ignored, about two pages.
const NOISE: u64 = 8 << 10;

/// The most repetitions between two measurements, a round.
const MAX_REPETITIONS: usize = 1500;
/// The time after which fewer repetitions suffice, but not fewer than [`MIN_REPETITIONS`].
const USUAL_ROUND: Duration = Duration::from_millis(5);

/// The fewest repetitions of a round, unless they take too long. With these, the smallest leak, 32
/// bytes of the heap, exceeds the noise, also on a busy machine.
const MIN_REPETITIONS: usize = 500;
/// The time after which even fewer suffice.
const MAX_ROUND: Duration = Duration::from_millis(100);

/// If one repetition takes longer, in seconds, the case is skipped.
const MAX_REPETITION: f64 = 0.25;

/// The number of entry points to call repeatedly.
const MAX_ENTRIES: usize = 12;

/// The size of arrays: one leaked array is at least a page.
const BYTES: usize = 8 << 10;

/// Repeats every kind of operation, on host backends only: device memory is not memory of this
/// process.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let program = env.program();
    if program.backend.is_gpu() {
        return;
    }
    cases.run("leaks", "contexts", || {
        let context = env.new_context()?;
        let answer = Answer::from_any_call(env, &context).ok();
        drop(context);
        ensure_no_growth(|| {
            let context = env.new_context()?;
            answer
                .iter()
                .try_for_each(|answer| answer.ask_again(env, &context))
        })
    });
    // Each type has its own C functions.
    for ty in program.types() {
        let Some(array) = ty.as_array() else { continue };
        let mut shape = vec![1; array.rank];
        shape[0] = BYTES / array.elem.size();
        let contents = any_bits(&mut env.random("leaks"), array.elem, &shape);
        cases.run_in_context(env, "leaks", &format!("arrays {}", ty.name), |context| {
            ensure_no_growth(|| {
                let value = upload(context, &contents)?;
                download(&value).map(drop)
            })
        });
    }
    let entries: Vec<_> = by_size(env).into_iter().take(MAX_ENTRIES).collect();
    answers::measure(env, cases, "leaks", &entries, false);
    for entry in entries {
        let case = format!("calls of {}", entry.name);
        cases.run_in_context(env, "leaks", &case, |context| {
            let first = calls::call(context, entry, &mut arguments(env, context, entry)?);
            if let Err(error) = first {
                skip!("the entry point accepts no known arguments: {error}");
            }
            ensure_no_growth(|| {
                calls::call(context, entry, &mut arguments(env, context, entry)?)?;
                Ok(())
            })
        });
    }
    failing_calls(env, cases);
    for (id, described) in program.types_with_ids() {
        if let Some(opaque) = described.as_opaque() {
            let case = format!("values of {}", described.name);
            cases.run_in_context(env, "leaks", &case, |context| {
                values(env, context, id, &opaque.ops)
            });
        }
    }
}

/// Repeats one failing test case of each entry point.
fn failing_calls(env: &Env<'_>, cases: &mut Cases<'_>) {
    let program = env.program();
    for entry in program.entries() {
        let fails = |case: &&Case| *case.entry == *entry.name && case.expected_error().is_some();
        let Some(case) = env.blocks.cases.iter().find(fails) else {
            continue;
        };
        let name = format!("failing calls of {}", entry.name);
        cases.run_in_context(env, "leaks", &name, |context| {
            let inputs = on_host(env, entry, &case.input)?;
            let call = || {
                let mut values = upload_all(context, &inputs)?;
                Ok(calls::call(context, entry, &mut values))
            };
            match call()? {
                Ok(_) => skip!("the call succeeds, which `blocks` reports"),
                Err(error) if error.kind() == ErrorKind::ContextLost => {
                    env.forget_context();
                    skip!("the call loses its context");
                }
                Err(_) => ensure_no_growth(|| call().map(drop)),
            }
        });
    }
}

/// Repeats all operations on values of an opaque type.
fn values(env: &Env<'_>, context: &Context, id: TypeId, ops: &OpaqueOps) -> CheckResult {
    let mut maker = Maker::new(env, context, "leaks", 2);
    ensure_no_growth(|| {
        // A new value each time, because a reference too many shows as a leak only once the value is freed.
        let value = maker.value(TypeRef::Type(id))?;
        // Reads all parts.
        Content::read_from(env.program(), TypeRef::Type(id), &value, Reading::Elements)?;
        if ops.store.is_some() {
            drop(context.restore(&as_opaque(&value)?.store()?)?);
        }
        Ok(())
    })
}

/// Repeats an operation, and fails if the memory grows between all measurements.
fn ensure_no_growth(mut work: impl FnMut() -> CheckResult) -> CheckResult {
    soak()?;
    // The first round fills caches, and sets the number of repetitions for the other rounds.
    let begun = Instant::now();
    let mut times = 0;
    let mut limit = MAX_ROUND;
    while times == 0 || times < MAX_REPETITIONS && begun.elapsed() <= limit {
        work()?;
        times += 1;
        if times == MIN_REPETITIONS {
            limit = USUAL_ROUND;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    if times == 1 && seconds > MAX_REPETITION {
        let seconds = answers::duration(seconds);
        skip!("too slow for this check: one repetition takes {seconds}");
    }
    let mut before = resident()?;
    let mut least = u64::MAX;
    for _ in 1..MEASUREMENTS {
        for _ in 0..times {
            work()?;
        }
        let now = resident()?;
        least = least.min(now.saturating_sub(before));
        if least <= NOISE {
            return Ok(());
        }
        before = now;
    }
    Err(Stop::Fail {
        cause: Cause::Leak,
        message: format!(
            "memory grew by at least {least} bytes in each of {} rounds of {times} repetitions: {} bytes per repetition",
            MEASUREMENTS - 1,
            least / times as u64
        ),
    })
}

/// Small allocations. Each piece must be a separate one.
type Pieces = Vec<Box<[u8; 24]>>;

/// What [`soak`] has allocated, until the process ends: freed pieces would be free memory again.
static TAKEN: Mutex<Vec<Pieces>> = Mutex::new(Vec::new());

/// Allocates the free memory of the heap, which would hide a leak. The pieces are small, so that
/// they fill small gaps, too.
fn soak() -> CheckResult {
    const PIECES: usize = 4096;
    const ROUNDS: usize = 512;
    /// Stops after this many rounds in a row that grew the process, 2 MiB. Fewer could be untouched
    /// pages in the middle of the heap.
    const FIRST: usize = 16;
    /// After the first call, fewer suffice.
    const LATER: usize = 2;
    let mut taken = locked(&TAKEN);
    let enough = if taken.is_empty() { FIRST } else { LATER };
    let mut grown = 0;
    for _ in 0..ROUNDS {
        let before = resident()?;
        taken.push((0..PIECES).map(|_| Box::new([1; 24])).collect());
        let growth = resident()?.saturating_sub(before);
        let is_new = growth >= PIECES as u64 * 24;
        grown = if is_new { grown + 1 } else { 0 };
        if grown == enough {
            break;
        }
    }
    Ok(())
}

fn resident() -> CheckResult<u64> {
    limits::resident()
        .ok_or_else(|| Stop::skip("this system does not report the memory of a process"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs in a process of its own, because other tests free memory of this one meanwhile.
    #[test]
    fn only_leaks_are_reported() {
        const ALONE: &str = "FUTHARK_LEAKS_ALONE";
        if std::env::var_os(ALONE).is_some() {
            return a_leak_is_reported_and_equal_memory_is_not();
        }
        let test = "checks::leaks::tests::only_leaks_are_reported";
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn a_leak_is_reported_and_equal_memory_is_not() {
        let mut kept: Vec<Vec<u8>> = Vec::new();
        let leak = ensure_no_growth(|| {
            kept.push(vec![1; 100]);
            Ok(())
        });
        let Err(Stop::Fail { cause, .. }) = leak else {
            panic!("{leak:?}")
        };
        assert_eq!(cause, Cause::Leak);
        let flat = ensure_no_growth(|| {
            drop(std::hint::black_box(vec![1u8; 100_000]));
            Ok(())
        });
        assert_eq!(flat, Ok(()));
    }
}
