//! A value: a pointer of the C side, with its type and its context.
//!
//! # Consumption
//!
//! A Futhark parameter of unique type (`*[n]i32`) is consumed: the compiled program may write the
//! result into the argument's memory. Futhark's type checker proves that nothing uses the argument afterwards. The C API
//! has no such check, and values share memory without the caller's knowledge: a result that is an argument or a part of
//! one (`entry identity xs = xs`), two results of one call, a record and what it was made of or projected to, a constant
//! of the program, and memory that an array only borrows ([`borrow`](super::borrow)).
//!
//! The generated runtime counts references to each block of memory, and `is_shared` in the table reads the counts
//! (`fut_has_other` and `fut_borrow` in `futhark-sys/c/fut_calls.h`). A function of the table gets copies of the arguments that it
//! would overwrite and that are shared (`fut_call_consuming`). [`make_unique`] puts a copy in the place of an array that
//! `set_value` in `records` or `Host::elements_mut` in `array` changes.
//!
//! Why it is sound:
//!
//! * The call has exclusive access to the argument: a consumed [`Handle`] was moved into it or is
//!   borrowed mutably, as is an array that is changed. So no view of the argument exists, since a view borrows the handle.
//! * No other value refers to its memory: there was no other reference, or the copy is new. That stays true until the call,
//!   since only calls add references, and the lock is held (guarantee L). Other threads can drop values
//!   meanwhile, which frees them later and only ever lowers counts.
//! * On GPU backends counts are kept on the host, at the time of the call. Kernels of earlier calls
//!   that still read the memory run first: a context has one queue, in order.
//!
//! A consumed argument that is borrowed mutably stays with the caller if the call is refused before it starts. A call that
//! started may have overwritten it, also if it failed: the value is freed under the same lock, so that a result in its
//! memory is the only owner for the next call, and the handle is spent. [`Handle::live`] is the only access to the pointer.
//!
//! Plain C calls (`plain`) copy nothing; their caller must ensure all this.

use std::ffi::c_void;
use std::fmt;
use std::ptr::{self, NonNull};

use futhark_sys::table::{self as c, FUT_FIRST_TYPE};

use super::buffer::{leak_if_lost, try_vec};
use super::context::{Core, Locked, NO_WORK, ToFree, Transfers};
use super::progress::Pending;
use super::sync::Arc;
use super::trace;
use crate::error::{Call, Error, ErrorKind, Result};

/// A value of a context, of any type that is not a scalar.
///
/// Keeps its context alive. Dropping it frees the value, or leaves that to the running call.
pub struct Handle {
    core: Arc<Core>,
    state: State,
    ty: u32,
    outcome: Pending,
}

#[derive(Clone, Copy)]
enum State {
    Live(NonNull<c_void>),
    /// Consumed through `&mut` by this function of the table, and freed. Or given up ([`Handle::forget`]), with a
    /// number that no function has.
    Spent {
        function: u32,
        failed: bool,
    },
}

// SAFETY: guarantee L: the pointer is followed only under the context's lock, from any thread,
// except by the functions that L exempts and by `part_dims` in `array`, which read fields that never change.
unsafe impl Send for Handle {}
// SAFETY: as above: access by a shared handle is locked or reads fields that never change.
unsafe impl Sync for Handle {}

impl Handle {
    /// # Safety
    /// Guarantee V: `value` is a live value of `core`'s context, of its table's type
    /// `types()[ty]`, and nothing else frees it.
    pub(super) unsafe fn new(
        core: Arc<Core>,
        value: NonNull<c_void>,
        ty: u32,
        outcome: Pending,
    ) -> Handle {
        Handle {
            core,
            state: State::Live(value),
            ty,
            outcome,
        }
    }

    /// Gives up ownership of the value, which the caller must free.
    pub(super) fn forget(mut self) {
        self.state = State::Spent {
            function: u32::MAX,
            failed: false,
        };
    }

    /// Frees the value, which the call of `function` has consumed. Nothing happens if it is spent.
    pub(super) fn spend(&mut self, locked: &mut Locked<'_>, function: usize, failed: bool) {
        let Some(to_free) = self.to_free() else {
            return;
        };
        // First, so that the value is freed once even if freeing it panics.
        self.state = State::Spent {
            function: u32::try_from(function).unwrap_or(u32::MAX),
            failed,
        };
        locked.free(&to_free);
    }

    fn to_free(&self) -> Option<ToFree> {
        self.live().map(|value| ToFree { value, ty: self.ty })
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// What completes or invalidates it (see `progress`).
    pub(super) fn outcome(&self) -> &Pending {
        &self.outcome
    }

    /// An index into the table's types.
    pub(crate) fn ty(&self) -> u32 {
        self.ty
    }

    /// The pointer, for `operation`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`]: the handle is spent.
    #[inline]
    pub(super) fn value(&self, operation: &'static str) -> Result<*mut c_void> {
        match self.live() {
            Some(value) => Ok(value.as_ptr()),
            None => Err(self.spent_error(operation, "the value")),
        }
    }

    /// The pointer, if the value belongs to `core` and is of type `types()[ty]`; `what` names the value.
    ///
    /// # Errors
    /// [`ErrorKind::WrongContext`]. [`ErrorKind::InvalidArgument`]: it has another type, or is spent.
    #[inline]
    pub(super) fn expect(
        &self,
        core: &Core,
        ty: u32,
        operation: impl Fn() -> &'static str,
        what: impl Fn() -> String,
    ) -> Result<*mut c_void> {
        // The context first, since type numbers of different tables cannot be compared.
        if !ptr::eq(&*self.core, core) {
            let what = what();
            let message =
                format!("{what} belongs to another context; values cannot pass between contexts");
            return Err(Error::new(ErrorKind::WrongContext, operation(), message));
        }
        if self.ty != ty {
            let expected = FUT_FIRST_TYPE.wrapping_add(ty);
            let got = FUT_FIRST_TYPE + self.ty;
            return Err(core.wrong_type(operation(), &what(), expected, got));
        }
        match self.live() {
            Some(value) => Ok(value.as_ptr()),
            None => Err(self.spent_error(operation(), &what())),
        }
    }

    #[inline]
    pub(super) fn live(&self) -> Option<NonNull<c_void>> {
        match self.state {
            State::Live(value) => Some(value),
            State::Spent { .. } => None,
        }
    }

    pub(crate) fn debug(&self, f: &mut fmt::Formatter<'_>, ty: &str) -> fmt::Result {
        let spent = if self.is_spent() { "(spent)" } else { "" };
        write!(f, "Opaque<{ty}>{spent}")
    }

    pub(crate) fn is_spent(&self) -> bool {
        matches!(self.state, State::Spent { .. })
    }

    #[cold]
    pub(super) fn spent_error(&self, operation: &'static str, what: &str) -> Error {
        let State::Spent { function, failed } = self.state else {
            unreachable!("the handle is spent");
        };
        let functions = self.core.table().functions();
        let call = functions.get(function as usize).map_or("?", |f| f.label());
        let message = match failed {
            false => format!(
                "{what} was consumed by {call}: assign the result of that call to it, or keep a copy \
                 (`try_clone`)"
            ),
            true => format!(
                "{what} was consumed by {call}, which failed: assign another value to it, such as a \
                 copy (`try_clone`) from before that call"
            ),
        };
        Error::invalid(operation, message)
    }

    pub(super) fn table_type(&self) -> &'static futhark_sys::table::Type {
        &self.core.table().types()[self.ty as usize]
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(to_free) = self.to_free() {
            self.core.free(to_free);
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Value")
            .field(&self.table_type().name())
            .finish()
    }
}

/// The value that a successful call has returned.
#[inline]
pub(super) fn returned(
    value: *mut c_void,
    operation: impl FnOnce() -> Call,
) -> Result<NonNull<c_void>> {
    let error = || {
        Error::new(
            ErrorKind::Backend,
            operation(),
            "the call succeeded, but returned no value",
        )
    };
    NonNull::new(value).ok_or_else(error)
}

/// Makes `handle` the only reference to its memory, by putting a copy in its place if anything
/// else shares it. Returns whether it made one, which the caller counts.
/// Comes before what overwrites the value, under the same lock.
///
/// # Errors
/// The copy failed. On GPU backends copying waits, so the failure can be that of an earlier call.
pub(super) fn make_unique(
    locked: &mut Locked<'_>,
    handle: &mut Handle,
    operation: impl Fn() -> Call,
) -> Result<bool> {
    let ty = handle.table_type().raw();
    let is_shared = ty.is_shared.expect("every type can be counted");
    let value = handle.value("consume")?;
    // SAFETY: T and L; V: the value is of this type.
    if unsafe { is_shared(value) } == 0 {
        return Ok(false);
    }
    let duplicate = ty.duplicate.expect("every type can be duplicated");
    let mut copy: *mut c_void = ptr::null_mut();
    let out = [(&raw mut copy).cast()];
    // SAFETY: T and L; V; `copy` is the place of the result.
    unsafe { locked.call(NO_WORK, duplicate, &out, &[value.cast_const()], &operation) }?;
    let copy = returned(copy, operation)?;
    // SAFETY: T: a successful `duplicate` returns a new, complete value of the same type.
    let copy = unsafe { Handle::new(Arc::clone(handle.core()), copy, handle.ty(), None) };
    // Drops the original, which `Drop for Locked` (`context`) frees before the lock is released, since this thread holds it.
    *handle = copy;
    Ok(true)
}

impl Core {
    /// Calls an operation that makes a value of `types()[ty]` and reads the values `uses`. Fails if one of them is
    /// invalid.
    ///
    /// # Safety
    /// `call` belongs to this context's table and has one result, a value of this type that is complete when it
    /// returns; `input` holds its arguments. With a batch, `input` says that a later call waits, and what the call
    /// reads stays until the batch ends.
    pub(super) unsafe fn make<'v>(
        from: &Arc<Core>,
        ty: u32,
        operation: &'static str,
        call: c::Call,
        input: &[*const c_void],
        uses: impl IntoIterator<Item = &'v Handle>,
        batch: Option<&Transfers>,
    ) -> Result<Handle> {
        // Before the call: an atomic operation after it would wait until the call's writes have reached the cache.
        let core = Arc::clone(from);
        let mut value: *mut c_void = ptr::null_mut();
        let out = [(&raw mut value).cast()];
        let outcomes = uses.into_iter().map(Handle::outcome);
        // SAFETY: the caller promises it; `value` is the place of the result.
        let (_locked, outcome) =
            unsafe { from.run(operation, call, &out, input, outcomes, batch) }?;
        let value = returned(value, || operation.into())?;
        // SAFETY: T: a successful call returns a new value of the type.
        Ok(unsafe { Handle::new(core, value, ty, outcome) })
    }
}

/// A copy that shares no memory with any other value.
pub(crate) fn duplicate(value: &Handle) -> Result<Handle> {
    let duplicate = value.table_type().raw().duplicate;
    let duplicate = duplicate.expect("every type can be duplicated");
    let original = [value.value("copy")?.cast_const()];
    let (core, ty) = (value.core(), value.ty());
    // SAFETY: T; V: a successful `duplicate` returns a new, complete value of the same type.
    unsafe { Core::make(core, ty, "copy", duplicate, &original, [value], None) }
}

/// The bytes of an opaque value, with its program and type.
///
/// Made by [`store`], or by the unsafe [`Bytes::new`], and never changed. So [`restore`] is safe.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bytes {
    /// Identifies source, compiler version and layout; the same for all backends.
    program: &'static str,
    type_name: &'static str,
    body: Vec<u8>,
}

impl Bytes {
    /// # Safety
    /// A program of this key stored `body` for a value of the type of this name, or constructors of
    /// the program can make a value that is stored so.
    pub(crate) unsafe fn new(
        program: &'static str,
        type_name: &'static str,
        body: Vec<u8>,
    ) -> Bytes {
        Bytes {
            program,
            type_name,
            body,
        }
    }

    pub(crate) fn program(&self) -> &'static str {
        self.program
    }

    pub(crate) fn type_name(&self) -> &'static str {
        self.type_name
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }
}

/// The bytes of an opaque value, in the runtime's own format.
pub(crate) fn store(value: &Handle) -> Result<Bytes> {
    let ty = value.table_type();
    let (Some(stored_size), Some(store)) = (ty.raw().stored_size, ty.raw().store) else {
        let message = format!("values of type {} cannot be stored", ty.name());
        return Err(Error::new(ErrorKind::Unsupported, "store", message));
    };
    let mut size: usize = 0;
    let input = [value.value("store")?.cast_const()];
    // Before the lock: a subscriber may use the context. The size is not known yet, so this is not a `transfer`.
    let core = value.core();
    let _span = trace::call(core.table(), || "store", || None);
    let out = [(&raw mut size).cast()];
    // SAFETY: T; V; `size` is the place of the result.
    let (mut locked, _) =
        unsafe { core.run("store", stored_size, &out, &input, [value.outcome()], None) }?;
    let mut body: Vec<u8> = try_vec(size, "store")?;
    let out = [body.as_mut_ptr().cast()];
    // SAFETY: T and L; V; the capacity is the size that C returned under the same lock.
    let stored = unsafe { locked.call(NO_WORK, store, &out, &input, || "store".into()) };
    if let Err(error) = stored {
        return Err(leak_if_lost(core.table(), body, error.into()));
    }
    // SAFETY: S: all bytes are written.
    unsafe { body.set_len(size) };
    let program = core.table().program();
    // SAFETY: the program stored this for a value of this type.
    Ok(unsafe { Bytes::new(program, ty.name(), body) })
}

pub(crate) fn restore(core: &Arc<Core>, stored: &Bytes) -> Result<Handle> {
    let table = core.table();
    if stored.program != table.program() {
        return Err(other_program());
    }
    let mut types = table.types().iter();
    let found = types.position(|ty| ty.name() == stored.type_name);
    let Some((ty, restore)) = found.and_then(|i| Some((i, table.types()[i].raw().restore?))) else {
        let message = format!("values of type {} cannot be restored", stored.type_name);
        return Err(Error::new(ErrorKind::Unsupported, "restore", message));
    };
    let _span = trace::transfer(table, "restore", stored.body.len());
    let input = [stored.body.as_ptr().cast()];
    // SAFETY: T; `Bytes` holds what `store` wrote for the same type of the same program
    // (source, compiler and layout agree), so lengths and sizes in it are correct; S: it was
    // read when this returns.
    let made = unsafe { Core::make(core, ty as u32, "restore", restore, &input, [], None) };
    // The runtime compares element types itself (`check_body` in `stored` cannot tell f16 from u16) and fails
    // without a text; a failing device sets one.
    made.map_err(|error| error.into_kind_if_silent(ErrorKind::Restore))
}

pub(crate) fn other_program() -> Error {
    let message =
        "the value was stored by another program, or by this one with another source or compiler";
    Error::new(ErrorKind::Restore, "restore", message)
}

#[cfg(all(test, not(loom), feature = "dynamic"))]
mod tests {
    use super::*;

    impl Handle {
        pub(crate) fn spend_now(&mut self, function: usize) {
            let core = Arc::clone(&self.core);
            self.spend(&mut core.locked(), function, false);
        }
    }
}
