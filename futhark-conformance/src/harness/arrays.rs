//! Arrays of every type of a program, for the checks of single operations on arrays.

use super::env::Env;
use super::steps::{StepResult, Steps, Stop};
use super::transfer::upload;
use crate::values::HostValue;
use futhark_manifest::{ArrayType, TypeKind};
use futhark_safe::dynamic::{Array, Context, Value};

/// Runs a step for each array type of the program.
pub fn each_type(
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
pub fn shapes(rank: usize) -> Vec<Vec<usize>> {
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
pub fn inner_shape(rank: usize) -> Vec<usize> {
    (0..rank)
        .map(|dim| if dim < 4 { dim + 2 } else { 2 + dim % 2 })
        .collect()
}

/// An array in the context with these contents.
///
/// # Errors
/// If the array cannot be created.
pub fn make(context: &Context, contents: &HostValue) -> StepResult<Array> {
    match upload(context, contents)? {
        Value::Array(array) => Ok(array),
        Value::Scalar(_) | Value::Opaque(_) => {
            Err(Stop::mismatch("a created array is not an array"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
