//! The check `raw`: the memory of an array, read without a copy.

use super::arrays::{each_type, make, shapes};
use crate::compare::{Within, compare};
use crate::harness::env::Env;
use crate::harness::steps::{StepResult, Steps, Stop, skip};
use crate::inputs::{Random, any_bits};
use crate::values::HostValue;
use futhark_manifest::ElemType;
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
    macro_rules! bytes {
        ($($elem:ident: $type:ty),+) => {
            match contents.elem() {
                $(ElemType::$elem => value.view::<$type>()?.map(|elements| {
                    elements.iter().flat_map(|x| x.to_ne_bytes()).collect()
                }),)+
                ElemType::Bool => skip!("booleans cannot be viewed in place"),
            }
        };
    }
    let seen: Option<Vec<u8>> = bytes!(
        I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64,
        F16: half::f16, F32: f32, F64: f64
    );
    let seen = seen.ok_or_else(|| Stop::mismatch("the elements cannot be viewed in place"))?;
    let seen = HostValue::new(contents.elem(), value.shape(), seen);
    let same = compare(&seen, contents, Within::Bits);
    Ok(same.map_err(|difference| difference.at("in place"))?)
}
