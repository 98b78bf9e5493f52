// Ownership.

#[test]
fn c_owns_released_values_and_rust_adopted_ones() {
    let turn = turn(BACKEND);
    let ctx = &turn.ctx;
    for _ in 0..3 {
        let (xs, ys) = (ctx.array(&[1.0f32, 3.0]).unwrap(), ctx.array(&[4.0f32]).unwrap());
        let back = ctx.with_raw(|raw: &mut Plain<'_>| {
            let (xs, ys) = (raw.release(xs)?, raw.release::<c::futhark_f32_1d>(ys)?);
            let mut out = std::ptr::null_mut();
            // SAFETY: `xs` was released, and nothing shares its memory.
            let code = unsafe { c::futhark_entry_normalise(raw.context(), &raw mut out, xs) };
            // SAFETY: consumed.
            raw.check(unsafe { c::futhark_free_f32_1d(raw.context(), xs) })?;
            raw.check(code)?;
            // SAFETY: the result of a call, adopted once.
            let out = unsafe { raw.adopt(out) }?;
            // SAFETY: a value that was released, adopted once.
            Ok((out, unsafe { raw.adopt(ys) }?))
        });
        let (out, ys) = back.unwrap();
        assert_eq!(out.to_vec().unwrap(), [0.25, 0.75]);
        assert_eq!(ys.to_vec().unwrap(), [4.0]);
    }
}

#[test]
fn memory_returned_by_c_is_freed_with_free() {
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
        // SAFETY: the context is live.
        raw.check(unsafe { c::futhark_context_sync(raw.context()) })?;
        // SAFETY: C wrote `size` bytes.
        let copy = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) };
        let copy = copy.to_vec();
        // SAFETY: the bytes are ours, made by malloc.
        unsafe { free_text(bytes.cast()) };
        // SAFETY: the context is live.
        let report = unsafe { c::futhark_context_report(raw.context()) };
        // SAFETY: the report is ours, made by malloc.
        unsafe { free_text(report) };
        Ok(copy)
    });
    assert!(stored.unwrap().ends_with(&[1.0f32.to_ne_bytes(), 3.0f32.to_ne_bytes()].concat()));
}
