// Failing plain calls, and the calls after them.

type Floats = *mut c::futhark_f32_1d;

/// An index out of bounds. On GPU backends the next wait may report it.
fn fail(raw: &mut Plain<'_>, xs: Floats, is: *const c::futhark_i64_1d) -> (i32, Floats) {
    let mut out = std::ptr::null_mut();
    // SAFETY: pointers of this context.
    let code = unsafe { c::futhark_entry_gather(raw.context(), &raw mut out, xs, is) };
    (code, out)
}

/// Frees the result that a failing call may have returned.
fn free(raw: &Plain<'_>, xs: Floats) {
    if !xs.is_null() {
        // SAFETY: it has no other owner.
        unsafe { c::futhark_free_f32_1d(raw.context(), xs) };
    }
}

/// The context works, in parallel loops too.
fn assert_works(ctx: &stats::Context) {
    let xs = ctx.array(&vec![2.0f32; 10_000]).unwrap();
    let is = ctx.array(&(0..10_000i64).rev().collect::<Vec<_>>()).unwrap();
    let ys = ctx.entry().gather(&xs, &is).unwrap();
    assert_eq!(ctx.entry().mean(&ys).unwrap(), 2.0);
    assert_eq!(ctx.with_raw(|raw| mean(raw, &ys)).unwrap(), 2.0);
}

fn assert_out_of_bounds(error: &futhark_safe::Error) {
    assert_eq!(error.kind(), ErrorKind::Program, "{error}");
    let text = error.c_message().unwrap();
    assert!(text.contains("Index [7] out of bounds for array of shape [2]"), "{text}");
}

#[test]
fn a_failure_is_reported_and_the_context_survives() {
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    let xs = ctx.array(&[1.0f32, 2.0]).unwrap();
    let is = ctx.array(&[0i64, 7, 1, 0, 1]).unwrap();
    // `check` reports it in the closure.
    let after = ctx.with_raw(|raw: &mut Plain<'_>| {
        let (xs, is) = (raw.pointer(&xs)?, raw.pointer(&is)?);
        let (code, out) = fail(raw, xs, is);
        free(raw, out);
        // SAFETY: the context is live.
        let wait = unsafe { c::futhark_context_sync(raw.context()) };
        let error = raw.check(if code == 0 { wait } else { code }).unwrap_err();
        assert_out_of_bounds(&error);
        let mut mean = 0.0;
        // SAFETY: pointers of this context.
        raw.check(unsafe { c::futhark_entry_mean(raw.context(), &raw mut mean, xs) })?;
        Ok(mean)
    });
    assert_eq!(after.unwrap(), 1.5);
    assert_works(ctx);
    // The end of the closure reports it if `check` was not called.
    let unseen = ctx.with_raw(|raw: &mut Plain<'_>| {
        let (xs, is) = (raw.pointer(&xs)?, raw.pointer(&is)?);
        let (_, out) = fail(raw, xs, is);
        free(raw, out);
        Ok(())
    });
    assert_out_of_bounds(&unseen.unwrap_err());
    assert_works(ctx);
}

#[test]
fn a_failure_with_a_fetched_message_does_not_affect_later_calls() {
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    let xs = ctx.array(&[1.0f32, 2.0]).unwrap();
    let is = ctx.array(&vec![7i64; 10_000]).unwrap();
    for _ in 0..3 {
        let text = ctx.with_raw(|raw: &mut Plain<'_>| {
            let (xs, is) = (raw.pointer(&xs)?, raw.pointer(&is)?);
            let (code, out) = fail(raw, xs, is);
            free(raw, out);
            // SAFETY: the context is live.
            let wait = unsafe { c::futhark_context_sync(raw.context()) };
            assert!(code != 0 || wait != 0);
            // SAFETY: the context is live.
            let text = unsafe { c::futhark_context_get_error(raw.context()) };
            // SAFETY: a failure has a message, which ends with a NUL.
            let copy = unsafe { std::ffi::CStr::from_ptr(text) };
            let copy = copy.to_string_lossy().into_owned();
            // SAFETY: the message is ours, made by malloc.
            unsafe { free_text(text) };
            Ok(copy)
        });
        assert!(text.unwrap().contains("out of bounds"));
        assert_works(ctx);
    }
}

#[test]
fn out_of_memory_keeps_its_kind() {
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    for checked in [true, false] {
        let error = ctx.with_raw(|raw: &mut Plain<'_>| {
            let mut out = std::ptr::null_mut();
            // SAFETY: pointers of this context.
            let code = unsafe { c::futhark_entry_fill(raw.context(), &raw mut out, 1 << 46) };
            assert_ne!(code, 0);
            if checked {
                raw.check(code)?;
            }
            Ok(())
        });
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
        assert_works(ctx);
    }
}

#[test]
fn adopting_null_is_an_error() {
    let turn = turn(BACKEND);
    let adopted = turn.ctx.with_raw(|raw: &mut Plain<'_>| {
        let none: Floats = std::ptr::null_mut();
        // SAFETY: null.
        unsafe { raw.adopt(none) }
    });
    assert_eq!(adopted.unwrap_err().kind(), ErrorKind::Backend);
    assert_works(&turn.ctx);
}
