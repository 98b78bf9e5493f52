//! The table of one program and backend, as the C side hands it out.
//!
//! [`Table`] is a checked reference to a [`Raw`] table: its version and size agree
//! with this crate and its self-test passed. Text in it is UTF-8 by the time a
//! [`Table`] exists. Its functions stay `unsafe` to call; `c/futhark_table.h` says
//! what each one takes.

use std::ffi::{CStr, c_char, c_void};
use std::fmt;

pub use crate::bindings::{
    FUT_ABI, FUT_ARRAY, FUT_BOOL, FUT_CAUSE_ARGUMENT, FUT_CAUSE_PROGRAM, FUT_CAUSE_SIZES,
    FUT_CAUSE_UNKNOWN, FUT_CONSUMED, FUT_ENTRY_POINT, FUT_F16, FUT_F32, FUT_F64, FUT_FAILED,
    FUT_FIRST_TYPE, FUT_GPU, FUT_HARDENED, FUT_I8, FUT_I16, FUT_I32, FUT_I64, FUT_LOST, FUT_MEMORY,
    FUT_OF_CALL, FUT_OF_EARLIER, FUT_OF_EITHER, FUT_OK, FUT_OPAQUE, FUT_REFUSED,
    FUT_SET_BLOCK_SIZE, FUT_SET_BUILD_OPTION, FUT_SET_CACHE_FILE, FUT_SET_DEBUGGING,
    FUT_SET_DEVICE, FUT_SET_GRID_SIZE, FUT_SET_LOGGING, FUT_SET_NUM_THREADS, FUT_SET_PLATFORM,
    FUT_SET_PROFILING, FUT_SET_REG_TILE_SIZE, FUT_SET_THRESHOLD, FUT_SET_TILE_SIZE,
    FUT_SET_TUNING_PARAM, FUT_SET_UNIFIED_MEMORY, FUT_U8, FUT_U16, FUT_U32, FUT_U64,
    FUT_UNAVAILABLE,
};
pub use crate::bindings::{
    fut_call as CallFn, fut_component as Component, fut_context as Context, fut_failure as Failure,
    fut_function as RawFunction, fut_setting as Setting, fut_slot as Slot, fut_table as Raw,
    fut_type as RawType,
};

/// A function of the table that is there.
pub type Call = unsafe extern "C" fn(
    ctx: *mut Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32;

/// The name under which every shared object has its table. It has it under a name with a
/// hash as well, the only one in static libraries, so that two of those can be linked.
pub const SYMBOL: &str = "fut_table";

/// A table that this version of the crate understands.
#[repr(transparent)]
pub struct Table(Raw);

/// A type of a checked table. Cannot be made but by a [`Table`].
#[repr(transparent)]
pub struct Type(RawType);

/// A function of a checked table. Cannot be made but by a [`Table`].
#[repr(transparent)]
pub struct Function(RawFunction);

// SAFETY: the table is a constant of the program; nothing in it is ever written.
unsafe impl Send for Table {}
// SAFETY: as above: shared reads of constants.
unsafe impl Sync for Table {}
// SAFETY: a part of a table, likewise constant.
unsafe impl Send for Type {}
// SAFETY: likewise.
unsafe impl Sync for Type {}
// SAFETY: likewise.
unsafe impl Send for Function {}
// SAFETY: likewise.
unsafe impl Sync for Function {}

impl Table {
    /// Checks a table and gives it a lifetime.
    ///
    /// # Errors
    ///
    /// The pointer is null, the table is of another version of this crate, its text
    /// is not UTF-8, or its self-test fails.
    ///
    /// # Safety
    ///
    /// `raw` is null, or points to a constant `struct fut_table` that our C file
    /// defines (or that obeys `c/futhark_table.h` in every respect) and that is valid
    /// until the process ends.
    pub unsafe fn from_raw(raw: *const Raw) -> Result<&'static Table, BadTable> {
        if raw.is_null() {
            return Err(BadTable::Null);
        }
        // The first two fields never move, so they can be read before the rest is believed.
        // SAFETY: points to a table, whose first field is `abi` in every version.
        let abi = unsafe { (*raw).abi };
        // SAFETY: likewise its second field `size`.
        let size = unsafe { (*raw).size };
        if abi != FUT_ABI || size as usize != size_of::<Raw>() {
            return Err(BadTable::OtherVersion { abi, size });
        }
        // SAFETY: version and size agree, so this is our `fut_table`; `Table` is
        // transparent over it; the caller says it lives until the process ends.
        let table = unsafe { &*raw.cast::<Table>() };
        table.check()?;
        Ok(table)
    }

    fn check(&self) -> Result<(), BadTable> {
        let texts = [self.0.backend, self.0.manifest, self.0.program];
        let names = self.types().iter().map(|t| t.0.name);
        let functions = self.functions().iter().flat_map(|f| [f.0.name, f.0.label]);
        let parameters = self.functions().iter().flat_map(Function::inputs);
        let parameters = parameters
            .map(|slot| slot.name)
            .filter(|name| !name.is_null());
        for text in texts
            .into_iter()
            .chain(names)
            .chain(functions)
            .chain(parameters)
        {
            if text.is_null() {
                return Err(BadTable::Text);
            }
            // SAFETY: not null, and text in a table is NUL-terminated and constant.
            let text = unsafe { CStr::from_ptr(text) };
            text.to_str().map_err(|_| BadTable::Text)?;
        }
        let self_test = self.0.self_test.ok_or(BadTable::SelfTest)?;
        // SAFETY: takes nothing, touches only memory of its own, any thread may call it.
        match unsafe { self_test() } {
            0 => Ok(()),
            _ => Err(BadTable::SelfTest),
        }
    }

    /// The table as C declares it.
    #[must_use]
    pub fn raw(&self) -> &Raw {
        &self.0
    }

    /// The backend's name: `c`, `multicore`, `ispc`, `opencl`, `cuda` or `hip`.
    #[must_use]
    pub fn backend(&self) -> &str {
        self.text(self.0.backend)
    }

    /// The JSON text of the manifest that the Futhark compiler wrote.
    #[must_use]
    pub fn manifest(&self) -> &str {
        self.text(self.0.manifest)
    }

    /// What identifies the program: its source, the compiler's version and the layout of
    /// its types. Equal for all backends.
    #[must_use]
    pub fn program(&self) -> &str {
        self.text(self.0.program)
    }

    /// A hash of the program's API; equal for all backends of a program.
    #[must_use]
    pub fn interface_hash(&self) -> u64 {
        self.0.interface_hash
    }

    /// A hash of the list of functions and of the types that they take and give. Function and
    /// type numbers mean the same in two tables with equal hashes.
    #[must_use]
    pub fn functions_hash(&self) -> u64 {
        self.0.functions_hash
    }

    /// Are integer traps compiled in?
    #[must_use]
    pub fn is_hardened(&self) -> bool {
        self.0.flags & FUT_HARDENED != 0
    }

    /// Is this a GPU backend, where array results may still be under way when a call returns?
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.0.flags & FUT_GPU != 0
    }

    /// All types that are not scalars, sorted by name. Type number [`FUT_FIRST_TYPE`] + i is `types()[i]`.
    #[must_use]
    pub fn types(&self) -> &'static [Type] {
        // SAFETY: a table's `types` holds `n_types` constants that live as long as it does,
        // and `Type` is transparent over `RawType`.
        unsafe { slice(self.0.types.cast(), self.0.n_types) }
    }

    /// Entry points, and operations that make values of values, sorted by name.
    #[must_use]
    pub fn functions(&self) -> &'static [Function] {
        // SAFETY: a table's `functions` holds `n_functions` constants that live as long as it does,
        // and `Function` is transparent over `RawFunction`.
        unsafe { slice(self.0.functions.cast(), self.0.n_functions) }
    }

    /// Text that [`Table::from_raw`] has checked.
    fn text(&self, text: *const c_char) -> &'static str {
        // SAFETY: `check` saw that it is not null and UTF-8; it is constant.
        unsafe { checked_text(text) }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("backend", &self.backend())
            .field("program", &self.program())
            .field("types", &self.types().len())
            .field("functions", &self.functions().len())
            .finish_non_exhaustive()
    }
}

impl Type {
    /// The type as C declares it.
    #[must_use]
    pub fn raw(&self) -> &RawType {
        &self.0
    }

    /// The type's name in the manifest.
    #[must_use]
    pub fn name(&self) -> &'static str {
        // SAFETY: a `Type` is reached through a `Table`, which checked all names.
        unsafe { checked_text(self.0.name) }
    }

    /// The components of an opaque value, as they lie in memory.
    #[must_use]
    pub fn components(&self) -> &'static [Component] {
        // SAFETY: `components` holds `n_components` constants of the table.
        unsafe { slice(self.0.components, self.0.n_components) }
    }
}

impl Function {
    /// The function as C declares it.
    #[must_use]
    pub fn raw(&self) -> &RawFunction {
        &self.0
    }

    /// The C function's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        // SAFETY: a `Function` is reached through a `Table`, which checked all names.
        unsafe { checked_text(self.0.name) }
    }

    /// What it is, for messages: `entry point mean`.
    #[must_use]
    pub fn label(&self) -> &'static str {
        // SAFETY: a `Function` is reached through a `Table`, which checked all labels.
        unsafe { checked_text(self.0.label) }
    }

    /// Is it an entry point of the program, rather than an operation on values?
    #[must_use]
    pub fn is_entry_point(&self) -> bool {
        self.0.flags & FUT_ENTRY_POINT != 0
    }

    /// The names of the parameters in the program, where they have names.
    pub fn parameter_names(&self) -> impl Iterator<Item = Option<&'static str>> {
        self.inputs().iter().map(|slot| {
            // SAFETY: a `Function` is reached through a `Table`, which checked all names.
            (!slot.name.is_null()).then(|| unsafe { checked_text(slot.name) })
        })
    }

    /// The results, in order.
    #[must_use]
    pub fn outputs(&self) -> &'static [Slot] {
        // SAFETY: `out` holds `n_out` constants of the table.
        unsafe { slice(self.0.out, self.0.n_out) }
    }

    /// The parameters, in order.
    #[must_use]
    pub fn inputs(&self) -> &'static [Slot] {
        // SAFETY: `in` holds `n_in` constants of the table.
        unsafe { slice(self.0.in_, self.0.n_in) }
    }
}

/// # Safety
///
/// `first` points to `n` constants that live until the process ends, or `n` is 0.
unsafe fn slice<T>(first: *const T, n: u32) -> &'static [T] {
    if n == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(first, n as usize) }
}

/// # Safety
///
/// `text` is constant, NUL-terminated UTF-8.
unsafe fn checked_text(text: *const c_char) -> &'static str {
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().expect("the caller promises UTF-8")
}

/// Why a table cannot be used.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadTable {
    /// There is none.
    Null,
    /// It was built with another version of futhark-sys.
    OtherVersion {
        /// Its version of the table's layout.
        abi: u32,
        /// Its size in bytes.
        size: u32,
    },
    /// Text in it is missing or not UTF-8.
    Text,
    /// A trap was sprung and not caught.
    SelfTest,
}

impl fmt::Display for BadTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadTable::Null => f.write_str("there is no table"),
            BadTable::OtherVersion { abi, size } => write!(
                f,
                "the program was built with another version of futhark-sys \
                 (table version {abi} of {size} bytes; this one reads version {FUT_ABI} of {} bytes): build it again",
                size_of::<Raw>()
            ),
            BadTable::Text => f.write_str("a name in the table is missing or not UTF-8"),
            BadTable::SelfTest => f.write_str(
                "the integer traps of this build do not work \
                 (were its C flags changed? `-fwrapv` and link-time optimisation remove them)",
            ),
        }
    }
}

/// The text of `Display`: this is what `unwrap` and a failing `main` print.
impl fmt::Debug for BadTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BadTable {}
