//! Many calls of one thread under one hold of the lock.
//!
//! Every call on the thread works as usual, by any handle of the context: it finds the scope, and does
//! not take the lock (see `lock`). Calls of other threads wait for the end of the scope, and values that
//! they drop are queued: the next call in the scope frees them. The jump target for fatal failures is
//! still set by each call, in its C wrapper: set once, a jump would skip Rust code between the calls.

use super::core::Core;
use super::lock::{Lending, Scope};

/// Calls `body` while this thread holds the lock, unless it already does so.
pub(crate) fn exclusive<R>(core: &Core, body: impl FnOnce() -> R) -> R {
    let locked = core.locked();
    if locked.is_in_scope() {
        drop(locked);
        return body();
    }
    let scope = Scope::of(core.lock());
    // SAFETY: of the same lock. Dropped before `scope`, also by a panic. `locked` is only dropped, after that.
    let listed = unsafe { core.lock().begin(&scope) };
    let lending = Lending::new();
    let result = body();
    drop(lending);
    drop(listed);
    drop(locked);
    result
}
