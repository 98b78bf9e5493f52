//! A manifest as written: types refer to each other by name.
//!
//! Most users need the resolved form, [`Program`]; this one is for tools that edit manifests. Parts can
//! be changed and removed in place. To add parts, use [`Manifest::from_json`]: the structs are
//! `non_exhaustive`, since the next compiler may add members.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::manifest::error::Error;
use crate::manifest::finding::Finding;
use crate::manifest::model::{Input, Output, TypeKind, Unknown};
use crate::manifest::program::Program;
use crate::manifest::{check, decode, encode, resolve};

/// A manifest as written.
///
/// Reading and writing ([`to_json`](Manifest::to_json), `Serialize`) is lossless, up to the precision of
/// serde_json: a number in an unknown member that fits neither a 64-bit integer nor an `f64` is rounded.
/// The parts have the right form but may be inconsistent: [`check`](Manifest::check) lists the problems,
/// and [`resolve`](Manifest::resolve) returns them as an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// The backend's name.
    pub backend: String,
    /// The compiler's version text, several lines long. All compilers write it, but their schema does
    /// not require it.
    pub version: Option<String>,
    /// The entry points by name.
    pub entry_points: BTreeMap<String, EntryPoint>,
    /// The types by name, without scalar types. A name is an opaque key; do not parse
    /// it.
    pub types: BTreeMap<String, Type>,
    /// Members that this version of the crate does not know.
    pub unknown: Unknown,
}

impl Manifest {
    /// Reads the text of a manifest.
    ///
    /// Unknown members are not an error: they are kept, and [`warnings`](Manifest::warnings) lists
    /// them.
    ///
    /// Needs at most 150 times the length of the text in memory for malicious input, and less than ten
    /// times for manifests that compilers wrote. A text whose top is not an object is rejected before
    /// the rest is read.
    ///
    /// # Errors
    /// If the text is not JSON, has duplicate members, is not a manifest, lacks a required member, or
    /// has a value of the wrong JSON type. Reports the first such place, with line and column.
    pub fn parse(text: &str) -> Result<Manifest, Error> {
        decode::manifest(text.as_bytes())
    }

    /// Reads the bytes of a file, as [`parse`](Manifest::parse) does.
    ///
    /// # Errors
    /// As for [`parse`](Manifest::parse), and if the bytes are not UTF-8.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Manifest, Error> {
        decode::manifest(bytes)
    }

    /// Reads a manifest from parsed JSON.
    ///
    /// # Errors
    /// As for [`parse`](Manifest::parse), without line and column. Duplicate members cannot be detected.
    pub fn from_json(json: Value) -> Result<Manifest, Error> {
        decode::tree(json)
    }

    /// Returns the manifest as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        encode::manifest(self)
    }

    /// Checks that the parts are consistent. Returns errors, then warnings, each ordered by place; empty
    /// for a valid manifest.
    ///
    /// If several types contain themselves, only one is reported.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = check::errors(self);
        findings.extend(self.warnings());
        findings
    }

    /// Returns problems that do not prevent use: unknown members, a compiler that is newer than this
    /// crate or of an unknown [version](crate::Version), missing operations. Ordered by place.
    #[must_use]
    pub fn warnings(&self) -> Vec<Finding> {
        check::warnings(self)
    }

    /// Checks that the parts are consistent and resolves every reference.
    ///
    /// # Errors
    /// If [`check`](Manifest::check) finds anything that is not a warning.
    pub fn resolve(&self) -> Result<Program, Error> {
        self.ensure_valid()?;
        Ok(resolve::program(self.clone()))
    }

    /// Resolves every reference as [`resolve`](Manifest::resolve) does, without a copy
    /// of the manifest.
    ///
    /// # Errors
    /// As for [`resolve`](Manifest::resolve).
    pub fn into_program(self) -> Result<Program, Error> {
        self.ensure_valid()?;
        Ok(resolve::program(self))
    }

    fn ensure_valid(&self) -> Result<(), Error> {
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
    /// The kind, with everything that depends on it.
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
    /// The attributes of the definition. From 0.25.36.
    pub attributes: Option<Vec<String>>,
    /// The documentation comment. From 0.26.4.
    pub doc: Option<String>,
    /// Members that this version of the crate does not know.
    pub unknown: Unknown,
}

/// The results of an entry point, in one of two forms.
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
