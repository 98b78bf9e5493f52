//! A context whose plain calls are made within those of another one.

use futhark_safe::{Backend, Config, Raw};
use futhark_safe_raw_tests::stats;

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
