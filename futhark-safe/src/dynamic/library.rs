//! Loaded programs.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use futhark_manifest::{Backend, FunctionList, Manifest, Program, TypeId};
use futhark_sys::table::{SYMBOL, Table};

use crate::error::{Call, Error, ErrorKind, Result};
use crate::ffi;
use crate::observe::Device;
use crate::start::{Config, Started, start};
use crate::tuning::{self, TuningParam};

/// A loaded program for one backend. It is never unloaded.
#[derive(Clone)]
pub struct Library(Arc<Inner>);

pub(super) struct Inner {
    pub table: &'static Table,
    pub program: Program,
    /// Index of each C function in the table, by name.
    functions: HashMap<&'static str, usize>,
}

impl Library {
    pub(crate) fn of_table(table: &'static Table) -> Result<Library> {
        let fail = |why: String| Error::new(ErrorKind::Load, "manifest of the library", why);
        let program = Manifest::parse(table.manifest())
            .and_then(|manifest| manifest.resolve())
            .map_err(|error| fail("it is not valid".to_owned()).with_source(error))?;
        // Both sides number types in the order of their names. The manifest is part of the library,
        // so they agree unless the file was changed.
        let names = program.types().iter().map(|ty| ty.name.as_str());
        if !names.eq(table.types().iter().map(|ty| ty.name()))
            || program.interface_hash() != table.interface_hash()
            || FunctionList::of(&program).hash() != table.functions_hash()
            || program.backend.as_str() != table.backend()
        {
            let why = "the library's table does not match its manifest";
            return Err(fail(why.to_owned()));
        }
        let functions = table.functions().iter().enumerate();
        Ok(Library(Arc::new(Inner {
            table,
            program,
            functions: functions.map(|(i, f)| (f.name(), i)).collect(),
        })))
    }

    /// The program as described by its manifest.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.0.program
    }

    /// The text of the manifest as written by the compiler.
    #[must_use]
    pub fn manifest(&self) -> &'static str {
        self.0.table.manifest()
    }

    /// The backend that the program was compiled for.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.0.program.backend
    }

    /// The program's tuning parameters. None on `c` and `multicore`.
    #[must_use]
    pub fn tuning_params(&self) -> Vec<TuningParam> {
        tuning::params(self.table())
    }

    /// A hash of source, compiler version and type layouts; equal for all backends.
    #[must_use]
    pub fn program_id(&self) -> &'static str {
        self.0.table.program()
    }

    /// The devices of the library's backend, like [`crate::Context::devices`].
    ///
    /// # Errors
    /// [`ErrorKind::Load`]: the driver is missing, or it has no device.
    pub fn devices(&self) -> Result<Vec<Device>> {
        ffi::devices(self.0.table).map(Device::of_backend)
    }

    /// The source of the device code, like [`crate::Context::device_source`]. `None`: the backend has
    /// none.
    pub fn device_source(&self) -> Result<Option<String>> {
        ffi::device_source(self.0.table)
    }

    pub(crate) fn table(&self) -> &'static Table {
        self.0.table
    }

    /// Starts a context of the library, for both interfaces.
    ///
    /// `others` and `embedded` are as for [`start`].
    pub(crate) fn start(
        &self,
        config: &Config,
        others: &[&'static Table],
        embedded: &str,
    ) -> Result<Started> {
        let requested = &config.backends;
        if !requested.is_empty() && !requested.contains(&self.backend()) {
            let requested: Vec<&str> = requested.iter().map(|b| b.as_str()).collect();
            let message = format!(
                "library was built for backend {}, but {} was requested",
                self.backend(),
                requested.join(", ")
            );
            return Err(Error::new(ErrorKind::Unsupported, "context", message));
        }
        start(self.table(), config, others, embedded)
    }

    pub(super) fn function(&self, cfun: &str) -> Result<usize> {
        self.0.functions.get(cfun).copied().ok_or_else(|| {
            let message = format!("the library has no function {cfun}");
            Error::new(ErrorKind::Unsupported, "call", message)
        })
    }

    pub(super) fn type_named(&self, name: &str) -> Result<TypeId> {
        self.program().type_named(name).ok_or_else(|| {
            let names = self.program().types().iter().map(|ty| ty.name.as_str());
            unknown("type", "the program has no type", name, names)
        })
    }
}

/// The error for a name that is not among `names`, of which at most 12 are listed.
pub(super) fn unknown<'a>(
    operation: impl Into<Call>,
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'a str>,
) -> Error {
    let names: Vec<&str> = names.collect();
    let names = match names.len() {
        0 => "none".to_owned(),
        n if n > 12 => format!("{} and {} more", names[..12].join(", "), n - 12),
        _ => names.join(", "),
    };
    Error::invalid(operation, format!("{what} `{name}`; it has {names}"))
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("table", &self.0.table)
            .finish()
    }
}

impl Library {
    /// Opens a library that was compiled earlier, on this machine or one of the same kind. Needs no
    /// compiler. The file of a build is `Artifact::library` (module `compile`); it can be renamed and moved.
    ///
    /// The library stays loaded until the process ends. Blocks while it is read.
    ///
    /// ```no_run
    /// use futhark_safe::dynamic::Library;
    ///
    /// // SAFETY: the file was installed with this program, which built it.
    /// let library = unsafe { Library::open("/usr/lib/picture/libblur.so") }?;
    /// println!("{} for {}", library.program_id(), library.backend());
    /// # Ok::<(), futhark_safe::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Load`]: the file cannot be loaded, was not made by the module `compile` of this version, has an
    /// invalid text, or its table and its manifest disagree.
    ///
    /// # Safety
    /// The module `compile` made the file, and it was not changed: loading it runs code in it, and its
    /// table is trusted.
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Library> {
        let path = path.as_ref();
        let operation = || format!("open of {}", path.display());
        // The loader would search the system's folders for a bare file name.
        let file = std::path::absolute(path).map_err(|error| {
            let message = "cannot make the path absolute";
            Error::new(ErrorKind::Load, operation(), message).with_source(error)
        })?;
        // SAFETY: the caller promises that `compile` made the file, so the symbol is its table.
        let table = unsafe { futhark_sys::load::open(&file, SYMBOL) };
        let table = table.map_err(|error| {
            let message = "expected a shared object that futhark-sys built";
            Error::new(ErrorKind::Load, operation(), message).with_source(error)
        })?;
        Library::of_table(table)
    }
}

#[cfg(feature = "compile")]
impl Library {
    /// Compiles a program and loads it (feature `compile`). An earlier build of the same program in the
    /// same folder is reused.
    ///
    /// Blocks while the compilers run. Anyone who can write to the folder of the build can run
    /// code in this process.
    ///
    /// # Errors
    /// [`ErrorKind::Compile`]: [`Build::run`](crate::compile::Build::run) failed; the source is its error.
    /// [`ErrorKind::Load`]: the library cannot be loaded, or its table and its manifest disagree.
    pub fn build(build: &futhark_sys::compile::Build) -> Result<Library> {
        let operation = || format!("build of {}", build.source().display());
        let artifact = build.run().map_err(|error| {
            let message = "cannot compile the program";
            Error::new(ErrorKind::Compile, operation(), message).with_source(error)
        })?;
        let table = artifact.open().map_err(|error| {
            let message = "cannot load the library";
            Error::new(ErrorKind::Load, operation(), message).with_source(error)
        })?;
        Library::of_table(table)
    }
}
