//! A manifest as it is written: types refer to each other by name.
//!
//! Most readers want the resolved form, [`Program`]; this one is for tools that
//! look at the text itself, change it and write it again. Parts can be changed
//! and removed in place; whole new ones come by [`Manifest::from_json`], since
//! every struct here may get members with the next compiler.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::{Error, Finding};
use crate::model::{Input, Output, TypeKind, Unknown};
use crate::program::Program;
use crate::{check, decode, encode, resolve};

/// A manifest as it is written.
///
/// Nothing is lost: what was read can be written again
/// ([`to_json`](Manifest::to_json), `Serialize`), and is the same as JSON, that is,
/// as serde_json reads it: a number in an unknown member that fits neither an
/// integer of 64 bits nor an `f64` is rounded. Its parts have the right form, but need not fit together:
/// [`check`](Manifest::check) tells, and [`resolve`](Manifest::resolve) insists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// The backend's name.
    pub backend: String,
    /// What the compiler says about itself, over several lines. Compilers have
    /// always written it, but their schema does not require it.
    pub version: Option<String>,
    /// The entry points by name.
    pub entry_points: BTreeMap<String, EntryPoint>,
    /// The types by name; scalar types are not among them. A name is a key, not
    /// syntax: nothing follows from how it is spelled.
    pub types: BTreeMap<String, Type>,
    /// Members that this version of the crate does not know.
    pub unknown: Unknown,
}

impl Manifest {
    /// Reads the text of a manifest.
    ///
    /// Members that this version of the crate does not know are no error: they
    /// are kept, and [`warnings`](Manifest::warnings) lists them.
    ///
    /// Memory is at most 150 times the length of the text, and that only for a
    /// text that was made to need it; a real manifest needs less than ten times
    /// its length. What is no object at the top is refused unread.
    ///
    /// # Errors
    /// If the text is not JSON, names a member twice, is not a manifest, lacks
    /// something that every manifest has, or holds a value of the wrong JSON
    /// type. The first such place is reported, with line and column.
    pub fn parse(text: &str) -> Result<Manifest, Error> {
        decode::manifest(text.as_bytes())
    }

    /// Reads the bytes of a file, as [`parse`](Manifest::parse) does.
    ///
    /// # Errors
    /// As there. Bytes that are not UTF-8 are not JSON.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Manifest, Error> {
        decode::manifest(bytes)
    }

    /// Reads a manifest that was parsed as JSON before.
    ///
    /// # Errors
    /// As [`parse`](Manifest::parse), without line and column. Of a member that
    /// was named twice there is no trace any more.
    pub fn from_json(json: Value) -> Result<Manifest, Error> {
        decode::tree(json)
    }

    /// The manifest as JSON again.
    #[must_use]
    pub fn to_json(&self) -> Value {
        encode::manifest(self)
    }

    /// Everything that is wrong or odd about how the parts fit together: errors,
    /// then warnings, each ordered by place. Empty for a faultless manifest.
    ///
    /// Of types that are parts of themselves only one is named.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = check::errors(self);
        findings.extend(self.warnings());
        findings
    }

    /// What is odd about the manifest, but no reason not to use it: members that
    /// nobody knows, a compiler that is newer than this crate or of an unknown
    /// [version](crate::Version), operations that are missing. Ordered by place.
    #[must_use]
    pub fn warnings(&self) -> Vec<Finding> {
        check::warnings(self)
    }

    /// Resolves every reference, after checking that the parts fit together.
    ///
    /// # Errors
    /// If [`check`](Manifest::check) finds anything that is not a warning.
    pub fn resolve(&self) -> Result<Program, Error> {
        self.verify()?;
        Ok(resolve::program(self.clone()))
    }

    /// Resolves every reference as [`resolve`](Manifest::resolve) does, without a copy
    /// of the manifest.
    ///
    /// # Errors
    /// As there.
    pub fn into_program(self) -> Result<Program, Error> {
        self.verify()?;
        Ok(resolve::program(self))
    }

    fn verify(&self) -> Result<(), Error> {
        match Error::from_findings(check::errors(self)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// The description of a type, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Type {
    /// The C type of a handle: `struct NAME *`.
    pub ctype: String,
    /// What it is.
    pub kind: TypeKind<String>,
    /// The documentation comment of the type's definition.
    pub doc: Option<String>,
    /// Members that this version of the crate does not know.
    pub unknown: Unknown,
}

/// The description of an entry point, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryPoint {
    /// The C function.
    pub cfun: String,
    /// The parameters, in order.
    pub inputs: Vec<Input<String>>,
    /// The results.
    pub outputs: Outputs,
    /// The tuning parameters that influence this entry point. From 0.24.1.
    pub tuning_params: Option<Vec<String>>,
    /// The attributes that stand before the definition. From 0.25.36.
    pub attributes: Option<Vec<String>>,
    /// The documentation comment. From 0.26.4.
    pub doc: Option<String>,
    /// Members that this version of the crate does not know.
    pub unknown: Unknown,
}

/// The results of an entry point, in either of the two ways of writing them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// `outputs`, up to 0.25.37: one for each component if the result is a
    /// tuple, none if it is the unit value.
    Several(Vec<Output<String>>),
    /// `output`, from 0.26.1: one value, a tuple and the unit value included.
    Single(Output<String>),
}

impl Outputs {
    /// One element for each output parameter of the C function.
    #[must_use]
    pub fn as_slice(&self) -> &[Output<String>] {
        match self {
            Outputs::Several(outputs) => outputs,
            Outputs::Single(output) => std::slice::from_ref(output),
        }
    }
}
