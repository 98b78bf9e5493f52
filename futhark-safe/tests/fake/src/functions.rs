//! Entry points of the fake program, and the operations that make values from values.

use std::ffi::c_void;

use futhark_sys::table::{
    self as c, FUT_CONSUMED, FUT_CONSUMES, FUT_ENTRY_POINT, FUT_FIRST_TYPE, RawFunction, Slot,
};

use crate::call::{Call, Signature, overwrite, run};
use crate::context::{Answer, Failure};
use crate::types::{FLOATS, INTS, MATRIX, PAIR, POINT, POINTS, SHAPE};
use crate::value::{Array, Part, Value, Word};

const I32: Slot = slot(c::FUT_I32, 0);
const F32: Slot = slot(c::FUT_F32, 0);

/// The flags of a function.
fn flags_of(signature: &Signature) -> u32 {
    let consumes = (signature.inputs.iter()).any(|slot| slot.flags & FUT_CONSUMED != 0);
    let entry_point = if signature.is_entry_point {
        FUT_ENTRY_POINT
    } else {
        0
    };
    entry_point | if consumes { FUT_CONSUMES } else { 0 }
}

const fn slot(type_: u32, flags: u32) -> Slot {
    Slot {
        type_,
        flags,
        name: std::ptr::null(),
    }
}

/// A parameter or result of type `types()[ty]`.
const fn of(ty: u32) -> Slot {
    slot(FUT_FIRST_TYPE + ty, 0)
}

const fn consumed(ty: u32) -> Slot {
    slot(FUT_FIRST_TYPE + ty, FUT_CONSUMED)
}

/// Each line: the C function's name, its label, parameters, results, body.
macro_rules! functions {
    ($($name:ident $label:literal ($($input:expr),*) -> ($($output:expr),*) = $body:expr;)*) => {
        /// All functions as the table has them, sorted by name.
        pub(crate) fn raw_functions() -> Vec<RawFunction> {
            let mut all = vec![$({
                const SIGNATURE: Signature = Signature {
                    name: stringify!($name),
                    is_entry_point: is_entry_point($label),
                    inputs: &[$($input),*],
                    outputs: &[$($output),*],
                };
                unsafe extern "C" fn $name(
                    ctx: *mut c::Context,
                    out: *const *mut c_void,
                    input: *const *const c_void,
                ) -> i32 {
                    let body: fn(&mut Call<'_>) -> Answer = $body;
                    // SAFETY: T: called as the signature in the table says.
                    unsafe { run(&SIGNATURE, ctx, out, input, body) }
                }
                let name = concat!(stringify!($name), "\0");
                let label = concat!($label, "\0");
                (SIGNATURE.name, RawFunction {
                    name: name.as_ptr().cast(),
                    label: label.as_ptr().cast(),
                    flags: flags_of(&SIGNATURE),
                    out: SIGNATURE.outputs.as_ptr(),
                    in_: SIGNATURE.inputs.as_ptr(),
                    n_out: SIGNATURE.outputs.len() as u32,
                    n_in: SIGNATURE.inputs.len() as u32,
                    n_tuning_params: 0,
                    tuning_params: std::ptr::null(),
                    call: Some($name),
                })
            }),*];
            all.sort_by_key(|(name, _)| *name);
            all.into_iter().map(|(_, function)| function).collect()
        }
    };
}

const fn is_entry_point(label: &str) -> bool {
    // Entry points are `entry point NAME`, operations `field NAME`, `record NAME` ….
    label.as_bytes()[0] == b'e'
}

functions! {
    futhark_entry_add "entry point add" (I32, I32) -> (I32) = |call| {
        call.give_int(0, call.int(0).wrapping_add(call.int(1)));
        Ok(())
    };
    futhark_entry_rotate "entry point rotate"
        (I32, I32, I32, I32, I32, I32, I32, I32, I32, of(INTS))
        -> (I32, I32, I32, I32, I32, I32, I32, I32, of(INTS), I32) = |call| {
        for i in 0..8 {
            call.give_int(i, call.int(i + 1));
        }
        call.give(8, call.value(9).parts);
        call.give_int(9, call.int(0));
        Ok(())
    };
    futhark_entry_constant "entry point constant" () -> (of(INTS)) = |call| {
        let constant = call.context.constant.clone();
        call.give(0, vec![Part::Array(constant)]);
        Ok(())
    };
    futhark_entry_identity "entry point identity" (of(INTS)) -> (of(INTS)) = |call| {
        call.give(0, call.value(0).parts);
        Ok(())
    };
    futhark_entry_double "entry point double" (of(INTS)) -> (of(INTS)) = |call| {
        let ints = call.array(0, 0).ints().into_iter().map(|x| x.wrapping_mul(2));
        call.compute(0, Array::of_ints(ints));
        Ok(())
    };
    // Two results that share memory.
    futhark_entry_twice "entry point twice" (of(INTS)) -> (of(INTS), of(INTS)) = |call| {
        let array = Array::of_ints(call.array(0, 0).ints());
        call.compute(0, array.clone());
        call.compute(1, array);
        Ok(())
    };
    futhark_entry_transpose "entry point transpose" (of(MATRIX)) -> (of(MATRIX)) = |call| {
        let matrix = call.array(0, 0);
        let (rows, columns) = (matrix.dims[0], matrix.dims[1]);
        let words = (0..columns).flat_map(|j| (0..rows).map(move |i| [i, j]));
        let words = words.map(|at| matrix.memory.borrow().words[matrix.offset(&at)]).collect();
        call.compute(0, Array::new(vec![columns, rows], words));
        Ok(())
    };
    futhark_entry_total "entry point total" (of(INTS)) -> (I32) = |call| {
        let total = call.array(0, 0).ints().into_iter().fold(0, i32::wrapping_add);
        call.give_int(0, total);
        Ok(())
    };
    futhark_entry_set_first "entry point set_first" (consumed(INTS), I32) -> (of(INTS)) = |call| {
        let array = call.array(0, 0);
        set_first(call, &array, call.scalar(1))?;
        call.compute(0, array);
        Ok(())
    };
    // Consumes two arrays, and returns them in the other order.
    futhark_entry_swap "entry point swap"
        (consumed(INTS), consumed(INTS)) -> (of(INTS), of(INTS)) = |call| {
        let (a, b) = (call.array(0, 0), call.array(1, 0));
        for array in [&a, &b] {
            overwrite(call, array, |words| words.reverse());
        }
        call.compute(0, b);
        call.compute(1, a);
        Ok(())
    };
    futhark_entry_poke "entry point poke" (consumed(PAIR), I32) -> (of(INTS)) = |call| {
        let array = call.array(0, 1);
        set_first(call, &array, call.scalar(1))?;
        call.compute(0, array);
        Ok(())
    };
    futhark_entry_gather "entry point gather" (of(INTS), of(INTS)) -> (of(INTS)) = |call| {
        let (xs, is) = (call.array(0, 0).ints(), call.array(1, 0).ints());
        call.context.check_later();
        let found = is.iter().map(|&i| usize::try_from(i).ok().and_then(|i| xs.get(i)));
        let found: Vec<Option<i32>> = found.map(Option::<&i32>::copied).collect();
        if let Some(bad) = found.iter().position(Option::is_none) {
            let text = format!("Index [{}] out of bounds for array of shape [{}].", is[bad], xs.len());
            if !call.context.gpu {
                return Err(Failure::program(&text));
            }
            let text = format!("{text}\n-> #0  fake.fut:1:1-2\n");
            call.context.failing.get_or_insert(text);
        }
        call.compute(0, Array::of_ints(found.into_iter().map(Option::unwrap_or_default)));
        Ok(())
    };
    futhark_entry_gated "entry point gated" (of(INTS)) -> (I32) = |call| {
        call.context.journal.pass_gate();
        call.give_int(0, call.array(0, 0).ints().len() as i32);
        Ok(())
    };
    // Makes its result, then fails in the way that the first argument selects.
    futhark_entry_fail "entry point fail" (I32, consumed(INTS)) -> (of(INTS)) = |call| {
        call.give(0, call.value(1).parts);
        Err(match call.int(0) {
            0 => Failure::program("Assertion is false: (x > 0)"),
            1 => Failure::silent(),
            2 => Failure::new(c::FUT_MEMORY, 1, "Failed to allocate memory in space 'device'."),
            _ => Failure::new(c::FUT_LOST, -1, "the runtime ended with exit(1)"),
        })
    };
    futhark_entry_nothing "entry point nothing" (I32) -> () = |_| Ok(());

    futhark_new_opaque_pair "record pair" (I32, of(INTS)) -> (of(PAIR)) = |call| {
        let parts = vec![Part::Scalar(call.scalar(0)), Part::Array(call.array(1, 0))];
        call.give(0, parts);
        Ok(())
    };
    futhark_project_opaque_pair_n "field n of pair" (of(PAIR)) -> (I32) = |call| project_scalar(call, 0);
    futhark_project_opaque_pair_xs "field xs of pair" (of(PAIR)) -> (of(INTS)) = |call| project(call, 1);
    futhark_new_opaque_point "record point" (F32, I32) -> (of(POINT)) = |call| {
        let parts = vec![Part::Scalar(call.scalar(0)), Part::Scalar(call.scalar(1))];
        call.give(0, parts);
        Ok(())
    };
    futhark_project_opaque_point_x "field x of point" (of(POINT)) -> (F32) = |call| project_scalar(call, 0);
    futhark_project_opaque_point_y "field y of point" (of(POINT)) -> (I32) = |call| project_scalar(call, 1);
    futhark_zip_opaque_points "zip of []point" (of(FLOATS), of(INTS)) -> (of(POINTS)) = |call| {
        let (xs, ys) = (call.array(0, 0), call.array(1, 0));
        if xs.dims != ys.dims {
            return Err(Failure::argument("Cannot zip arrays with different shapes."));
        }
        call.give(0, vec![Part::Array(xs), Part::Array(ys)]);
        Ok(())
    };
    futhark_project_opaque_points_x "field x of []point" (of(POINTS)) -> (of(FLOATS)) = |call| project(call, 0);
    futhark_project_opaque_points_y "field y of []point" (of(POINTS)) -> (of(INTS)) = |call| project(call, 1);
    futhark_new_opaque_shape_dot "variant dot of shape" () -> (of(SHAPE)) = |call| {
        let parts = vec![Part::int(0), Part::Array(Array::of_ints([])), Part::int(0)];
        call.give(0, parts);
        Ok(())
    };
    futhark_new_opaque_shape_line "variant line of shape" (of(INTS), I32) -> (of(SHAPE)) = |call| {
        let parts = vec![Part::int(1), Part::Array(call.array(0, 0)), Part::Scalar(call.scalar(1))];
        call.give(0, parts);
        Ok(())
    };
    futhark_variant_opaque_shape "variant of shape" (of(SHAPE)) -> (I32) = |call| project_scalar(call, 0);
    futhark_destruct_opaque_shape_dot "payload dot of shape" (of(SHAPE)) -> () = |call| {
        expect_variant(call, 0).map(|_| ())
    };
    futhark_destruct_opaque_shape_line "payload line of shape" (of(SHAPE)) -> (of(INTS), I32) = |call| {
        let mut parts = expect_variant(call, 1)?.parts;
        if let Some(Part::Scalar(number)) = parts.pop() {
            call.give_scalar(1, number);
        }
        call.give(0, parts.split_off(1));
        Ok(())
    };
}

fn set_first(call: &Call<'_>, array: &Array, word: Word) -> Answer {
    if array.memory.borrow().words.is_empty() {
        return Err(Failure::program(
            "Index [0] out of bounds for array of shape [0].",
        ));
    }
    overwrite(call, array, |words| words[0] = word);
    Ok(())
}

fn project(call: &mut Call<'_>, part: usize) -> Answer {
    let array = call.array(0, part);
    call.give(0, vec![Part::Array(array)]);
    Ok(())
}

fn project_scalar(call: &mut Call<'_>, part: usize) -> Answer {
    let value = call.value(0).parts[part].to_int();
    call.give_int(0, value);
    Ok(())
}

/// Argument 0, if it has this variant.
fn expect_variant(call: &Call<'_>, tag: i32) -> Result<Value, Failure> {
    let value = call.value(0);
    match value.parts[0].to_int() {
        is if is == tag => Ok(value),
        is => {
            let text = format!("expected variant {tag}, got {is}");
            Err(Failure::new(c::FUT_REFUSED, 1, text))
        }
    }
}
