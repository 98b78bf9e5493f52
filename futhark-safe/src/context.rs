//! Contexts of programs that are compiled into this binary.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

use futhark_manifest::Backend;
use futhark_sys::table::Table;

use crate::error::{Error, ErrorKind, Result};
use crate::ffi::sync::Arc;
use crate::ffi::{self, Core, Input, LinkedTable, Output, backend_of};
use crate::observe::Device;
use crate::observe::{Copies, MemoryUse};
use crate::start::Config;
use crate::start::{Started, start};
use crate::tuning::{self, TuningParam, apply};

/// The methods that contexts of both interfaces have. They have the field `started` and the method `core`.
macro_rules! context_methods {
    () => {
        /// The device of the context.
        pub fn device(&self) -> Result<Device> {
            self.core().device().map(Device::of_context)
        }

        /// The memory that the context uses.
        pub fn memory(&self) -> Result<MemoryUse> {
            self.core().memory().map(MemoryUse::of)
        }

        /// The copies of arguments that calls consumed, and of arrays whose elements were written in place, so far.
        #[must_use]
        pub fn copies(&self) -> Vec<Copies> {
            self.core().copies()
        }

        /// `opencl`: the context's `cl_command_queue`, to enqueue other work or to create contexts on
        /// the same queue ([`Config::command_queue`]). `None` on other backends.
        ///
        /// It is valid as long as the context. Using it is `unsafe`: other work must not write to memory of
        /// values.
        pub fn command_queue(&self) -> Result<Option<*mut c_void>> {
            self.core().command_queue()
        }

        /// Waits until all pending work is complete.
        ///
        /// Never needed for correct results, since reading a value waits for it. It reports failures of
        /// GPU kernels that no call has reported yet.
        #[doc(alias("async", "thread", "tokio", "wait"))]
        pub fn sync(&self) -> Result<()> {
            self.core().simple("sync", |raw| raw.sync)
        }

        /// Frees memory that the context keeps for later calls.
        pub fn clear_caches(&self) -> Result<()> {
            self.core().simple("clear_caches", |raw| raw.clear_caches)
        }

        /// Pauses profiling, if it was configured.
        pub fn pause_profiling(&self) -> Result<()> {
            self.core()
                .simple("pause_profiling", |raw| raw.pause_profiling)
        }

        /// Resumes profiling.
        pub fn unpause_profiling(&self) -> Result<()> {
            self.core()
                .simple("unpause_profiling", |raw| raw.unpause_profiling)
        }

        /// The runtime's profiling report, as JSON. Waits as [`sync`](Self::sync) does.
        pub fn report(&self) -> Result<String> {
            self.core().report()
        }

        /// The runtime's profiling report as typed data (feature `report`). Waits as [`sync`](Self::sync) does.
        ///
        /// Like [`report`](Self::report), it discards the events that it returns.
        ///
        /// # Errors
        /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the runtime's report has an unknown
        /// format.
        #[cfg(feature = "report")]
        pub fn profile(&self) -> Result<crate::Report> {
            crate::Report::parse(&self.report()?)
        }

        /// Which checks of sizes, divisions and bounds the library has. A service can refuse to start without them:
        ///
        /// ```text
        /// assert_eq!(ctx.hardening(), futhark_safe::Hardening::Full);
        /// ```
        #[must_use]
        pub fn hardening(&self) -> crate::Hardening {
            self.core().table().hardening()
        }

        /// The settings of the configuration that have no effect on this backend: lines of
        /// [tunings](Config::tuning) for parameters that only other backends have.
        ///
        /// ```text
        /// for warning in ctx.warnings() {
        ///     // rows.fut.tuning:1: `rows.suff_outer_par_0` has no effect: backend c has no such tuning parameter
        ///     eprintln!("{warning}");
        /// }
        /// ```
        #[must_use]
        pub fn warnings(&self) -> &[String] {
            &self.started.warnings
        }

        /// The program's tuning parameters on this backend. None on `c` and `multicore`.
        #[must_use]
        pub fn tuning_params(&self) -> Vec<TuningParam> {
            tuning::params(self.core().table())
        }
    };
}
#[cfg(feature = "dynamic")]
pub(crate) use context_methods;

/// A program with a generated module. It is compiled into this binary, or opened as a
/// library (`Context::with_library`, feature `dynamic`).
///
/// Implemented by the module that [`include_program!`](crate::include_program) includes, for its type
/// `Program`. Do not implement it.
pub trait Program: Linked {
    /// The program's name: the name of its source file.
    const NAME: &'static str;
    /// The entry points, as methods.
    type Entries<'c>: From<&'c Context<Self>>;
}

/// The tables of a program, and hashes by which they are verified. For generated code.
pub trait Linked: Sized + Send + Sync + 'static {
    /// The hash of the program's API. Tables with another one are rejected.
    const INTERFACE: u64;
    /// The hash of the functions that generated code refers to by number. Tables with another one
    /// are rejected.
    const FUNCTIONS: u64;
    /// The tuning that the build script found, in the format of files.
    const TUNING: &'static str = "";
    /// The tables that are linked into this binary, one per backend, the preferred one first.
    fn tables() -> Vec<LinkedTable>;
}

/// A context of program `P`: a device, its memory, and the program's constants.
///
/// Cloning makes another handle to the same context. Values keep it alive.
pub struct Context<P: Program> {
    started: Started,
    program: PhantomData<fn() -> P>,
}

// Other methods of contexts: of arrays in `array.rs`, of batches in `batch.rs`, of plain C calls in `raw.rs`, of
// stored values in `stored/mod.rs`.
impl<P: Program> Context<P> {
    /// Makes a context on the first backend that works here, of those that `config` names or of all
    /// that the program was compiled for. [`refused`](Self::refused) has the reasons against earlier ones.
    ///
    /// Blocks while the device is set up and the program's constants are computed. GPU backends
    /// also compile their device code.
    ///
    /// # Errors
    /// The failure of the only backend, or one that lists the failures of all. Its kind is theirs if they agree,
    /// otherwise [`ErrorKind::Start`].
    ///
    /// * [`ErrorKind::Unsupported`]: the program was not compiled for the backend, or the device is
    ///   known to compute wrong results (see [`Config::allow_known_bad_device`]).
    /// * [`ErrorKind::Load`]: a driver is missing, no device was found, or a file of
    ///   [`Config::load_device_code`] cannot be used.
    /// * [`ErrorKind::Start`]: the device failed, or computing a constant of the program did.
    /// * [`ErrorKind::InvalidArgument`]: a setting is invalid, or the backend does not have it.
    pub fn new(config: &Config) -> Result<Context<P>> {
        // An invalid configuration is an error on every backend.
        config.settings()?;
        let tables = tables::<P>()?;
        let compiled: Vec<Backend> = tables.iter().map(|&(backend, _)| backend).collect();
        if compiled.is_empty() {
            let message = "the program is not linked into this binary: open its shared object, and \
                           use `Context::with_library`";
            return Err(Error::new(ErrorKind::Start, P::NAME, message));
        }
        let linked = others::<P>(config);
        if let Some(table) = linked.first() {
            apply(&config.tunings, "", table, &linked)?;
        }
        let order = match &config.backends[..] {
            [] => &compiled,
            requested => requested,
        };
        let mut refused = Vec::new();
        for &backend in order {
            let started = table_of::<P>(&tables, backend)
                .and_then(|table| start(table, config, &linked, P::TUNING));
            match started {
                Ok(started) => {
                    let refused = refused.into();
                    return Ok(Context::of(Started { refused, ..started }));
                }
                Err(error) => refused.push((backend, error)),
            }
        }
        if refused.len() == 1 {
            return Err(refused.remove(0).1);
        }
        let reasons = refused.iter().map(|(_, error)| format!("{error:#}"));
        let reasons: Vec<String> = reasons.collect();
        // Such as `InvalidArgument`, if no backend has the setting.
        let kind = refused.first().map(|(_, error)| error.kind());
        let kind = kind.filter(|&kind| refused.iter().all(|(_, error)| error.kind() == kind));
        let message = format!("no backend works here: {}", reasons.join("; "));
        Err(Error::new(
            kind.unwrap_or(ErrorKind::Start),
            P::NAME,
            message,
        ))
    }

    /// The backends that the program was compiled for, in the order of the build script.
    ///
    /// # Errors
    /// [`ErrorKind::Load`]: the linked program belongs to another version of this crate.
    pub fn backends() -> Result<Vec<Backend>> {
        let tables = tables::<P>()?;
        Ok(tables.into_iter().map(|(backend, _)| backend).collect())
    }

    /// The devices of this backend, in the order that [`Config::device_number`] counts. Host backends
    /// have one, the processor.
    ///
    /// Loads the driver, and blocks while it looks for devices.
    ///
    /// # Errors
    /// Why a context on this backend would be refused: [`ErrorKind::Unsupported`]: the program was not
    /// compiled for it. [`ErrorKind::Load`]: its driver is missing, or it has no device.
    pub fn devices(backend: Backend) -> Result<Vec<Device>> {
        let table = table_of::<P>(&tables::<P>()?, backend)?;
        ffi::devices(table).map(Device::of_backend)
    }

    /// The source of the program's device code on this backend: OpenCL C, CUDA C or HIP C.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`]: the program was not compiled for the backend, or the backend has no
    /// device code.
    pub fn device_source(backend: Backend) -> Result<String> {
        let table = table_of::<P>(&tables::<P>()?, backend)?;
        ffi::device_source(table)?.ok_or_else(|| {
            let message = format!("backend {backend} has no device code");
            Error::new(ErrorKind::Unsupported, P::NAME, message)
        })
    }

    /// The linked program of this backend for the [dynamic interface](crate::dynamic) (feature `dynamic`), whose contexts
    /// do not use the tuning of the build script.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`]: the program was not compiled for the backend, or is not linked. [`ErrorKind::Load`]: the
    /// linked program is another one, or belongs to another version of this crate.
    #[cfg(feature = "dynamic")]
    pub fn library(backend: Backend) -> Result<crate::dynamic::Library> {
        crate::dynamic::Library::of_table(table_of::<P>(&tables::<P>()?, backend)?)
    }

    /// Makes a context of a library: a shared object of this program, which need not be linked into
    /// the binary (feature `dynamic`).
    ///
    /// Blocks like [`new`](Self::new).
    ///
    /// ```text
    /// // SAFETY: the file was installed with this program, and `compile::Build` made it.
    /// let library = unsafe { Library::open("libstats.so") }?;
    /// let ctx = stats::Context::with_library(&library, &stats::Config::new())?;
    /// ```
    ///
    /// The library must have the interface that the module was generated from, and may be of any
    /// backend. It can be a later version of the program: only its types and entry points are compared.
    /// Plain C calls ([`with_raw`](Self::with_raw)) need a linked program.
    ///
    /// # Errors
    /// * [`ErrorKind::Load`]: the library has another interface.
    /// * [`ErrorKind::Unsupported`]: `config` names another backend.
    /// * The errors of starting a context: see [`new`](Self::new).
    #[cfg(feature = "dynamic")]
    pub fn with_library(library: &crate::dynamic::Library, config: &Config) -> Result<Context<P>> {
        let table = library.table();
        if !is_of::<P>(table) {
            let message = "the library has other types or entry points than the program that the \
                           module was generated from: build both from the same source, with the same \
                           compiler";
            return Err(Error::new(ErrorKind::Load, P::NAME, message));
        }
        let started = library.start(config, &others::<P>(config), P::TUNING);
        started.map(Context::of)
    }

    fn of(started: Started) -> Context<P> {
        Context {
            started,
            program: PhantomData,
        }
    }

    /// The program's entry points.
    #[must_use]
    pub fn entry(&self) -> P::Entries<'_> {
        self.into()
    }

    /// The backend of the context.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.started.backend
    }

    /// The backends that were tried before this one, each with the reason against it.
    #[must_use]
    pub fn refused(&self) -> &[(Backend, Error)] {
        &self.started.refused
    }

    context_methods!();

    /// Frees the context, and reports a failure that no call has reported. Waits as
    /// [`sync`](Self::sync) does.
    ///
    /// Dropping the last handle or value of a context frees it, too, but ignores failures.
    ///
    /// # Errors
    /// Returns the context with the error; it can still be used, or closed again. [`ErrorKind::InvalidArgument`]:
    /// values or clones of it are in use.
    pub fn close(self) -> Result<(), (Context<P>, Error)> {
        let closed = self.started.close();
        closed.map_err(|(started, error)| (Context::of(started), error))
    }

    /// The program's tuning parameters on a backend, without a context or a device.
    ///
    /// ```text
    /// for param in stats::Context::tuning_params_of(Backend::OpenCl)? {
    ///     println!("{} ({}) of {:?}", param.name(), param.class(), param.entry_points());
    /// }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`]: the linked program was not compiled for the backend.
    /// [`ErrorKind::Load`]: the linked program is another one, or of another version of this crate.
    pub fn tuning_params_of(backend: Backend) -> Result<Vec<TuningParam>> {
        table_of::<P>(&tables::<P>()?, backend).map(tuning::params)
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.started.core
    }

    /// Calls function number `function`, for generated code. Arguments are verified.
    #[doc(hidden)]
    pub fn __call<const IN: usize, const OUT: usize>(
        &self,
        function: usize,
        inputs: [Input<'_>; IN],
        outputs: &mut [&mut Output; OUT],
    ) -> Result<()> {
        Core::call(&self.started.core, function, inputs, outputs)
    }
}

/// Whether generated code for `P` can use the table: it has the same types, functions and numbers.
fn is_of<P: Program>(table: &Table) -> bool {
    table.interface_hash() == P::INTERFACE && table.functions_hash() == P::FUNCTIONS
}

/// The linked tables of the program, if the settings depend on them. One that is invalid is an error
/// only if it is used.
fn others<P: Program>(config: &Config) -> Vec<&'static Table> {
    match &config.tunings[..] {
        [] => Vec::new(),
        _ => P::tables()
            .iter()
            .filter_map(|table| table.check().ok())
            .collect(),
    }
}

impl<P: Program> Clone for Context<P> {
    fn clone(&self) -> Context<P> {
        Context::of(self.started.clone())
    }
}

impl<P: Program> fmt::Debug for Context<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("program", &P::NAME)
            .field("backend", &self.backend())
            .finish()
    }
}

/// The tables of the program, in the order of the build script.
fn tables<P: Program>() -> Result<Vec<(Backend, &'static Table)>> {
    let tables = P::tables().into_iter().map(|table| {
        let table = table.check()?;
        if !is_of::<P>(table) {
            let message = "the linked program is not the one that was compiled against";
            return Err(Error::new(ErrorKind::Load, P::NAME, message));
        }
        Ok((backend_of(table)?, table))
    });
    tables.collect()
}

fn table_of<P: Program>(
    tables: &[(Backend, &'static Table)],
    backend: Backend,
) -> Result<&'static Table> {
    let found = tables.iter().find(|&&(of, _)| of == backend);
    found.map(|&(_, table)| table).ok_or_else(|| {
        let compiled: Vec<&str> = tables.iter().map(|(of, _)| of.as_str()).collect();
        let compiled = match &compiled[..] {
            [] => "not linked into this binary".to_owned(),
            compiled => format!("compiled for {}", compiled.join(", ")),
        };
        let message = format!("the program is {compiled}, but backend {backend} was requested");
        Error::new(ErrorKind::Unsupported, P::NAME, message)
    })
}
