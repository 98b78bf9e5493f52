//! Tables that are linked into this binary.

use futhark_sys::table::{Raw, Table};

use crate::error::{Error, Kind, Result};

/// A table that the linker put into this binary, not yet checked.
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

    /// The table, if it fits this version of the crates and works.
    pub(crate) fn check(self) -> Result<&'static Table> {
        // SAFETY: `new`'s caller vouched for the address; what is linked in lives for ever.
        unsafe { Table::from_raw(self.0) }.map_err(|error| {
            Error::new(Kind::Load, "linked program", error.to_string()).with_source(error)
        })
    }
}
