//! Spans and events of the crate `tracing`, and a check that no code of the user runs under the lock of a context.
//!
//! Without the feature `tracing` the functions for spans and events do nothing else. With it they run such code, a
//! subscriber, which may use contexts.

#![cfg_attr(
    not(feature = "tracing"),
    expect(unused_variables, reason = "they are fields of spans and events")
)]

use std::cell::Cell;

use futhark_sys::table::Table;

thread_local! {
    /// Debug builds: how many locks of contexts this thread holds, without those of `with_raw`, under which code of
    /// the user runs, as documented.
    static COUNT: Cell<isize> = const { Cell::new(0) };
}

/// Counts locks that this thread takes, or releases.
#[inline]
pub(super) fn count_held(change: isize) {
    if cfg!(debug_assertions) {
        COUNT.set(COUNT.get() + change);
    }
}

/// Expects that this thread holds no lock of a context: code of the user comes next, and may wait for a thread
/// that waits for the lock.
#[inline]
pub(super) fn expect_none_held() {
    debug_assert_eq!(COUNT.get(), 0, "code of the user would run under a lock");
}

/// A span that ends when it is dropped.
#[must_use]
pub(super) struct Span {
    #[cfg(feature = "tracing")]
    _entered: Option<tracing::span::EnteredSpan>,
}

impl Drop for Span {
    fn drop(&mut self) {
        expect_none_held();
    }
}

/// A call, with the sizes of each argument that has arrays.
#[inline]
pub(super) fn call<Sizes: IntoIterator<Item = String>>(
    table: &Table,
    operation: impl FnOnce() -> &'static str,
    sizes: impl FnOnce() -> Sizes,
) -> Span {
    expect_none_held();
    Span {
        #[cfg(feature = "tracing")]
        _entered: tracing::enabled!(target: TARGET, tracing::Level::DEBUG).then(|| {
            let operation = operation();
            let sizes = sizes().into_iter().collect::<Vec<_>>().join(", ");
            let backend = table.backend();
            tracing::debug_span!(target: TARGET, "call", operation, backend, sizes).entered()
        }),
    }
}

/// A transfer of this number of bytes.
#[inline]
pub(super) fn transfer(table: &Table, operation: &'static str, bytes: usize) -> Span {
    expect_none_held();
    Span {
        #[cfg(feature = "tracing")]
        _entered: tracing::enabled!(target: TARGET, tracing::Level::DEBUG).then(|| {
            let backend = table.backend();
            tracing::debug_span!(target: TARGET, "transfer", operation, backend, bytes).entered()
        }),
    }
}

/// The operation, if it has copied an argument or an array because another value shares its memory. Records that when
/// it is dropped, which must be after the lock: a subscriber is code of the user.
#[derive(Default)]
pub(super) struct Copied(pub(super) Option<&'static str>);

impl Drop for Copied {
    fn drop(&mut self) {
        if let Some(operation) = self.0 {
            expect_none_held();
            #[cfg(feature = "tracing")]
            tracing::debug!(target: TARGET, operation, "copied a shared argument");
        }
    }
}

pub(crate) fn started(table: &Table, since: std::time::Instant) {
    #[cfg(feature = "tracing")]
    tracing::info!(
        target: TARGET,
        backend = table.backend(),
        seconds = since.elapsed().as_secs_f64(),
        "started a context"
    );
}

#[cfg(feature = "tracing")]
const TARGET: &str = "futhark_safe";

#[cfg(all(test, not(loom), feature = "dynamic", debug_assertions))]
mod tests {
    use std::panic::catch_unwind;

    use futhark_fake::{Flavour, World, program};

    use super::super::{Core, Lent};
    use super::*;

    /// Only `with_raw` runs code of the user under the lock.
    #[test]
    fn code_of_the_user_under_a_lock_is_a_panic() {
        let panics = || catch_unwind(expect_none_held).is_err();
        let world = World::new();
        world.enter();
        let core = Core::new(program::table(Flavour::Host), &[]).unwrap();
        let locked = core.locked();
        assert!(panics());
        drop(locked);
        assert!(!panics());
        let lent = Lent::new(&core).unwrap();
        assert!(!panics());
        drop(lent);
        assert!(!panics());
    }
}
