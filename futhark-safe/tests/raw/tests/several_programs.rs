//! Two programs with equal names, on two backends each, called as plain C in one binary.

use futhark_safe::{Backend, Config, Raw};
use futhark_safe_raw_tests::{other, stats};

/// The results of `mean` and `track` by program and backend.
macro_rules! answers {
    ($program:ident, $module:ident, $backend:ident) => {{
        use $program::raw::$module as c;
        let config = Config::new().backend(Backend::$backend);
        let ctx = $program::Context::new(&config).unwrap();
        let xs = ctx.array(&[1.0f32, 2.0, 6.0]).unwrap();
        let calls = |raw: &mut Raw<'_, c::futhark_context>| {
            let (pointer, mut mean) = (raw.pointer(&xs)?, 0.0);
            // SAFETY: pointers of this context; `mean` is written when this returns.
            raw.check(unsafe { c::futhark_entry_mean(raw.context(), &raw mut mean, pointer) })?;
            let mut track = std::ptr::null_mut();
            // SAFETY: pointers of this context.
            raw.check(unsafe {
                c::futhark_entry_track(raw.context(), &raw mut track, 5, pointer)
            })?;
            // SAFETY: the call succeeded, and its result has no other owner.
            let track: $program::Track = unsafe { raw.adopt(track) }?;
            Ok((mean, track))
        };
        let (mean, track) = ctx.with_raw(calls).unwrap();
        (mean, track.number().unwrap(), ctx)
    }};
}

#[test]
fn programs_with_equal_names_are_independent() {
    let (mean, number, a) = answers!(stats, c, C);
    assert_eq!((mean, number), (3.0, 5));
    let (mean, number, b) = answers!(other, multicore, Multicore);
    assert_eq!((mean, number), (1003.0, -5));
    let (mean, number, c) = answers!(stats, multicore, Multicore);
    assert_eq!((mean, number), (3.0, 5));
    let (mean, number, d) = answers!(other, c, C);
    assert_eq!((mean, number), (1003.0, -5));
    // All of them nested.
    type In<'a, C> = Raw<'a, C>;
    let nested = a.with_raw(|_: &mut In<'_, stats::raw::c::futhark_context>| {
        b.with_raw(|_: &mut In<'_, other::raw::multicore::futhark_context>| {
            c.with_raw(|_: &mut In<'_, stats::raw::multicore::futhark_context>| {
                d.array(&[1.0f32, 3.0]).and_then(|xs| d.entry().mean(&xs))
            })
        })
    });
    assert_eq!(nested.unwrap(), 1002.0);
}

/// The inner of two nested contexts runs out of memory.
#[test]
fn out_of_memory_is_reported_by_its_own_context() {
    use stats::raw::c;
    let new = || stats::Context::new(&Config::new().backend(Backend::C)).unwrap();
    let (outer, inner) = (new(), new());
    let error = outer.with_raw(|raw: &mut Raw<'_, c::futhark_context>| {
        inner.with_raw(|_: &mut Raw<'_, c::futhark_context>| {
            let mut out = std::ptr::null_mut();
            // SAFETY: pointers of this context.
            let code = unsafe { c::futhark_entry_fill(raw.context(), &raw mut out, 1 << 46) };
            assert_ne!(code, c::FUTHARK_SUCCESS);
            Ok(())
        })
    });
    let error = error.unwrap_err();
    assert_eq!(
        error.kind(),
        futhark_safe::ErrorKind::OutOfMemory,
        "{error}"
    );
    let xs = inner.array(&[1.0f32, 3.0]).unwrap();
    assert_eq!(inner.entry().mean(&xs).unwrap(), 2.0);
}
