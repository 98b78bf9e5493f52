//! The check `arrays`: every array type of the program, without any entry point.

use crate::compare::{Within, compare};
use crate::harness::calls::{download, upload};
use crate::harness::env::Env;
use crate::harness::steps::{StepResult, Steps, Stop};
use crate::inputs::{Random, any_bits, edges};
use crate::values::HostValue;
use futhark_manifest::{ArrayType, ElemType, TypeKind};
use futhark_safe::dynamic::{Array, Context, Value};

/// Copies bit patterns to arrays of every type and back.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    each_type(env, steps, "arrays", |context, array| {
        let mut random = Random::new(env.seed(), "arrays");
        for shape in shapes(array.rank) {
            round_trip(context, &any_bits(&mut random, array.elem, &shape))?;
        }
        let patterns = every_pattern(&mut random, array.elem, array.rank);
        round_trip(context, &patterns)?;
        many_at_once(context, &mut random, array)
    });
}

fn round_trip(context: &Context, contents: &HostValue) -> StepResult {
    let at = |stop: Stop| stop.at(&contents.type_text());
    let mut buffer = contents.bytes().to_vec();
    let value = context
        .array_from_bytes(contents.elem(), contents.shape(), &buffer)
        .map_err(|error| at(error.into()))?;
    // The array has its own memory, so changing the buffer must not affect it.
    for byte in &mut buffer {
        *byte = !*byte;
    }
    let back = download(&Value::Array(value)).map_err(at)?;
    // Keeps the compiler from removing the writes above.
    std::hint::black_box(buffer);
    Ok(compare(&back, contents, Within::Bits)?)
}

/// Arrays that exist at the same time must not affect each other, in any order of their frees.
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
            let same = compare(&download(value)?, contents, Within::Bits);
            same.map_err(|difference| difference.at("one of several arrays"))?;
        }
        values[order] = None;
    }
    Ok(())
}

/// The same elements, with extent 1 in the added dimensions.
fn widened(value: HostValue, rank: usize) -> HostValue {
    let mut shape = value.shape().to_vec();
    shape.resize(rank, 1);
    HostValue::new(value.elem(), shape, value.bytes().to_vec())
}

/// All patterns of a narrow type. Of a wide type: extreme values, NaNs, every single bit, and
/// random patterns.
fn every_pattern(random: &mut Random, elem: ElemType, rank: usize) -> HostValue {
    let bytes: Vec<u8> = match (elem, elem.size()) {
        (ElemType::Bool, _) => vec![0, 1],
        (_, 1) => (0..=u8::MAX).collect(),
        (_, 2) => (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect(),
        // Both halves of a pattern are patterns of a narrower type, too.
        _ => wide_patterns(random)
            .into_iter()
            .flat_map(u64::to_ne_bytes)
            .collect(),
    };
    // Two columns if the rank allows it; the number of patterns is even.
    let columns = if rank > 1 { 2 } else { 1 };
    let mut shape = vec![1; rank];
    shape[rank - 1] = columns;
    shape[0] = bytes.len() / elem.size() / columns;
    HostValue::new(elem, shape, bytes)
}

fn wide_patterns(random: &mut Random) -> Vec<u64> {
    // Quiet and signalling, with both signs and with payloads.
    let nans = [
        0x7ff8_0000_0000_0000,
        0xfff8_0000_0000_0001,
        0x7ff0_0000_0000_0001,
        0xfff0_dead_beef_0001,
        0x7fc0_0000_ffc0_0001,
        0x7f80_0001_ff80_1234,
        0x0000_0000_0000_0001,
        0x0000_0001_8000_0001,
    ];
    let (singles, doubles) = (edges(ElemType::F32), edges(ElemType::F64));
    let mut patterns: Vec<u64> = doubles.into_iter().chain(nans).collect();
    let pairs = singles.iter().zip(singles.iter().rev());
    patterns.extend(pairs.map(|(high, low)| high << 32 | low));
    patterns.extend((0..64).map(|bit| 1u64 << bit));
    patterns.extend([0, u64::MAX, i64::MAX as u64, u64::from(u32::MAX)]);
    patterns.extend((0..512).map(|_| random.next()));
    patterns
}

/// Runs a step for each array type of the program.
pub(super) fn each_type(
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

/// Shapes of a rank: with a zero in each dimension and in all, with all extents 1, with all extents
/// different, and with one long dimension.
pub(super) fn shapes(rank: usize) -> Vec<Vec<usize>> {
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

/// A shape with different extents, all above 1, so that swapped dimensions give another shape.
pub(super) fn inner_shape(rank: usize) -> Vec<usize> {
    (0..rank)
        .map(|dim| if dim < 4 { dim + 2 } else { 2 + dim % 2 })
        .collect()
}

/// An array in the context with these contents.
///
/// # Errors
/// If the array cannot be created.
pub(super) fn make(context: &Context, contents: &HostValue) -> StepResult<Array> {
    match upload(context, contents)? {
        Value::Array(array) => Ok(array),
        Value::Scalar(_) | Value::Opaque(_) => {
            Err(Stop::mismatch("a created array is not an array"))
        }
    }
}

/// Indices outside of the bounds of an array, in each dimension.
pub(super) fn outside(shape: &[usize]) -> impl Iterator<Item = Vec<i64>> {
    (0..shape.len()).flat_map(move |dim| {
        let extent = i64::try_from(shape[dim]).unwrap_or(i64::MAX);
        [extent, extent + 1, -1, i64::MAX, i64::MIN].map(|wrong| {
            let mut index = vec![0; shape.len()];
            index[dim] = wrong;
            index
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_types_get_every_pattern() {
        let mut random = Random::new(1, "");
        for rank in 1..=3 {
            assert_eq!(
                every_pattern(&mut random, ElemType::F16, rank).count(),
                65536
            );
            assert_eq!(every_pattern(&mut random, ElemType::U8, rank).count(), 256);
            assert_eq!(every_pattern(&mut random, ElemType::Bool, rank).count(), 2);
        }
    }

    #[test]
    fn wide_types_get_nans_with_payloads() {
        let mut random = Random::new(1, "");
        for elem in [ElemType::F32, ElemType::F64] {
            let value = every_pattern(&mut random, elem, 1);
            let nans = (0..value.count())
                .filter(|&i| value.float(i).is_some_and(f64::is_nan))
                .count();
            assert!(nans >= 4, "{elem}: {nans}");
        }
    }

    #[test]
    fn shapes_have_a_zero_in_every_dimension() {
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
