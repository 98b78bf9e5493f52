//! The good calls in a loop in one thread: by plain C, and by the typed interface.
//!
//! Both upload the numbers and download the results, as the server does. The C code is compiled
//! without hardening, so that it is what `futhark` writes.
#![allow(unsafe_code, reason = "plain C calls are unsafe")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use futhark_example_service::{plain, service};
use futhark_safe::{Backend, Config, Result};

use crate::jobs::{Call, Good};
use crate::report::Floor;

/// How often each is measured, in turns, so that other work on the machine slows both.
const TURNS: u32 = 20;
/// How long a turn takes.
const TURN: Duration = Duration::from_millis(100);

/// Measures on `c` or `multicore`: the rate of the fastest turn, the least disturbed one.
///
/// # Errors
///
/// Another backend, or a failing call.
pub fn measure(backend: Backend, calls: &[Good]) -> Result<Floor, String> {
    let plain: fn(&plain::Context, &[Good]) -> Result<f64> = match backend {
        Backend::C => c::rate,
        Backend::Multicore => multicore::rate,
        _ => return Err(format!("--floor: expected c or multicore, got {backend}")),
    };
    let config = Config::new().backend(backend);
    let measure = || {
        let contexts = (
            plain::Context::new(&config)?,
            service::Context::new(&config)?,
        );
        let mut best = Floor {
            plain: 0.0,
            typed: 0.0,
        };
        for _ in 0..TURNS {
            best.plain = best.plain.max(plain(&contexts.0, calls)?);
            best.typed = best.typed.max(typed_rate(&contexts.1, calls)?);
        }
        Ok(best)
    };
    measure().map_err(|error: futhark_safe::Error| error.to_string())
}

fn typed_rate(ctx: &service::Context, calls: &[Good]) -> Result<f64> {
    rate(calls, |good| {
        let xs = ctx.array(&good.xs)?;
        match good.call {
            Call::Summary => drop(black_box(ctx.entry().summary(&xs)?)),
            Call::Histogram { bins, low, high } => {
                let counts = ctx.entry().histogram(bins, low, high, &xs)?;
                black_box(counts.to_vec()?);
            }
            Call::Smooth { radius } => {
                let means = ctx.entry().smooth(radius, &xs)?;
                black_box(means.to_vec()?);
            }
            Call::At { index } => drop(black_box(ctx.entry().at(&xs, index)?)),
        }
        Ok(())
    })
}

/// Calls per second in one turn.
fn rate(calls: &[Good], mut call: impl FnMut(&Good) -> Result<()>) -> Result<f64> {
    let mut rounds = 0;
    let start = Instant::now();
    while start.elapsed() < TURN {
        calls.iter().try_for_each(&mut call)?;
        rounds += 1;
    }
    Ok((rounds * calls.len()) as f64 / start.elapsed().as_secs_f64())
}

macro_rules! backend {
    ($(#[$doc:meta])* $module:ident) => {
        $(#[$doc])*
        mod $module {
            use std::hint::black_box;
            use std::ptr;

            use futhark_safe::{Raw, Result};

            use super::{Call, Good, plain};
            use plain::raw::$module as c;

            type Plain<'a> = Raw<'a, c::futhark_context>;

            /// Calls per second. The context is lent once, so that only C runs in the loop.
            pub fn rate(ctx: &plain::Context, calls: &[Good]) -> Result<f64> {
                ctx.with_raw(|raw: &mut Plain<'_>| super::rate(calls, |good| call(raw, good)))
            }

            fn call(raw: &mut Plain<'_>, good: &Good) -> Result<()> {
                let ctx = raw.context();
                let length = good.xs.len() as i64;
                // SAFETY: the context is live, and the slice has this many numbers, which are copied
                // when the sync below returns.
                let xs = unsafe { c::futhark_new_f64_1d(ctx, good.xs.as_ptr(), length) };
                sync(raw)?;
                assert!(!xs.is_null(), "memory for an array");
                match good.call {
                    Call::Summary => {
                        let mut out = [0.0f64; 4];
                        let [a, b, c, d] = &mut out;
                        // SAFETY: context and array are live, and each result has a place.
                        raw.check(unsafe { c::futhark_entry_summary(ctx, a, b, c, d, xs) })?;
                        sync(raw)?;
                        black_box(out);
                    }
                    Call::Histogram { bins, low, high } => {
                        let mut out = ptr::null_mut();
                        // SAFETY: as above.
                        let code = unsafe {
                            c::futhark_entry_histogram(ctx, &raw mut out, bins, low, high, xs)
                        };
                        raw.check(code)?;
                        let mut counts = vec![0i64; bins as usize];
                        // SAFETY: the result is live and has `bins` numbers.
                        raw.check(unsafe {
                            c::futhark_values_i64_1d(ctx, out, counts.as_mut_ptr())
                        })?;
                        sync(raw)?;
                        black_box(counts);
                        // SAFETY: it has no other owner.
                        raw.check(unsafe { c::futhark_free_i64_1d(ctx, out) })?;
                    }
                    Call::Smooth { radius } => {
                        let mut out = ptr::null_mut();
                        // SAFETY: as above.
                        let code = unsafe {
                            c::futhark_entry_smooth(ctx, &raw mut out, radius, xs)
                        };
                        raw.check(code)?;
                        let mut means = vec![0.0f64; good.xs.len()];
                        // SAFETY: the result is live and has as many numbers as the argument.
                        raw.check(unsafe {
                            c::futhark_values_f64_1d(ctx, out, means.as_mut_ptr())
                        })?;
                        sync(raw)?;
                        black_box(means);
                        // SAFETY: it has no other owner.
                        raw.check(unsafe { c::futhark_free_f64_1d(ctx, out) })?;
                    }
                    Call::At { index } => {
                        let mut out = 0.0;
                        // SAFETY: as above.
                        raw.check(unsafe { c::futhark_entry_at(ctx, &raw mut out, xs, index) })?;
                        sync(raw)?;
                        black_box(out);
                    }
                }
                // SAFETY: it has no other owner. If a call above has failed, it is leaked, and the
                // measurement ends.
                raw.check(unsafe { c::futhark_free_f64_1d(ctx, xs) })
            }

            fn sync(raw: &mut Plain<'_>) -> Result<()> {
                // SAFETY: the context is live.
                let code = unsafe { c::futhark_context_sync(raw.context()) };
                raw.check(code)
            }
        }
    };
}

backend! {
    /// The sequential backend.
    c
}
backend! {
    /// The multicore backend.
    multicore
}
