//! The checks `arrays`, `shape`, `index` and `raw`: every array type of the
//! program, without any entry point.

mod patterns;
mod raw;

pub use raw::check as check_raw;

use super::bridge::{download, upload};
use super::env::Env;
use super::make::{Random, any_bits};
use crate::child::steps::{StepResult, Steps, Stop};
use crate::compare::{identical, position};
use crate::values::HostValue;
use futhark_manifest::{ArrayType, TypeKind};
use futhark_safe::dynamic::{Array, Context, Value};
use patterns::every_pattern;

/// Round trips of every bit pattern.
pub fn check_values(env: &Env<'_>, steps: &mut Steps<'_>) {
    each_type(env, steps, "arrays", |context, array| {
        let mut random = Random::new(env.seed, "arrays");
        for shape in shapes(array.rank) {
            round_trip(context, &any_bits(&mut random, array.elem, &shape))?;
        }
        let patterns = every_pattern(&mut random, array.elem, array.rank);
        round_trip(context, &patterns)?;
        many_at_once(context, &mut random, array)?;
        wrong_sizes(context, array)
    });
}

/// The shape that comes back.
pub fn check_shapes(env: &Env<'_>, steps: &mut Steps<'_>) {
    each_type(env, steps, "shape", |context, array| {
        let mut random = Random::new(env.seed, "shape");
        for shape in shapes(array.rank) {
            let value = make(context, &any_bits(&mut random, array.elem, &shape))?;
            if value.shape() != shape {
                return Err(Stop::mismatch(format!(
                    "made with shape {shape:?}, has {:?}",
                    value.shape()
                )));
            }
            if value.elem() != array.elem {
                return Err(Stop::mismatch(format!(
                    "made of {}, is of {}",
                    array.elem,
                    value.elem()
                )));
            }
        }
        Ok(())
    });
}

/// Single elements, inside and outside.
pub fn check_index(env: &Env<'_>, steps: &mut Steps<'_>) {
    each_type(env, steps, "index", |context, array| {
        if array.ops.index.is_none() {
            return Err(Stop::skip("this compiler version has no index operation"));
        }
        let mut random = Random::new(env.seed, "index");
        let inner = inner_shape(array.rank);
        // Each error costs an interpreter a while: of C it asks for a few.
        let simulated = env.device.is_slow();
        let by_c = |shape: &[usize]| !simulated || shape == inner_shape(shape.len());
        for shape in [inner, vec![1; array.rank]] {
            let contents = any_bits(&mut random, array.elem, &shape);
            let value = make(context, &contents)?;
            inside(&value, &contents)?;
            outside(&value, &shape, by_c(&shape))?;
            // Neither the array nor the context has suffered.
            inside(&value, &contents)?;
        }
        let empty = make(
            context,
            &any_bits(&mut random, array.elem, &vec![0; array.rank]),
        )?;
        outside(&empty, &vec![0; array.rank], by_c(&[0]))
    });
}

fn each_type(
    env: &Env<'_>,
    steps: &mut Steps<'_>,
    check: &str,
    body: impl Fn(&Context, &ArrayType) -> StepResult,
) {
    for ty in env.program().types() {
        if let TypeKind::Array(array) = &ty.kind {
            env.step(steps, check, &ty.name, |context| body(context, array));
        }
    }
}

/// Shapes of a rank: with a zero in each place and everywhere, all ones, all
/// different, and long and thin in each direction.
fn shapes(rank: usize) -> Vec<Vec<usize>> {
    let with = |place: usize, extent: usize, other: usize| {
        (0..rank)
            .map(|dim| if dim == place { extent } else { other })
            .collect::<Vec<_>>()
    };
    let mut shapes = vec![vec![0; rank], vec![1; rank], inner_shape(rank)];
    for place in 0..rank {
        shapes.push(with(place, 0, 3));
        shapes.push(with(place, 1031, 1));
    }
    shapes.sort();
    shapes.dedup();
    shapes
}

/// All extents different and above 1, so that swapped dimensions show.
fn inner_shape(rank: usize) -> Vec<usize> {
    (0..rank)
        .map(|dim| if dim < 4 { dim + 2 } else { 2 + dim % 2 })
        .collect()
}

fn make(context: &Context, contents: &HostValue) -> StepResult<Array> {
    match upload(context, contents)? {
        Value::Array(array) => Ok(array),
        Value::Scalar(_) | Value::Opaque(_) => {
            Err(Stop::mismatch("an array that was made is none"))
        }
    }
}

fn round_trip(context: &Context, contents: &HostValue) -> StepResult {
    let at = |stop: Stop| stop.at(&contents.type_text());
    let mut buffer = contents.bytes().to_vec();
    let value = context
        .array(contents.elem(), contents.shape(), &buffer)
        .map_err(|error| at(error.into()))?;
    // The array has memory of its own: what becomes of the buffer is nothing to it.
    for byte in &mut buffer {
        *byte = !*byte;
    }
    let back = download(&Value::Array(value)).map_err(at)?;
    // Until here, or the compiler may see that nobody looks at it.
    std::hint::black_box(buffer);
    identical(&back, contents).map_err(|difference| Stop::mismatch(difference.to_string()))
}

/// Arrays that exist at the same time keep apart, in whatever order they go.
fn many_at_once(context: &Context, random: &mut Random, array: &ArrayType) -> StepResult {
    const MANY: usize = 8;
    let contents: Vec<HostValue> = (0..MANY)
        .map(|number| any_bits(random, array.elem, &vec![number; array.rank.min(3)]))
        .map(|value| widened(value, array.rank))
        .collect();
    let values = contents.iter().map(|contents| upload(context, contents));
    let mut values: Vec<Option<Value>> = values
        .map(|value| value.map(Some))
        .collect::<Result<_, _>>()?;
    for order in [5, 0, 7, 2, 6, 1, 4, 3] {
        for (value, contents) in values.iter().zip(&contents) {
            let Some(value) = value else { continue };
            identical(&download(value)?, contents).map_err(|difference| {
                Stop::mismatch(difference.to_string()).at("one of several arrays")
            })?;
        }
        values[order] = None;
    }
    Ok(())
}

/// The same elements with ones for further dimensions.
fn widened(value: HostValue, rank: usize) -> HostValue {
    let mut shape = value.shape().to_vec();
    shape.resize(rank, 1);
    HostValue::new(value.elem(), shape, value.bytes().to_vec())
}

/// Data that does not have the size of the shape is refused.
fn wrong_sizes(context: &Context, array: &ArrayType) -> StepResult {
    let shape = inner_shape(array.rank);
    let right = shape.iter().product::<usize>() * array.elem.size();
    for wrong in [0, right - 1, right + array.elem.size()] {
        if context.array(array.elem, &shape, &vec![0; wrong]).is_ok() {
            return Err(Stop::mismatch(format!(
                "{wrong} bytes were accepted for shape {shape:?}, which needs {right}"
            )));
        }
    }
    // Extents that are negative in C, or whose product overflows to 0, which
    // is the data's size, or to another size that data could have.
    let mut impossible = Vec::new();
    for extent in [1 << 63, usize::MAX, 1 << 62] {
        for place in 0..array.rank {
            let mut shape = vec![1; array.rank];
            shape[place] = extent;
            if place > 0 {
                shape[0] = 4;
            }
            impossible.push(shape);
        }
    }
    for shape in impossible {
        for data in [0, array.elem.size(), 4 * array.elem.size()] {
            if context.array(array.elem, &shape, &vec![0; data]).is_ok() {
                return Err(Stop::mismatch(format!(
                    "shape {shape:?} was accepted with {data} bytes"
                )));
            }
        }
    }
    // What was refused has taken nothing with it.
    let mut random = Random::new(0, "after");
    round_trip(context, &any_bits(&mut random, array.elem, &shape))
}

fn inside(array: &Array, contents: &HostValue) -> StepResult {
    let count = contents.count();
    // Every element of a small array; of a larger one about a hundred.
    let step = count.div_ceil(128).max(1);
    for flat in (0..count).step_by(step).chain(count.checked_sub(1)) {
        let index: Vec<i64> = position(contents.shape(), flat)
            .into_iter()
            .map(to_i64)
            .collect();
        let scalar = array
            .index(&index)
            .map_err(|error| Stop::from(error).at(&format!("{index:?}")))?;
        if scalar.to_bytes() != contents.element(flat) {
            let got = HostValue::new(contents.elem(), Vec::new(), scalar.to_bytes());
            let expected = contents.element_text(flat);
            return Err(Stop::mismatch(format!(
                "{} at {index:?}: expected {expected}, got {got}",
                contents.type_text()
            )));
        }
    }
    Ok(())
}

/// Indices outside are refused: by us, and by the library, if it is asked.
fn outside(array: &Array, shape: &[usize], ask_c: bool) -> StepResult {
    for dim in 0..shape.len() {
        let extent = to_i64(shape[dim]);
        for wrong in [extent, extent + 1, -1, i64::MAX, i64::MIN] {
            let mut index = vec![0; shape.len()];
            index[dim] = wrong;
            let mut accepted = array.index(&index);
            if ask_c {
                accepted = accepted.or(array.index_checked_by_c(&index));
            }
            if let Ok(scalar) = accepted {
                let bytes = scalar.to_bytes();
                return Err(Stop::mismatch(format!(
                    "index {index:?} of shape {shape:?} was accepted, and gave {bytes:?}"
                )));
            }
        }
    }
    for wrong in [vec![0; shape.len() - 1], vec![0; shape.len() + 1]] {
        if array.index(&wrong).is_ok() {
            return Err(Stop::mismatch(format!(
                "{} indices were accepted for shape {shape:?}",
                wrong.len()
            )));
        }
    }
    Ok(())
}

#[expect(clippy::cast_possible_wrap, reason = "extents of arrays made here")]
fn to_i64(extent: usize) -> i64 {
    extent as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_a_zero_in_every_place() {
        for rank in 1..=5 {
            let shapes = shapes(rank);
            assert!(shapes.iter().all(|shape| shape.len() == rank));
            for place in 0..rank {
                assert!(shapes.iter().any(
                    |shape| shape[place] == 0 && shape.iter().filter(|d| **d == 0).count() == 1
                ));
            }
            assert!(shapes.contains(&vec![0; rank]) && shapes.contains(&vec![1; rank]));
        }
    }
}
