//! Exclusive use of a context, for many short calls.

use crate::context::Context;
use crate::ffi;
use crate::program::Program;

impl<P: Program> Context<P> {
    /// Calls `body`, in which only this thread uses the context, and makes calls cheaper there.
    ///
    /// Every call takes the context's lock, which takes longer than the rest of the bridge. In `body` the lock
    /// is taken already. That pays for many calls of less than a microsecond, or transfers of a few KiB. Longer
    /// ones gain nothing.
    ///
    /// ```text
    /// let total = ctx.exclusive(|| -> Result<i32> {
    ///     let mut total = 0;
    ///     for x in 0..1000 {
    ///         total = ctx.entry().add(total, x)?;   // calls are as usual
    ///     }
    ///     Ok(total)
    /// })?;
    /// ```
    ///
    /// Everything works as usual in `body`: also calls by clones of the context and by methods of values,
    /// [batches](Self::batch), failing calls and the loss of the context. If `body` panics, the panic
    /// continues, and the context remains usable. Calls of `exclusive` can be nested, also with those of other
    /// contexts.
    ///
    /// # Blocking
    ///
    /// Waits for calls of other threads. Calls of other threads wait until `body` has returned, so `body` must
    /// not wait for them: it would never return. Threads that nest contexts must do so in the same order. A value
    /// can be dropped on another thread without waiting; its memory is freed by the next call in `body`, or at the
    /// end, so a `body` without calls frees nothing until then.
    ///
    /// The writer of [`log_to`](crate::Config::log_to) receives the text of the calls at the end, or from an operation in
    /// `body` on another context. Such a writer and a subscriber of the crate `tracing` run in `body`, so they must not
    /// wait for threads that use this context either.
    ///
    /// # Panics
    ///
    /// Inside of [`with_raw`](Self::with_raw) on the same context.
    pub fn exclusive<R>(&self, body: impl FnOnce() -> R) -> R {
        ffi::exclusive(self.core(), body)
    }
}

#[cfg(feature = "dynamic")]
impl crate::dynamic::Context {
    /// Calls `body`, in which only this thread uses the context, like [`crate::Context::exclusive`].
    pub fn exclusive<R>(&self, body: impl FnOnce() -> R) -> R {
        ffi::exclusive(self.core(), body)
    }
}
