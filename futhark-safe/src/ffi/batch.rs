//! Many transfers with one wait.
//!
//! On GPU backends a transfer of a batch is only enqueued, and the driver can access its host memory
//! until a later wait. [`batch`] waits when its closure has returned or panicked, so a batch cannot be
//! leaked, unlike a value with a destructor. Until then the memory of a transfer is
//!
//! * borrowed for `'env`. As a parameter of [`batch`], it outlives the wait, and a [`Batch`] is
//!   invariant in it, so the closure cannot pass it memory of its own; or
//! * owned by the [`Batch`].
//!
//! Arrays may be freed or consumed before the transfer has run: the queue executes in order, so
//! whatever uses their memory next comes after it.
//!
//! If the context is lost, the wait is one for the driver alone. If the driver cannot wait, owned memory
//! is leaked. So is that of a transfer that panics, because it may have started.

use std::borrow::Cow;
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use futhark_manifest::ElemType;

use super::array::{complete, create_from, expect_length, length_of, read_to};
use super::buffer::try_vec;
use super::context::{Core, READ, Transfers};
use super::progress::verdicts;
use super::sync::{Arc, Mutex, PoisonError, lock};
use super::trace::expect_none_held;
use super::value::Handle;
use crate::elem::Element;
use crate::error::{Error, ErrorKind, Result};

pub(crate) struct Batch<'env> {
    core: Arc<Core>,
    transfers: Transfers,
    /// They own the memory of transfers, and are called when the transfers are complete.
    // Behind a lock, so invariant in 'env: without that, the closure could shorten it to the lifetime of its variables.
    kept: Mutex<Vec<Box<dyn FnOnce() + Send + 'env>>>,
}

/// The elements of a download, after its batch.
pub(crate) type Downloaded<T> = Arc<Mutex<Option<Vec<T>>>>;

/// Calls `body` with a new batch, and waits for the batch's transfers. A failure of `body` is
/// returned first.
pub(crate) fn batch<'env, R>(
    core: &Arc<Core>,
    body: impl FnOnce(&Batch<'env>) -> Result<R>,
) -> Result<R> {
    let batch = Batch {
        core: Arc::clone(core),
        transfers: Transfers::default(),
        kept: Mutex::default(),
    };
    expect_none_held();
    let result = catch_unwind(AssertUnwindSafe(|| body(&batch)));
    let Ended { waited, valid } = batch.end();
    let result = result.unwrap_or_else(|panic| {
        if let Err(error) = &waited {
            core.locked_at_once().defer(error.clone());
        }
        resume_unwind(panic)
    });
    match (result, waited) {
        (Ok(result), Ok(())) => valid.map(|()| result),
        (Ok(_), Err(error)) | (Err(error), Ok(())) => Err(error),
        // Every later call reports a loss.
        (Err(error), Err(also)) if also.kind() == ErrorKind::ContextLost => Err(error),
        (Err(error), Err(also)) if error.also().is_some() => {
            core.locked().defer(also);
            Err(error)
        }
        (Err(error), Err(also)) => Err(error.with_also(also)),
    }
}

struct Ended {
    waited: Result<()>,
    /// The failure of an earlier wait that invalidated a transfer.
    valid: Result<()>,
}

/// Ends the process if it is dropped, by a panic: the memory would be freed before the wait. Nothing
/// that runs before panics.
struct NoPanic;

impl Drop for NoPanic {
    fn drop(&mut self) {
        std::process::abort();
    }
}

impl<'env> Batch<'env> {
    #[cfg(feature = "dynamic")]
    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    fn keep(&self, complete: impl FnOnce() + Send + 'env) {
        lock(&self.kept).push(Box::new(complete));
    }

    /// Frees the memory of a transfer that failed, unless the context was lost: the device may still
    /// access it. After other failures it does not (S).
    fn give_up<T>(&self, memory: ManuallyDrop<T>, error: &Error) {
        if error.kind() != ErrorKind::ContextLost || !self.core.table().is_gpu() {
            drop(ManuallyDrop::into_inner(memory));
        }
    }

    /// As [`create`](super::create). The batch keeps owned elements until it ends.
    pub(crate) fn create<T: Element>(
        &self,
        ty: u32,
        shape: &[usize],
        data: Cow<'env, [T]>,
    ) -> Result<Handle> {
        let data = ManuallyDrop::new(data);
        let (start, later) = (data.as_ptr().cast(), Some(&self.transfers));
        // SAFETY: T::ELEM's C type has T's size and takes all its values. A borrowed slice is readable
        // and does not change for 'env, which outlives the batch; owned memory stays until
        // the batch ends, or for ever.
        let made = unsafe { create_from(&self.core, ty, T::ELEM, shape, start, data.len(), later) };
        match &made {
            Ok(_) => {
                if let Cow::Owned(data) = ManuallyDrop::into_inner(data) {
                    self.keep(move || drop(data));
                }
            }
            Err(error) => self.give_up(data, error),
        }
        made
    }

    /// Copies all elements to `to` before the batch ends.
    pub(crate) fn read_into<T: Element>(&self, array: &Handle, to: &'env mut [T]) -> Result<()> {
        let n = self.length::<T>(array)?;
        expect_length(n, to.len())?;
        if T::ELEM == ElemType::Bool {
            return self.read_buffer(array, n, |elements: Vec<T>| to.copy_from_slice(&elements));
        }
        let (start, later) = (to.as_mut_ptr().cast(), Some(&self.transfers));
        // SAFETY: `to` has exactly `n` elements, for which every bit pattern is valid; it is borrowed
        // mutably for 'env, which outlives the batch.
        unsafe { read_to(array, start, size_of_val(to), later) }
    }

    /// All elements, in `place` when the batch has ended.
    pub(crate) fn read_vec<T: Element>(&self, array: &Handle, place: &Downloaded<T>) -> Result<()> {
        let n = self.length::<T>(array)?;
        let place = Arc::clone(place);
        self.read_buffer(array, n, move |elements| {
            *lock(&place) = Some(elements);
        })
    }

    /// Calls `then` with all elements, of which there are `n`, when the batch has ended.
    fn read_buffer<T: Element>(
        &self,
        array: &Handle,
        n: usize,
        then: impl FnOnce(Vec<T>) + Send + 'env,
    ) -> Result<()> {
        let mut memory = ManuallyDrop::new(try_vec::<T>(n, READ)?);
        let (start, later) = (memory.as_mut_ptr().cast(), Some(&self.transfers));
        // SAFETY: the capacity is `n` elements of the array's size; it stays until the batch ends, or
        // for ever.
        let read = unsafe { read_to(array, start, n * size_of::<T>(), later) };
        match &read {
            Ok(()) => {
                let mut elements = ManuallyDrop::into_inner(memory);
                self.keep(move || {
                    // SAFETY: S: `end` calls this after a successful wait, and only successful transfers are kept;
                    // every bit pattern is a value of T, unless it is bool.
                    unsafe { complete(&mut elements, n, T::ELEM) };
                    then(elements);
                });
            }
            Err(error) => self.give_up(memory, error),
        }
        read
    }

    fn length<T: Element>(&self, array: &Handle) -> Result<usize> {
        array.expect(&self.core, array.ty(), || READ, || "the array".to_owned())?;
        length_of::<T>(array, READ)
    }

    /// Waits for all transfers, and completes them.
    fn end(self) -> Ended {
        let no_panic = NoPanic;
        let kept = self.kept.into_inner();
        let kept = kept.unwrap_or_else(PoisonError::into_inner);
        let mut ended = Ended {
            waited: Ok(()),
            valid: Ok(()),
        };
        let mut at_rest = true;
        if let Some(outcomes) = self.transfers.take() {
            let mut locked = self.core.locked_at_once();
            ended.waited = locked.wait("batch");
            if let Err(error) = &ended.waited
                && error.kind() == ErrorKind::ContextLost
            {
                at_rest = locked.drain();
            }
            // Another thread's wait can have failed before this one.
            ended.valid = verdicts(&outcomes);
        }
        mem::forget(no_panic);
        if !at_rest {
            mem::forget(kept);
        } else if ended.waited.is_ok() && ended.valid.is_ok() {
            kept.into_iter().for_each(|complete| complete());
        }
        ended
    }
}
