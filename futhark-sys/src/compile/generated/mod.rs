//! The generated C of one program, read once.
//!
//! [`Generated::read`] collects everything that the other modules need to know about the text that
//! the Futhark compiler wrote; no other module searches it. Text that our C file relies on and that
//! is not in the expected form is an error ([`Error::unsupported`]).
//!
//! ```text
//! token.rs    the text as tokens
//! source.rs   directives, functions, structs, declarations and calls
//! hooks.rs    which functions our C file replaces or uses
//! layout.rs   the components of opaque values, and which of them are columns of an array of records
//! blanks.rs   the sizes of unused parts of sums, from constructors and entry points
//! state.rs    the state on a device, which kernels change and the function that initialises constants fills
//! lines.rs    the statements that compute sizes, allocate and check
//! expr.rs     integer expressions in those statements
//! calls.rs    which functions of the runtime a program calls, and where their sizes are checked
//! divisions.rs  that every divisor is compared with zero, or known
//! ```

pub(super) mod blanks;
mod calls;
mod divisions;
pub(super) mod expr;
mod hooks;
pub(super) mod layout;
pub(super) mod lines;
mod source;
mod state;
pub(super) mod token;

use std::collections::{BTreeMap, BTreeSet};

use futhark_manifest::Program;

use super::error::Error;
use blanks::Blank;
use layout::Layouts;
use lines::Line;
pub(super) use source::Source;
use state::Fill;

/// The parts of the generated C that other modules use.
pub(super) struct Generated<'a> {
    /// The lines of `name.c` with the statements that matter for sizes; none if the unit is not hardened.
    pub lines: Vec<Line<'a>>,
    pub directives: Vec<&'a str>,
    pub calls: BTreeSet<&'a str>,
    pub external: BTreeSet<&'a str>,
    pub declared: Vec<&'a str>,
    pub layouts: Layouts,
    /// The C structs of arrays of records of scalars whose components are the columns, in the order of the fields.
    pub columns: BTreeSet<String>,
    /// The empty arrays that each function leaves in unused parts of a sum.
    pub blanks: BTreeMap<String, Vec<Blank>>,
    /// How the state on the device is initialised; empty on host backends.
    pub fills: Vec<Fill<'a>>,
}

impl<'a> Generated<'a> {
    /// Reads `name.c` and `name.h`. A hardened unit needs more of it to be in a known form.
    pub(super) fn read(
        c_text: &'a str,
        h_text: &'a str,
        program: &'a Program,
        hardened: bool,
    ) -> Result<Generated<'a>, Error> {
        let source = Source::read(c_text);
        hooks::check(&source, program)?;
        let layouts = Layouts::read(&source, program)?;
        let fills = match program.backend.is_gpu() {
            true => state::fills(&source, &program.version)?,
            false => Vec::new(),
        };
        let mut lines = Vec::new();
        if hardened {
            lines = lines::read(&source, &program.version)?;
            calls::check(&source, &lines, &program.version)?;
            divisions::check(&source, &program.version)?;
        }
        Ok(Generated {
            lines,
            declared: Source::read(h_text).prototypes,
            blanks: blanks::all(&source, &layouts, program),
            columns: layout::all_columns(&source, &layouts, program),
            layouts,
            fills,
            calls: source.calls,
            external: source.external,
            directives: source.directives,
        })
    }
}
