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

#[test]
fn memory_that_c_gives_away_is_freed_by_libc() {
    unsafe extern "C" {
        #[link_name = "free"]
        fn free_text(text: *mut std::ffi::c_char);
    }
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    let xs = ctx.array(&[1.0f32, 3.0]).unwrap();
    let track = ctx.entry().track(7, &xs).unwrap();
    let stored = ctx.with_raw(|raw: &mut Plain<'_>| {
        let (track, mut bytes, mut size) = (raw.pointer(&track)?, std::ptr::null_mut(), 0);
        // SAFETY: pointers of this context; no memory is provided, so C allocates it.
        let code = unsafe {
            c::futhark_store_opaque_track(raw.context(), track, &raw mut bytes, &raw mut size)
        };
        raw.check(code)?;
        // SAFETY: the context.
        raw.check(unsafe { c::futhark_context_sync(raw.context()) })?;
        // SAFETY: so many bytes were written.
        let copy = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) };
        let copy = copy.to_vec();
        // SAFETY: the bytes are ours, made by malloc.
        unsafe { free_text(bytes.cast()) };
        // SAFETY: the context.
        let report = unsafe { c::futhark_context_report(raw.context()) };
        // SAFETY: the report is ours, made by malloc.
        unsafe { free_text(report) };
        Ok(copy)
    });
    assert!(stored.unwrap().ends_with(&[1.0f32.to_ne_bytes(), 3.0f32.to_ne_bytes()].concat()));
}
