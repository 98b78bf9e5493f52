//! Contexts of programs that are compiled into this binary.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use futhark_manifest::Backend;

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{Core, Input, Output, backend_of};
use crate::program::Program;
use crate::start::start;

/// A context of program `P`: a device, its memory, and the program's constants.
///
/// Cloning makes another handle to the same context. Values keep it alive.
pub struct Context<P: Program> {
    core: Arc<Core>,
    backend: Backend,
    program: PhantomData<fn() -> P>,
}

impl<P: Program> Context<P> {
    /// Makes a context on the backend that `config` names, or on the first of the program's
    /// backends that works here.
    ///
    /// Blocks while the device is set up and the program's constants are computed. GPU backends
    /// also compile their device code.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Unsupported`]: the program was not compiled for the backend, or the device is
    ///   known to compute wrong results (see [`Config::allow_known_bad_device`]).
    /// * [`ErrorKind::Load`]: a driver is missing, or no device was found.
    /// * [`ErrorKind::Start`]: the device failed, or computing a constant of the program did.
    /// * [`ErrorKind::InvalidArgument`]: a setting is invalid, or the backend does not have it.
    pub fn new(config: &Config) -> Result<Context<P>> {
        // An invalid configuration is an error on every backend.
        config.settings()?;
        let mut failures = Vec::new();
        let mut compiled = Vec::new();
        for table in P::tables() {
            let table = table.check()?;
            compiled.push(table.backend());
            if config
                .requested_backend()
                .is_some_and(|backend| backend.as_str() != table.backend())
            {
                continue;
            }
            if table.interface_hash() != P::INTERFACE || table.functions_hash() != P::FUNCTIONS {
                return Err(Error::new(
                    ErrorKind::Load,
                    P::NAME,
                    "the linked program is not the one that was compiled against",
                ));
            }
            let backend = backend_of(table)?;
            match start(table, config) {
                Ok(core) => {
                    return Ok(Context {
                        core,
                        backend,
                        program: PhantomData,
                    });
                }
                Err(error) => failures.push(error),
            }
        }
        Err(match (config.requested_backend(), failures.len()) {
            (_, 1) => failures.remove(0),
            (Some(backend), _) => Error::new(
                ErrorKind::Unsupported,
                P::NAME,
                format!(
                    "the program was compiled for {}, but backend {backend} was requested",
                    compiled.join(", ")
                ),
            ),
            (None, _) => {
                let list: Vec<String> = failures.iter().map(ToString::to_string).collect();
                Error::new(
                    ErrorKind::Start,
                    P::NAME,
                    format!("no backend works here: {}", list.join("; ")),
                )
            }
        })
    }

    /// The program's entry points.
    #[must_use]
    pub fn entry(&self) -> P::Entries<'_> {
        self.into()
    }

    /// The backend of the context.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Waits until all pending work is complete.
    ///
    /// Never needed for correct results, since reading a value waits for it. It reports failures of
    /// GPU kernels that no call has reported yet.
    ///
    /// # Errors
    ///
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn sync(&self) -> Result<()> {
        self.core.simple("sync", |raw| raw.sync)
    }

    /// Frees the context, and reports a failure that no call has reported. Waits as
    /// [`sync`](Self::sync) does.
    ///
    /// Dropping the last handle or value of a context frees it, too, but ignores failures.
    ///
    /// # Errors
    ///
    /// Returns the context with the error; it can still be used, or closed again.
    /// [`ErrorKind::InvalidArgument`]: values or clones of it are in use. [`ErrorKind::ContextLost`]. An
    /// [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn close(self) -> Result<(), (Context<P>, Error)> {
        let backend = self.backend;
        self.core.close().map_err(|(core, error)| {
            let context = Context {
                core,
                backend,
                program: PhantomData,
            };
            (context, error)
        })
    }

    /// Frees memory that the context keeps for later calls.
    ///
    /// # Errors
    ///
    /// The device failed.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn clear_caches(&self) -> Result<()> {
        self.core.simple("clear_caches", |raw| raw.clear_caches)
    }

    /// Pauses profiling, if it was configured.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ContextLost`].
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn pause_profiling(&self) -> Result<()> {
        self.core
            .simple("pause_profiling", |raw| raw.pause_profiling)
    }

    /// Resumes profiling.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ContextLost`].
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn unpause_profiling(&self) -> Result<()> {
        self.core
            .simple("unpause_profiling", |raw| raw.unpause_profiling)
    }

    /// The runtime's profiling report, as JSON. Waits as [`sync`](Self::sync) does.
    ///
    /// # Errors
    ///
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn report(&self) -> Result<String> {
        self.core.report()
    }

    /// The names and classes of the program's tuning parameters on this backend.
    #[must_use]
    pub fn tuning_params(&self) -> Vec<(String, String)> {
        Core::tuning_params(self.core.table())
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Calls function number `function`, for generated code. Arguments are verified.
    #[doc(hidden)]
    pub fn __call(
        &self,
        function: usize,
        inputs: &mut [Input<'_>],
        outputs: &mut [Output<'_>],
    ) -> Result<()> {
        self.core.call(function, inputs, outputs)
    }
}

impl<P: Program> Clone for Context<P> {
    fn clone(&self) -> Context<P> {
        Context {
            core: Arc::clone(&self.core),
            backend: self.backend,
            program: PhantomData,
        }
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
