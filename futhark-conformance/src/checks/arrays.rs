//! The checks `arrays`, `shape` and `index`: every array type of the program,
//! without any entry point.

use super::bridge::{download, upload};
use super::env::Env;
use super::make::{Random, any_bits};
use crate::child::steps::{StepResult, Steps, Stop};
use crate::compare::{identical, position};
use crate::values::HostValue;
use futhark_manifest::{ArrayType, ElemType, TypeKind};
use futhark_safe::dynamic::{Array, Context, Value};

/// Round trips of every bit pattern.
pub fn check_values(env: &Env<'_>, steps: &mut Steps<'_>) {
    each_type(env, steps, "arrays", |context, array| {
        let mut random = Random::new(env.seed, "arrays");
        for shape in shapes(array.rank) {
            round_trip(context, &any_bits(&mut random, array.elem, &shape))?;
        }
        round_trip(context, &every_pattern(&mut random, array.elem, array.rank))?;
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
        for shape in [inner, vec![1; array.rank]] {
            let contents = any_bits(&mut random, array.elem, &shape);
            let value = make(context, &contents)?;
            inside(&value, &contents)?;
            outside(&value, &shape)?;
            // Neither the array nor the context has suffered.
            inside(&value, &contents)?;
        }
        let empty = make(
            context,
            &any_bits(&mut random, array.elem, &vec![0; array.rank]),
        )?;
        outside(&empty, &vec![0; array.rank])
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

/// Narrow types: every pattern there is. Wide ones: those at the edges, every
/// single bit, and a good number of others.
fn every_pattern(random: &mut Random, elem: ElemType, rank: usize) -> HostValue {
    let mut bytes: Vec<u8> = match (elem, elem.size()) {
        (ElemType::Bool, _) => vec![0, 1],
        (_, 1) => (0..=u8::MAX).collect(),
        (_, 2) => (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect(),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the lower half of a pattern is a pattern too"
        )]
        (_, 4) => wide_patterns(random)
            .into_iter()
            .flat_map(|bits| {
                [
                    (bits as u32).to_ne_bytes(),
                    ((bits >> 32) as u32).to_ne_bytes(),
                ]
                .concat()
            })
            .collect(),
        _ => wide_patterns(random)
            .into_iter()
            .flat_map(u64::to_ne_bytes)
            .collect(),
    };
    let count = bytes.len() / elem.size();
    let mut shape = vec![1; rank];
    // Two dimensions at least, if there are two.
    let columns = if rank > 1 && count.is_multiple_of(2) {
        2
    } else {
        1
    };
    if let Some(last) = shape.last_mut() {
        *last = columns;
    }
    if let Some(first) = shape.first_mut() {
        *first = if rank > 1 { count / columns } else { count };
    }
    bytes.truncate(shape.iter().product::<usize>() * elem.size());
    HostValue::new(elem, shape, bytes)
}

fn wide_patterns(random: &mut Random) -> Vec<u64> {
    let doubles = [
        0.0f64,
        -0.0,
        1.0,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::EPSILON,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let singles = [
        0.0f32,
        -0.0,
        1.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::EPSILON,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ];
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
    let mut patterns: Vec<u64> = doubles.iter().map(|x| x.to_bits()).chain(nans).collect();
    patterns.extend(
        singles
            .iter()
            .map(|x| u64::from(x.to_bits()) << 32 | u64::from((-x).to_bits())),
    );
    patterns.extend((0..64).map(|bit| 1u64 << bit));
    patterns.extend([0, u64::MAX, i64::MAX as u64, u64::from(u32::MAX)]);
    patterns.extend((0..512).map(|_| random.next()));
    patterns
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
    let value = upload(context, contents).map_err(|stop| stop.at(&contents.type_text()))?;
    let back = download(&value).map_err(|stop| stop.at(&contents.type_text()))?;
    identical(&back, contents).map_err(|difference| Stop::mismatch(difference.to_string()))
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
    // The product of the extents overflows to 0, which is the data's size.
    let mut huge = vec![1; array.rank];
    huge[0] = 1 << 63;
    if context.array(array.elem, &huge, &[]).is_ok() {
        return Err(Stop::mismatch(format!(
            "shape {huge:?} was accepted with no data"
        )));
    }
    Ok(())
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

fn outside(array: &Array, shape: &[usize]) -> StepResult {
    for dim in 0..shape.len() {
        let extent = to_i64(shape[dim]);
        for wrong in [extent, extent + 1, -1, i64::MAX, i64::MIN] {
            let mut index = vec![0; shape.len()];
            index[dim] = wrong;
            if let Ok(scalar) = array.index(&index) {
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
}
