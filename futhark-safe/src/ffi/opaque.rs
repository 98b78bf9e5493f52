//! Opaque values as bytes.

use std::sync::Arc;

use super::core::Core;
use super::handle::Handle;
use super::trace;
use super::transfer::{keep_if_lost, with_capacity};
use crate::error::{Error, ErrorKind, Result};

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
    ///
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
    // Before the lock: a subscriber may use the context. The size is not known yet.
    let _span = trace::call(value.core(), || "store", &[]);
    let mut locked = value.core().locked();
    locked.check([value])?;
    // SAFETY: T and L; V; `size` is the place of the result.
    unsafe {
        locked.call(stored_size, &[(&raw mut size).cast()], &input, || {
            "store".into()
        })
    }?;
    let mut body: Vec<u8> = with_capacity(size, "store")?;
    // SAFETY: T and L; V; the capacity is the size that C returned under the same lock.
    let stored = unsafe {
        locked.call(store, &[body.as_mut_ptr().cast()], &input, || {
            "store".into()
        })
    };
    if let Err(error) = stored {
        return Err(keep_if_lost(value, body, error));
    }
    // SAFETY: S: all bytes are written.
    unsafe { body.set_len(size) };
    let program = value.core().table().program();
    // SAFETY: the program stored this for a value of this type.
    Ok(unsafe { Bytes::new(program, ty.name(), body) })
}

pub(crate) fn restore(core: &Arc<Core>, stored: &Bytes) -> Result<Handle> {
    let table = core.table();
    if stored.program != table.program() {
        return Err(other_program());
    }
    let found = table
        .types()
        .iter()
        .position(|ty| ty.name() == stored.type_name);
    let Some((ty, restore)) = found.and_then(|i| Some((i, table.types()[i].raw().restore?))) else {
        let message = format!("values of type {} cannot be restored", stored.type_name);
        return Err(Error::new(ErrorKind::Unsupported, "restore", message));
    };
    let _span = trace::transfer(core, "restore", || stored.body.len());
    let input = [stored.body.as_ptr().cast()];
    // SAFETY: T; `Bytes` holds what `store` wrote for the same type of the same program
    // (source, compiler and layout agree), so lengths and sizes in it are correct; S: it was
    // read when this returns.
    let made = unsafe { core.make(ty as u32, "restore", (restore, &input), [], None) };
    // The runtime compares element types itself (our validation cannot tell f16 from u16) and fails
    // without a text; a failing device sets one.
    made.map_err(|error| error.into_kind_if_silent(ErrorKind::Restore))
}

/// The error for bytes that another program stored.
pub(crate) fn other_program() -> Error {
    let message =
        "the value was stored by another program, or by this one with another source or compiler";
    Error::new(ErrorKind::Restore, "restore", message)
}
