//! Evaluating scripts: the calls of entry points that make arguments.

use super::input::load;
use crate::blocks::script::{self, Exp};
use crate::checks::bridge::upload;
use crate::checks::calls::{self, listed_values};
use crate::checks::env::Env;
use crate::child::steps::{StepResult, Stop};
use crate::values::{HostValue, data};
use futhark_manifest::{ElemType, EntryPoint, TypeRef};
use futhark_safe::dynamic::{Context, Value};
use std::path::PathBuf;

/// Reads a script.
pub fn parse(text: &str) -> StepResult<Exp> {
    script::parse(text).map_err(|error| Stop::error(error.to_string()))
}

/// Evaluates a script to the arguments of an entry point.
///
/// # Errors
/// If it cannot be evaluated, or gives something else; a skip, if there is something in it that
/// is not understood here.
pub fn arguments(
    env: &Env<'_>,
    context: &Context,
    entry: &EntryPoint,
    exp: &Exp,
) -> StepResult<Vec<Value>> {
    let values = Evaluation { env, context }.all(exp)?;
    let name = |ty: TypeRef| env.program().name_of(ty).to_owned();
    let wanted: Vec<String> = entry.inputs.iter().map(|input| name(input.ty)).collect();
    let found: Vec<String> = values.iter().map(Item::type_name).collect();
    if wanted != found {
        return Err(Stop::error(format!(
            "expected arguments of types ({}), the script gives ({})",
            wanted.join(", "),
            found.join(", ")
        )));
    }
    values.into_iter().map(|item| item.made(context)).collect()
}

/// A value of a script.
enum Item {
    /// Written in the script or read from a file: its type may still adapt.
    Constant(HostValue),
    /// The result of a call.
    Made(Value),
}

impl Item {
    fn type_name(&self) -> String {
        match self {
            Item::Constant(value) => {
                format!("{}{}", "[]".repeat(value.shape().len()), value.elem())
            }
            Item::Made(value) => value.type_name(),
        }
    }

    fn made(self, context: &Context) -> StepResult<Value> {
        match self {
            Item::Constant(value) => upload(context, &value),
            Item::Made(value) => Ok(value),
        }
    }
}

struct Evaluation<'a> {
    env: &'a Env<'a>,
    context: &'a Context,
}

impl Evaluation<'_> {
    /// The values of an expression: several for a tuple.
    fn all(&self, exp: &Exp) -> StepResult<Vec<Item>> {
        match exp {
            Exp::Value(value) => Ok(vec![Item::Constant(value.clone())]),
            Exp::Tuple(parts) => parts.iter().map(|part| self.one(part)).collect(),
            Exp::Call(name, arguments) => self.call(name, arguments),
            Exp::Builtin(name, arguments) => self.builtin(name, arguments),
            Exp::Other(what) => Err(Stop::skip(format!("the script has a {what} in it"))),
        }
    }

    fn one(&self, exp: &Exp) -> StepResult<Item> {
        let mut values = self.all(exp)?;
        match values.pop() {
            Some(value) if values.is_empty() => Ok(value),
            _ => Err(Stop::skip(
                "the script has a tuple within another or as an argument",
            )),
        }
    }

    fn call(&self, name: &str, arguments: &[Exp]) -> StepResult<Vec<Item>> {
        let program = self.env.program();
        let entry = program.entry(name).ok_or_else(|| {
            Stop::error(format!("the script calls {name}, which is no entry point"))
        })?;
        if arguments.len() != entry.inputs.len() {
            return Err(Stop::error(format!(
                "the script gives {name} {} arguments, and it takes {}",
                arguments.len(),
                entry.inputs.len()
            )));
        }
        let fitting = arguments
            .iter()
            .zip(&entry.inputs)
            .map(|(argument, input)| {
                let item = self.one(argument)?;
                let wanted = program.name_of(input.ty);
                let found = item.type_name();
                let item = match item {
                    Item::Constant(value) if found != wanted => calls::elem_of(program, input.ty)
                        .filter(|(_, rank)| *rank == value.shape().len())
                        .and_then(|(elem, _)| adapted(&value, elem))
                        .map(Item::Constant),
                    item => (found == wanted).then_some(item),
                };
                let item = item.ok_or_else(|| {
                Stop::error(format!(
                    "the script gives {name} an argument of type {found} for one of type {wanted}"
                ))
            });
                item?.made(self.context)
            });
        let arguments = fitting.collect::<StepResult<Vec<Value>>>()?;
        let (outputs, _) = calls::call(self.context, entry, arguments);
        let outputs = outputs
            .map_err(|error| Stop::from(error).at(&format!("the script's call of {name}")))?;
        let outputs = listed_values(program, entry, outputs)?;
        Ok(outputs.into_iter().map(Item::Made).collect())
    }

    fn builtin(&self, name: &str, arguments: &[Exp]) -> StepResult<Vec<Item>> {
        if !matches!(name, "loaddata" | "loadbytes") {
            return Err(Stop::skip(format!("the script calls ${name}")));
        }
        let [Exp::Value(path)] = arguments else {
            return Err(Stop::error(format!(
                "${name} takes the name of a file, as text"
            )));
        };
        let file = String::from_utf8(path.bytes().to_vec())
            .ok()
            .filter(|_| (path.elem(), path.shape().len()) == (ElemType::U8, 1))
            .map(PathBuf::from)
            .ok_or_else(|| Stop::error(format!("${name} takes the name of a file, as text")))?;
        let contents = load(self.env, &file)?;
        if name == "loadbytes" {
            let shape = vec![contents.len()];
            return Ok(vec![Item::Constant(HostValue::new(
                ElemType::U8,
                shape,
                contents,
            ))]);
        }
        let values = data::values(&contents)
            .map_err(|error| Stop::error(format!("{} {error}", file.display())))?;
        Ok(values.into_iter().map(Item::Constant).collect())
    }
}

/// A constant as one of another type: a signed integer serves for every other, and for floats.
fn adapted(value: &HostValue, elem: ElemType) -> Option<HostValue> {
    use ElemType::{F32, F64, I8, I16, I32, I64};
    if !matches!(value.elem(), I8 | I16 | I32 | I64) {
        return None;
    }
    let mut bytes = Vec::with_capacity(value.count() * elem.size());
    for index in 0..value.count() {
        let number = value.integer(index)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "that a number is wrapped or rounded to its type is what is asked for"
        )]
        match elem {
            I8 => bytes.extend((number as i8).to_ne_bytes()),
            I16 => bytes.extend((number as i16).to_ne_bytes()),
            I32 => bytes.extend((number as i32).to_ne_bytes()),
            I64 => bytes.extend(number.to_ne_bytes()),
            F32 => bytes.extend((number as f32).to_ne_bytes()),
            F64 => bytes.extend((number as f64).to_ne_bytes()),
            _ => return None,
        }
    }
    Some(HostValue::new(elem, value.shape().to_vec(), bytes))
}
