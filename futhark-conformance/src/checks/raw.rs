//! The check `raw`: the memory of an array, read without a copy.

use super::arrays::{each_type, make, shapes};
use crate::compare::{Within, compare};
use crate::harness::env::Env;
use crate::harness::steps::{StepResult, Steps, Stop, skip};
use crate::inputs::{Random, any_bits};
use crate::values::HostValue;
use futhark_manifest::ElemType;
use futhark_safe::Element;
use futhark_safe::dynamic::Array;

/// Views arrays and their copies in memory, on host backends.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    if env.program().backend.is_gpu() {
        return;
    }
    each_type(env, steps, "raw", |context, array| {
        let mut random = Random::new(env.seed(), "raw");
        for shape in shapes(array.rank) {
            let contents = any_bits(&mut random, array.elem, &shape);
            let value = make(context, &contents)?;
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

/// The elements in memory must be those that `values` copies.
fn in_place(value: &Array, contents: &HostValue) -> StepResult {
    fn bytes<T: Element, const N: usize>(
        value: &Array,
        to_bytes: impl Fn(&T) -> [u8; N],
    ) -> StepResult<Option<Vec<u8>>> {
        let view = value.view::<T>()?;
        Ok(view.map(|elements| elements.iter().flat_map(to_bytes).collect()))
    }
    let seen = match contents.elem() {
        ElemType::I8 => bytes(value, |x: &i8| x.to_ne_bytes()),
        ElemType::I16 => bytes(value, |x: &i16| x.to_ne_bytes()),
        ElemType::I32 => bytes(value, |x: &i32| x.to_ne_bytes()),
        ElemType::I64 => bytes(value, |x: &i64| x.to_ne_bytes()),
        ElemType::U8 => bytes(value, |x: &u8| x.to_ne_bytes()),
        ElemType::U16 => bytes(value, |x: &u16| x.to_ne_bytes()),
        ElemType::U32 => bytes(value, |x: &u32| x.to_ne_bytes()),
        ElemType::U64 => bytes(value, |x: &u64| x.to_ne_bytes()),
        ElemType::F16 => bytes(value, |x: &half::f16| x.to_ne_bytes()),
        ElemType::F32 => bytes(value, |x: &f32| x.to_ne_bytes()),
        ElemType::F64 => bytes(value, |x: &f64| x.to_ne_bytes()),
        ElemType::Bool => {
            skip!("booleans cannot be viewed in place");
        }
    }?;
    let seen = seen.ok_or_else(|| Stop::mismatch("the elements cannot be viewed in place"))?;
    let seen = HostValue::new(contents.elem(), value.shape(), seen);
    let same = compare(&seen, contents, Within::Bits);
    Ok(same.map_err(|difference| difference.at("in place"))?)
}
