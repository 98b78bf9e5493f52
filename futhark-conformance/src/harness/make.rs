//! Makes values of the program's types: the operations that make an opaque value of parts and return
//! its parts, and values generated from a seed, which are small, so that calls with them are fast.

use super::calls;
use super::env::Env;
use super::test_cases::known_inputs;
use crate::harness::calls::{upload, upload_all};
use crate::harness::cases::{CheckResult, Stop, skip};
use crate::inputs::{self, Input, Random, Taste};
use crate::values::HostValue;
use futhark_manifest::{ElemType, EntryPoint, Field, Program, Structure, TypeId, TypeRef, Variant};
use futhark_safe::Error;
use futhark_safe::dynamic::{Context, Opaque, Value};

/// A way to make values of an opaque type.
#[derive(Clone, Copy)]
pub struct Constructor<'a> {
    pub id: TypeId,
    pub name: &'a str,
    pub form: Form<'a>,
}

/// What a constructor makes.
#[derive(Clone, Copy)]
pub enum Form<'a> {
    /// A record of its fields.
    Record(&'a [Field]),
    /// An array of records, of one array per field.
    Zip(&'a [Field]),
    /// A variant of a sum, of its payload.
    Variant(&'a Variant),
}

impl<'a> Constructor<'a> {
    /// The constructors of a type: one of a record and of an array of records, one per variant of a
    /// sum, none of other types.
    #[must_use]
    pub fn all_of(program: &'a Program, id: TypeId) -> Vec<Constructor<'a>> {
        let described = program.get(id);
        let forms = match described.as_opaque().map(|opaque| &opaque.structure) {
            Some(Structure::Record(record)) => vec![Form::Record(&record.fields)],
            Some(Structure::RecordArray(array)) => vec![Form::Zip(&array.fields)],
            Some(Structure::Sum(sum)) => sum.variants.iter().map(Form::Variant).collect(),
            _ => Vec::new(),
        };
        let name = described.name.as_str();
        let forms = forms.into_iter();
        forms.map(|form| Constructor { id, name, form }).collect()
    }

    /// The constructor of a value; `None` for a type without one.
    pub fn of_value(
        program: &'a Program,
        id: TypeId,
        value: &Opaque,
    ) -> Result<Option<Constructor<'a>>, Error> {
        let mut all = Constructor::all_of(program, id);
        if let Some(Form::Variant(_)) = all.first().map(|first| first.form) {
            let name = value.variant()?;
            all.retain(|one| matches!(one.form, Form::Variant(variant) if variant.name == name));
        }
        Ok(all.into_iter().next())
    }

    /// What the values are, in messages.
    #[must_use]
    pub fn kind(&self) -> String {
        match self.form {
            Form::Record(_) => "record".to_owned(),
            Form::Zip(_) => "array of records".to_owned(),
            Form::Variant(variant) => format!("variant {}", variant.name),
        }
    }

    /// What the values are as inputs, without parts.
    #[must_use]
    pub fn empty(&self) -> Input {
        match self.form {
            Form::Record(_) => Input::Record(Vec::new()),
            Form::Zip(_) => Input::Zip(Vec::new()),
            Form::Variant(variant) => Input::Sum {
                variant: variant.name.clone(),
                payload: Vec::new(),
            },
        }
    }

    #[must_use]
    pub fn parts(&self) -> Vec<TypeRef> {
        match self.form {
            Form::Record(fields) | Form::Zip(fields) => {
                fields.iter().map(|field| field.ty).collect()
            }
            Form::Variant(variant) => variant.payload.clone(),
        }
    }

    /// The name of a part in messages.
    #[must_use]
    pub fn part_name(&self, index: usize) -> String {
        match self.form {
            Form::Record(fields) | Form::Zip(fields) => format!("field {}", fields[index].name),
            Form::Variant(_) => format!("part {index}"),
        }
    }

    /// Makes a value; an error if the parts of an array of records have different sizes.
    pub fn make(&self, context: &Context, parts: &[Value]) -> Result<Opaque, Error> {
        let parts: Vec<&Value> = parts.iter().collect();
        match self.form {
            Form::Record(_) => context.record(self.name, &parts),
            Form::Zip(_) => context.zip(self.name, &parts),
            Form::Variant(variant) => context.sum(self.name, &variant.name, &parts),
        }
    }

    /// The parts of a value that this constructor has made.
    pub fn take_apart(&self, whole: &Opaque) -> Result<Vec<Value>, Error> {
        match self.form {
            Form::Record(fields) | Form::Zip(fields) => fields
                .iter()
                .map(|field| whole.project(&field.name))
                .collect(),
            Form::Variant(variant) => whole.destruct(&variant.name),
        }
    }
}

/// A value as one of an opaque type; an error if it is a scalar or an array.
pub fn as_opaque(value: &Value) -> CheckResult<&Opaque> {
    match value {
        Value::Opaque(opaque) => Ok(opaque),
        Value::Scalar(_) | Value::Array(_) => {
            Err(Stop::mismatch("a value of an opaque type is not opaque"))
        }
    }
}

/// The maximal depth of nested values. Types are finite, but a value may need the result of an
/// entry point, whose arguments may need another one.
const MAX_DEPTH: usize = 6;

/// Generates values of the program's types in a context.
pub struct Maker<'a> {
    env: &'a Env<'a>,
    context: &'a Context,
    random: Random,
    extent: usize,
    depth: usize,
    is_wild: bool,
}

impl<'a> Maker<'a> {
    /// A generator of arrays with `extent` elements in each dimension; `salt` separates different uses
    /// of the seed.
    #[must_use]
    pub fn new(env: &'a Env<'a>, context: &'a Context, salt: &str, extent: usize) -> Maker<'a> {
        Maker {
            env,
            context,
            random: env.random(salt),
            extent,
            depth: 0,
            is_wild: false,
        }
    }

    /// Generates extreme numbers and any bits, except in arguments of entry points.
    #[must_use]
    pub fn wild(self) -> Maker<'a> {
        Maker {
            is_wild: true,
            ..self
        }
    }

    /// Generates a value of a type; a skip if the program has no way to make one.
    pub fn value(&mut self, ty: TypeRef) -> CheckResult<Value> {
        if self.depth == MAX_DEPTH {
            skip!(
                "found no way to make a value of type {}",
                self.env.program().name_of(ty)
            );
        }
        self.depth += 1;
        let value = self.of_type(ty);
        self.depth -= 1;
        value
    }

    pub fn values(&mut self, types: impl IntoIterator<Item = TypeRef>) -> CheckResult<Vec<Value>> {
        types.into_iter().map(|ty| self.value(ty)).collect()
    }

    fn of_type(&mut self, ty: TypeRef) -> CheckResult<Value> {
        let id = match ty {
            TypeRef::Scalar(elem) => {
                let scalar = self.host(elem, &[]);
                return Ok(upload(self.context, &scalar)?);
            }
            TypeRef::Type(id) => id,
        };
        if let Some(array) = self.env.program().get(id).as_array() {
            let array = self.host(array.elem, &vec![self.extent; array.rank]);
            return Ok(upload(self.context, &array)?);
        }
        let constructors = Constructor::all_of(self.env.program(), id);
        if constructors.is_empty() {
            return self.produced(id);
        }
        // Not every variant may be possible to make, so try them all from a random one.
        let count = constructors.len();
        let first = self.random.usize(..count);
        let mut last = None;
        for constructor in constructors.iter().cycle().skip(first).take(count) {
            match self.values(constructor.parts()) {
                Ok(parts) => return Ok(Value::Opaque(constructor.make(self.context, &parts)?)),
                Err(stop) => last = Some(stop),
            }
        }
        Err(last.unwrap_or_else(|| Stop::skip("the type has no variants")))
    }

    fn host(&mut self, elem: ElemType, shape: &[usize]) -> HostValue {
        match self.is_wild {
            true => inputs::fill(self.random.u64(..), elem, shape, Taste::Wild),
            false => inputs::small(&mut self.random, elem, shape),
        }
    }

    /// A value that an entry point returns.
    fn produced(&mut self, id: TypeId) -> CheckResult<Value> {
        let wanted = TypeRef::Type(id);
        let mut last = Stop::skip(format!(
            "no entry point returns a value of type {}",
            self.env.program().get(id).name
        ));
        for entry in self.env.program().entries() {
            let Some(index) = entry.outputs.iter().position(|output| output.ty == wanted) else {
                continue;
            };
            let outputs = self
                .arguments(entry)
                .and_then(|mut arguments| Ok(calls::call(self.context, entry, &mut arguments)?));
            match outputs {
                Ok(mut outputs) => return Ok(outputs.swap_remove(index)),
                // Entry points may refuse generated arguments.
                Err(Stop::Fail { message, .. } | Stop::Skip { reason: message }) => {
                    last = Stop::skip(format!("{} returned none: {message}", entry.name));
                }
            }
        }
        Err(last)
    }

    /// Generates arguments of an entry point; for a program with `#[unsafe]`, those of a test block, or a skip.
    pub fn arguments(&mut self, entry: &EntryPoint) -> CheckResult<Vec<Value>> {
        let known = match self.env.unchecked {
            Some(_) => known_inputs(self.env, entry).next(),
            None => None,
        };
        if let Some(known) = known {
            return upload_all(self.context, &known);
        }
        self.env.may_generate(&entry.name)?;
        let is_wild = std::mem::replace(&mut self.is_wild, false);
        let arguments = self.values(entry.inputs.iter().map(|input| input.ty));
        self.is_wild = is_wild;
        arguments
    }
}
