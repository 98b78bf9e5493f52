//! Generates arguments for entry points without test cases: from a seed, and small, so that calls
//! are fast.

use super::calls;
use super::cases::known_inputs;
use super::constructor::Constructor;
use super::env::Env;
use crate::harness::calls::{upload, upload_all};
use crate::harness::steps::{StepResult, Stop, skip};
use crate::inputs::{self, Random, Taste};
use crate::values::HostValue;
use futhark_manifest::{ElemType, EntryPoint, TypeId, TypeRef};
use futhark_safe::dynamic::{Context, Value};

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

    /// Generates a value of a type.
    ///
    /// # Errors
    /// A skip if the program has no way to make such a value; a failure if an operation fails.
    pub fn value(&mut self, ty: TypeRef) -> StepResult<Value> {
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

    /// Generates values of several types.
    ///
    /// # Errors
    /// As [`Maker::value`].
    pub fn values(&mut self, types: impl IntoIterator<Item = TypeRef>) -> StepResult<Vec<Value>> {
        types.into_iter().map(|ty| self.value(ty)).collect()
    }

    fn of_type(&mut self, ty: TypeRef) -> StepResult<Value> {
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
    fn produced(&mut self, id: TypeId) -> StepResult<Value> {
        let wanted = TypeRef::Type(id);
        let mut last = Stop::skip(format!(
            "no entry point returns a value of type {}",
            self.env.program().get(id).name
        ));
        for entry in self.env.program().entries() {
            let Some(place) = entry.outputs.iter().position(|output| output.ty == wanted) else {
                continue;
            };
            let outputs = self
                .arguments(entry)
                .and_then(|mut arguments| Ok(calls::call(self.context, entry, &mut arguments)?));
            match outputs {
                Ok(mut outputs) => return Ok(outputs.swap_remove(place)),
                // Entry points may refuse generated arguments.
                Err(
                    Stop::Fail {
                        message: reason, ..
                    }
                    | Stop::Skip { reason },
                ) => last = Stop::skip(format!("{} returned none: {reason}", entry.name)),
            }
        }
        Err(last)
    }

    /// Generates arguments of an entry point; for a program with `#[unsafe]`, those of a test block.
    ///
    /// # Errors
    /// As [`Maker::value`]; a skip if no test block shows arguments for a program with `#[unsafe]`.
    pub fn arguments(&mut self, entry: &EntryPoint) -> StepResult<Vec<Value>> {
        let known = match self.env.unchecked {
            Some(_) => known_inputs(self.env, entry),
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

/// References to values, as functions of `futhark_safe::dynamic` take them.
pub fn refs(values: &[Value]) -> Vec<&Value> {
    values.iter().collect()
}
