//! A program that was loaded.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futhark_manifest::{Backend, ElemType, Manifest, Program, TypeId};
use futhark_sys::compile::{Build, FunctionList};
use futhark_sys::table::Table;

use crate::error::{Error, ErrorKind, Result};

/// A program for one backend, loaded. It stays loaded until the process ends.
#[derive(Clone)]
pub struct Library(Arc<Inner>);

pub(super) struct Inner {
    pub table: &'static Table,
    pub program: Program,
    /// Function numbers by the name of the C function.
    functions: HashMap<&'static str, usize>,
}

impl Library {
    /// Compiles a program, or takes what an earlier build of the same left in its
    /// folder, and loads it.
    ///
    /// Blocks for as long as the compilers take. The build's folder must belong to nobody
    /// whom you would not let run code.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Compile`], with the compiler's text; [`ErrorKind::Load`].
    pub fn build(build: &Build) -> Result<Library> {
        let operation = || format!("build of {}", build.source().display());
        let artifact = build.run().map_err(|error| {
            Error::new(ErrorKind::Compile, operation(), error.to_string()).with_source(error)
        })?;
        let table = artifact.open().map_err(|error| {
            Error::new(ErrorKind::Load, operation(), error.to_string()).with_source(error)
        })?;
        Library::of_table(table)
    }

    /// The library of a table that is there.
    pub(crate) fn of_table(table: &'static Table) -> Result<Library> {
        let fail = |why: String| Error::new(ErrorKind::Load, "manifest of the library", why);
        let program = Manifest::parse(table.manifest())
            .and_then(|manifest| manifest.resolve())
            .map_err(|error| fail(error.to_string()).with_source(error))?;
        // Types are numbered by name on both sides. The manifest travels inside the
        // library, so this holds unless somebody changed the file.
        let names = program.types().iter().map(|ty| ty.name.as_str());
        if !names.eq(table.types().iter().map(|ty| ty.name()))
            || program.interface_hash() != table.interface_hash()
            || FunctionList::of(&program).hash() != table.functions_hash()
            || program.backend.as_str() != table.backend()
        {
            return Err(fail("the library's table and its manifest disagree".into()));
        }
        let functions = table
            .functions()
            .iter()
            .enumerate()
            .map(|(i, f)| (f.name(), i))
            .collect();
        Ok(Library(Arc::new(Inner {
            table,
            program,
            functions,
        })))
    }

    /// What the manifest of the program says.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.0.program
    }

    /// The text of the manifest, as the compiler wrote it.
    #[must_use]
    pub fn manifest(&self) -> &'static str {
        self.0.table.manifest()
    }

    /// The backend it was compiled for.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.0.program.backend
    }

    /// What identifies the program: source, compiler version and the layout of its
    /// types; the same for all backends.
    #[must_use]
    pub fn program_id(&self) -> &'static str {
        self.0.table.program()
    }

    pub(crate) fn table(&self) -> &'static Table {
        self.0.table
    }

    pub(super) fn function(&self, cfun: &str) -> Result<usize> {
        self.0.functions.get(cfun).copied().ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                "call",
                format!("the library has no function {cfun}"),
            )
        })
    }

    /// The type of a name.
    pub(super) fn type_named(&self, name: &str) -> Result<TypeId> {
        self.program().type_named(name).ok_or_else(|| {
            let all: Vec<&str> = self
                .program()
                .types()
                .iter()
                .map(|ty| ty.name.as_str())
                .collect();
            Error::new(
                ErrorKind::InvalidArgument,
                "type",
                format!("the program has no type `{name}`; it has {}", list(&all)),
            )
        })
    }

    /// The array type of this element type and rank.
    pub(crate) fn array_type(&self, elem: ElemType, rank: usize) -> Result<TypeId> {
        let found = self.program().types_with_ids().find(|(_, ty)| {
            ty.as_array()
                .is_some_and(|array| array.elem == elem && array.rank == rank)
        });
        found.map(|(id, _)| id).ok_or_else(|| {
            let message =
                format!("the program has no array type of element type {elem} and rank {rank}");
            Error::new(ErrorKind::InvalidArgument, "new array", message)
        })
    }
}

/// At most a few names of many.
pub(super) fn list(names: &[&str]) -> String {
    match names.len() {
        0 => "none".to_owned(),
        n if n > 12 => format!("{} and {} more", names[..12].join(", "), n - 12),
        _ => names.join(", "),
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("table", &self.0.table)
            .finish()
    }
}
