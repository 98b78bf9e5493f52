//! The table of functions of one program and backend.
//!
//! [`Table`] is a validated reference to a [`Raw`] table: its version and size match this crate, and its
//! text is UTF-8. Calling its functions is `unsafe`; `c/futhark_table.h` documents their arguments.

use std::ffi::{CStr, c_char, c_void};
use std::fmt;

pub use crate::bindings::*;

/// A function in the table that is not NULL.
pub type Call = unsafe extern "C" fn(
    ctx: *mut Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32;

/// The symbol of the table in every shared object. A second symbol contains a hash; static libraries
/// have only that one, so that several can be linked into one binary.
pub const SYMBOL: &str = "fut_table";

/// Which checks of sizes, divisions and bounds a library has beside the program's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hardening {
    /// All.
    Full,
    /// Not all, because a version of the Futhark compiler generated the code that was not known when it was built
    /// (`FUTHARK_UNKNOWN_COMPILER=allow`). The warnings of the build name the missing ones.
    Partial,
    /// None (`hardened(false)`).
    Off,
}

/// A validated table that matches this version of the crate.
#[repr(transparent)]
pub struct Table(Raw);

/// A type in a validated table. Only [`Table`] creates it.
#[repr(transparent)]
pub struct Type(RawType);

/// A function in a validated table. Only [`Table`] creates it.
#[repr(transparent)]
pub struct Function(RawFunction);

// SAFETY: the table is a constant; nothing ever writes to it.
unsafe impl Send for Table {}
// SAFETY: shared reads of constants.
unsafe impl Sync for Table {}
// SAFETY: a part of a table, so a constant.
unsafe impl Send for Type {}
// SAFETY: shared reads of constants.
unsafe impl Sync for Type {}
// SAFETY: a part of a table, so a constant.
unsafe impl Send for Function {}
// SAFETY: shared reads of constants.
unsafe impl Sync for Function {}

impl Table {
    /// Validates a table.
    ///
    /// # Errors
    /// See [`ErrorKind`].
    ///
    /// # Safety
    /// `raw` is null, or points to a constant `struct fut_table` that our C file
    /// defines (or that obeys `c/futhark_table.h` in every respect) and that is valid
    /// until the process ends.
    pub unsafe fn from_raw(raw: *const Raw) -> Result<&'static Table, Error> {
        if raw.is_null() {
            let message = "the pointer to the table is null";
            return Err(Error::new(ErrorKind::Null, message));
        }
        // The first two fields are the same in every version, so they are read before the rest.
        // SAFETY: points to a table, whose first field is `abi` in every version.
        let abi = unsafe { (*raw).abi };
        // SAFETY: points to a table, whose second field is `size` in every version.
        let size = unsafe { (*raw).size };
        if abi != FUT_ABI || size as usize != size_of::<Raw>() {
            let message = format!(
                "the library was built with another version of futhark-sys: expected a table of \
                 version {FUT_ABI} and {} bytes, got version {abi} and {size} bytes; build it again",
                size_of::<Raw>()
            );
            return Err(Error::new(ErrorKind::OtherVersion, message));
        }
        // SAFETY: version and size agree, so this is our `fut_table`; `Table` is
        // transparent over it; the caller promises that it lives until the process ends.
        let table = unsafe { &*raw.cast::<Table>() };
        table.validate()?;
        Ok(table)
    }

    fn validate(&self) -> Result<(), Error> {
        let texts = [self.0.backend, self.0.manifest, self.0.program];
        let names = self.types().iter().map(|t| t.0.name);
        let functions = self.functions().iter().flat_map(|f| [f.0.name, f.0.label]);
        let parameters = self.functions().iter().flat_map(Function::inputs);
        let parameters = parameters
            .map(|slot| slot.name)
            .filter(|name| !name.is_null());
        let tuned = self
            .functions()
            .iter()
            .flat_map(Function::raw_tuning_params);
        let tuning = (0..self.0.n_tuning_params).flat_map(|i| self.tuning_texts(i));
        for text in texts
            .into_iter()
            .chain(names)
            .chain(functions)
            .chain(parameters)
            .chain(tuned.copied())
            .chain(tuning)
        {
            // SAFETY: not null, and text in a table is NUL-terminated and constant.
            let is_valid = !text.is_null() && unsafe { CStr::from_ptr(text) }.to_str().is_ok();
            if !is_valid {
                let message = "a name in the table is missing or not UTF-8";
                return Err(Error::new(ErrorKind::Text, message));
            }
        }
        Ok(())
    }

    /// The table as C declares it.
    #[must_use]
    pub fn raw(&self) -> &Raw {
        &self.0
    }

    /// The backend's name: `c`, `multicore`, `opencl`, `cuda` or `hip`.
    #[must_use]
    pub fn backend(&self) -> &str {
        self.text(self.0.backend)
    }

    /// The JSON text of the manifest that the Futhark compiler wrote.
    #[must_use]
    pub fn manifest(&self) -> &str {
        self.text(self.0.manifest)
    }

    /// Identifies the program: its source, the version of the compiler and the layout of its types.
    /// Equal for all backends.
    #[must_use]
    pub fn program(&self) -> &str {
        self.text(self.0.program)
    }

    /// A hash of the program's API; equal for all backends of a program.
    #[must_use]
    pub fn interface_hash(&self) -> u64 {
        self.0.interface_hash
    }

    /// A hash of the names of types, and of the functions with the types of their parameters and
    /// results. Two tables with equal hashes number functions and types in the same way.
    #[must_use]
    pub fn functions_hash(&self) -> u64 {
        self.0.functions_hash
    }

    /// Returns which checks the library has.
    #[must_use]
    pub fn hardening(&self) -> Hardening {
        let has = |flag| self.0.flags & flag != 0;
        match (has(FUT_HARDENED), has(FUT_PARTIAL)) {
            (false, _) => Hardening::Off,
            (true, true) => Hardening::Partial,
            (true, false) => Hardening::Full,
        }
    }

    /// Returns whether this is a GPU backend, where array results can be pending when a call returns.
    #[inline]
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.0.flags & FUT_GPU != 0
    }

    /// All types except scalars, sorted by name. The number of `types()[i]` is [`FUT_FIRST_TYPE`] + i.
    #[inline]
    #[must_use]
    pub fn types(&self) -> &'static [Type] {
        // SAFETY: a table's `types` holds `n_types` constants that live as long as it does,
        // and `Type` is transparent over `RawType`.
        unsafe { slice(self.0.types.cast(), self.0.n_types) }
    }

    /// Entry points and operations on values, sorted by name.
    #[inline]
    #[must_use]
    pub fn functions(&self) -> &'static [Function] {
        // SAFETY: a table's `functions` holds `n_functions` constants that live as long as it does,
        // and `Function` is transparent over `RawFunction`.
        unsafe { slice(self.0.functions.cast(), self.0.n_functions) }
    }

    /// The tuning parameters of the program on this backend.
    pub fn tuning_params(&self) -> impl Iterator<Item = TuningParam> {
        (0..self.0.n_tuning_params).map(|i| {
            // SAFETY: accepts any number, and reads constants; any thread may call it.
            let default = self.0.tuning_param_default.map(|get| unsafe { get(i) });
            let [name, class] = self.tuning_texts(i).map(|text| self.text(text));
            TuningParam {
                name,
                class,
                default: default.filter(|&value| value != 0),
            }
        })
    }

    /// The name and the class of a tuning parameter.
    fn tuning_texts(&self, i: u32) -> [*const c_char; 2] {
        [self.0.tuning_param_name, self.0.tuning_param_class].map(|get| {
            // SAFETY: accepts any number, and returns constant text or NULL; any thread may call it.
            get.map_or(std::ptr::null(), |get| unsafe { get(i) })
        })
    }

    /// Text that [`Table::from_raw`] has validated.
    fn text(&self, text: *const c_char) -> &'static str {
        // SAFETY: `validate` ensured that it is not null and UTF-8; it is constant.
        unsafe { valid_text(text) }
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
        // SAFETY: only a `Table` creates a `Type`, after it validated all names.
        unsafe { valid_text(self.0.name) }
    }

    /// The components of an opaque value in memory order.
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
        // SAFETY: only a `Table` creates a `Function`, after it validated all names.
        unsafe { valid_text(self.0.name) }
    }

    /// A description for messages: `entry point mean`.
    #[must_use]
    pub fn label(&self) -> &'static str {
        // SAFETY: only a `Table` creates a `Function`, after it validated all labels.
        unsafe { valid_text(self.0.label) }
    }

    /// Returns whether it is an entry point of the program and not an operation on values.
    #[must_use]
    pub fn is_entry_point(&self) -> bool {
        self.0.flags & FUT_ENTRY_POINT != 0
    }

    /// The name of the entry point in the program; `None` for operations on values.
    #[must_use]
    pub fn entry_point(&self) -> Option<&'static str> {
        let name = self.label().strip_prefix("entry point ");
        name.filter(|_| self.is_entry_point())
    }

    /// The names of the tuning parameters that influence the entry point.
    pub fn tuning_params(&self) -> impl Iterator<Item = &'static str> {
        self.raw_tuning_params().iter().map(|&name| {
            // SAFETY: only a `Table` creates a `Function`, after it validated all names.
            unsafe { valid_text(name) }
        })
    }

    fn raw_tuning_params(&self) -> &'static [*const c_char] {
        // SAFETY: `tuning_params` holds `n_tuning_params` constants of the table.
        unsafe { slice(self.0.tuning_params, self.0.n_tuning_params) }
    }

    /// The names of the parameters in the program, if they have names.
    pub fn parameter_names(&self) -> impl Iterator<Item = Option<&'static str>> {
        self.inputs().iter().map(|slot| {
            // SAFETY: only a `Table` creates a `Function`, after it validated all names.
            (!slot.name.is_null()).then(|| unsafe { valid_text(slot.name) })
        })
    }

    /// The results, in order.
    #[inline]
    #[must_use]
    pub fn outputs(&self) -> &'static [Slot] {
        // SAFETY: `out` holds `n_out` constants of the table.
        unsafe { slice(self.0.out, self.0.n_out) }
    }

    /// The parameters, in order.
    #[inline]
    #[must_use]
    pub fn inputs(&self) -> &'static [Slot] {
        // SAFETY: `in` holds `n_in` constants of the table.
        unsafe { slice(self.0.in_, self.0.n_in) }
    }
}

/// A tuning parameter of a program on one backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TuningParam {
    /// The name, which is unique in a table.
    pub name: &'static str,
    /// The class in the generated code: `thread_block_size`, `threshold(def, )`.
    pub class: &'static str,
    /// The default; `None` if it is chosen for the device when a context is created.
    pub default: Option<i64>,
}

/// # Safety
/// `first` points to `n` constants that live until the process ends, or `n` is 0.
unsafe fn slice<T>(first: *const T, n: u32) -> &'static [T] {
    if n == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(first, n as usize) }
}

/// # Safety
/// `text` is constant, NUL-terminated UTF-8.
unsafe fn valid_text(text: *const c_char) -> &'static str {
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().expect("the caller promises UTF-8")
}

/// Why a table cannot be used.
pub type Error = crate::error::Error<ErrorKind>;

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The pointer is null.
    Null,
    /// The library was built with another version of futhark-sys.
    OtherVersion,
    /// A text in the table is missing or not UTF-8.
    Text,
}
