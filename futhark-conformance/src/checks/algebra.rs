//! The check `algebra`: operations on generated opaque values are inverse to each other. The check
//! `opaque` has the fixed cases and the errors.

use crate::compare::position;
use crate::harness::content::{Content, Within};
use crate::harness::costs;
use crate::harness::env::Env;
use crate::harness::sides::shrink;
use crate::harness::steps::{StepResult, Steps, Stop};
use crate::inputs::{self, Call, Failure, Input};
use futhark_manifest::{OpaqueType, RecordArray, Structure, TypeRef};
use futhark_safe::dynamic::{Context, Opaque, Value};
use proptest::strategy::{Strategy, ValueTree};
use std::sync::Arc;
use std::time::Instant;

/// The number of values per type, unless the user chose one, and the number on simulated devices.
const VALUES: u32 = 12;

/// Runs a step for every opaque type.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    for (id, described) in env.program().types_with_ids() {
        if let Some(opaque) = described.as_opaque() {
            let ty = TypeRef::Type(id);
            let (check, case) = ("algebra", described.name.as_str());
            // Only entry points can be slow.
            match Call::for_type(env.program(), ty) {
                Ok(call) if call.has_calls() => {
                    env.step_within(steps, env.limit(), (check, case), |context| {
                        values(env, context, ty, opaque)
                    });
                }
                _ => env.step(steps, check, case, |context| {
                    values(env, context, ty, opaque)
                }),
            }
        }
    }
}

fn values(env: &Env<'_>, context: &Context, ty: TypeRef, opaque: &OpaqueType) -> StepResult {
    let name = env.program().name_of(ty);
    let call = Call::for_type(env.program(), ty).map_err(|missing| {
        Stop::skip(format!(
            "no operation of the program makes a value of type {missing}"
        ))
    })?;
    if call.has_calls() {
        env.may_generate("the entry points that return this type")?;
    }
    let strategy = inputs::value(&Arc::new(call), env.inputs.limits());
    let mut runner = inputs::runner(env.seed, &format!("algebra {name}"));
    // Entry points may refuse all arguments, so that no value is made.
    let mut made = false;
    let mut fails = |input: &Input| match value(context, ty, opaque, input) {
        Ok(was_made) => {
            made |= was_made;
            Ok(None)
        }
        Err(stop @ Stop::Fail { .. }) => Ok(Some(stop)),
        Err(skip) => Err(skip),
    };
    let count = match env.inputs.cases {
        Some(cases) => cases,
        None if env.device.is_slow() => VALUES / 4,
        None => VALUES,
    };
    let begun = Instant::now();
    for number in 0..count {
        if number > 0 && begun.elapsed() > env.inputs.time() {
            let seconds = begun.elapsed().as_secs_f64() / f64::from(number);
            let seconds = costs::shown(seconds);
            env.remark
                .add(&format!("{number} of {count} values: each takes {seconds}"));
            break;
        }
        let tree = strategy.new_tree(&mut runner);
        let mut tree =
            tree.map_err(|reason| Stop::skip(format!("failed to generate a value: {reason}")))?;
        if let Some(stop) = fails(&tree.current())? {
            let (input, stop) = shrink(tree.as_mut(), stop, env.inputs.patience(), fails)?;
            return Err(stop.at(&input.to_string()));
        }
    }
    if made {
        Ok(())
    } else {
        Err(Stop::skip(format!(
            "failed to make any value of type {name}"
        )))
    }
}

/// Checks one generated value. Returns whether it could be created; entry points may refuse
/// generated arguments.
fn value(context: &Context, ty: TypeRef, opaque: &OpaqueType, input: &Input) -> StepResult<bool> {
    let value = match input.upload(context, ty) {
        Ok(value) => value,
        Err(Failure::Library(_)) if has_calls(input) => return Ok(false),
        Err(Failure::Library(error)) => return Err(error.into()),
        Err(Failure::Unfit(message)) => return Err(Stop::error(message)),
    };
    let Value::Opaque(whole) = &value else {
        return Err(Stop::mismatch("a value of an opaque type is not opaque"));
    };
    let program = context.library().program();
    let content = Content::take(program, ty, &value)?;
    content
        .is_of(input)
        .map_err(|difference| Stop::mismatch(difference.message))?;
    if let Structure::RecordArray(array) = &opaque.structure {
        elements(context, array, whole)?;
    }
    if opaque.ops.store.is_some() && opaque.ops.restore.is_some() {
        let restored = Value::Opaque(context.restore(&whole.store()?)?);
        let again = Content::take(program, ty, &restored)?;
        let same = again.agrees(&content, Within::Bits);
        same.map_err(|difference| Stop::mismatch(difference.at("after restoring").message))?;
    }
    Ok(true)
}

/// Compares the scalar fields of the first and the last element with the columns.
fn elements(context: &Context, array: &RecordArray, whole: &Opaque) -> StepResult {
    let program = context.library().program();
    let shape = whole.shape()?;
    let record = array
        .elem
        .as_type()
        .and_then(|id| program.get(id).as_record());
    let Some(record) = record else { return Ok(()) };
    let count: usize = shape.iter().product();
    for flat in [0, count.wrapping_sub(1)] {
        if flat >= count {
            continue;
        }
        let index: Vec<i64> = position(&shape, flat)
            .into_iter()
            .map(|place| i64::try_from(place).unwrap_or(i64::MAX))
            .collect();
        let Value::Opaque(element) = whole.index(&index)? else {
            return Err(Stop::mismatch(
                "an element of an array of records is not a record",
            ));
        };
        for (column, field) in array.fields.iter().zip(&record.fields) {
            let (Value::Array(column), TypeRef::Scalar(_)) =
                (whole.project(&column.name)?, field.ty)
            else {
                continue;
            };
            let expected = column.index(&index)?.to_bytes();
            match element.project(&field.name)? {
                Value::Scalar(actual) if actual.to_bytes() == expected => {}
                actual => {
                    return Err(Stop::mismatch(format!(
                        "field {} of element {index:?}: expected the bytes {expected:?}, got {actual:?}",
                        field.name
                    )));
                }
            }
        }
    }
    Ok(())
}

fn has_calls(input: &Input) -> bool {
    match input {
        Input::Host(_) => false,
        Input::Made { .. } => true,
        Input::Record(parts) | Input::Zip(parts) | Input::Sum { payload: parts, .. } => {
            parts.iter().any(has_calls)
        }
    }
}
