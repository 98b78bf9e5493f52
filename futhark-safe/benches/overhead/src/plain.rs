//! The unmodified generated C, called like a careful C program does: it checks return codes and
//! syncs scalars and transfers.
//!
//! One module per backend, whose symbols have a prefix from `build.rs`.

/// The error code of a C function.
#[derive(Debug)]
pub struct Failed(pub i32);

fn check(code: i32) -> Result<(), Failed> {
    if code == 0 { Ok(()) } else { Err(Failed(code)) }
}

macro_rules! backend {
    ($(#[$doc:meta])* $module:ident, $prefix:literal) => {
        $(#[$doc])*
        pub mod $module {
            use std::ffi::{c_int, c_void};
            use std::ptr::NonNull;

            use super::{Failed, check};

            // The header's declarations, with `void` for its structs.
            // SAFETY: these match the generated header.
            unsafe extern "C" {
                #[link_name = concat!($prefix, "futhark_context_config_new")]
                fn config_new() -> *mut c_void;
                #[link_name = concat!($prefix, "futhark_context_config_free")]
                fn config_free(config: *mut c_void);
                #[link_name = concat!($prefix, "futhark_context_new")]
                fn context_new(config: *mut c_void) -> *mut c_void;
                #[link_name = concat!($prefix, "futhark_context_free")]
                fn context_free(ctx: *mut c_void);
                #[link_name = concat!($prefix, "futhark_context_sync")]
                fn context_sync(ctx: *mut c_void) -> c_int;
                #[link_name = concat!($prefix, "futhark_entry_add")]
                fn entry_add(ctx: *mut c_void, out: *mut i32, a: i32, b: i32) -> c_int;
                #[link_name = concat!($prefix, "futhark_entry_spin")]
                fn entry_spin(ctx: *mut c_void, out: *mut u32, rounds: i32, seed: u32) -> c_int;
                #[link_name = concat!($prefix, "futhark_entry_kernel")]
                fn entry_kernel(ctx: *mut c_void, out: *mut i32, which: i32, n: i64) -> c_int;
                #[link_name = concat!($prefix, "futhark_entry_first")]
                fn entry_first(ctx: *mut c_void, out: *mut f32, xs: *const c_void) -> c_int;
                #[link_name = concat!($prefix, "futhark_entry_touch")]
                fn entry_touch(ctx: *mut c_void, out: *mut *mut c_void, xs: *mut c_void) -> c_int;
                #[link_name = concat!($prefix, "futhark_new_f32_1d")]
                fn new_f32(ctx: *mut c_void, data: *const f32, n: i64) -> *mut c_void;
                #[link_name = concat!($prefix, "futhark_free_f32_1d")]
                fn free_f32(ctx: *mut c_void, array: *mut c_void) -> c_int;
                #[link_name = concat!($prefix, "futhark_values_f32_1d")]
                fn values_f32(ctx: *mut c_void, array: *mut c_void, to: *mut f32) -> c_int;
                #[link_name = concat!($prefix, "futhark_values_raw_f32_1d")]
                fn values_raw_f32(ctx: *mut c_void, array: *mut c_void) -> *const f32;
            }

            /// A context with its configuration.
            pub struct Context {
                config: *mut c_void,
                ctx: *mut c_void,
            }

            impl Context {
                /// Creates a context with the default configuration.
                #[expect(clippy::new_without_default, reason = "it starts threads")]
                #[must_use]
                pub fn new() -> Context {
                    // SAFETY: no arguments; the next line checks the result.
                    let config = unsafe { config_new() };
                    assert!(!config.is_null());
                    // SAFETY: the configuration is live and has no other context.
                    let ctx = unsafe { context_new(config) };
                    assert!(!ctx.is_null());
                    Context { config, ctx }
                }

                /// The entry point `add`.
                ///
                /// # Errors
                ///
                /// The error code of the C function.
                #[inline]
                pub fn add(&self, a: i32, b: i32) -> Result<i32, Failed> {
                    let mut sum = 0;
                    // SAFETY: the context is live, its thread is this one (it is not `Sync`),
                    // and the result has a place.
                    check(unsafe { entry_add(self.ctx, &raw mut sum, a, b) })?;
                    // SAFETY: as above.
                    check(unsafe { context_sync(self.ctx) })?;
                    Ok(sum)
                }

                /// The entry point `spin`.
                ///
                /// # Errors
                ///
                /// The error code of the C function.
                #[inline]
                pub fn spin(&self, rounds: i32, seed: u32) -> Result<u32, Failed> {
                    let mut x = 0;
                    // SAFETY: as for `add`.
                    check(unsafe { entry_spin(self.ctx, &raw mut x, rounds, seed) })?;
                    // SAFETY: as above.
                    check(unsafe { context_sync(self.ctx) })?;
                    Ok(x)
                }

                /// The entry point `kernel`.
                ///
                /// # Errors
                ///
                /// The error code of the C function.
                #[inline]
                pub fn kernel(&self, which: i32, n: i64) -> Result<i32, Failed> {
                    let mut x = 0;
                    // SAFETY: as for `add`.
                    check(unsafe { entry_kernel(self.ctx, &raw mut x, which, n) })?;
                    // SAFETY: as above.
                    check(unsafe { context_sync(self.ctx) })?;
                    Ok(x)
                }

                /// Uploads an array.
                #[inline]
                #[must_use]
                pub fn array(&self, data: &[f32]) -> Array<'_> {
                    // SAFETY: the context is live; the slice has this many elements, and
                    // they are copied before the sync below returns.
                    let array = unsafe { new_f32(self.ctx, data.as_ptr(), data.len() as i64) };
                    let array = NonNull::new(array).expect("memory for an array");
                    // SAFETY: the context is live.
                    check(unsafe { context_sync(self.ctx) }).expect("a transfer that works");
                    Array { ctx: self, array, len: data.len() }
                }
            }

            impl Context {
                /// The context, for several threads.
                #[must_use]
                pub fn shared(&self) -> Shared<'_> {
                    Shared(self)
                }
            }

            /// A context that several threads use.
            pub struct Shared<'a>(&'a Context);

            // SAFETY: its only method calls an entry point, which takes the lock of the generated C, and a sync
            // that does nothing on host backends.
            unsafe impl Sync for Shared<'_> {}

            impl Shared<'_> {
                /// The entry point `add`.
                ///
                /// # Errors
                ///
                /// The error code of the C function.
                #[inline]
                pub fn add(&self, a: i32, b: i32) -> Result<i32, Failed> {
                    self.0.add(a, b)
                }
            }

            impl Drop for Context {
                fn drop(&mut self) {
                    // SAFETY: live until here; arrays borrow the context, so none is left.
                    unsafe { context_free(self.ctx) };
                    // SAFETY: its context is freed.
                    unsafe { config_free(self.config) };
                }
            }

            /// An array of `f32`.
            pub struct Array<'c> {
                ctx: &'c Context,
                array: NonNull<c_void>,
                len: usize,
            }

            impl Array<'_> {
                /// Downloads all elements into `to`, which must have the same length.
                ///
                /// # Errors
                ///
                /// The error code of the C function.
                #[inline]
                pub fn read_into(&self, to: &mut [f32]) -> Result<(), Failed> {
                    assert_eq!(to.len(), self.len);
                    // SAFETY: `to` holds all elements.
                    unsafe { self.read_to(to.as_mut_ptr()) }
                }

                /// The entry point `first`.
                ///
                /// # Errors
                ///
                /// The error code of the C function.
                #[inline]
                pub fn first(&self) -> Result<f32, Failed> {
                    let mut x = 0.0;
                    // SAFETY: array and context are live.
                    check(unsafe { entry_first(self.ctx.ctx, &raw mut x, self.array.as_ptr()) })?;
                    // SAFETY: the context is live.
                    check(unsafe { context_sync(self.ctx.ctx) })?;
                    Ok(x)
                }

                /// The entry point `touch`, which consumes the array.
                ///
                /// # Errors
                ///
                /// The error code of the C function.
                #[inline]
                pub fn touch(&mut self) -> Result<(), Failed> {
                    let mut out = std::ptr::null_mut();
                    // SAFETY: array and context are live; the array is freed below and not used again.
                    check(unsafe { entry_touch(self.ctx.ctx, &raw mut out, self.array.as_ptr()) })?;
                    let touched = NonNull::new(out).expect("a result");
                    let consumed = std::mem::replace(&mut self.array, touched);
                    // SAFETY: live until here, and of this context.
                    check(unsafe { free_f32(self.ctx.ctx, consumed.as_ptr()) })?;
                    // SAFETY: the context is live.
                    check(unsafe { context_sync(self.ctx.ctx) })
                }

                /// The address and number of the elements.
                #[inline]
                #[must_use]
                pub fn values_raw(&self) -> (*const f32, usize) {
                    // SAFETY: array and context are live.
                    let first = unsafe { values_raw_f32(self.ctx.ctx, self.array.as_ptr()) };
                    (first, self.len)
                }

                /// Downloads all elements into memory from `malloc`, and frees it.
                ///
                /// # Errors
                ///
                /// The error code of the C function.
                #[inline]
                pub fn malloc_and_copy(&self) -> Result<(), Failed> {
                    unsafe extern "C" {
                        fn malloc(size: usize) -> *mut f32;
                        fn free(memory: *mut f32);
                    }
                    // SAFETY: `malloc` accepts any size.
                    let memory = unsafe { malloc(self.len * size_of::<f32>()) };
                    assert!(!memory.is_null());
                    // SAFETY: the memory holds all elements.
                    let result = unsafe { self.read_to(std::hint::black_box(memory)) };
                    // SAFETY: `malloc` returned it, and it is not used again.
                    unsafe { free(memory) };
                    result
                }

                /// # Safety
                ///
                /// `to` can hold all elements.
                #[inline]
                unsafe fn read_to(&self, to: *mut f32) -> Result<(), Failed> {
                    // SAFETY: array and context are live; the caller guarantees the size.
                    check(unsafe { values_f32(self.ctx.ctx, self.array.as_ptr(), to) })?;
                    // SAFETY: the context is live.
                    check(unsafe { context_sync(self.ctx.ctx) })
                }
            }

            impl Drop for Array<'_> {
                #[inline]
                fn drop(&mut self) {
                    // SAFETY: live until here, and of this context.
                    let code = unsafe { free_f32(self.ctx.ctx, self.array.as_ptr()) };
                    debug_assert_eq!(code, 0);
                }
            }
        }
    };
}

backend! {
    /// The sequential backend.
    c, "plain_c_"
}
backend! {
    /// The multicore backend.
    multicore, "plain_multicore_"
}
