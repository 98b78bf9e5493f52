//! Tables that are linked into this binary, and the backend of a table.

use futhark_manifest::Backend;
use futhark_sys::table::{Raw, Table};

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
    ///
    /// `raw` is the address of a table that futhark-sys compiled into this binary.
    #[must_use]
    pub const unsafe fn new(raw: *const Raw) -> LinkedTable {
        LinkedTable(raw)
    }

    pub(crate) fn is(self, table: &'static Table) -> bool {
        std::ptr::eq(self.0, table.raw())
    }

    /// Verifies that the table is of this version of the crates, and runs its self-test.
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
///
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
