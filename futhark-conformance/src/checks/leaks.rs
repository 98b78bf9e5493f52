//! The check `leaks`: repeated operations do not increase the memory of the process.

use crate::blocks::Case;
use crate::harness::answers::{self, Answers, arguments, by_size};
use crate::harness::calls::{self, upload_all};
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

/// The fewest repetitions between two measurements, a round, unless they take too long. With these, a leak of five
/// bytes of the heap per repetition touches a new page in every round.
const MIN_REPETITIONS: u32 = 1000;
/// The most repetitions of a round, if they take no longer than [`USUAL_ROUND`].
const MAX_REPETITIONS: u32 = 1500;
const USUAL_ROUND: Duration = Duration::from_millis(5);
/// The time after which even fewer suffice.
const MAX_ROUND: Duration = Duration::from_millis(100);

/// The most repetitions of the first, shorter round, and its time.
const WARM_UP: u32 = 90;
const MAX_WARM_UP: Duration = Duration::from_millis(10);

/// The number of files that may be open after a round and were not before.
const MANY_FILES: usize = 16;

/// If one repetition takes longer, in seconds, the case is skipped.
const MAX_REPETITION: f64 = 0.25;

/// The number of entry points to call repeatedly.
const MAX_ENTRIES: usize = 12;

/// The size of the largest arrays: one that is leaked is at least a page.
const BYTES: usize = 8 << 10;

/// Repeats every kind of operation, on host backends only: device memory is not memory of this
/// process.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let program = env.program();
    if program.backend.is_gpu() {
        return;
    }
    let entries = answers::choose(env, cases, "leaks", "contexts");
    cases.run("leaks", "contexts", || {
        let context = env.new_context()?;
        let entries = &entries[..entries.len().min(1)];
        let answer = Answers::from_calls(env, &context, entries).ok();
        drop(context);
        ensure_no_growth(|| {
            let context = env.new_context()?;
            context.report()?;
            context.clear_caches()?;
            answer
                .iter()
                .try_for_each(|answer| answer.ask_again(env, &context))
        })
    });
    // Each type has its own C functions.
    for ty in program.types() {
        let Some(array) = ty.as_array() else { continue };
        // In turn, because a leak may depend on the size.
        let shapes = [BYTES / array.elem.size(), 0, 1].map(|length| {
            let mut shape = vec![1; array.rank];
            shape[0] = length;
            shape
        });
        let random = &mut env.random("leaks");
        let contents = shapes.map(|shape| any_bits(random, array.elem, &shape));
        let mut next = contents.iter().cycle();
        cases.run_in_context(env, "leaks", &format!("arrays {}", ty.name), |context| {
            ensure_no_growth(|| {
                let contents = next.next().expect("a cycle has no end");
                let value =
                    context.array_from_bytes(array.elem, contents.shape(), contents.bytes())?;
                value.to_bytes()?;
                // Of an empty array, this is an error.
                if array.ops.index.is_some() {
                    let _ = value.index_checked_by_c(&vec![0; array.rank]);
                }
                Ok(())
            })
        });
    }
    let mut entries = by_size(env);
    let first = entries.len().checked_sub(MAX_ENTRIES).map_or(0, |left| {
        // Each seed leaves out others.
        env.random("leaks").usize(..=left)
    });
    entries = entries.split_off(first);
    entries.truncate(MAX_ENTRIES);
    answers::measure(env, cases, "leaks", &entries);
    for entry in entries {
        let case = format!("calls of {}", entry.name);
        cases.run_in_context(env, "leaks", &case, |context| {
            let first = calls::call(context, entry, &mut arguments(env, context, entry)?);
            if let Err(error) = first {
                skip!("the entry point accepts no known arguments: {error}");
            }
            let call = |is_empty: bool| -> CheckResult {
                let mut values = match is_empty {
                    true => Maker::new(env, context, "leaks", 0).arguments(entry)?,
                    false => arguments(env, context, entry)?,
                };
                calls::call(context, entry, &mut values)?;
                Ok(())
            };
            // If it accepts empty arrays, every other call has them.
            let accepts_empty = env.unchecked.is_none() && call(true).is_ok();
            let mut is_empty = false;
            ensure_no_growth(|| {
                is_empty = accepts_empty && !is_empty;
                call(is_empty)
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

/// Repeats all operations on values of an opaque type, also on values with empty arrays, if there are such.
fn values(env: &Env<'_>, context: &Context, id: TypeId, ops: &OpaqueOps) -> CheckResult {
    let [mut some, mut none] = [2, 0].map(|extent| Maker::new(env, context, "leaks", extent));
    let has_empty = none.value(TypeRef::Type(id)).is_ok();
    let mut is_empty = false;
    ensure_no_growth(|| {
        is_empty = has_empty && !is_empty;
        let maker = if is_empty { &mut none } else { &mut some };
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
    let mut times: u32 = 0;
    while times == 0 || times < WARM_UP && begun.elapsed() <= MAX_WARM_UP {
        work()?;
        times += 1;
    }
    let one = begun.elapsed() / times;
    if times == 1 && one.as_secs_f64() > MAX_REPETITION {
        let seconds = answers::duration(one.as_secs_f64());
        skip!("too slow for this check: one repetition takes {seconds}");
    }
    let within = |round: Duration| (round.as_nanos() / one.as_nanos().max(1)) as u32;
    let usual = within(USUAL_ROUND).clamp(MIN_REPETITIONS, MAX_REPETITIONS);
    let times = usual.min(within(MAX_ROUND)).max(1);
    let files = open_files();
    // The first question takes memory itself.
    resident()?;
    let mut before = resident()?;
    let mut least = u64::MAX;
    for _ in 1..MEASUREMENTS {
        for _ in 0..times {
            work()?;
        }
        let now = resident()?;
        let opened = open_files().saturating_sub(files);
        if opened > MANY_FILES {
            return Err(Stop::Fail {
                cause: Cause::Leak,
                message: format!("{times} repetitions left {opened} files open"),
            });
        }
        least = least.min(now.saturating_sub(before));
        if least == 0 {
            return Ok(());
        }
        before = now;
    }
    Err(Stop::Fail {
        cause: Cause::Leak,
        message: format!(
            "memory grew by at least {least} bytes in each of {} rounds of {times} repetitions: {} bytes per repetition",
            MEASUREMENTS - 1,
            least / u64::from(times)
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

/// The number of open files; 0 where the system does not tell it.
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
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
