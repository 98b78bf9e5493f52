//! Tables that are linked in, and what a table tells without a context.

use std::ffi::{CStr, c_char};

use futhark_manifest::Backend;
use futhark_sys::table::{self as c, Raw, Table};

use super::settings::Setting;
use crate::error::{Error, ErrorKind, Result};

/// A table that is linked into this binary, not yet verified.
///
/// Made by [`include_program!`](crate::include_program) only.
#[derive(Clone, Copy, Debug)]
pub struct LinkedTable(*const Raw);

// SAFETY: the address of a constant.
unsafe impl Send for LinkedTable {}
// SAFETY: the address of a constant.
unsafe impl Sync for LinkedTable {}

impl LinkedTable {
    /// # Safety
    /// `raw` is the address of a table that futhark-sys compiled into this binary.
    #[must_use]
    pub const unsafe fn new(raw: *const Raw) -> LinkedTable {
        LinkedTable(raw)
    }

    pub(crate) fn is(self, table: &'static Table) -> bool {
        std::ptr::eq(self.0, table.raw())
    }

    /// Verifies that the table is of this version of the crates, and that its texts are valid.
    pub(crate) fn check(self) -> Result<&'static Table> {
        // SAFETY: the caller of `new` promised a table, and linked constants are never freed.
        unsafe { Table::from_raw(self.0) }.map_err(|error| {
            let message = "the table of the program cannot be used";
            Error::new(ErrorKind::Load, "linked program", message).with_source(error)
        })
    }
}

pub(crate) fn backend_of(table: &Table) -> Result<Backend> {
    table.backend().parse().map_err(|_| {
        let message = format!(
            "the program was compiled for backend {}, which this version of futhark-safe does not know",
            table.backend()
        );
        Error::new(ErrorKind::Load, "backend", message)
    })
}

/// The tables of a program by the names of their symbols.
///
/// # Safety
/// The compiler cannot see that this macro is unsafe: each name must be the symbol of a table that
/// futhark-sys compiled into this binary. Only the module that the build script writes may use it; it
/// has the names from the build that made the symbols.
#[doc(hidden)]
#[macro_export]
macro_rules! __unsafe_tables {
    ($($symbol:ident),* $(,)?) => {{
        // SAFETY: the symbols are constants of type `struct fut_table`.
        unsafe extern "C" {
            $(safe static $symbol: $crate::__private::RawTable;)*
        }
        // SAFETY: each is a table that futhark-sys compiled into this binary: its name
        // contains a hash of everything that determines its content.
        ::std::vec![$(unsafe { $crate::__private::LinkedTable::new(&raw const $symbol) }),*]
    }};
}

/// The driver's description of the device that a context with these settings would use, if the
/// backend provides one. `futhark_table.h` documents its lines.
pub(crate) fn describe_device(table: &Table, settings: &[Setting]) -> Option<String> {
    let device = table.raw().device?;
    let for_c: Vec<c::Setting> = settings.iter().map(Setting::to_c).collect();
    // SAFETY: T; `for_c` has this length, and its text lives in `settings`.
    let text = unsafe { device(for_c.as_ptr(), for_c.len() as u32) };
    // SAFETY: T: a text that the caller owns, or NULL.
    unsafe { take_text(table, text) }
}

/// The descriptions of all devices of the backend. `None`: the backend runs on the host.
pub(crate) fn devices(table: &Table) -> Result<Option<String>> {
    let Some(devices) = table.raw().devices else {
        return Ok(None);
    };
    let mut text: *mut c_char = std::ptr::null_mut();
    // SAFETY: T; it writes one pointer.
    let status = unsafe { devices(&raw mut text) };
    // SAFETY: T: a text that the caller owns, or NULL.
    let text = unsafe { take_text(table, text) };
    if status as u32 == c::FUT_OK {
        return Ok(Some(text.unwrap_or_default()));
    }
    let kind = match status as u32 {
        c::FUT_MEMORY => ErrorKind::OutOfMemory,
        _ => ErrorKind::Load,
    };
    let why = text.unwrap_or_else(|| "no memory".to_owned());
    let operation = format!("{} devices", table.backend());
    Err(Error::new(kind, operation, why))
}

/// The source of the device code. `None`: the backend has none.
pub(crate) fn device_source(table: &Table) -> Result<Option<String>> {
    let Some(source) = table.raw().device_source else {
        return Ok(None);
    };
    // SAFETY: T; it has no arguments.
    let text = unsafe { source() };
    // SAFETY: T: a text that the caller owns, or NULL.
    let text = unsafe { take_text(table, text) };
    text.ok_or_else(|| no_memory("device source")).map(Some)
}

/// Unwraps a function that every table has.
pub(super) fn required<F>(function: Option<F>) -> F {
    function.expect("a table has every operation on contexts")
}

pub(super) fn unsupported(ty: &c::Type, operation: &'static str) -> Error {
    let name = ty.name();
    let message = format!("this version of the compiler provides no such function for type {name}");
    Error::new(ErrorKind::Unsupported, operation, message)
}

pub(super) fn no_memory(operation: &'static str) -> Error {
    Error::new(ErrorKind::OutOfMemory, operation, "no memory")
}

/// Copies a text of the C side.
///
/// # Safety
/// A NUL-terminated text that lives meanwhile, or NULL.
pub(super) unsafe fn copy_text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not NULL, so it is NUL-terminated text.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// Copies and frees a text of the C side.
///
/// # Safety
/// A NUL-terminated text that the table made for its caller, or NULL.
pub(super) unsafe fn take_text(table: &Table, text: *mut c_char) -> Option<String> {
    // SAFETY: as the caller promises.
    let copy = unsafe { copy_text(text) }?;
    // SAFETY: T: such texts are freed by `free_text`, once.
    unsafe { required(table.raw().free_text)(text) };
    Some(copy)
}
