//! Calling entry points with the arguments of test cases.

use super::bridge::{Snapshot, download, upload};
use super::env::Env;
use crate::blocks::{Case, Expected, Source};
use crate::child::steps::{StepResult, Stop};
use crate::values::{self, HostValue};
use futhark_manifest::{EntryPoint, Program, TypeKind, TypeRef};
use futhark_safe::dynamic::{Arg, Context, Value};

/// What a call gives.
pub type CallResult = Result<Vec<Value>, futhark_safe::Error>;

/// Calls an entry point, and waits for it. Arguments that it consumes are given away, the others
/// come back, each at its place.
pub fn call(
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
    // On a device a failure may show only when the device has come to it.
    let outputs = outputs.and_then(|outputs| context.sync().map(|()| outputs));
    (outputs, observed)
}

/// Whether a call gave as many results as the manifest says.
pub fn check_count(entry: &EntryPoint, outputs: &[Value]) -> StepResult {
    if outputs.len() == entry.outputs.len() {
        return Ok(());
    }
    let message = format!(
        "{} gave {} results instead of {}",
        entry.name,
        outputs.len(),
        entry.outputs.len()
    );
    Err(Stop::mismatch(message))
}

/// The arguments of a test case, typed by the parameters of its entry point.
///
/// # Errors
/// A skip, if they are not written in the block, or if a parameter has a type
/// that no text stands for; a failure, if they do not fit.
pub fn inputs_of(program: &Program, entry: &EntryPoint, case: &Case) -> StepResult<Vec<HostValue>> {
    let Source::Text(text) = &case.input else {
        return Err(Stop::skip(no_text(&case.input, "input")));
    };
    let types = entry.inputs.iter().map(|input| input.ty);
    typed(program, text, &types.collect::<Vec<_>>(), "parameter")
}

/// Reads text as values of the given types.
pub fn typed(
    program: &Program,
    text: &str,
    types: &[TypeRef],
    what: &str,
) -> StepResult<Vec<HostValue>> {
    let opaque = types.iter().find(|ty| elem_of(program, **ty).is_none());
    if let Some(ty) = opaque {
        return Err(Stop::skip(format!(
            "a {what} has type {}, for which there is no notation",
            program.name_of(*ty)
        )));
    }
    let values = values::parse(text).map_err(|error| Stop::error(error.to_string()))?;
    if values.len() != types.len() {
        let message = format!(
            "expected {} values, one for each {what}, found {}",
            types.len(),
            values.len()
        );
        return Err(Stop::error(message));
    }
    let pairs = values.iter().zip(types);
    let typed = pairs.map(|(value, ty)| {
        let (elem, rank) =
            elem_of(program, *ty).unwrap_or_else(|| unreachable!("opaque types were refused"));
        if value.shape().len() != rank {
            let name = program.name_of(*ty);
            return Err(Stop::error(format!(
                "expected a {what} of type {name}, found a value of rank {}",
                value.shape().len()
            )));
        }
        value
            .typed(elem)
            .map_err(|error| Stop::error(error.to_string()))
    });
    typed.collect()
}

/// Puts the values of a test case into a context.
pub fn upload_all(context: &Context, values: &[HostValue]) -> StepResult<Vec<Value>> {
    values.iter().map(|value| upload(context, value)).collect()
}

/// The results of a call as a test block lists them: a tuple as its components.
pub fn listed_outputs(
    program: &Program,
    entry: &EntryPoint,
    outputs: &[Value],
) -> StepResult<Vec<HostValue>> {
    use futhark_manifest::ResultForm;
    match entry.result_form(program) {
        ResultForm::Unit(_) => Ok(Vec::new()),
        ResultForm::Tuple { fields, .. } => {
            let Some(Value::Opaque(tuple)) = outputs.first() else {
                return Err(Stop::mismatch(
                    "expected a tuple, got a value without fields",
                ));
            };
            fields
                .iter()
                .map(|field| download(&tuple.project(&field.name)?))
                .collect()
        }
        _ => outputs.iter().map(download).collect(),
    }
}

/// The types of the results as a test block lists them.
pub fn listed_types(program: &Program, entry: &EntryPoint) -> Vec<TypeRef> {
    entry.result_form(program).components().collect()
}

/// Arguments that an entry point is known to accept: those of its first test
/// case that succeeds, written as text. `None` if there is no such case.
pub fn known_inputs(env: &Env<'_>, entry: &EntryPoint) -> Option<Vec<HostValue>> {
    let cases = env.blocks.cases.iter();
    let mut fitting = cases
        .filter(|case| case.entry == entry.name && !matches!(case.expected, Expected::Error(_)));
    fitting.find_map(|case| inputs_of(env.program(), entry, case).ok())
}

/// Why values that are not written as text are not used.
pub fn no_text(source: &Source, what: &str) -> String {
    match source {
        Source::Text(_) => format!("the {what} is text"),
        Source::File(path) => format!("the {what} lies in the file {}", path.display()),
        Source::Random(_) => format!("the {what} is random"),
        Source::Script(_) | Source::ScriptFile(_) => format!("the {what} is a script"),
    }
}

/// The element type and rank of what has elements.
fn elem_of(program: &Program, ty: TypeRef) -> Option<(futhark_manifest::ElemType, usize)> {
    match ty {
        TypeRef::Scalar(elem) => Some((elem, 0)),
        TypeRef::Type(id) => match &program.get(id).kind {
            TypeKind::Array(array) => Some((array.elem, array.rank)),
            TypeKind::Opaque(_) => None,
        },
    }
}

/// Values that are held while something else happens, each with the contents
/// that it must keep.
pub struct Held<'a> {
    program: &'a Program,
    values: Vec<(String, TypeRef, Value, Snapshot)>,
}

impl<'a> Held<'a> {
    /// Holds nothing yet.
    #[must_use]
    pub fn new(program: &'a Program) -> Held<'a> {
        Held {
            program,
            values: Vec::new(),
        }
    }

    /// Holds a value from now on. One that cannot be looked into is let go.
    pub fn hold(&mut self, what: impl Into<String>, ty: TypeRef, value: Value) -> StepResult {
        let contents = Snapshot::take(self.program, ty, &value);
        self.keep(what, ty, value, contents)
    }

    /// Holds a value that must have the contents of another one.
    pub fn hold_as(
        &mut self,
        what: impl Into<String>,
        ty: TypeRef,
        value: Value,
        alike: &Value,
    ) -> StepResult {
        let contents = Snapshot::take(self.program, ty, alike);
        self.keep(what, ty, value, contents)
    }

    fn keep(
        &mut self,
        what: impl Into<String>,
        ty: TypeRef,
        value: Value,
        contents: StepResult<Snapshot>,
    ) -> StepResult {
        match contents {
            Ok(contents) => self.values.push((what.into(), ty, value, contents)),
            Err(Stop::Skip { .. }) => {}
            Err(stop) => return Err(stop),
        }
        Ok(())
    }

    /// Whether everything that is held has kept its contents.
    pub fn check(&self) -> StepResult {
        self.values
            .iter()
            .try_for_each(|(what, ty, value, contents)| {
                contents
                    .check(self.program, *ty, value)
                    .map_err(|stop| stop.at(&format!("{what}, after the call")))
            })
    }
}
