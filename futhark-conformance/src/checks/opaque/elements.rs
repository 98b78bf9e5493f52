//! Elements of arrays of records and of other opaque values.

use super::as_opaque;
use crate::harness::inside::Inside;
use crate::harness::snapshot::Snapshot;
use crate::harness::steps::{StepResult, Stop};
use crate::harness::stored::components;
use futhark_manifest::{Field, Program, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Opaque, Value};

/// Elements must be readable at every index inside, equal each time, and refused outside.
pub(super) fn elements(
    program: &Program,
    elem: TypeRef,
    whole: &Opaque,
    shape: &[usize],
) -> StepResult {
    for index in positions(shape) {
        let first = Snapshot::take(program, elem, &whole.index(&index)?);
        let at = |stop: Stop| stop.at(&format!("element {index:?}"));
        match first {
            Ok(first) => first
                .check(program, elem, &whole.index(&index)?)
                .map_err(at)?,
            Err(Stop::Skip { .. }) => {}
            Err(stop) => return Err(at(stop)),
        }
    }
    for (dim, &extent) in shape.iter().enumerate() {
        let extent = i64::try_from(extent).unwrap_or(i64::MAX);
        for wrong in [extent, -1, i64::MAX, i64::MIN] {
            let mut index = vec![0; shape.len()];
            index[dim] = wrong;
            // Both futhark-safe and the library must refuse it.
            if whole.index_checked_by_c(&index).is_ok() || whole.index(&index).is_ok() {
                return Err(Stop::mismatch(format!(
                    "index {index:?} of shape {shape:?} was accepted"
                )));
            }
        }
    }
    Ok(())
}

/// The fields of an element must be the elements of the fields.
pub(super) fn parts_of_elements(
    program: &Program,
    fields: &[Field],
    elem: TypeRef,
    whole: &Opaque,
    shape: &[usize],
) -> StepResult {
    let record = elem.as_type().and_then(|id| program.get(id).as_record());
    let Some(record) = record else { return Ok(()) };
    for index in positions(shape) {
        let element = whole.index(&index)?;
        let element = as_opaque(&element)?;
        for (of_whole, of_element) in fields.iter().zip(&record.fields) {
            // There is no slice operation, so only scalar fields are compared.
            let (Value::Array(column), TypeRef::Scalar(_)) =
                (whole.project(&of_whole.name)?, of_element.ty)
            else {
                continue;
            };
            let expected = column.index(&index)?;
            let Value::Scalar(actual) = element.project(&of_element.name)? else {
                return Err(Stop::mismatch(format!(
                    "field {} of an element is not a scalar",
                    of_element.name
                )));
            };
            if actual.to_bytes() != expected.to_bytes() {
                let (expected, actual) = (expected.to_bytes(), actual.to_bytes());
                return Err(Stop::mismatch(format!(
                    "field {} at {index:?}: expected {expected:?}, got {actual:?}",
                    of_element.name
                )));
            }
        }
    }
    Ok(())
}

/// The stored bytes of an element must be part of the stored bytes of the array: each component of
/// the array contains that of the element at its index.
pub(super) fn bytes_of_elements(whole: &Opaque, shape: &[usize]) -> StepResult {
    let body = whole.store()?.body().to_vec();
    let of_whole = components(&body)?;
    let count: usize = shape.iter().product();
    for (flat, index) in positions(shape).enumerate() {
        let element = whole.index(&index)?;
        let stored = as_opaque(&element)?.store()?;
        let of_element = components(stored.body())?;
        if of_element.len() != of_whole.len() {
            return Err(Stop::mismatch(format!(
                "an element has {} components, the array {}",
                of_element.len(),
                of_whole.len()
            )));
        }
        for (number, (part, whole)) in of_element.iter().zip(&of_whole).enumerate() {
            let all = &body[whole.data.clone()];
            let size = all.len() / count;
            if stored.body()[part.data.clone()] != all[flat * size..(flat + 1) * size] {
                return Err(Stop::mismatch(format!(
                    "component {number} of element {index:?} differs from that of the array"
                )));
            }
        }
    }
    Ok(())
}

/// An array made from the elements of another one must be equal to it. Replacing an element must
/// change only this element, and no other value.
pub(super) fn made_of_elements(
    program: &Program,
    context: &Context,
    (ty, elem): (TypeRef, TypeRef),
    whole: &Value,
    supported: bool,
) -> StepResult {
    let opaque = as_opaque(whole)?;
    let shape = opaque.shape()?;
    let elements: Vec<Value> = all_positions(&shape)
        .map(|index| opaque.index(&index))
        .collect::<Result<_, _>>()?;
    let name = opaque.type_name().to_owned();
    let lent: Vec<&Value> = elements.iter().collect();
    let made = context.array_from_values_nd(&name, &shape, &lent);
    if !supported {
        return match made {
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(()),
            Err(_) if elements.is_empty() => Ok(()),
            other => Err(Stop::mismatch(format!(
                "the manifest has no function to make an array of elements, but the call returned {other:?}"
            ))),
        };
    }
    if elements.is_empty() {
        return Ok(());
    }
    let inside = Inside::of(program, ty, whole)?;
    let made = Value::Opaque(made?);
    inside
        .same(&Inside::of(program, ty, &made)?)
        .map_err(|stop| stop.at("an array made of the elements of another one"))?;
    // Replace the last element by the first, and back.
    let (first, last) = (&elements[0], &elements[elements.len() - 1]);
    let place: Vec<i64> = shape.iter().map(|&extent| to_i64(extent) - 1).collect();
    let Value::Opaque(mut changed) = made else {
        unreachable!("it was created as an opaque value")
    };
    for element in [first, last] {
        changed.set(&place, element)?;
        Inside::of(program, elem, element)?
            .same(&Inside::of(program, elem, &changed.index(&place)?)?)
            .map_err(|stop| stop.at("a replaced element"))?;
    }
    inside
        .same(&Inside::of(program, ty, &Value::Opaque(changed))?)
        .map_err(|stop| stop.at("an element replaced and restored"))?;
    inside
        .same(&Inside::of(program, ty, whole)?)
        .map_err(|stop| stop.at("the array that the elements came from"))
}

/// All indices of a small array, the first ones of a larger one.
fn positions(shape: &[usize]) -> impl Iterator<Item = Vec<i64>> {
    all_positions(shape).take(64)
}

fn all_positions(shape: &[usize]) -> impl Iterator<Item = Vec<i64>> {
    let count: usize = shape.iter().product();
    let shape = shape.to_vec();
    (0..count).map(move |flat| {
        let index = crate::compare::position(&shape, flat);
        index.into_iter().map(to_i64).collect()
    })
}

fn to_i64(extent: usize) -> i64 {
    i64::try_from(extent).unwrap_or(i64::MAX)
}
