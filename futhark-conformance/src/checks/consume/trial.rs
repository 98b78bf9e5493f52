//! One trial: an argument is made in one way, consumed, and everything that is
//! still held is looked at.

use super::{Way, ways};
use crate::harness::calls;
use crate::harness::cases::known_inputs;
use crate::harness::env::Env;
use crate::harness::make::{Maker, Random, refs};
use crate::harness::snapshot::{Held, Snapshot};
use crate::harness::steps::{StepResult, Stop};
use crate::harness::transfer::upload;
use futhark_manifest::{EntryPoint, Field, TypeId, TypeRef, Variant};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Value};

/// How many elements made arrays have in each dimension.
const EXTENT: usize = 3;

/// One parameter of one entry point, in one context.
pub(super) struct Trial<'a> {
    pub(super) env: &'a Env<'a>,
    pub(super) context: &'a Context,
    pub(super) entry: &'a EntryPoint,
    pub(super) place: usize,
}

impl Trial<'_> {
    /// Makes the argument in this way, and consumes it.
    pub(super) fn run(&self, way: &Way<'_>) -> StepResult {
        if let Way::Twice(other) = *way {
            return self.twice(other);
        }
        let program = self.env.program();
        let ty = self.entry.inputs[self.place].ty;
        let mut held = Held::new(program);
        // What was returned earlier must keep its contents too. This call also
        // tells whether the entry point accepts the arguments at all.
        let earlier = self.call(self.arguments()?);
        let earlier = earlier.map_err(|error| {
            Stop::skip(format!("no arguments are known that it accepts: {error}"))
        })?;
        for (value, output) in earlier.into_iter().zip(&self.entry.outputs) {
            held.hold("the result of an earlier call", output.ty, value)?;
        }
        // A constant of the program must be the same when asked for again.
        let constant = self.constant(way)?;
        let mut arguments = self.arguments()?;
        let fresh = arguments.remove(self.place);
        let consumed = self.make(way, ty, fresh, &mut held)?;
        arguments.insert(self.place, consumed);
        self.consume(arguments, &mut held)?;
        held.check()?;
        match (constant, self.constant(way)?) {
            (Some(before), Some(now)) => before
                .same(&now)
                .map_err(|stop| stop.at(&format!("what {} differs now", way.describe(program)))),
            _ => Ok(()),
        }
    }

    /// Makes the argument, and holds what it may share memory with.
    fn make(
        &self,
        way: &Way<'_>,
        ty: TypeRef,
        fresh: Value,
        held: &mut Held<'_>,
    ) -> StepResult<Value> {
        let what = format!(
            "the whole of which it was {}",
            way.describe(self.env.program())
        );
        match *way {
            Way::Fresh | Way::Twice(_) => Ok(fresh),
            Way::Passed(entry, input, output) => {
                let (result, fresh) = self.through(entry, input, output, fresh)?;
                held.hold(
                    format!("the value that was passed to {}", entry.name),
                    ty,
                    fresh,
                )?;
                Ok(result)
            }
            Way::Passing(entry, input, output) => {
                let (result, fresh) = self.through(entry, input, output, fresh)?;
                held.hold(format!("the result of {}", entry.name), ty, result)?;
                Ok(fresh)
            }
            Way::Produced(entry, output) => {
                let value = self.produced(entry, output)?;
                // The second one may be the same memory as the first.
                held.hold(
                    format!("another result of {}", entry.name),
                    ty,
                    self.produced(entry, output)?,
                )?;
                Ok(value)
            }
            Way::Field(id, fields, place) => {
                let (whole, parts) = self.whole_of_fields(id, fields, place, fresh)?;
                held.hold(what, TypeRef::Type(id), whole)?;
                self.keep_all_but(place, parts, fields.iter().map(|field| field.ty), held)
            }
            Way::Projected(id, fields, place) => {
                let (whole, parts) = self.whole_of_fields(id, fields, place, fresh)?;
                let Value::Opaque(opaque) = &whole else {
                    return Err(not_opaque());
                };
                let value = opaque.project(&fields[place].name)?;
                held.hold(what, TypeRef::Type(id), whole)?;
                hold_parts(parts, fields.iter().map(|field| field.ty), held)?;
                Ok(value)
            }
            Way::Payload(id, variant, place) => {
                let (whole, parts) = self.whole_of_payload(id, variant, place, fresh)?;
                held.hold(what, TypeRef::Type(id), whole)?;
                self.keep_all_but(place, parts, variant.payload.iter().copied(), held)
            }
            Way::Destructed(id, variant, place) => {
                let (whole, parts) = self.whole_of_payload(id, variant, place, fresh)?;
                let Value::Opaque(opaque) = &whole else {
                    return Err(not_opaque());
                };
                let mut taken = opaque.destruct(&variant.name)?;
                if taken.len() != variant.payload.len() {
                    return Err(Stop::mismatch(format!(
                        "destructing gave {} parts instead of {}",
                        taken.len(),
                        variant.payload.len()
                    )));
                }
                held.hold(what, TypeRef::Type(id), whole)?;
                hold_parts(parts, variant.payload.iter().copied(), held)?;
                Ok(taken.swap_remove(place))
            }
            Way::OfFields(fields) => {
                let parts = self.maker().fields(fields)?;
                let Some(id) = ty.as_type() else {
                    return Err(not_opaque());
                };
                let whole = self.assemble(id, &parts)?;
                hold_parts(parts, fields.iter().map(|field| field.ty), held)?;
                Ok(whole)
            }
            Way::OfPayload(variant) => {
                let parts = self.maker().values(variant.payload.iter().copied())?;
                let name = self.env.program().name_of(ty);
                let whole = self.context.sum(name, &variant.name, &refs(&parts))?;
                hold_parts(parts, variant.payload.iter().copied(), held)?;
                Ok(Value::Opaque(whole))
            }
        }
    }

    /// Calls the entry point under test; the arguments that it only observes
    /// must keep their contents as well. That it refuses what was made is no
    /// failure: nothing may change even so.
    fn consume(&self, arguments: Vec<Value>, held: &mut Held<'_>) -> StepResult {
        let program = self.env.program();
        let inputs = &self.entry.inputs;
        // Taken of all arguments: which of them are consumed, the call knows.
        let before: Vec<_> = arguments
            .iter()
            .zip(inputs)
            .map(|(value, input)| Snapshot::take(program, input.ty, value))
            .collect();
        let (result, kept) = calls::call(self.context, self.entry, arguments);
        if let Err(error) = &result
            && error.kind() == ErrorKind::ContextLost
        {
            return Err(Stop::error(format!("with such an argument, {error}")));
        }
        for ((value, before), input) in kept.iter().zip(&before).zip(inputs) {
            if let (Some(value), Ok(before)) = (value, before) {
                let place = format!("the argument {}, after the call", input.name);
                before
                    .check(program, input.ty, value)
                    .map_err(|stop| stop.at(&place))?;
            }
        }
        if let Ok(outputs) = result {
            calls::check_count(self.entry, &outputs)?;
            for (value, output) in outputs.into_iter().zip(&self.entry.outputs) {
                held.hold("the result", output.ty, value)?;
            }
        }
        Ok(())
    }

    /// The same memory as two arguments must give what two copies give.
    fn twice(&self, other: usize) -> StepResult {
        let program = self.env.program();
        let ty = self.entry.inputs[self.place].ty;
        let contents = |outputs: Vec<Value>| -> StepResult<Vec<Snapshot>> {
            let outputs = outputs.iter().zip(&self.entry.outputs);
            outputs
                .map(|(value, output)| Snapshot::take(program, output.ty, value))
                .collect()
        };
        let mut copies = self.arguments()?;
        copies[other] = self.arguments()?.swap_remove(self.place);
        let refused = |error| Stop::skip(format!("it does not accept equal arguments: {error}"));
        let expected = contents(self.call(copies).map_err(refused)?)?;

        let mut arguments = self.arguments()?;
        let value = arguments.remove(self.place);
        let (alias, value) = self.alias(ty, value)?;
        arguments.insert(self.place, value);
        arguments[other] = alias;
        let actual = contents(self.call(arguments)?)?;
        for (number, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
            expected.same(actual).map_err(|stop| {
                stop.at(&format!("result {number}, compared with that of copies"))
            })?;
        }
        Ok(())
    }

    /// Another handle to the same memory, as far as the program has a way to
    /// get one, and the value back. An entry point that returns what it got
    /// has the contents in common; whether it copied, nobody can see.
    fn alias(&self, ty: TypeRef, mut value: Value) -> StepResult<(Value, Value)> {
        let program = self.env.program();
        let contents = Snapshot::take(program, ty, &value)?;
        for way in ways(program, self.entry, self.place) {
            let other = match way {
                Way::Passed(entry, input, output) => {
                    let (result, back) = self.through(entry, input, output, value)?;
                    value = back;
                    result
                }
                Way::Projected(id, fields, place) => {
                    let (whole, mut parts) = self.whole_of_fields(id, fields, place, value)?;
                    value = parts.swap_remove(place);
                    let Value::Opaque(whole) = whole else {
                        return Err(not_opaque());
                    };
                    whole.project(&fields[place].name)?
                }
                _ => continue,
            };
            if contents.check(program, ty, &other).is_ok() {
                return Ok((other, value));
            }
        }
        let name = program.name_of(ty);
        Err(Stop::skip(format!(
            "the program has no way to get a second handle to a value of type {name}"
        )))
    }

    /// What an entry point returns that may be a constant of the program.
    fn constant(&self, way: &Way<'_>) -> StepResult<Option<Snapshot>> {
        let Way::Produced(entry, output) = *way else {
            return Ok(None);
        };
        let value = self.produced(entry, output)?;
        match Snapshot::take(self.env.program(), entry.outputs[output].ty, &value) {
            Ok(contents) => Ok(Some(contents)),
            Err(Stop::Skip { .. }) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    fn call(&self, arguments: Vec<Value>) -> calls::CallResult {
        calls::call(self.context, self.entry, arguments).0
    }

    /// The same arguments each time: those of a test case that succeeds, or
    /// made ones.
    fn arguments(&self) -> StepResult<Vec<Value>> {
        self.arguments_of(self.entry)
    }

    fn arguments_of(&self, entry: &EntryPoint) -> StepResult<Vec<Value>> {
        match known_inputs(self.env, entry) {
            Some(inputs) => inputs
                .iter()
                .map(|value| upload(self.context, value))
                .collect(),
            None => self
                .maker()
                .values(entry.inputs.iter().map(|input| input.ty)),
        }
    }

    fn maker(&self) -> Maker<'_> {
        Maker::new(
            self.env.program(),
            self.context,
            Random::new(self.env.seed, "consume"),
            EXTENT,
        )
    }

    /// Passes a value through another entry point; gives the result, and the
    /// value back.
    fn through(
        &self,
        entry: &EntryPoint,
        input: usize,
        output: usize,
        value: Value,
    ) -> StepResult<(Value, Value)> {
        let mut arguments = self.arguments_of(entry)?;
        arguments[input] = value;
        let (outputs, mut kept) = calls::call(self.context, entry, arguments);
        let refused =
            |error| Stop::skip(format!("{} does not accept the value: {error}", entry.name));
        let mut outputs = outputs.map_err(refused)?;
        calls::check_count(entry, &outputs)?;
        let value = kept[input]
            .take()
            .ok_or_else(|| Stop::error("an observed argument was consumed"))?;
        Ok((outputs.swap_remove(output), value))
    }

    fn produced(&self, entry: &EntryPoint, output: usize) -> StepResult<Value> {
        let (outputs, _) = calls::call(self.context, entry, self.arguments_of(entry)?);
        let refused = |error| {
            Stop::skip(format!(
                "no arguments are known that {} accepts: {error}",
                entry.name
            ))
        };
        let mut outputs = outputs.map_err(refused)?;
        calls::check_count(entry, &outputs)?;
        Ok(outputs.swap_remove(output))
    }

    fn whole_of_fields(
        &self,
        id: TypeId,
        fields: &[Field],
        place: usize,
        value: Value,
    ) -> StepResult<(Value, Vec<Value>)> {
        let mut parts = self.others_like(&value).fields(fields)?;
        parts[place] = value;
        Ok((self.assemble(id, &parts)?, parts))
    }

    fn whole_of_payload(
        &self,
        id: TypeId,
        variant: &Variant,
        place: usize,
        value: Value,
    ) -> StepResult<(Value, Vec<Value>)> {
        let mut parts = self
            .others_like(&value)
            .values(variant.payload.iter().copied())?;
        parts[place] = value;
        let name = &self.env.program().get(id).name;
        let whole = self.context.sum(name, &variant.name, &refs(&parts))?;
        Ok((Value::Opaque(whole), parts))
    }

    /// Makes arrays of the same outer size, which a common type may demand.
    fn others_like(&self, value: &Value) -> Maker<'_> {
        let extent = match value {
            Value::Array(array) => array.shape().first().copied().unwrap_or(EXTENT),
            Value::Scalar(_) | Value::Opaque(_) => EXTENT,
        };
        Maker::new(
            self.env.program(),
            self.context,
            Random::new(self.env.seed, "like"),
            extent,
        )
    }

    fn assemble(&self, id: TypeId, parts: &[Value]) -> StepResult<Value> {
        let described = self.env.program().get(id);
        let whole = if described.as_record().is_some() {
            self.context.record(&described.name, &refs(parts))?
        } else {
            self.context
                .zip(&described.name, &refs(parts))
                .map_err(|error| {
                    Stop::skip(format!(
                        "the value does not fit into {}: {error}",
                        described.name
                    ))
                })?
        };
        Ok(Value::Opaque(whole))
    }

    fn keep_all_but(
        &self,
        place: usize,
        mut parts: Vec<Value>,
        types: impl Iterator<Item = TypeRef>,
        held: &mut Held<'_>,
    ) -> StepResult<Value> {
        let value = parts.remove(place);
        let types = types
            .enumerate()
            .filter(|(other, _)| *other != place)
            .map(|(_, ty)| ty);
        hold_parts(parts, types, held)?;
        Ok(value)
    }
}

fn hold_parts(
    parts: Vec<Value>,
    types: impl Iterator<Item = TypeRef>,
    held: &mut Held<'_>,
) -> StepResult {
    for (number, (part, ty)) in parts.into_iter().zip(types).enumerate() {
        held.hold(format!("part {number} of a whole"), ty, part)?;
    }
    Ok(())
}

fn not_opaque() -> Stop {
    Stop::mismatch("a value of an opaque type has no opaque value")
}
