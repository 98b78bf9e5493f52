//! The check `arrays`: every array type of the program, without any entry point.

mod patterns;

use crate::compare::identical;
use crate::harness::arrays::{each_type, inner_shape, shapes};
use crate::harness::env::Env;
use crate::harness::make::{Random, any_bits};
use crate::harness::steps::{StepResult, Steps, Stop};
use crate::harness::transfer::{download, upload};
use crate::values::HostValue;
use futhark_manifest::ArrayType;
use futhark_safe::dynamic::{Context, Value};
use patterns::every_pattern;

/// Copies bit patterns to arrays of every type and back.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
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
    identical(&back, contents).map_err(|difference| Stop::mismatch(difference.to_string()))
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
            identical(&download(value)?, contents).map_err(|difference| {
                Stop::mismatch(difference.to_string()).at("one of several arrays")
            })?;
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

/// Data of another size than that of the shape must be refused.
fn wrong_sizes(context: &Context, array: &ArrayType) -> StepResult {
    let shape = inner_shape(array.rank);
    let right = shape.iter().product::<usize>() * array.elem.size();
    for wrong in [0, right - 1, right + array.elem.size()] {
        if context
            .array_from_bytes(array.elem, &shape, &vec![0; wrong])
            .is_ok()
        {
            return Err(Stop::mismatch(format!(
                "{wrong} bytes were accepted for shape {shape:?}, which needs {right}"
            )));
        }
    }
    // Extents that are negative in C, or whose product overflows to a size that matches the data.
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
            if context
                .array_from_bytes(array.elem, &shape, &vec![0; data])
                .is_ok()
            {
                return Err(Stop::mismatch(format!(
                    "shape {shape:?} was accepted with {data} bytes"
                )));
            }
        }
    }
    // The refused calls must not have affected the context.
    let mut random = Random::new(0, "after");
    round_trip(context, &any_bits(&mut random, array.elem, &shape))
}
