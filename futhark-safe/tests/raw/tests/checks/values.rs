// Who owns what.

#[test]
fn released_values_are_cs_and_adopted_ones_ours() {
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    for _ in 0..3 {
        let (xs, ys) = (ctx.array(&[1.0f32, 3.0]).unwrap(), ctx.array(&[4.0f32]).unwrap());
        let back = ctx.with_raw(|raw: &mut Plain<'_>| {
            let (xs, ys) = (raw.release(xs)?, raw.release::<c::futhark_f32_1d>(ys)?);
            let mut out = std::ptr::null_mut();
            // SAFETY: nothing shares the memory of `xs`, which is nobody's but ours.
            let code = unsafe { c::futhark_entry_normalise(raw.context(), &raw mut out, xs) };
            // SAFETY: consumed.
            raw.check(unsafe { c::futhark_free_f32_1d(raw.context(), xs) })?;
            raw.check(code)?;
            // SAFETY: the result of a call, and a value that was released.
            let out = unsafe { raw.adopt(out) }?;
            // SAFETY: likewise.
            Ok((out, unsafe { raw.adopt(ys) }?))
        });
        let (out, ys) = back.unwrap();
        assert_eq!(out.to_vec().unwrap(), [0.25, 0.75]);
        assert_eq!(ys.to_vec().unwrap(), [4.0]);
    }
}

#[test]
fn values_dropped_inside_are_freed_afterwards() {
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    let (xs, ys) = (ctx.array(&[1.0f32]).unwrap(), ctx.array(&[4.0f32]).unwrap());
    let mean = ctx.with_raw(|raw: &mut Plain<'_>| {
        // Dropped, and there until the context is ours again.
        let pointer = raw.pointer(&xs)?;
        drop(xs);
        let mut mean = 0.0;
        // SAFETY: `xs` is freed when the closure is done.
        raw.check(unsafe { c::futhark_entry_mean(raw.context(), &raw mut mean, pointer) })?;
        Ok(mean)
    });
    assert_eq!(mean.unwrap(), 1.0);
    // Two kinds of owners of the same memory.
    let twice = ctx.with_raw(|raw: &mut Plain<'_>| {
        let (xs, mut out) = (raw.pointer(&ys)?, std::ptr::null_mut());
        // SAFETY: pointers of this context.
        raw.check(unsafe { c::futhark_entry_track(raw.context(), &raw mut out, 1, xs) })?;
        // SAFETY: the call succeeded, and nobody else has its result.
        unsafe { raw.adopt::<c::futhark_opaque_track>(out) }
    });
    let twice = twice.unwrap();
    // Consumed where it is shared: a copy.
    let changed = ctx.entry().normalise(ys).unwrap();
    assert_eq!(changed.to_vec().unwrap(), [1.0]);
    assert_eq!(twice.xs().unwrap().to_vec().unwrap(), [4.0]);
}
