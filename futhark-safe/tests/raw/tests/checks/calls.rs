// Plain calls beside safe ones.

fn mean(raw: &mut Plain<'_>, xs: &stats::Array<f32, 1>) -> futhark_safe::Result<f32> {
    let (xs, mut mean) = (raw.pointer(xs)?, 0.0);
    // SAFETY: pointers of this context; `mean` is written before the call returns.
    let code = unsafe { c::futhark_entry_mean(raw.context(), &raw mut mean, xs) };
    raw.check(code)?;
    Ok(mean)
}

#[test]
fn plain_calls_can_be_mixed_with_safe_ones() {
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    let xs = ctx.array(&[1.0f32, 2.0, 5.0]).unwrap();
    assert_eq!(ctx.with_raw(|raw| mean(raw, &xs)).unwrap(), 8.0 / 3.0);
    assert_eq!(ctx.entry().mean(&xs).unwrap(), 8.0 / 3.0);

    // C makes and consumes values, and a result becomes a safe value.
    let (ys, length) = ctx
        .with_raw(|raw: &mut Plain<'_>| {
            let data = [1.0f32, 2.0, 5.0];
            // SAFETY: three elements, which are copied when `sync` returns.
            let made = unsafe { c::futhark_new_f32_1d(raw.context(), data.as_ptr(), 3) };
            // SAFETY: as above.
            raw.check(unsafe { c::futhark_context_sync(raw.context()) })?;
            let mut out = std::ptr::null_mut();
            // SAFETY: `made` has no other owner.
            let code = unsafe { c::futhark_entry_normalise(raw.context(), &raw mut out, made) };
            // SAFETY: it was consumed, and is not used again.
            raw.check(unsafe { c::futhark_free_f32_1d(raw.context(), made) })?;
            raw.check(code)?;
            // SAFETY: `out` lives.
            let shape = unsafe { c::futhark_shape_f32_1d(raw.context(), out) };
            // SAFETY: one dimension.
            let length = unsafe { *shape };
            // SAFETY: the call succeeded, and its result has no other owner.
            Ok((unsafe { raw.adopt(out) }?, length))
        })
        .unwrap();
    assert_eq!((ys.shape(), length), ([3], 3));
    assert_eq!(ys.to_vec().unwrap(), [0.125, 0.25, 0.625]);
    let zs = ctx.entry().normalise(ys).unwrap();
    assert_eq!(ctx.with_raw(|raw| mean(raw, &zs)).unwrap(), 1.0 / 3.0);
}

#[test]
fn opaque_values_are_passed_in_both_directions() {
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    let xs = ctx.array(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let track: stats::Track = ctx
        .with_raw(|raw: &mut Plain<'_>| {
            let (xs, mut out) = (raw.pointer(&xs)?, std::ptr::null_mut());
            // SAFETY: pointers of this context.
            raw.check(unsafe { c::futhark_entry_track(raw.context(), &raw mut out, 7, xs) })?;
            // SAFETY: the call succeeded, and its result has no other owner.
            unsafe { raw.adopt(out) }
        })
        .unwrap();
    drop(xs);
    assert_eq!(track.number().unwrap(), 7);
    assert_eq!(track.xs().unwrap().to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    let length = ctx.with_raw(|raw: &mut Plain<'_>| {
        let (track, mut length) = (raw.pointer(&track)?, 0);
        // SAFETY: pointers of this context.
        raw.check(unsafe { c::futhark_entry_length(raw.context(), &raw mut length, track) })?;
        Ok(length)
    });
    assert_eq!(length.unwrap(), 4);
}

#[test]
fn types_of_another_backend_are_rejected() {
    let turn = turn(BACKEND);
    let calls = |_: &mut Raw<'_, wrong::futhark_context>| -> futhark_safe::Result<()> {
        panic!("the closure must not run")
    };
    let error = turn.ctx.with_raw(calls).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongContext);
    let text = error.to_string();
    assert!(text.contains(&format!("on backend {BACKEND}")), "{text}");
    assert!(text.contains(&format!("the module `raw::{BACKEND}`")), "{text}");
}

#[test]
fn a_nested_safe_call_panics_instead_of_blocking() {
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    let xs = ctx.array(&[1.0f32]).unwrap();
    let calls = |_: &mut Plain<'_>| ctx.array(&[2.0f32]).map(drop);
    let nested = std::panic::AssertUnwindSafe(|| ctx.with_raw(calls));
    let panic = std::panic::catch_unwind(nested).unwrap_err();
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    assert!(text.unwrap().contains("inside of `with_raw`"));
    // The context is unlocked.
    assert_eq!(xs.to_vec().unwrap(), [1.0]);
    assert_eq!(ctx.with_raw(|raw| mean(raw, &xs)).unwrap(), 1.0);
}

#[test]
fn safe_calls_of_other_threads_wait() {
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    let xs = ctx.array(&[3.0f32; 100]).unwrap();
    std::thread::scope(|scope| {
        for plain in [true, false, true, false] {
            let xs = &xs;
            scope.spawn(move || {
                for _ in 0..5 {
                    let mean = match plain {
                        true => ctx.with_raw(|raw| mean(raw, xs)),
                        false => ctx.entry().mean(xs),
                    };
                    assert_eq!(mean.unwrap(), 3.0);
                }
            });
        }
    });
}
