//! The context that all requests share.

use std::sync::{Arc, PoisonError, RwLock};

use futhark_safe::{Config, ErrorKind, Result};

use crate::service::Context;

/// A context that is replaced if it is lost.
pub struct Shared {
    config: Config,
    current: RwLock<Current>,
}

/// A context, and its number, by which calls that find it lost agree on which one replaces it.
#[derive(Clone)]
pub struct Current {
    /// 1 for the first context.
    pub number: u64,
    /// Another handle to the context.
    pub ctx: Context,
}

impl Shared {
    /// Makes the first context.
    pub fn new(config: Config) -> Result<Arc<Shared>> {
        let ctx = Context::new(&config)?;
        Ok(Arc::new(Shared {
            // Later ones use the same backend, even if another one was preferred and failed.
            config: config.backend(ctx.backend()),
            current: RwLock::new(Current { number: 1, ctx }),
        }))
    }

    /// Calls `compute` with the context, on a thread for blocking calls.
    ///
    /// If an earlier call has lost the context, that of another request, calls it again with the next
    /// context. `compute` must therefore have no effects, and return plain data: values belong to
    /// their context. If this call loses the context, it would lose the next one too, and fails.
    pub async fn call<T: Send + 'static>(
        self: Arc<Shared>,
        compute: impl Fn(&Context) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let blocking = tokio::task::spawn_blocking(move || {
            loop {
                let Current { number, ctx } = self.current();
                let error = match compute(&ctx) {
                    Err(error) if error.kind() == ErrorKind::ContextLost => error,
                    result => return result,
                };
                // The memory of a lost context is freed with the last handle.
                drop(ctx);
                self.replace(number)?;
                if !error.is_from_earlier_call() {
                    return Err(error);
                }
            }
        });
        blocking.await.expect("the computation does not panic")
    }

    /// The context, which another request may lose at any time.
    pub fn current(&self) -> Current {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the context of this number, unless another call already has. Requests wait meanwhile.
    ///
    /// If that fails, the lost context stays, and the next request tries to replace it again.
    fn replace(&self, number: u64) -> Result<()> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.number == number {
            current.ctx = Context::new(&self.config)?;
            current.number += 1;
        }
        Ok(())
    }
}
