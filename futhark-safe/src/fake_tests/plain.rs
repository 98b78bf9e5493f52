//! Plain calls on a lent context: values, failures and panics.

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::in_time;
use super::interfaces::Fake;
use super::says;
use crate::__private::{consumed, scalar, slot};
use crate::{Array, Backend, Config, Context, ErrorKind, Raw, RawContext, RawValue, Result};
use futhark_fake::World;
use futhark_fake::plain as c;

/// The types that a raw module would call `futhark_context` and `futhark_i32_1d`.
struct Plain<const GPU: bool>;
struct Ints<const GPU: bool>;

// SAFETY: the fake program lends a context of its own.
unsafe impl<const GPU: bool> RawContext for Plain<GPU> {
    type Program = Fake;
    const BACKEND: Backend = if GPU { Backend::OpenCl } else { Backend::C };
}

// SAFETY: the fake functions of `c` take such pointers to values of type INTS.
unsafe impl<const GPU: bool> RawValue for Ints<GPU> {
    type Context = Plain<GPU>;
    type Value = Array<Fake, i32, 1>;
    const TYPE: u32 = super::INTS;
}

fn context<const GPU: bool>() -> Context<Fake> {
    Context::new(&Config::new().backend(Plain::<GPU>::BACKEND)).unwrap()
}

fn world_and_context<const GPU: bool>() -> (World, Context<Fake>) {
    let world = World::new();
    (world, context::<GPU>())
}

fn total<const GPU: bool>(raw: &mut Raw<'_, Plain<GPU>>, ints: *mut Ints<GPU>) -> Result<i32> {
    let mut total = 0;
    // SAFETY: the context lives.
    raw.check(unsafe { c::total(raw.context().cast(), &mut total, ints.cast()) })?;
    Ok(total)
}

fn made<const GPU: bool>(raw: &Raw<'_, Plain<GPU>>, data: &[i32]) -> *mut Ints<GPU> {
    // SAFETY: the context lives.
    unsafe { c::new(raw.context().cast(), data) }.cast()
}

fn failed<const GPU: bool>(raw: &Raw<'_, Plain<GPU>>) -> (i32, *mut Ints<GPU>) {
    let mut out: *mut c_void = std::ptr::null_mut();
    // SAFETY: the context lives.
    let code = unsafe { c::fail(raw.context().cast(), &mut out) };
    (code, out.cast())
}

/// A call that fails, now or later, and whose failure is not fetched.
fn leave_failure<const GPU: bool>(raw: &mut Raw<'_, Plain<GPU>>) -> Result<()> {
    let (_, out) = failed(raw);
    if !out.is_null() {
        // SAFETY: the result of a call.
        drop(unsafe { raw.adopt(out) }?);
    }
    Ok(())
}

/// Expects that these calls make a safe one in the lent context, which panics.
fn panics<const GPU: bool>(
    ctx: &Context<Fake>,
    calls: impl FnOnce(&mut Raw<'_, Plain<GPU>>) -> Result<()>,
) {
    let panic = catch_unwind(AssertUnwindSafe(|| ctx.with_raw(calls))).unwrap_err();
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    assert!(text.unwrap().contains("inside of `with_raw`"), "{text:?}");
}

/// Runs each test on both flavours.
macro_rules! on_both {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            self::of::$name::<false>();
            self::of::$name::<true>();
        }
    )*};
}

on_both! {
    values_can_be_lent_released_and_adopted
    released_values_are_not_freed
    a_failure_is_reported_once_and_invalidates_nothing_else
    the_error_of_the_closure_is_returned_before_another_failure
    a_panic_in_the_closure_returns_the_context
    a_fatal_failure_loses_the_context
    nested_safe_calls_panic_after_the_context_was_lost
    a_call_that_panics_frees_the_arguments_that_it_owns
    the_drop_of_a_result_can_make_calls
    failures_are_reported_after_the_context_could_not_be_lent
    batches_and_plain_calls_are_nested
    a_drop_on_another_thread_waits_for_plain_calls
}

mod of {
    use super::*;

    pub(super) fn a_call_that_panics_frees_the_arguments_that_it_owns<const GPU: bool>() {
        let (world, ctx) = world_and_context::<GPU>();
        let xs = ctx.array(&[1, 2]).unwrap();
        let set_first = crate::fake_tests::function(ctx.core(), "entry_set_first");
        let mut place = slot::<Array<Fake, i32, 1>>();
        let inputs = [consumed(xs), scalar(9i32)];
        let panicked = ctx.with_raw(|_: &mut Raw<'_, Plain<GPU>>| {
            let call = || ctx.__call(set_first, inputs, &mut [place.output()]);
            Ok(catch_unwind(AssertUnwindSafe(call)).is_err())
        });
        assert!(panicked.unwrap());
        assert_eq!(world.values(), 0);
    }

    pub(super) fn values_can_be_lent_released_and_adopted<const GPU: bool>() {
        let (world, ctx) = world_and_context::<GPU>();
        let (xs, ys) = (ctx.array(&[1, 2]).unwrap(), ctx.array(&[30]).unwrap());
        let (sum, ys, zs) = ctx
            .with_raw(|raw: &mut Raw<'_, Plain<GPU>>| {
                let pointer = raw.pointer(&xs)?;
                let released = raw.release::<Ints<GPU>>(ys)?;
                let sum = total(raw, pointer)? + total(raw, released)?;
                drop(xs);
                let made = made(raw, &[4, 5]);
                // SAFETY: released just now.
                let ys = unsafe { raw.adopt(released) }?;
                // SAFETY: made just now.
                Ok((sum, ys, unsafe { raw.adopt(made) }?))
            })
            .unwrap();
        assert_eq!(sum, 33);
        assert_eq!(ys.to_vec().unwrap(), [30]);
        assert_eq!(zs.to_vec().unwrap(), [4, 5]);
        assert_eq!(world.values(), 2, "`xs` is freed");
    }

    pub(super) fn released_values_are_not_freed<const GPU: bool>() {
        let (world, ctx) = world_and_context::<GPU>();
        let (xs, ys) = (ctx.array(&[1, 2]).unwrap(), ctx.array(&[3]).unwrap());
        ctx.with_raw(|raw: &mut Raw<'_, Plain<GPU>>| {
            raw.release::<Ints<GPU>>(xs)?;
            let ys = raw.release::<Ints<GPU>>(ys)?;
            // SAFETY: the context lives.
            raw.check(unsafe { c::free(raw.context().cast(), ys.cast()) })
        })
        .unwrap();
        assert_eq!(world.values(), 1);
        drop(ctx);
        assert_eq!(
            world.take_violations(),
            ["a context was freed with 1 values"]
        );
    }

    pub(super) fn a_failure_is_reported_once_and_invalidates_nothing_else<const GPU: bool>() {
        let (_world, ctx) = world_and_context::<GPU>();
        let xs = ctx.array(&[1, 2]).unwrap();
        let mut kept = None;
        let unseen = ctx.with_raw(|raw: &mut Raw<'_, Plain<GPU>>| {
            let (_, out) = failed(raw);
            if !out.is_null() {
                // SAFETY: the result of a call, which has not failed so far.
                kept = Some(unsafe { raw.adopt(out) }?);
            }
            Ok(())
        });
        assert_eq!(unseen.unwrap_err().kind(), ErrorKind::Program);
        assert_eq!(kept.is_some(), GPU);
        if let Some(kept) = kept {
            let error = kept.to_vec().unwrap_err();
            assert!(error.to_string().contains("out of bounds"), "{error}");
        }
        assert_eq!(xs.to_vec().unwrap(), [1, 2]);

        // `check` reports it, and the closure continues.
        let sum = ctx.with_raw(|raw: &mut Raw<'_, Plain<GPU>>| {
            let (code, out) = failed(raw);
            assert_eq!(raw.check(1).unwrap_err().kind(), ErrorKind::Program);
            if code == 0 {
                // SAFETY: the context lives.
                raw.check(unsafe { c::free(raw.context().cast(), out.cast()) })?;
            }
            let pointer = raw.pointer(&xs)?;
            total(raw, pointer)
        });
        assert_eq!(sum.unwrap(), 3);

        // A code without a message.
        let silent = ctx.with_raw(|raw: &mut Raw<'_, Plain<GPU>>| raw.check(1));
        assert_eq!(silent.unwrap_err().kind(), ErrorKind::Backend);
        assert_eq!(xs.to_vec().unwrap(), [1, 2]);
    }

    pub(super) fn the_error_of_the_closure_is_returned_before_another_failure<const GPU: bool>() {
        let _world = World::new();
        let (ctx, other) = (context::<GPU>(), context::<GPU>());
        let xs = ctx.array(&[1, 2]).unwrap();
        let foreign = other.array(&[3]).unwrap();
        let first = ctx.with_raw(|raw: &mut Raw<'_, Plain<GPU>>| {
            leave_failure(raw)?;
            raw.pointer::<Ints<GPU>>(&foreign)
        });
        assert_eq!(first.unwrap_err().kind(), ErrorKind::WrongContext);
        assert_eq!(xs.to_vec().unwrap_err().kind(), ErrorKind::Program);
        assert_eq!(xs.to_vec().unwrap(), [1, 2]);
    }

    pub(super) fn a_panic_in_the_closure_returns_the_context<const GPU: bool>() {
        let (_world, ctx) = world_and_context::<GPU>();
        let xs = ctx.array(&[1, 2]).unwrap();
        panics(&ctx, |raw: &mut Raw<'_, Plain<GPU>>| {
            leave_failure(raw)?;
            ctx.array(&[1]).map(drop)
        });
        // The failure was kept for the next call.
        assert_eq!(xs.to_vec().unwrap_err().kind(), ErrorKind::Program);
        assert_eq!(xs.to_vec().unwrap(), [1, 2]);
    }

    pub(super) fn nested_safe_calls_panic_after_the_context_was_lost<const GPU: bool>() {
        in_time(|| {
            let (_world, ctx) = world_and_context::<GPU>();
            let xs = ctx.array(&[1, 2]).unwrap();
            panics(&ctx, |raw: &mut Raw<'_, Plain<GPU>>| {
                // SAFETY: the context lives.
                let code = unsafe { c::break_down(raw.context().cast()) };
                assert_eq!(raw.check(code).unwrap_err().kind(), ErrorKind::ContextLost);
                ctx.array(&[1]).map(drop)
            });
            assert_eq!(xs.to_vec().unwrap_err().kind(), ErrorKind::ContextLost);
        });
    }

    /// Inside of the closure a transfer panics, and the end of its batch does not wait for the lock.
    pub(super) fn batches_and_plain_calls_are_nested<const GPU: bool>() {
        in_time(|| {
            let (_world, ctx) = world_and_context::<GPU>();
            let xs = ctx.array(&[1, 2]).unwrap();
            let mut out = [0; 2];
            let sum = ctx.batch(|batch| {
                batch.read_into(&xs, &mut out)?;
                ctx.with_raw(|raw: &mut Raw<'_, Plain<GPU>>| {
                    let pointer = raw.pointer(&xs)?;
                    total(raw, pointer)
                })
            });
            assert_eq!((sum.unwrap(), out), (3, [1, 2]));
            // `to_vec` would leak its buffer, because a panic does not tell whether the transfer has begun.
            panics(&ctx, |_: &mut Raw<'_, Plain<GPU>>| {
                ctx.batch(|batch| batch.read_into(&xs, &mut out))
            });
            assert_eq!(xs.to_vec().unwrap(), [1, 2]);
        });
    }

    pub(super) fn a_drop_on_another_thread_waits_for_plain_calls<const GPU: bool>() {
        in_time(|| {
            let (world, ctx) = world_and_context::<GPU>();
            let (xs, ys) = (ctx.array(&[1, 2]).unwrap(), ctx.array(&[3]).unwrap());
            ctx.with_raw(|raw: &mut Raw<'_, Plain<GPU>>| {
                std::thread::scope(|scope| scope.spawn(|| drop(ys)).join().unwrap());
                assert_eq!(world.values(), 2, "the context is lent");
                let pointer = raw.pointer(&xs)?;
                total(raw, pointer)
            })
            .unwrap();
            assert_eq!(world.values(), 1);
        });
    }

    pub(super) fn the_drop_of_a_result_can_make_calls<const GPU: bool>() {
        struct Reads<'a>(&'a Array<Fake, i32, 1>, &'a Cell<bool>);
        impl Drop for Reads<'_> {
            fn drop(&mut self) {
                assert_eq!(self.0.to_vec().unwrap(), [1, 2]);
                self.1.set(true);
            }
        }
        in_time(|| {
            let (_world, ctx) = world_and_context::<GPU>();
            let (xs, read) = (ctx.array(&[1, 2]).unwrap(), Cell::new(false));
            let unseen = ctx.with_raw(|raw: &mut Raw<'_, Plain<GPU>>| {
                leave_failure(raw)?;
                Ok(Reads(&xs, &read))
            });
            assert_eq!(unseen.map(|_| ()).unwrap_err().kind(), ErrorKind::Program);
            assert!(read.get());
        });
    }

    pub(super) fn failures_are_reported_after_the_context_could_not_be_lent<const GPU: bool>() {
        let (_world, ctx) = world_and_context::<GPU>();
        let xs = ctx.array(&[1, 2]).unwrap();
        ctx.with_raw(|raw: &mut Raw<'_, Plain<GPU>>| {
            // SAFETY: the context lives.
            let code = unsafe { c::stall(raw.context().cast()) };
            let error = raw.check(code).unwrap_err();
            assert!(error.to_string().contains("cannot wait"), "{error}");
            assert!(raw.context().is_null());
            let error = raw.check(7).unwrap_err();
            assert_eq!(error.code(), Some(7), "{error}");
            // Now it works again, and reports the first code.
            assert!(!raw.context().is_null());
            assert!(raw.pointer::<Ints<GPU>>(&xs).is_err());
            let pointer = raw.pointer(&xs)?;
            assert_eq!(total(raw, pointer)?, 3);
            Ok(())
        })
        .unwrap();
    }

    pub(super) fn a_fatal_failure_loses_the_context<const GPU: bool>() {
        let (_world, ctx) = world_and_context::<GPU>();
        let xs = ctx.array(&[1, 2]).unwrap();
        let lost = ctx.with_raw(|raw: &mut Raw<'_, Plain<GPU>>| {
            // SAFETY: the context lives.
            let code = unsafe { c::break_down(raw.context().cast()) };
            let error = raw.check(code).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ContextLost);
            assert!(raw.context().is_null());
            assert_eq!(raw.check(1).unwrap_err().kind(), ErrorKind::ContextLost);
            Err::<(), _>(error)
        });
        assert_eq!(lost.unwrap_err().kind(), ErrorKind::ContextLost);
        assert_eq!(xs.to_vec().unwrap_err().kind(), ErrorKind::ContextLost);
        let again = ctx.with_raw(|_: &mut Raw<'_, Plain<GPU>>| Ok(()));
        assert_eq!(again.unwrap_err().kind(), ErrorKind::ContextLost);
    }
}

#[test]
fn values_of_another_context_or_type_are_rejected() {
    let _world = World::new();
    let (host, other, gpu) = (context::<false>(), context::<false>(), context::<true>());
    let never = |_: &mut Raw<'_, Plain<false>>| -> Result<()> { panic!("it must not run") };
    let refused = gpu.with_raw(never);
    says(refused, ErrorKind::WrongContext, "`raw::opencl`");
    for released in [false, true] {
        let foreign = other.array(&[1]).unwrap();
        let pointer = host.with_raw(|raw: &mut Raw<'_, Plain<false>>| match released {
            true => raw.release::<Ints<false>>(foreign),
            false => raw.pointer::<Ints<false>>(&foreign),
        });
        assert_eq!(pointer.unwrap_err().kind(), ErrorKind::WrongContext);
    }
}

#[test]
fn safe_calls_of_other_threads_wait_for_the_closure() {
    let (_world, ctx) = world_and_context::<false>();
    let xs = ctx.array(&[1, 2]).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (ctx, xs) = (&ctx, &xs);
            scope.spawn(move || {
                for _ in 0..super::times(200) {
                    let sum = match thread % 2 {
                        0 => xs.to_vec().map(|xs| xs.iter().sum()),
                        _ => ctx.with_raw(|raw: &mut Raw<'_, Plain<false>>| {
                            let pointer = raw.pointer(xs)?;
                            let made = made(raw, &[0]);
                            // SAFETY: made just now.
                            drop(unsafe { raw.adopt(made) }?);
                            total(raw, pointer)
                        }),
                    };
                    assert_eq!(sum.unwrap(), 3);
                }
            });
        }
    });
}
