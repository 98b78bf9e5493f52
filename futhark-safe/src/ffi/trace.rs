//! Spans and events of the crate `tracing`. Without the feature `tracing` these functions do nothing.
//!
//! They run user code, a subscriber, which may use contexts: the caller holds no lock.

#![cfg_attr(
    not(feature = "tracing"),
    expect(unused_variables, reason = "they are fields of spans and events")
)]

use super::call::Input;
use super::context::{Core, expect_none_held};

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

/// A call, with the sizes of its arguments.
#[inline]
pub(super) fn call(
    core: &Core,
    operation: impl FnOnce() -> &'static str,
    inputs: &[Input<'_>],
) -> Span {
    expect_none_held();
    Span {
        #[cfg(feature = "tracing")]
        _entered: tracing::enabled!(target: TARGET, tracing::Level::DEBUG).then(|| {
            let operation = operation();
            let sizes: Vec<String> = inputs.iter().filter_map(Input::sizes).collect();
            let (backend, sizes) = (core.table().backend(), sizes.join(", "));
            tracing::debug_span!(target: TARGET, "call", operation, backend, sizes).entered()
        }),
    }
}

/// A transfer of this number of bytes.
#[inline]
pub(super) fn transfer(core: &Core, operation: &'static str, bytes: usize) -> Span {
    expect_none_held();
    Span {
        #[cfg(feature = "tracing")]
        _entered: tracing::enabled!(target: TARGET, tracing::Level::DEBUG).then(|| {
            let backend = core.table().backend();
            tracing::debug_span!(target: TARGET, "transfer", operation, backend, bytes).entered()
        }),
    }
}

/// A copy that was made because another value shares the memory of a consumed argument, or of an array
/// whose elements are to be written.
pub(super) fn copied(operation: &str) {
    expect_none_held();
    #[cfg(feature = "tracing")]
    tracing::debug!(target: TARGET, operation, "copied a shared argument");
}

pub(crate) fn started(core: &Core, since: std::time::Instant) {
    #[cfg(feature = "tracing")]
    tracing::info!(
        target: TARGET,
        backend = core.table().backend(),
        seconds = since.elapsed().as_secs_f64(),
        "started a context"
    );
}

#[cfg(feature = "tracing")]
const TARGET: &str = "futhark_safe";
