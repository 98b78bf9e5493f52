//! Arrays of opaque values, element by element, and the unit value.

use std::ffi::c_void;
use std::sync::Arc;

use futhark_manifest::ElemType;
use futhark_sys::table::{self as c, FUT_ARRAY, FUT_BOOL, FUT_FIRST_TYPE};

use super::call::wrong_context;
use super::consume::make_unique;
use super::core::{Copied, Core};
use super::handle::Handle;
use super::shape::{Bounds, expect_count, expect_index, for_c};
use super::trace;
use crate::error::{Error, ErrorKind, Result};

/// One element: a copy.
pub(crate) fn index_value(array: &Handle, indices: &[i64], bounds: Bounds) -> Result<Handle> {
    let ty = array.table_type();
    let elem = element_type(ty, "index")?;
    let index = ty.raw().index.ok_or_else(|| unsupported(ty, "index"))?;
    expect_index(array, indices, bounds)?;
    let input = [array.value("index")?.cast_const(), indices.as_ptr().cast()];
    // SAFETY: T: the result is a new value of the array's element type; V; there are as many
    // indices as dimensions; T: outside of the array the C function reads nothing and fails.
    unsafe {
        array
            .core()
            .make(elem, "index", (index, &input), [array], None)
    }
}

/// Makes an array of `types()[ty]` from elements in row-major order, which are copied.
pub(crate) fn create_of_values(
    core: &Arc<Core>,
    ty: u32,
    shape: &[usize],
    values: &[&Handle],
) -> Result<Handle> {
    const OPERATION: &str = "new array of values";
    let fail = |message: String| Err(Error::invalid(OPERATION, message));
    let Some(array) = core.table().types().get(ty as usize) else {
        return fail("the program has no type of this number".to_owned());
    };
    let elem = element_type(array, OPERATION)?;
    let create = array.raw().create;
    let create = create.ok_or_else(|| unsupported(array, OPERATION))?;
    if shape.len() != array.raw().rank as usize {
        return fail(format!(
            "{} has rank {}, got shape {shape:?}",
            array.name(),
            array.raw().rank
        ));
    }
    // An element of an opaque type has at least one byte in each of its arrays.
    expect_count(shape, ElemType::U8, values.len())?;
    if values.is_empty() {
        // C reads the size of an element from the first one.
        return fail(format!(
            "an array of type {} cannot be made from no elements, since the size of an element is unknown",
            array.name()
        ));
    }
    for (i, value) in values.iter().enumerate() {
        expect_element(core, elem, value, OPERATION, || format!("element {i}"))?;
    }
    let pointers = values.iter().map(|v| v.value(OPERATION));
    let pointers: Vec<*mut c_void> = pointers.collect::<Result<_>>()?;
    let input = [pointers.as_ptr().cast(), for_c(shape)];
    let uses = values.iter().copied();
    // SAFETY: T; V: each pointer is a live value of the element type and this context, and
    // there are as many as the product of the dimensions, of which there are as many as the type has;
    // S: they are read when this returns.
    let made = unsafe { core.make(ty, OPERATION, (create, &input), uses, None) };
    made.map_err(|error| error.into_kind_if_silent(ErrorKind::InvalidArgument))
}

/// Overwrites one element in place. This consumes the array: if other values share its
/// memory, a copy replaces it first.
pub(crate) fn set_value(array: &mut Handle, indices: &[i64], value: &Handle) -> Result<()> {
    const OPERATION: &str = "set element";
    let ty = array.table_type();
    let elem = element_type(ty, OPERATION)?;
    let set = ty.raw().set.ok_or_else(|| unsupported(ty, OPERATION))?;
    let core = Arc::clone(array.core());
    expect_element(&core, elem, value, OPERATION, || "the element".to_owned())?;
    expect_index(array, indices, Bounds::Ours)?;

    let mut locked = core.locked();
    locked.check([&*array, value])?;
    let copied = Copied::Array(array.ty());
    let made_copy = make_unique(&mut locked, array, copied, || OPERATION.into())?;
    let input = [
        array.value(OPERATION)?.cast_const(),
        value.value(OPERATION)?.cast_const(),
        indices.as_ptr().cast(),
    ];
    // SAFETY: T and L; V: array and element are of matching types and this context; there are as
    // many indices as dimensions; M: `array` is borrowed mutably, and `make_unique` ensured
    // that nothing, the element included, shares the memory that is written.
    let called = unsafe { locked.call(set, &[], &input, || OPERATION.into()) };
    called.map_err(|error| error.into_kind_if_silent(ErrorKind::InvalidArgument))?;
    drop(locked);
    if made_copy {
        trace::copied(OPERATION);
    }
    Ok(())
}

/// The unit value, for compilers before 0.25.35, which have no constructor for it. It can be
/// restored from bytes: one bool, which no program reads.
pub(crate) fn unit(core: &Arc<Core>, ty: u32) -> Result<Handle> {
    const BYTES: [u8; 8] = *b"b\x02\x00bool\x00";
    let found = core.table().types().get(ty as usize);
    let restore = found
        .filter(|ty| ty.name() == "()")
        .filter(|ty| matches!(ty.components(), [one] if one.elem == FUT_BOOL && one.rank == 0))
        .and_then(|ty| ty.raw().restore);
    let Some(restore) = restore else {
        let message = "expected the unit type to be one bool; this compiler has another one";
        return Err(Error::new(ErrorKind::Unsupported, "unit", message));
    };
    let input = [BYTES.as_ptr().cast()];
    // SAFETY: T; the type is one bool, and the bytes are one bool in the runtime's format;
    // S: they are read when this returns.
    unsafe { core.make(ty, "unit", (restore, &input), [], None) }
}

/// The number of the element type, if the type is an array of opaque values.
fn element_type(ty: &c::Type, operation: &'static str) -> Result<u32> {
    let raw = ty.raw();
    let elem = raw.elem.checked_sub(FUT_FIRST_TYPE);
    match elem {
        Some(elem) if raw.kind != FUT_ARRAY && raw.rank > 0 => Ok(elem),
        _ => {
            let message = format!(
                "expected an array of opaque values, got a value of type {}",
                ty.name()
            );
            Err(Error::invalid(operation, message))
        }
    }
}

fn expect_element(
    core: &Arc<Core>,
    elem: u32,
    value: &Handle,
    operation: &'static str,
    which: impl Fn() -> String,
) -> Result<()> {
    // The context first, since type numbers of different tables cannot be compared.
    if !Arc::ptr_eq(core, value.core()) {
        return Err(wrong_context(operation, &which()));
    }
    if value.ty() != elem {
        let (expected, got) = (FUT_FIRST_TYPE + elem, FUT_FIRST_TYPE + value.ty());
        return Err(core.wrong_type(operation, &which(), expected, got));
    }
    Ok(())
}

pub(super) fn unsupported(ty: &c::Type, operation: &'static str) -> Error {
    let message = format!(
        "this version of the compiler provides no such function for type {}",
        ty.name()
    );
    Error::new(ErrorKind::Unsupported, operation, message)
}
