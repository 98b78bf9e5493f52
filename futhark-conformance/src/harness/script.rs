//! Evaluates scripts, which make arguments by calling entry points.
//!
//! As in `futhark test`, the arguments of entry points are converted to the parameter types where
//! that is possible; the result of the whole script is not.

use super::calls::{download, elem_of, listed_values, upload};
use super::cases::{CheckResult, Stop, error};
use super::env::Env;
use super::test_cases::{load, values_in};
use crate::blocks::script::{self, Exp};
use crate::values::{HostValue, found};
use futhark_manifest::{ElemType, EntryPoint, Field, Program, Record, TypeRef};
use futhark_safe::dynamic::{Arg, Context, Value};
use std::cell::{Ref, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

/// Evaluates a script to the arguments of an entry point.
pub fn arguments(
    env: &Env<'_>,
    context: &Context,
    entry: &EntryPoint,
    text: &str,
) -> CheckResult<Vec<Value>> {
    let exp = script::parse(text).map_err(|error| Stop::error(error.to_string()))?;
    let evaluation = Evaluation { env, context };
    let items = evaluation.value(&exp, &mut Vec::new())?.listed();
    let program = env.program();
    let fits = items.len() == entry.inputs.len()
        && items
            .iter()
            .zip(&entry.inputs)
            .all(|(item, input)| item.is_of(program.name_of(input.ty)));
    if !fits {
        error!(
            "expected arguments of types {}, got {} from the script",
            parameters(program, entry),
            Item::Tuple(items).type_name()
        );
    }
    let made = items.into_iter().map(|item| evaluation.made(item)?.take());
    made.collect()
}

/// A value of a script.
#[derive(Clone)]
enum Item {
    /// A constant of the script or a file, whose type may still be converted.
    Constant(HostValue),
    /// A value in the context.
    Made(Rc<Made>),
    /// A call of this entry point with too few arguments, which cannot be used.
    Unfinished(String),
    Tuple(Vec<Item>),
    Record(Vec<(String, Item)>),
}

/// A value in the context, which names share until a call consumes it.
struct Made {
    type_name: String,
    value: RefCell<Option<Value>>,
}

impl Made {
    fn new(value: Value) -> Rc<Made> {
        Rc::new(Made {
            type_name: value.type_name(),
            value: RefCell::new(Some(value)),
        })
    }

    fn take(&self) -> CheckResult<Value> {
        self.value.take().ok_or_else(|| self.given_away())
    }

    fn get(&self) -> CheckResult<Ref<'_, Value>> {
        Ref::filter_map(self.value.borrow(), Option::as_ref).map_err(|_| self.given_away())
    }

    fn given_away(&self) -> Stop {
        Stop::error(format!(
            "the script uses a value of type {} again after it was consumed or given as an argument",
            self.type_name
        ))
    }
}

impl Item {
    fn from_value(value: Value) -> Item {
        Item::Made(Made::new(value))
    }

    /// One value, or a tuple of several.
    fn of_several(mut items: Vec<Item>) -> Item {
        match items.len() {
            1 => items.remove(0),
            _ => Item::Tuple(items),
        }
    }

    fn listed(self) -> Vec<Item> {
        match self {
            Item::Tuple(parts) => parts,
            item => vec![item],
        }
    }

    /// Whether the value has this type, without a conversion.
    fn is_of(&self, type_name: &str) -> bool {
        matches!(self, Item::Constant(_) | Item::Made(_)) && self.type_name() == type_name
    }

    fn type_name(&self) -> String {
        match self {
            Item::Constant(value) => {
                format!("{}{}", "[]".repeat(value.shape().len()), value.elem())
            }
            Item::Made(made) => made.type_name.clone(),
            Item::Unfinished(name) => format!("{name} with too few arguments"),
            Item::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(Item::type_name).collect();
                format!("({})", parts.join(", "))
            }
            Item::Record(fields) => {
                let field = |(name, item): &(String, Item)| {
                    format!("{}: {}", found(name), item.type_name())
                };
                let fields: Vec<String> = fields.iter().map(field).collect();
                format!("{{{}}}", fields.join(", "))
            }
        }
    }
}

/// Names and their values; a later name shadows an earlier one.
type Locals = Vec<(String, Item)>;

struct Evaluation<'a> {
    env: &'a Env<'a>,
    context: &'a Context,
}

impl Evaluation<'_> {
    fn value(&self, exp: &Exp, locals: &mut Locals) -> CheckResult<Item> {
        match exp {
            Exp::Value(value) => Ok(Item::Constant(value.clone())),
            Exp::Tuple(parts) => self.values(parts, locals).map(Item::Tuple),
            Exp::Record(fields) => {
                let mut evaluated: Vec<(String, Item)> = Vec::new();
                for (name, exp) in fields {
                    if evaluated.iter().any(|(other, _)| other == name) {
                        error!("the script gives a record two fields {}", found(name));
                    }
                    evaluated.push((name.clone(), self.value(exp, locals)?));
                }
                Ok(Item::Record(evaluated))
            }
            Exp::Let(bindings, body) => {
                let outside = locals.len();
                for (names, bound) in bindings {
                    let items = self.value(bound, locals)?.listed();
                    if items.len() != names.len() {
                        error!(
                            "the script binds {} to a value of type {}",
                            found(&names.join(", ")),
                            Item::of_several(items).type_name()
                        );
                    }
                    locals.extend(names.iter().cloned().zip(items));
                }
                let item = self.value(body, locals);
                locals.truncate(outside);
                item
            }
            Exp::Call(name, arguments) => {
                let local = locals.iter().rev().find(|(local, _)| local == name);
                let Some((_, item)) = local else {
                    let arguments = self.values(arguments, locals)?;
                    return match name.starts_with('$') {
                        true => self.builtin(name, &arguments),
                        false => self.call(name, arguments),
                    };
                };
                if arguments.is_empty() {
                    return Ok(item.clone());
                }
                error!("the script calls {}, which is a local name", found(name))
            }
        }
    }

    fn values(&self, exps: &[Exp], locals: &mut Locals) -> CheckResult<Vec<Item>> {
        exps.iter().map(|exp| self.value(exp, locals)).collect()
    }

    fn call(&self, name: &str, mut arguments: Vec<Item>) -> CheckResult<Item> {
        let program = self.env.program();
        let entry = program.entry(name).ok_or_else(|| {
            Stop::error(format!(
                "the script calls {}, which is not an entry point",
                found(name)
            ))
        })?;
        // One tuple can supply all parameters.
        if let [Item::Tuple(parts)] = &mut arguments[..]
            && parts.len() == entry.inputs.len()
        {
            arguments = std::mem::take(parts);
        }
        let unfit = || {
            Stop::error(format!(
                "{name}: expected arguments of types {}, got {}",
                parameters(program, entry),
                Item::Tuple(arguments.clone()).type_name()
            ))
        };
        if arguments.len() > entry.inputs.len() {
            return Err(unfit());
        }
        let mut made = Vec::new();
        for (argument, input) in arguments.iter().zip(&entry.inputs) {
            let fitting = self.fitting(argument, input.ty)?.ok_or_else(unfit)?;
            made.push(self.made(fitting)?);
        }
        if made.len() < entry.inputs.len() {
            return Ok(Item::Unfinished(name.to_owned()));
        }
        let outputs = self
            .apply(entry, &made)
            .map_err(|stop| stop.at(&format!("the script's call of {name}")))?;
        let outputs = listed_values(program, entry, outputs)?;
        Ok(Item::of_several(
            outputs.into_iter().map(Item::from_value).collect(),
        ))
    }

    fn apply(&self, entry: &EntryPoint, arguments: &[Rc<Made>]) -> CheckResult<Vec<Value>> {
        let (consumed, observed): (Vec<_>, Vec<_>) = arguments
            .iter()
            .zip(&entry.inputs)
            .partition(|(_, input)| input.unique);
        // These first, so that a value that the call also observes is an error.
        let consumed = consumed.iter().map(|(made, _)| made.take());
        let consumed: Vec<Value> = consumed.collect::<CheckResult<_>>()?;
        let observed = observed.iter().map(|(made, _)| made.get());
        let observed: Vec<Ref<'_, Value>> = observed.collect::<CheckResult<_>>()?;
        let (mut consumed, mut observed) = (consumed.into_iter(), observed.iter());
        let arguments = entry.inputs.iter().filter_map(|input| match input.unique {
            true => consumed.next().map(Arg::Consume),
            false => observed.next().map(|value| Arg::Borrow(value)),
        });
        let outputs = self.context.call(&entry.name, arguments.collect())?;
        // A device may report a failure only at a sync.
        self.context.sync()?;
        Ok(outputs)
    }

    /// The value, converted to a type if that is possible.
    fn fitting(&self, item: &Item, ty: TypeRef) -> CheckResult<Option<Item>> {
        let program = self.env.program();
        let wanted = program.name_of(ty);
        if item.is_of(wanted) {
            return Ok(Some(item.clone()));
        }
        if let Item::Constant(value) = item {
            let fitting = elem_of(program, ty)
                .filter(|(_, rank)| *rank == value.shape().len())
                .and_then(|(elem, _)| adapted(value, elem));
            return Ok(fitting.map(Item::Constant));
        }
        let Some(record) = record_named(program, wanted) else {
            return Ok(None);
        };
        let parts = match item {
            Item::Tuple(parts) if record.is_tuple() && parts.len() == record.fields.len() => {
                Some(parts.clone())
            }
            Item::Record(fields) => {
                let part = |field: &Field| {
                    let found = fields.iter().find(|(name, _)| *name == field.name);
                    found.map(|(_, item)| item.clone())
                };
                record.fields.iter().map(part).collect()
            }
            Item::Made(made) => self.same_fields(made, record)?,
            _ => None,
        };
        let Some(parts) = parts else {
            return Ok(None);
        };
        let mut fields = Vec::new();
        for (part, field) in parts.iter().zip(&record.fields) {
            let Some(fitting) = self.fitting(part, field.ty)? else {
                return Ok(None);
            };
            fields.push(self.made(fitting)?);
        }
        let fields: Vec<Ref<'_, Value>> = fields
            .iter()
            .map(|made| made.get())
            .collect::<CheckResult<_>>()?;
        let fields: Vec<&Value> = fields.iter().map(|value| &**value).collect();
        let made = self.context.record(wanted, &fields)?;
        Ok(Some(Item::from_value(Value::Opaque(made))))
    }

    /// The fields of a value whose type is a named record.
    fn same_fields(&self, made: &Made, record: &Record) -> CheckResult<Option<Vec<Item>>> {
        let own = record_named(self.env.program(), &made.type_name);
        let field = |field: &Field| (field.name.clone(), field.ty);
        let alike = |own: &Record| {
            own.fields
                .iter()
                .map(field)
                .eq(record.fields.iter().map(field))
        };
        let value = made.get()?;
        match &*value {
            Value::Opaque(opaque) if own.is_some_and(alike) => {
                let project = |field: &Field| Ok(Item::from_value(opaque.project(&field.name)?));
                let parts = record.fields.iter().map(project);
                parts.collect::<CheckResult<_>>().map(Some)
            }
            _ => Ok(None),
        }
    }

    fn made(&self, item: Item) -> CheckResult<Rc<Made>> {
        match item {
            Item::Made(made) => Ok(made),
            Item::Constant(value) => Ok(Made::new(upload(self.context, &value)?)),
            item => error!(
                "the script gives {}, which is not a single value",
                item.type_name()
            ),
        }
    }

    fn builtin(&self, name: &str, arguments: &[Item]) -> CheckResult<Item> {
        if !matches!(name, "$loaddata" | "$loadbytes") {
            error!(
                "the script calls {}, which is not a builtin function",
                found(name)
            );
        }
        let text = match arguments {
            [Item::Constant(value)] => Some(value.clone()),
            [Item::Made(made)] if made.type_name == "[]u8" => Some(download(&*made.get()?)?),
            _ => None,
        };
        let text = text.filter(|text| text.elem() == ElemType::U8 && text.shape().len() == 1);
        let file = text.and_then(|text| String::from_utf8(text.bytes().to_vec()).ok());
        let file = file.map(PathBuf::from);
        let file =
            file.ok_or_else(|| Stop::error(format!("{name}: expected a file name as a string")))?;
        if name == "$loadbytes" {
            let contents = load(self.env, &file)?;
            let bytes = HostValue::new(ElemType::U8, vec![contents.len()], contents);
            return Ok(Item::Constant(bytes));
        }
        let values = values_in(self.env, &file, &[])?.into_iter();
        Ok(Item::of_several(values.map(Item::Constant).collect()))
    }
}

fn parameters(program: &Program, entry: &EntryPoint) -> String {
    let names = entry.inputs.iter().map(|input| program.name_of(input.ty));
    format!("({})", names.collect::<Vec<_>>().join(", "))
}

fn record_named<'a>(program: &'a Program, name: &str) -> Option<&'a Record> {
    program.get(program.type_named(name)?).as_record()
}

/// A constant of another type: a signed integer converts to every other integer type and to floats.
fn adapted(value: &HostValue, elem: ElemType) -> Option<HostValue> {
    use ElemType::{F32, F64, I8, I16, I32, I64};
    let is_signed = |elem| matches!(elem, I8 | I16 | I32 | I64);
    if !is_signed(value.elem()) || !is_signed(elem) && !matches!(elem, F32 | F64) {
        return None;
    }
    // Wraps and rounds to the type.
    let bits = (0..value.count()).map(|index| match value.whole(index) {
        number if elem == F32 => u64::from((number as f32).to_bits()),
        number if elem == F64 => (number as f64).to_bits(),
        number => number as u64,
    });
    Some(HostValue::of_bits(elem, value.shape(), bits))
}
