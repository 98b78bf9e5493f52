//! Calls entry points, lists their results, and copies values between the host and a context.

use super::cases::{CheckResult, error, mismatch};
use super::content::{Content, stored_components};
pub use crate::inputs::elem_of;
use crate::values::HostValue;
use futhark_manifest::{EntryPoint, Field, Program, ResultForm, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Arg, Context, Scalar, Value};

pub type CallResult = Result<Vec<Value>, futhark_safe::Error>;

/// Calls an entry point and waits for it. The arguments that it consumes cannot be used afterwards.
pub fn call(context: &Context, entry: &EntryPoint, arguments: &mut [Value]) -> CallResult {
    let outputs = start(context, entry, arguments)?;
    context.sync()?;
    Ok(outputs)
}

/// The same without waiting. The arguments must live until the call has ended.
pub fn start(context: &Context, entry: &EntryPoint, arguments: &mut [Value]) -> CallResult {
    let arguments = arguments.iter_mut().map(Arg::ConsumeMut);
    context.call(&entry.name, arguments.collect())
}

/// Calls an entry point and waits for it. The arguments that it observes must keep their contents, also if it fails.
pub fn call_observing(
    context: &Context,
    entry: &EntryPoint,
    arguments: &mut [Value],
) -> CheckResult<CallResult> {
    let program = context.library().program();
    let inputs = arguments.iter().zip(&entry.inputs);
    let before = inputs.map(|(value, input)| match input.unique {
        true => Ok(None),
        false => Content::accessible(program, input.ty, value),
    });
    let before = before.collect::<CheckResult<Vec<_>>>()?;
    let result = call(context, entry, arguments);
    if matches!(&result, Err(error) if error.kind() == ErrorKind::ContextLost) {
        return Ok(result);
    }
    for ((value, before), input) in arguments.iter().zip(before).zip(&entry.inputs) {
        if let Some(before) = before {
            let location = format!("the argument {}, after the call", input.name);
            before.is_still(program, input.ty, value, &location)?;
        }
    }
    Ok(result)
}

/// The results of a call as a test block lists them.
pub fn listed_outputs(
    program: &Program,
    entry: &EntryPoint,
    outputs: Vec<Value>,
) -> CheckResult<Vec<HostValue>> {
    let listed = listed_values(program, entry, outputs)?;
    listed.iter().map(shown).collect()
}

/// A result as a test block shows it. Of a record, a sum or an array of them that is the first part of its stored form,
/// as for `futhark test`.
fn shown(value: &Value) -> CheckResult<HostValue> {
    let Value::Opaque(opaque) = value else {
        return download(value);
    };
    let stored = opaque.store()?;
    let body = stored.body();
    match stored_components(body)?.into_iter().next() {
        Some(part) => Ok(HostValue::new(
            part.elem,
            part.shape,
            body[part.data].to_vec(),
        )),
        None => error!(
            "a value of type {} has no part that a test block can show",
            opaque.type_name()
        ),
    }
}

/// The same, as values of the context: a tuple becomes its components, unless its type has a name.
pub fn listed_values(
    program: &Program,
    entry: &EntryPoint,
    outputs: Vec<Value>,
) -> CheckResult<Vec<Value>> {
    match listed_form(program, entry) {
        ResultForm::Unit(_) => Ok(Vec::new()),
        ResultForm::Tuple { fields, .. } => {
            let Some(Value::Opaque(tuple)) = outputs.first() else {
                mismatch!("expected a tuple, got a value without fields");
            };
            let project = |field: &Field| Ok(tuple.project(&field.name)?);
            fields.iter().map(project).collect()
        }
        _ => Ok(outputs),
    }
}

/// A tuple whose type has a name counts as one opaque value, as for `futhark test`.
fn listed_form<'a>(program: &'a Program, entry: &'a EntryPoint) -> ResultForm<'a> {
    match entry.result_form(program) {
        ResultForm::Tuple { ty, .. } if !program.get(ty).name.starts_with('(') => {
            ResultForm::One(TypeRef::Type(ty))
        }
        form => form,
    }
}

/// The message that test blocks match against: the C message if there is one.
pub fn message_of(error: &futhark_safe::Error) -> String {
    error
        .c_message()
        .map_or_else(|| error.to_string(), str::to_owned)
}

pub fn upload(context: &Context, value: &HostValue) -> Result<Value, futhark_safe::Error> {
    if value.shape().is_empty() {
        let scalar = Scalar::from_bytes(value.elem(), value.bytes());
        let scalar = scalar.expect("a scalar has the bytes of one element");
        return Ok(Value::Scalar(scalar));
    }
    let array = context.array_from_bytes(value.elem(), value.shape(), value.bytes())?;
    Ok(Value::Array(array))
}

pub fn upload_all(context: &Context, values: &[HostValue]) -> CheckResult<Vec<Value>> {
    let values = values.iter().map(|value| Ok(upload(context, value)?));
    values.collect()
}

/// Copies a scalar or an array to the host.
pub fn download(value: &Value) -> CheckResult<HostValue> {
    let (elem, shape, bytes) = match value {
        Value::Scalar(scalar) => (scalar.elem(), Vec::new(), scalar.to_bytes()),
        Value::Array(array) => (array.elem(), array.shape(), array.to_bytes()?),
        Value::Opaque(opaque) => {
            error!("a value of type {} has no elements", opaque.type_name());
        }
    };
    Ok(HostValue::new(elem, shape, bytes))
}
