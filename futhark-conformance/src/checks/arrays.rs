//! The checks of array types, without any entry point: `arrays` copies whole arrays, `index` reads single
//! elements, and `raw` views the memory of arrays and of their copies, which have memory of their own.

use crate::compare::{Within, compare, position};
use crate::harness::calls::download;
use crate::harness::cases::{Cases, CheckResult, Stop, mismatch, skip};
use crate::harness::env::Env;
use crate::inputs::{Random, any_bits, edges};
use crate::values::HostValue;
use futhark_manifest::{ArrayType, ElemType, TypeKind};
use futhark_safe::dynamic::{Array, Context, Value};
use std::ops::RangeInclusive;

/// Copies bit patterns to arrays of every type and back.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    each_type(env, cases, "arrays", |context, array, random| {
        let long = one_long(array.rank, random.usize(..array.rank), LONG, 1);
        for shape in shapes(env, random, array.rank).into_iter().chain([long]) {
            keeps_array(context, &any_bits(random, array.elem, &shape))?;
        }
        let patterns = bit_patterns(random, array.elem, array.rank);
        keeps_array(context, &patterns)?;
        many_at_once(context, random, array)
    });
}

/// Reads single elements inside and outside of the bounds.
pub fn index(env: &Env<'_>, cases: &mut Cases<'_>) {
    // On simulated and emulated devices errors are slow, so the C function gets wrong indices of one array only.
    let is_slow = env.device().is_slow();
    each_type(env, cases, "index", |context, array, random| {
        if array.ops.index.is_none() {
            skip!("this compiler version has no index operation");
        }
        let inner = distinct_extents(array.rank);
        let long = one_long(array.rank, random.usize(..array.rank), LONG, 1);
        for shape in shapes(env, random, array.rank).into_iter().chain([long]) {
            let contents = any_bits(random, array.elem, &shape);
            let value = new_array(context, &contents)?;
            let positions = positions(random, &shape);
            inside(&value, &contents, &positions)?;
            refuses_outside(&value, random, &shape, !is_slow || shape == inner)?;
            // The array and the context must still work after the errors.
            inside(&value, &contents, &positions)?;
        }
        Ok(())
    });
}

/// Views arrays and their copies in memory, on host backends.
pub fn raw(env: &Env<'_>, cases: &mut Cases<'_>) {
    if env.program().backend.is_gpu() {
        return;
    }
    each_type(env, cases, "raw", |context, array, random| {
        for shape in shapes(env, random, array.rank) {
            let contents = any_bits(random, array.elem, &shape);
            let value = new_array(context, &contents)?;
            let at = |stop: Stop| stop.at(&contents.type_text());
            in_place(&value, &contents).map_err(at)?;
            // A copy must have the same elements, and memory of its own.
            let copy = value.try_clone()?;
            drop(value);
            in_place(&copy, &contents).map_err(at)?;
        }
        Ok(())
    });
}

/// Runs a case for each array type of the program. `Cases::perform` (`harness/cases.rs`) calls the closure, and sends
/// its result to the parent.
fn each_type(
    env: &Env<'_>,
    cases: &mut Cases<'_>,
    check: &str,
    body: impl Fn(&Context, &ArrayType, &mut Random) -> CheckResult,
) {
    for ty in env.program().types() {
        if let TypeKind::Array(array) = &ty.kind {
            cases.run_in_context(env, check, &ty.name, |context| {
                body(context, array, &mut env.random(check))
            });
        }
    }
}

fn new_array(context: &Context, contents: &HostValue) -> CheckResult<Array> {
    let (elem, shape) = (contents.elem(), contents.shape());
    Ok(context.array_from_bytes(elem, shape, contents.bytes())?)
}

/// An array that is made of bytes must give the same bytes back, by `values` and as users read it.
fn keeps_array(context: &Context, contents: &HostValue) -> CheckResult {
    let at = |stop: Stop| stop.at(&contents.type_text());
    let mut buffer = contents.bytes().to_vec();
    let value = context
        .array_from_bytes(contents.elem(), contents.shape(), &buffer)
        .map_err(|error| at(error.into()))?;
    // The array has its own memory, so changing the buffer must not affect it.
    for byte in &mut buffer {
        *byte = !*byte;
    }
    // On GPU backends, the download below calls `values`.
    if !context.library().backend().is_gpu() {
        let by_c = copied_by_c(context, &value, contents.elem()).map_err(at)?;
        let same = compare(&by_c, contents, Within::Bits);
        same.map_err(|difference| difference.at("copied by `values`"))?;
    }
    let back = download(&Value::Array(value)).map_err(at)?;
    // Keeps the compiler from removing the writes above.
    std::hint::black_box(buffer);
    Ok(compare(&back, contents, Within::Bits)?)
}

/// Arrays that exist at the same time must not affect each other. They are freed in another order than they were made.
fn many_at_once(context: &Context, random: &mut Random, array: &ArrayType) -> CheckResult {
    let mut values = Vec::new();
    for number in 0..8 {
        let mut shape = vec![1; array.rank];
        shape[0] = 40 * number;
        let contents = any_bits(random, array.elem, &shape);
        values.push((Value::Array(new_array(context, &contents)?), contents));
    }
    for freed in [5, 0, 5, 2, 3, 1, 1, 0] {
        for (value, contents) in &values {
            let same = compare(&download(value)?, contents, Within::Bits);
            same.map_err(|difference| difference.at("one of several arrays"))?;
        }
        values.remove(freed);
    }
    Ok(())
}

/// All patterns of a narrow type. Of a wide type: extreme values, NaNs, every single bit, and
/// random patterns.
fn bit_patterns(random: &mut Random, elem: ElemType, rank: usize) -> HostValue {
    let patterns: Vec<u64> = match (elem, elem.size()) {
        (ElemType::Bool, _) => vec![0, 1],
        (_, 1) => (0..1 << 8).collect(),
        (_, 2) => (0..1 << 16).collect(),
        _ => {
            let single_bits = (0..64).map(|bit| 1 << bit);
            let special = edges(elem).into_iter().chain(NANS).chain(single_bits);
            let random = std::iter::repeat_with(|| random.u64(..));
            special.chain(random).take(600).collect()
        }
    };
    // Two columns if the rank allows it; the number of patterns is even.
    let columns = if rank > 1 { 2 } else { 1 };
    let mut shape = vec![1; rank];
    shape[rank - 1] = columns;
    shape[0] = patterns.len() / columns;
    HostValue::of_bits(elem, &shape, patterns)
}

/// Quiet and signalling NaNs, with both signs and with payloads. The first four are NaNs of `f64`; the lower halves of
/// the last three are NaNs of `f32`.
const NANS: [u64; 6] = [
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_0001,
    0x7ff0_0000_0000_0001,
    0xfff0_dead_7f80_0001,
    0x7fc0_0000_ffc0_0001,
    0x7f80_0001_ff80_1234,
];

/// The lengths that each dimension has in turn: a power of two, which is a multiple of smaller ones, and a prime number.
const LENGTHS: [usize; 2] = [1024, 1031];

/// Further lengths of one dimension where transfers are fast: every short one, and random ones.
const SHORT: RangeInclusive<usize> = 2..=33;
const MAX_RANDOM: usize = 5000;

/// A length beyond 16 bits.
const LONG: usize = (1 << 16) + 16;

/// An extent beyond 32 bits, of arrays without elements.
const HUGE: usize = 1 << 33;

/// Shapes of a rank: with a zero in each dimension and in all, with all extents 1, with different extents
/// ([`distinct_extents`]), with more than a few in the first dimensions, and with one long dimension.
fn shapes(env: &Env<'_>, random: &mut Random, rank: usize) -> Vec<Vec<usize>> {
    let mut shapes = shapes_of_any_device(rank);
    if !env.device().is_slow() {
        let dim = random.usize(..rank);
        let further = [(); 3].map(|()| random.usize(34..MAX_RANDOM));
        let further = further.into_iter().chain(SHORT);
        shapes.extend(further.map(|length| one_long(rank, dim, length, 1)));
    }
    shapes
}

fn shapes_of_any_device(rank: usize) -> Vec<Vec<usize>> {
    let large = [37, 29, 5, 3].into_iter().chain(std::iter::repeat(2));
    let mut shapes = vec![vec![0; rank], vec![1; rank], distinct_extents(rank)];
    shapes.push(large.take(rank).collect());
    for dim in 0..rank {
        shapes.push(one_long(rank, dim, 0, 3));
        if rank > 1 {
            shapes.push(one_long(rank, dim, HUGE, 0));
        }
        shapes.extend(LENGTHS.map(|length| one_long(rank, dim, length, 1)));
    }
    shapes.sort();
    shapes.dedup();
    shapes
}

/// A shape with this extent in one dimension, and another one in the others.
fn one_long(rank: usize, dim: usize, length: usize, other: usize) -> Vec<usize> {
    let mut shape = vec![other; rank];
    shape[dim] = length;
    shape
}

/// A shape with extents above 1, of which the first four are different, so that swapping these dimensions gives another
/// shape.
fn distinct_extents(rank: usize) -> Vec<usize> {
    (0..rank)
        .map(|dim| if dim < 4 { dim + 2 } else { 2 + dim % 2 })
        .collect()
}

/// Row-major positions in an array of this shape: all of a small one. Of a larger one, about a hundred, and the first
/// and the last indices of each dimension, with any index in the others.
fn positions(random: &mut Random, shape: &[usize]) -> Vec<usize> {
    const ALL: usize = 128;
    const FIRST: usize = 20;
    let count: usize = shape.iter().product();
    let step = count.div_ceil(ALL).max(1);
    let mut positions: Vec<usize> = (0..count)
        .step_by(step)
        .chain(count.checked_sub(1))
        .collect();
    if step > 1 {
        for (dim, extent) in shape.iter().enumerate() {
            let inner: usize = shape[dim + 1..].iter().product();
            for index in (0..FIRST.min(*extent)).chain([extent - 1]) {
                let other = random.usize(..count);
                let own = other / inner % extent;
                positions.push(other - own * inner + index * inner);
            }
        }
    }
    positions
}

fn inside(array: &Array, contents: &HostValue, positions: &[usize]) -> CheckResult {
    for flat in positions.iter().copied() {
        let index = position(contents.shape(), flat);
        let scalar = array
            .index(&index)
            .map_err(|error| Stop::from(error).at(&format!("{index:?}")))?;
        if scalar.to_bytes() != contents.element(flat) {
            let got = HostValue::new(contents.elem(), Vec::new(), scalar.to_bytes());
            let expected = contents.element_text(flat);
            mismatch!(
                "{} at {index:?}: expected {expected}, got {got}",
                contents.type_text()
            );
        }
    }
    Ok(())
}

/// Indices outside must be refused: by futhark-safe, and by the C function if `ask_c` is set.
fn refuses_outside(
    array: &Array,
    random: &mut Random,
    shape: &[usize],
    ask_c: bool,
) -> CheckResult {
    for index in outside(random, shape) {
        let mut accepted = array.index(&index);
        if ask_c {
            accepted = accepted.or(array.index_checked_by_c(&index));
        }
        if let Ok(scalar) = accepted {
            let bytes = scalar.to_bytes();
            mismatch!("index {index:?} of shape {shape:?} was accepted, and returned {bytes:?}");
        }
    }
    Ok(())
}

/// Indices outside of the bounds of an array, in each dimension, with any valid index in the others.
pub(super) fn outside(random: &mut Random, shape: &[usize]) -> Vec<Vec<i64>> {
    /// An index that is 0 in 32 bits.
    const WRAPS: i64 = 1 << 32;
    let mut all = Vec::new();
    for (dim, extent) in shape.iter().enumerate() {
        let extent = i64::try_from(*extent).unwrap_or(i64::MAX);
        let wraps = WRAPS.max(extent);
        for wrong in [
            extent,
            extent + 1,
            -1,
            -2,
            extent + random.i64(2..1000),
            wraps,
            i64::MAX,
            i64::MIN,
        ] {
            let valid = shape
                .iter()
                .map(|extent| random.usize(..(*extent).max(1)) as i64);
            let mut index: Vec<i64> = valid.collect();
            index[dim] = wrong;
            all.push(index);
        }
    }
    all
}

/// Evaluates `$elements`, in which `$T` is the Rust type of `$elem`, and returns the bytes.
macro_rules! bytes_of {
    ($elem:expr, $T:ident => $elements:expr) => {
        bytes_of!($elem, $T => $elements;
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 half::f16, F32 f32, F64 f64)
    };
    ($elem:expr, $T:ident => $elements:expr; $($name:ident $rust:ty),*) => {
        match $elem {
            $(ElemType::$name => {
                type $T = $rust;
                let mut bytes: Vec<u8> = Vec::new();
                for x in $elements.iter() {
                    bytes.extend_from_slice(&x.to_ne_bytes());
                }
                bytes
            })*
            ElemType::Bool => {
                type $T = bool;
                $elements.iter().map(|&x: &bool| u8::from(x)).collect()
            }
        }
    };
}

/// The array as the C function `futhark_values_...` copies it. A batch calls it on host backends, too, where other
/// downloads read the array's memory.
fn copied_by_c(context: &Context, array: &Array, elem: ElemType) -> CheckResult<HostValue> {
    let bytes = bytes_of!(elem, T => context.batch(|batch| batch.to_vec::<T>(array))?.into_vec()?);
    Ok(HostValue::new(elem, array.shape(), bytes))
}

/// The elements in memory must be those that were uploaded.
fn in_place(value: &Array, contents: &HostValue) -> CheckResult {
    if contents.elem() == ElemType::Bool {
        skip!("booleans cannot be viewed in place");
    }
    let no_view = || Stop::mismatch("the elements cannot be viewed in place");
    let seen = bytes_of!(contents.elem(), T => value.view::<T>()?.ok_or_else(no_view)?);
    let seen = HostValue::new(contents.elem(), value.shape(), seen);
    let same = compare(&seen, contents, Within::Bits);
    Ok(same.map_err(|difference| difference.at("in place"))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::random;

    #[test]
    fn narrow_types_get_every_pattern() {
        let mut random = random(1, "");
        for rank in 1..=3 {
            assert_eq!(
                bit_patterns(&mut random, ElemType::F16, rank).count(),
                65536
            );
            assert_eq!(bit_patterns(&mut random, ElemType::U8, rank).count(), 256);
            assert_eq!(bit_patterns(&mut random, ElemType::Bool, rank).count(), 2);
        }
    }

    #[test]
    fn wide_types_get_nans_with_payloads() {
        let mut random = random(1, "");
        for elem in [ElemType::F32, ElemType::F64] {
            let value = bit_patterns(&mut random, elem, 1);
            let nans = (0..value.count())
                .filter(|&i| value.float(i).is_some_and(f64::is_nan))
                .count();
            assert!(nans >= 4, "{elem}: {nans}");
        }
    }

    #[test]
    fn shapes_have_a_zero_in_every_dimension() {
        for rank in 1..=5 {
            let shapes = shapes_of_any_device(rank);
            assert!(shapes.iter().all(|shape| shape.len() == rank));
            for index in 0..rank {
                assert!(shapes.iter().any(
                    |shape| shape[index] == 0 && shape.iter().filter(|d| **d == 0).count() == 1
                ));
            }
            assert!(shapes.contains(&vec![0; rank]) && shapes.contains(&vec![1; rank]));
        }
    }
}
