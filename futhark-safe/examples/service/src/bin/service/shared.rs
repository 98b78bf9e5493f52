//! The context that all requests share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use futhark_example_service::service;
use futhark_safe::{Backend, Config, ErrorKind, Result};

/// How often a request is tried if others lose the context that it uses.
const ATTEMPTS: u32 = 4;

/// A context that is replaced if it is lost.
pub struct Shared {
    config: Config,
    current: RwLock<Numbered>,
    made: AtomicU64,
}

/// A context, and its number, by which threads that find it lost agree on who replaces it.
#[derive(Clone)]
struct Numbered {
    number: u64,
    ctx: service::Context,
}

impl Shared {
    /// Makes the first context.
    ///
    /// # Errors
    ///
    /// Those of [`Context::new`](futhark_safe::Context::new).
    pub fn new(config: Config) -> Result<Shared> {
        let ctx = service::Context::new(&config)?;
        Ok(Shared {
            // Later ones use the same backend, even if another one was preferred and failed.
            config: config.backend(ctx.backend()),
            current: RwLock::new(Numbered { number: 1, ctx }),
            made: AtomicU64::new(1),
        })
    }

    /// Calls `compute` with the context.
    ///
    /// If an earlier call has lost the context, most likely one of another request, calls it again with
    /// a new context, up to [`ATTEMPTS`] times. `compute` must therefore have no effects, and return
    /// plain data: values belong to their context.
    ///
    /// # Errors
    ///
    /// That of `compute`. [`ErrorKind::ContextLost`]: this call lost the context, which is replaced, or
    /// all attempts met a lost one. The failure to create a new context.
    pub fn call<T>(&self, compute: impl Fn(&service::Context) -> Result<T>) -> Result<T> {
        let mut attempt = 1;
        loop {
            let Numbered { number, ctx } = self.current();
            let error = match compute(&ctx) {
                Err(error) if error.kind() == ErrorKind::ContextLost => error,
                result => return result,
            };
            // The memory of a lost context is freed with the last handle.
            drop(ctx);
            self.replace(number)?;
            // If this call has lost the context, it would lose the next one too.
            if !error.is_from_earlier_call() || attempt == ATTEMPTS {
                return Err(error);
            }
            attempt += 1;
        }
    }

    /// The backend of all contexts.
    pub fn backend(&self) -> Backend {
        self.current().ctx.backend()
    }

    /// The number of contexts made so far.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// The memory that the context uses, on the host and on the device. `None` if it is lost.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let memory = self.current().ctx.memory().ok()?;
        Some((memory.host, memory.device))
    }

    /// Frees the context.
    ///
    /// # Errors
    ///
    /// A failure that no request has received.
    pub fn close(self) -> Result<()> {
        let current = self.current.into_inner();
        let Numbered { ctx, .. } = current.unwrap_or_else(PoisonError::into_inner);
        match ctx.close() {
            // The request that lost it has received the error.
            Err((_, error)) if error.kind() == ErrorKind::ContextLost => Ok(()),
            Err((_, error)) => Err(error),
            Ok(()) => Ok(()),
        }
    }

    fn current(&self) -> Numbered {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the context of this number, unless another thread already has. Requests wait meanwhile.
    ///
    /// If that fails, the lost context stays, and the next request tries to replace it again.
    fn replace(&self, number: u64) -> Result<()> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.number == number {
            let ctx = service::Context::new(&self.config)?;
            self.made.fetch_add(1, Ordering::Relaxed);
            *current = Numbered {
                number: number + 1,
                ctx,
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicU32;

    use super::*;

    fn shared() -> Shared {
        Shared::new(Config::new()).unwrap()
    }

    fn lose(ctx: &service::Context) -> Result<i64> {
        ctx.entry().divide(i64::MIN, -1)
    }

    fn divide(shared: &Shared) -> Result<i64> {
        shared.call(|ctx| ctx.entry().divide(7, 2))
    }

    #[test]
    fn the_call_that_loses_the_context_gets_the_error_and_is_not_repeated() {
        let shared = shared();
        let calls = AtomicU32::new(0);
        let error = shared.call(|ctx| {
            calls.fetch_add(1, Ordering::Relaxed);
            lose(ctx)
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::ContextLost);
        assert_eq!((calls.into_inner(), shared.made()), (1, 2));
        assert_eq!(divide(&shared).unwrap(), 3);
        shared.close().unwrap();
    }

    #[test]
    fn calls_that_meet_a_lost_context_are_repeated_and_it_is_replaced_once() {
        let shared = shared();
        let barrier = Barrier::new(4);
        let calls = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let first = AtomicU32::new(0);
                    let result = shared.call(|ctx| {
                        calls.fetch_add(1, Ordering::Relaxed);
                        if first.fetch_add(1, Ordering::Relaxed) == 0 {
                            // All four have this context before it is lost.
                            if barrier.wait().is_leader() {
                                lose(ctx).unwrap_err();
                            }
                            barrier.wait();
                        }
                        ctx.entry().divide(7, 2)
                    });
                    assert_eq!(result.unwrap(), 3);
                });
            }
        });
        assert_eq!((calls.into_inner(), shared.made()), (8, 2));
    }

    #[test]
    fn attempts_are_limited() {
        let shared = shared();
        let error = shared.call(|ctx| {
            lose(ctx).unwrap_err();
            ctx.entry().divide(7, 2)
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::ContextLost);
        assert_eq!(shared.made(), 1 + u64::from(ATTEMPTS));
        assert_eq!(divide(&shared).unwrap(), 3);
    }
}
