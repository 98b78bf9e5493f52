//! Calls entry points, and lists their results.

use super::content::Content;
use super::steps::{StepResult, Stop};
use super::transfer::download;
pub use crate::inputs::elem_of;
use crate::values::HostValue;
use futhark_manifest::{EntryPoint, Field, Program, ResultForm, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Arg, Context, Value};

/// The results of a call.
pub type CallResult = Result<Vec<Value>, futhark_safe::Error>;

/// Calls an entry point and waits for it. Returns the arguments that the call did not consume, each
/// at its index.
pub fn call(
    context: &Context,
    entry: &EntryPoint,
    arguments: Vec<Value>,
) -> (CallResult, Vec<Option<Value>>) {
    let (outputs, observed) = start(context, entry, arguments);
    // A device may report a failure only at a sync.
    let outputs = outputs.and_then(|outputs| context.sync().map(|()| outputs));
    (outputs, observed)
}

/// The same without waiting. The arguments must live until the call has ended.
pub fn start(
    context: &Context,
    entry: &EntryPoint,
    arguments: Vec<Value>,
) -> (CallResult, Vec<Option<Value>>) {
    let mut consumed: Vec<Option<Value>> = Vec::new();
    let mut observed: Vec<Option<Value>> = Vec::new();
    for (place, value) in arguments.into_iter().enumerate() {
        let unique = entry.inputs.get(place).is_some_and(|input| input.unique);
        let (given, kept) = if unique {
            (Some(value), None)
        } else {
            (None, Some(value))
        };
        consumed.push(given);
        observed.push(kept);
    }
    let arguments = consumed
        .into_iter()
        .zip(&observed)
        .filter_map(|(given, kept)| match given {
            Some(value) => Some(Arg::Consume(value)),
            None => kept.as_ref().map(Arg::Borrow),
        });
    let outputs = context.call(&entry.name, arguments.collect());
    (outputs, observed)
}

/// Calls an entry point and waits for it. The arguments that it observes must keep their contents, also
/// if it fails.
///
/// # Errors
/// If the contents of an argument have changed.
pub fn call_observing(
    context: &Context,
    entry: &EntryPoint,
    arguments: Vec<Value>,
) -> StepResult<CallResult> {
    let program = context.library().program();
    let inputs = arguments.iter().zip(&entry.inputs);
    let before: Vec<Option<Content>> = inputs
        .map(
            |(value, input)| match Content::snapshot(program, input.ty, value) {
                _ if input.unique => Ok(None),
                Ok(contents) => Ok(Some(contents)),
                // The contents of this argument are not accessible.
                Err(Stop::Skip { .. }) => Ok(None),
                Err(stop) => Err(stop),
            },
        )
        .collect::<StepResult<_>>()?;
    let (result, observed) = call(context, entry, arguments);
    if matches!(&result, Err(error) if error.kind() == ErrorKind::ContextLost) {
        return Ok(result);
    }
    for ((value, before), input) in observed.iter().zip(before).zip(&entry.inputs) {
        if let (Some(value), Some(before)) = (value, before) {
            let place = format!("the argument {}, after the call", input.name);
            let now = Content::snapshot(program, input.ty, value);
            now.and_then(|now| before.same(&now))
                .map_err(|stop| stop.at(&place))?;
        }
    }
    Ok(result)
}

/// Calls an entry point and waits for it, because a device may report a failure only at a sync.
pub fn call_and_wait(context: &Context, entry: &EntryPoint, arguments: Vec<Arg<'_>>) -> CallResult {
    let outputs = context.call(&entry.name, arguments)?;
    context.sync().map(|()| outputs)
}

/// Compares the number of results with the manifest.
pub fn check_count(entry: &EntryPoint, outputs: &[Value]) -> StepResult {
    if outputs.len() == entry.outputs.len() {
        return Ok(());
    }
    let message = format!(
        "{}: got {} results, expected {}",
        entry.name,
        outputs.len(),
        entry.outputs.len()
    );
    Err(Stop::mismatch(message))
}

/// The results of a call as a test block lists them: a tuple becomes its components, unless its
/// type has a name.
pub fn listed_outputs(
    program: &Program,
    entry: &EntryPoint,
    outputs: &[Value],
) -> StepResult<Vec<HostValue>> {
    match components(program, entry, outputs)? {
        Some(components) => components.iter().map(download).collect(),
        None => outputs.iter().map(download).collect(),
    }
}

/// The same, as values of the context.
pub fn listed_values(
    program: &Program,
    entry: &EntryPoint,
    outputs: Vec<Value>,
) -> StepResult<Vec<Value>> {
    Ok(components(program, entry, &outputs)?.unwrap_or(outputs))
}

/// The components of a result that is a tuple or a unit; `None` for other results.
fn components(
    program: &Program,
    entry: &EntryPoint,
    outputs: &[Value],
) -> StepResult<Option<Vec<Value>>> {
    match listed_form(program, entry) {
        ResultForm::Unit(_) => Ok(Some(Vec::new())),
        ResultForm::Tuple { fields, .. } => {
            let Some(Value::Opaque(tuple)) = outputs.first() else {
                return Err(Stop::mismatch(
                    "expected a tuple, got a value without fields",
                ));
            };
            let project = |field: &Field| Ok(tuple.project(&field.name)?);
            fields
                .iter()
                .map(project)
                .collect::<StepResult<_>>()
                .map(Some)
        }
        _ => Ok(None),
    }
}

/// The types of the results as a test block lists them.
pub fn listed_types(program: &Program, entry: &EntryPoint) -> Vec<TypeRef> {
    listed_form(program, entry).components().collect()
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
