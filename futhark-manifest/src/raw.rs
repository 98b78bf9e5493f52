//! A manifest as it is written: types refer to each other by name.
//!
//! Most readers want the resolved form, [`Program`]; this one is for
//! tools that look at the text itself.

use std::collections::BTreeMap;

use crate::error::{Error, Warning};
use crate::model::{Input, Output, TypeKind};
use crate::program::Program;
use crate::{decode, resolve};

/// A manifest as it is written.
///
/// Its parts have the right form, but need not fit together:
/// [`resolve`](Manifest::resolve) tells.
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
    pub(crate) warnings: Vec<Warning>,
}

impl Manifest {
    /// Reads the text of a manifest.
    ///
    /// Members that this version of the crate does not know are no error; see
    /// [`warnings`](Manifest::warnings).
    ///
    /// # Errors
    /// If the text is not JSON, is not a manifest, lacks something that every
    /// manifest has, or holds a value of the wrong JSON type.
    pub fn parse(text: &str) -> Result<Manifest, Error> {
        decode::manifest(text)
    }

    /// What was ignored when reading, ordered by place.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Resolves every reference and checks that the parts fit together.
    ///
    /// # Errors
    /// If the backend is unknown, a type is referred to but not described, a C
    /// name is malformed or used twice, or two parts disagree. The first
    /// finding is reported, in the order of types and then entry points, each
    /// by name.
    pub fn resolve(&self) -> Result<Program, Error> {
        resolve::program(self)
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
    pub tuning_params: Vec<String>,
    /// The attributes that stand before the definition. From 0.25.36.
    pub attributes: Vec<String>,
    /// The documentation comment. From 0.26.4.
    pub doc: Option<String>,
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
