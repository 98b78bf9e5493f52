//! The check `shape`: arrays report the shape and element type they were created with.

use crate::harness::arrays::{each_type, make, shapes};
use crate::harness::env::Env;
use crate::harness::make::{Random, any_bits};
use crate::harness::steps::{Steps, Stop};

/// Creates an array of each type and shape, and queries its shape.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    each_type(env, steps, "shape", |context, array| {
        let mut random = Random::new(env.seed, "shape");
        for shape in shapes(array.rank) {
            let value = make(context, &any_bits(&mut random, array.elem, &shape))?;
            if value.shape() != shape {
                return Err(Stop::mismatch(format!(
                    "expected shape {shape:?}, got {:?}",
                    value.shape()
                )));
            }
            if value.elem() != array.elem {
                return Err(Stop::mismatch(format!(
                    "expected element type {}, got {}",
                    array.elem,
                    value.elem()
                )));
            }
        }
        Ok(())
    });
}
