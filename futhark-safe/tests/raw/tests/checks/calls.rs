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
