//! The generated C of one program, read once.
//!
//! [`Generated::read`] collects everything that the other modules need to know about the text that
//! the Futhark compiler wrote; no other module searches it. Text that our C file relies on and that
//! is not in the expected form is an error ([`Error::unsupported`]).

pub(super) mod blanks; // the sizes of unused parts of sums, from constructors and entry points
pub(super) mod expr; // the expressions of the functions of a program
mod hooks; // which functions our C file replaces or uses
pub(super) mod layout; // the components of opaque values; which are columns of an array of records
pub(super) mod runtime; // the runtime, whose texts are known, and our changes of it
mod source; // directives, functions, structs, declarations and calls
mod state; // the state on a device, which kernels change, and its initial values
pub(super) mod statement; // the statements of the functions of a program
pub(super) mod strings; // string literals as C reads them
pub(super) mod token; // the text as tokens

use std::collections::BTreeMap;

use futhark_manifest::Program;

use super::error::Error;
use blanks::Blank;
use layout::Layouts;
pub(super) use source::Source;
use state::Fill;

/// The parts of the generated C that other modules use.
pub(super) struct Generated<'a> {
    /// `name.c`
    pub source: Source<'a>,
    pub declared: Vec<&'a str>,
    pub layouts: Layouts<'a>,
    /// The empty arrays that each function leaves in unused parts of a sum.
    pub blanks: BTreeMap<&'a str, Vec<Blank>>,
    /// How the state on the device is initialised; empty on host backends.
    pub fills: Vec<Fill<'a>>,
}

impl<'a> Generated<'a> {
    /// Reads `name.c` and `name.h`.
    pub(super) fn read(
        c_text: &'a str,
        h_text: &'a str,
        program: &'a Program,
    ) -> Result<Generated<'a>, Error> {
        let source = Source::read(c_text);
        hooks::check(&source, program)?;
        let layouts = Layouts::read(&source, program)?;
        let fills = match program.backend.is_gpu() {
            true => state::fills(&source, &program.version)?,
            false => Vec::new(),
        };
        Ok(Generated {
            declared: Source::read(h_text).prototypes,
            blanks: blanks::all(&source, &layouts),
            layouts,
            fills,
            source,
        })
    }
}
