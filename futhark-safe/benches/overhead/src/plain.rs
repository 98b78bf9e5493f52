//! The unmodified generated C, or a hardened library, called like a careful C program does: it checks return codes and syncs.

use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use futhark_safe::Backend;
use libloading::Library;

use crate::builds::{self, Variant};
use crate::workloads::Kernel;

type Pointer = *mut c_void;

/// A context of a program. Library and context live as long as the process.
pub struct Context {
    library: &'static Library,
    ctx: Pointer,
    sync: unsafe extern "C" fn(Pointer) -> c_int,
}

impl Context {
    /// Loads a library of [`builds::plain`] or [`builds::library`] and creates a context.
    pub fn open(library: &Path) -> Context {
        // SAFETY: the library is generated C, which runs no code when it is loaded.
        let library = unsafe { Library::new(library) }.expect("a library");
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the types are those of the generated header, as in all calls of `function` below.
        let config_new: unsafe extern "C" fn() -> Pointer =
            unsafe { function(library, "context_config_new") };
        // SAFETY: as above.
        let context_new: unsafe extern "C" fn(Pointer) -> Pointer =
            unsafe { function(library, "context_new") };
        // SAFETY: as above.
        let sync = unsafe { function(library, "context_sync") };
        // SAFETY: it has no arguments.
        let config = unsafe { config_new() };
        // SAFETY: the configuration is live and has no other context.
        let ctx = unsafe { context_new(config) };
        assert!(!ctx.is_null(), "a context is created");
        Context { library, ctx, sync }
    }

    /// An entry point that takes a size and returns a number.
    pub fn kernel(self, entry: &str) -> Kernel {
        // SAFETY: the workloads have this type.
        let call: unsafe extern "C" fn(Pointer, *mut f64, i64) -> c_int =
            unsafe { function(self.library, &format!("entry_{entry}")) };
        Box::new(move |n| {
            let mut result = 0.0;
            // SAFETY: the context is live and used by this thread only; the result has a place.
            check(unsafe { call(self.ctx, &raw mut result, n) });
            self.sync();
            result
        })
    }

    #[inline]
    fn sync(&self) {
        // SAFETY: the context is live.
        check(unsafe { (self.sync)(self.ctx) });
    }
}

/// The functions of `calls.fut`.
pub struct Calls {
    context: Context,
    add: unsafe extern "C" fn(Pointer, *mut i32, i32, i32) -> c_int,
    first: unsafe extern "C" fn(Pointer, *mut f32, Pointer) -> c_int,
    new_f32: unsafe extern "C" fn(Pointer, *const f32, i64) -> Pointer,
    free_f32: unsafe extern "C" fn(Pointer, Pointer) -> c_int,
    values_f32: unsafe extern "C" fn(Pointer, Pointer, *mut f32) -> c_int,
    values_raw_f32: unsafe extern "C" fn(Pointer, Pointer) -> *const f32,
}

impl Calls {
    /// Compiles `calls.fut` to a plain or hardened library, unless it is.
    pub fn build(backend: Backend, variant: Variant) -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("calls.fut");
        match variant {
            Variant::Library => builds::library(&source, backend),
            _ => builds::plain(&source, backend),
        }
    }

    /// Creates a context of `calls.fut`.
    pub fn open(backend: Backend, variant: Variant) -> Calls {
        let context = Context::open(&Calls::build(backend, variant));
        let library = context.library;
        Calls {
            // SAFETY: the types are those of the header.
            add: unsafe { function(library, "entry_add") },
            // SAFETY: as above.
            first: unsafe { function(library, "entry_first") },
            // SAFETY: as above.
            new_f32: unsafe { function(library, "new_f32_1d") },
            // SAFETY: as above.
            free_f32: unsafe { function(library, "free_f32_1d") },
            // SAFETY: as above.
            values_f32: unsafe { function(library, "values_f32_1d") },
            // SAFETY: as above.
            values_raw_f32: unsafe { function(library, "values_raw_f32_1d") },
            context,
        }
    }

    /// The entry point `add`.
    #[inline]
    pub fn add(&self, a: i32, b: i32) -> i32 {
        let mut sum = 0;
        // SAFETY: the context is live, its thread is this one (it is not `Sync`), and the result has a place.
        check(unsafe { (self.add)(self.context.ctx, &raw mut sum, a, b) });
        self.context.sync();
        sum
    }

    /// Uploads an array.
    #[inline]
    pub fn array(&self, data: &[f32]) -> Array<'_> {
        // SAFETY: the context is live; the slice has this many elements, which are copied before the sync returns.
        let array = unsafe { (self.new_f32)(self.context.ctx, data.as_ptr(), data.len() as i64) };
        let array = NonNull::new(array).expect("memory for an array");
        self.context.sync();
        Array {
            calls: self,
            array,
            len: data.len(),
        }
    }
}

/// An array of `f32`.
pub struct Array<'c> {
    calls: &'c Calls,
    array: NonNull<c_void>,
    len: usize,
}

impl Array<'_> {
    /// The entry point `first`.
    #[inline]
    pub fn first(&self) -> f32 {
        let mut x = 0.0;
        // SAFETY: array and context are live.
        check(unsafe {
            (self.calls.first)(self.calls.context.ctx, &raw mut x, self.array.as_ptr())
        });
        self.calls.context.sync();
        x
    }

    /// Downloads all elements.
    #[inline]
    pub fn read_into(&self, to: &mut [f32]) {
        assert_eq!(to.len(), self.len);
        // SAFETY: `to` holds all elements.
        unsafe { self.read_to(to.as_mut_ptr()) }
    }

    /// Where the elements are.
    #[inline]
    pub fn address(&self) -> *const f32 {
        // SAFETY: array and context are live.
        unsafe { (self.calls.values_raw_f32)(self.calls.context.ctx, self.array.as_ptr()) }
    }

    /// Downloads all elements into new memory, and frees it.
    #[inline]
    pub fn copy_to_new_memory(&self) {
        let mut memory = Vec::<f32>::with_capacity(self.len);
        // SAFETY: the memory holds all elements.
        unsafe { self.read_to(std::hint::black_box(memory.as_mut_ptr())) };
    }

    /// # Safety
    ///
    /// `to` can hold all elements.
    #[inline]
    unsafe fn read_to(&self, to: *mut f32) {
        // SAFETY: array and context are live; the caller guarantees the size.
        check(unsafe { (self.calls.values_f32)(self.calls.context.ctx, self.array.as_ptr(), to) });
        self.calls.context.sync();
    }
}

impl Drop for Array<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: live until here, and of this context.
        check(unsafe { (self.calls.free_f32)(self.calls.context.ctx, self.array.as_ptr()) });
    }
}

/// # Safety
///
/// `F` is the type of the function in the generated header.
unsafe fn function<F: Copy>(library: &'static Library, name: &str) -> F {
    let name = format!("futhark_{name}");
    // SAFETY: the caller guarantees the type.
    let function = unsafe { library.get::<F>(name.as_bytes()) };
    *function.unwrap_or_else(|error| panic!("{error}"))
}

#[inline]
fn check(code: c_int) {
    assert_eq!(code, 0, "a call of the C API succeeds");
}
