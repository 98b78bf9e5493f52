//! The check `index`: reads of single elements, inside and outside of the bounds.

use super::arrays::{self, each_type, inner_shape, make};
use crate::compare::position;
use crate::harness::env::Env;
use crate::harness::steps::{StepResult, Steps, Stop, mismatch, skip};
use crate::inputs::{Random, any_bits};
use crate::values::HostValue;
use futhark_safe::dynamic::Array;

/// Reads single elements inside and outside of the bounds.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    each_type(env, steps, "index", |context, array| {
        if array.ops.index.is_none() {
            skip!("this compiler version has no index operation");
        }
        let mut random = Random::new(env.seed(), "index");
        let inner = inner_shape(array.rank);
        // Errors are slow on a simulated device, so the C function gets only a few wrong indices
        // there.
        let simulated = env.device().is_slow();
        let by_c = |shape: &[usize]| !simulated || shape == inner_shape(shape.len());
        for shape in [inner, vec![1; array.rank]] {
            let contents = any_bits(&mut random, array.elem, &shape);
            let value = make(context, &contents)?;
            inside(&value, &contents)?;
            outside(&value, &shape, by_c(&shape))?;
            // The array and the context must still work after the errors.
            inside(&value, &contents)?;
        }
        let empty = make(
            context,
            &any_bits(&mut random, array.elem, &vec![0; array.rank]),
        )?;
        outside(&empty, &vec![0; array.rank], by_c(&[0]))
    });
}

fn inside(array: &Array, contents: &HostValue) -> StepResult {
    let count = contents.count();
    // All elements of a small array, about a hundred of a larger one.
    let step = count.div_ceil(128).max(1);
    for flat in (0..count).step_by(step).chain(count.checked_sub(1)) {
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
fn outside(array: &Array, shape: &[usize], ask_c: bool) -> StepResult {
    for index in arrays::outside(shape) {
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
