//! Arrays of records and of other opaque values: their elements, in and out. And the unit
//! value, which older compilers have no function for.

use std::ffi::c_void;
use std::sync::Arc;

use futhark_manifest::ElemType;
use futhark_sys::table::{self as c, FUT_ARRAY, FUT_BOOL, FUT_FIRST_TYPE};

use super::consume::make_unique;
use super::core::Core;
use super::handle::Handle;
use super::make::Make;
use super::shape::{Bounds, check_index, elements};
use crate::error::{Error, Kind, Result};

/// One element: a copy.
pub(crate) fn index_value(array: &Handle, indices: &[i64]) -> Result<Handle> {
    index_within(array, indices, Bounds::Ours)
}

/// The same, where C alone looks whether there is such an element.
#[cfg(feature = "dynamic")]
pub(crate) fn index_value_checked_by_c(array: &Handle, indices: &[i64]) -> Result<Handle> {
    index_within(array, indices, Bounds::OfC)
}

fn index_within(array: &Handle, indices: &[i64], bounds: Bounds) -> Result<Handle> {
    let ty = array.table_type();
    let elem = element_type(ty, "index")?;
    let index = ty.raw().index.ok_or_else(|| unsupported(ty, "index"))?;
    check_index(array, indices, bounds)?;
    let input = [array.value().cast_const(), indices.as_ptr().cast()];
    let make = Make {
        core: array.core(),
        ty: elem,
        operation: "index",
        refusal: Kind::Backend,
    };
    // SAFETY: T: the result is a new value of the array's element type; V; there are as many
    // indices as dimensions; T: outside of the array the C function reads nothing and fails.
    unsafe { make.by(index, &input, [array]) }
}

/// Makes an array of `types()[ty]` of elements in row-major order, which are only read.
pub(crate) fn create_of_values(
    core: &Arc<Core>,
    ty: u32,
    shape: &[usize],
    values: &[&Handle],
) -> Result<Handle> {
    const OPERATION: &str = "new array of values";
    let fail = |message: String| Err(Error::new(Kind::InvalidArgument, OPERATION, message));
    let Some(array) = core.table().types().get(ty as usize) else {
        return fail("there is no type of this number".to_owned());
    };
    let elem = element_type(array, OPERATION)?;
    let create = array.raw().create;
    let create = create.ok_or_else(|| unsupported(array, OPERATION))?;
    if shape.len() != array.raw().rank as usize {
        return fail(format!(
            "{} has rank {}, given was the shape {shape:?}",
            array.name(),
            array.raw().rank
        ));
    }
    check_count(shape, values.len())?;
    if values.is_empty() {
        // C would ask the first element for its size.
        return fail(format!(
            "an array of type {} cannot be made of no elements: nothing says how large one would be",
            array.name()
        ));
    }
    for (i, value) in values.iter().enumerate() {
        check_element(core, elem, value, OPERATION, || format!("element {i}"))?;
    }
    let dims: Vec<i64> = shape.iter().map(|&dim| dim as i64).collect();
    let pointers: Vec<*const c_void> = values.iter().map(|v| v.value().cast_const()).collect();
    let input = [pointers.as_ptr().cast(), dims.as_ptr().cast()];
    let make = Make {
        core,
        ty,
        operation: OPERATION,
        // It runs no code of the program: what it refuses is elements that do not fit.
        refusal: Kind::InvalidArgument,
    };
    // SAFETY: T; V: each pointer is a live value of the element type and this context, and
    // there are as many as the product of the dimensions, of which there are as many as the type has;
    // S: they are read when this returns.
    unsafe { make.by(create, &input, values.iter().copied()) }
}

/// Overwrites one element in place. That is a consumption of the array: if anything else
/// shares its memory, a copy takes its place first.
pub(crate) fn set_value(array: &mut Handle, indices: &[i64], value: &Handle) -> Result<()> {
    const OPERATION: &str = "set element";
    let ty = array.table_type();
    let elem = element_type(ty, OPERATION)?;
    let set = ty.raw().set.ok_or_else(|| unsupported(ty, OPERATION))?;
    let core = Arc::clone(array.core());
    check_element(&core, elem, value, OPERATION, || "the element".to_owned())?;
    check_index(array, indices, Bounds::Ours)?;

    let mut locked = core.locked();
    locked.check([&*array, value])?;
    make_unique(&mut locked, array, || OPERATION.into())?;
    let input = [
        array.value().cast_const(),
        value.value().cast_const(),
        indices.as_ptr().cast(),
    ];
    // SAFETY: T and L; V for array and element, of the element type and this context; there are as
    // many indices as dimensions; `array` is borrowed mutably and `make_unique` has seen
    // that nothing else shares what is written, the element among it.
    let called = unsafe { locked.call(set, &[], &input, || OPERATION.into()) };
    called.map_err(|error| match error.kind() {
        // As for `new`.
        Kind::Backend => error.into_kind(Kind::InvalidArgument),
        _ => error,
    })?;
    locked.confirm();
    Ok(())
}

/// The unit value. Compilers before 0.25.35 list it as a type without a constructor, but it can be
/// restored, and its bytes say nothing: one bool that no program reads.
pub(crate) fn unit(core: &Arc<Core>, ty: u32) -> Result<Handle> {
    const BYTES: [u8; 8] = *b"b\x02\x00bool\x00";
    let found = core.table().types().get(ty as usize);
    let restore = found
        .filter(|ty| ty.name() == "()")
        .filter(|ty| matches!(ty.components(), [one] if one.elem == FUT_BOOL && one.rank == 0))
        .and_then(|ty| ty.raw().restore);
    let Some(restore) = restore else {
        let message = "this compiler has another unit type than was expected";
        return Err(Error::new(Kind::Unsupported, "unit", message));
    };
    let make = Make {
        core,
        ty,
        operation: "unit",
        refusal: Kind::Backend,
    };
    // SAFETY: T; the type is one bool, and the bytes are one bool in the runtime's format;
    // S: they are read when this returns.
    unsafe { make.by(restore, &[BYTES.as_ptr().cast()], []) }
}

/// Checks that an array of this shape has `n` elements.
pub(crate) fn check_count(shape: &[usize], n: usize) -> Result<()> {
    // An element of an opaque type has one byte or more in each of its arrays.
    let wanted = elements(shape, ElemType::U8)?;
    if wanted == n {
        return Ok(());
    }
    let message = format!("an array of shape {shape:?} has {wanted} elements, given were {n}");
    Err(Error::new(Kind::InvalidArgument, "new array", message))
}

/// The place of the element type among the types, if the type is an array of opaque values.
fn element_type(ty: &c::Type, operation: &'static str) -> Result<u32> {
    let raw = ty.raw();
    let elem = raw.elem.checked_sub(FUT_FIRST_TYPE);
    match elem {
        Some(elem) if raw.kind != FUT_ARRAY && raw.rank > 0 => Ok(elem),
        _ => {
            let message = format!("a value of type {} is no array of opaque values", ty.name());
            Err(Error::new(Kind::InvalidArgument, operation, message))
        }
    }
}

fn check_element(
    core: &Arc<Core>,
    elem: u32,
    value: &Handle,
    operation: &'static str,
    which: impl Fn() -> String,
) -> Result<()> {
    // The context first: a type's number means something in its own table only.
    if !Arc::ptr_eq(core, value.core()) {
        let message = format!(
            "{} belongs to another context; values cannot pass between contexts",
            which()
        );
        return Err(Error::new(Kind::WrongContext, operation, message));
    }
    if value.ty() == elem {
        return Ok(());
    }
    let types = core.table().types();
    let wanted = types.get(elem as usize).map_or("?", c::Type::name);
    let message = format!(
        "{} must be of type {wanted}, given was {}",
        which(),
        value.table_type().name()
    );
    Err(Error::new(Kind::InvalidArgument, operation, message))
}

fn unsupported(ty: &c::Type, operation: &'static str) -> Error {
    let message = format!(
        "this version of the compiler has no such function for {}",
        ty.name()
    );
    Error::new(Kind::Unsupported, operation, message)
}
