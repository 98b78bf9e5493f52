//! Threads that share a context and mix all kinds of operations with failures.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use futhark_safe::{Backend, Config, ErrorKind, Result};

use crate::basics::{Array, Context};

/// The number of operations, by their outcome.
#[derive(Debug, Default)]
pub struct Counts {
    /// Operations with the right result.
    pub right: AtomicU64,
    /// Failures that were provoked and reported to the thread that provoked them.
    pub failed: AtomicU64,
    /// Contexts that were lost and replaced; host backends only.
    pub lost: AtomicU64,
}

/// Runs `threads` threads on one context, each with `rounds` operations.
///
/// # Errors
///
/// The first unexpected failure.
///
/// # Panics
///
/// If a result is wrong.
pub fn run(ctx: &Context, threads: u64, rounds: u64) -> Result<Counts> {
    let counts = Counts::default();
    thread::scope(|scope| {
        let all = (0..threads).map(|t| {
            let counts = &counts;
            scope.spawn(move || {
                (0..rounds).try_for_each(|round| one(ctx, t * 1_000_000 + round, counts))
            })
        });
        let all: Vec<_> = all.collect();
        all.into_iter()
            .try_for_each(|thread| thread.join().expect("a result was wrong"))
    })?;
    Ok(counts)
}

/// One operation, chosen by `seed`.
fn one(ctx: &Context, seed: u64, counts: &Counts) -> Result<()> {
    let x = i32::try_from(seed % 1_000_000).expect("small");
    let data: Vec<i32> = (0..64).map(|i| x + i).collect();
    let xs = ctx.array(&data)?;
    let right = |is: bool| {
        assert!(is, "seed {seed}");
        counts.right.fetch_add(1, Ordering::Relaxed);
    };
    let provoked = |result: Result<()>, kind: ErrorKind, text: &str| {
        let error = result.expect_err("a failure was provoked");
        assert!(
            error.kind() == kind && error.to_string().contains(text),
            "seed {seed}: {error}"
        );
        counts.failed.fetch_add(1, Ordering::Relaxed);
    };
    match seed % 9 {
        0 => right(ctx.entry().element(&xs, 3)? == x + 3),
        1 => {
            let out_of_bounds = 1000 + i64::from(x);
            let result = ctx.entry().element(&xs, out_of_bounds).map(drop);
            provoked(result, ErrorKind::Program, &format!("[{out_of_bounds}]"));
        }
        2 => provoked(
            ctx.entry().divmod(i64::from(x), 0).map(drop),
            ErrorKind::Program,
            "division by zero",
        ),
        3 => {
            // The state of a loop.
            let mut state = xs;
            for _ in 0..3 {
                state = ctx.entry().increment(&mut state)?;
            }
            right(state.get(0)? == x + 3);
        }
        4 => {
            // The argument shares memory with a value that stays.
            let same = ctx.entry().identity(&xs)?;
            let changed = ctx.entry().set_first(same, -1)?;
            right(changed.get(0)? == -1 && xs.to_vec()? == data);
        }
        5 => {
            // Values are dropped on another thread, while calls run.
            let others: Vec<Array<i32, 1>> =
                (0..8).map(|_| ctx.array(&data)).collect::<Result<_>>()?;
            thread::spawn(move || drop(others))
                .join()
                .expect("no panic");
            right(xs.len() == 64);
        }
        6 => {
            let (left, rest) = ctx.entry().split_at(10, &xs)?;
            right(left.to_vec()? == data[..10] && rest.len() == 54);
        }
        7 => {
            ctx.clear_caches()?;
            right(xs.to_vec()? == data);
        }
        _ => {
            lose_another(ctx.backend(), counts)?;
            right(xs.get(63)? == x + 63);
        }
    }
    Ok(())
}

/// Creates a context, loses it, and drops it.
fn lose_another(backend: Backend, counts: &Counts) -> Result<()> {
    if backend.is_gpu() {
        return Ok(());
    }
    let other = Context::new(&Config::new().backend(backend))?;
    let xs = other.array(&[1, 2, 3])?;
    let error = other.entry().divmod(i64::MIN, -1).expect_err("a trap");
    assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}");
    let error = xs.get(0).expect_err("the context is lost");
    assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}");
    counts.lost.fetch_add(1, Ordering::Relaxed);
    Ok(())
}
