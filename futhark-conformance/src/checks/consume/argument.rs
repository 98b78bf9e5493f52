//! Makes the argument of a trial, and the values that may share memory with it.

use super::trial::Trial;
use super::way::{Way, ways};
use crate::harness::calls;
use crate::harness::cases::known_inputs;
use crate::harness::costs::Origin;
use crate::harness::make::{Maker, Random, refs};
use crate::harness::snapshot::{Held, Snapshot};
use crate::harness::steps::{StepResult, Stop};
use crate::harness::transfer::upload;
use futhark_manifest::{EntryPoint, Field, TypeId, TypeRef, Variant};
use futhark_safe::dynamic::Value;

/// The extent of each dimension of generated arrays.
const EXTENT: usize = 3;

impl Trial<'_> {
    /// Makes the argument, and holds the values that may share memory with it.
    pub(super) fn make(
        &self,
        way: &Way<'_>,
        ty: TypeRef,
        fresh: Value,
        held: &mut Held<'_>,
    ) -> StepResult<Value> {
        let what = format!(
            "the held value (argument: {})",
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
                // Both results may share memory.
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
                        "destructing returned {} parts, expected {}",
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

    /// A second handle to the memory of a value, and the value itself, if the program has a way to
    /// get one. An entry point that returns its argument may have copied it, which cannot be
    /// observed.
    pub(super) fn alias(&self, ty: TypeRef, mut value: Value) -> StepResult<(Value, Value)> {
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

    /// A snapshot of a result that may be a constant of the program.
    pub(super) fn constant(&self, way: &Way<'_>) -> StepResult<Option<Snapshot>> {
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

    /// Arguments for the entry point, the same on each call: those of a test case that succeeds, or
    /// generated ones.
    pub(super) fn arguments(&self) -> StepResult<Vec<Value>> {
        self.arguments_of(self.entry)
    }

    fn arguments_of(&self, entry: &EntryPoint) -> StepResult<Vec<Value>> {
        let origin = self.env.costs.origin(self.env, entry)?;
        match known_inputs(self.env, entry).filter(|_| origin == Origin::TestBlock) {
            Some(inputs) => inputs
                .iter()
                .map(|value| upload(self.context, value))
                .collect(),
            None => self.maker().arguments(entry),
        }
    }

    fn maker(&self) -> Maker<'_> {
        Maker::new(
            self.env,
            self.context,
            Random::new(self.env.seed, "consume"),
            EXTENT,
        )
    }

    /// Passes a value to another entry point. Returns the result and the value.
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
                "{} accepts no known arguments: {error}",
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

    /// A generator of arrays with the outer size of `value`, because the parts of a value may have
    /// to agree in size.
    fn others_like(&self, value: &Value) -> Maker<'_> {
        let extent = match value {
            Value::Array(array) => array.shape().first().copied().unwrap_or(EXTENT),
            Value::Scalar(_) | Value::Opaque(_) => EXTENT,
        };
        Maker::new(
            self.env,
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
        held.hold(format!("part {number} of a value"), ty, part)?;
    }
    Ok(())
}

fn not_opaque() -> Stop {
    Stop::mismatch("a value of an opaque type is not opaque")
}
