//! The check `opaque`: operations on records, sums and arrays of them.

mod elements;

use crate::harness::env::Env;
use crate::harness::make::{Maker, Random, refs};
use crate::harness::snapshot::Snapshot;
use crate::harness::steps::{StepResult, Steps, Stop};
use elements::{bytes_of_elements, elements, made_of_elements, parts_of_elements};
use futhark_manifest::{Field, Program, Structure, Sum, TypeRef, Variant};
use futhark_safe::dynamic::{Context, Opaque, Value};

/// The extent of each dimension of generated arrays.
const EXTENT: usize = 3;

/// The number of values to make of each type. Two parts that are swapped may be equal by chance,
/// but not in each of them.
const ROUNDS: usize = 4;

/// Runs a step for every opaque type, by its structure.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    let program = env.program();
    for (id, described) in program.types_with_ids() {
        let Some(opaque) = described.as_opaque() else {
            continue;
        };
        let (name, ty) = (described.name.as_str(), TypeRef::Type(id));
        match &opaque.structure {
            Structure::Record(record) => {
                let case = format!("record {name}");
                env.step(steps, "opaque", &case, |context| {
                    rounds(env, context, name, |test| fields(test, &record.fields))
                });
            }
            Structure::Sum(sum) => {
                for variant in &sum.variants {
                    let case = format!("sum {name}, variant {}", variant.name);
                    env.step(steps, "opaque", &case, |context| {
                        rounds(env, context, name, |test| self::variant(test, sum, variant))
                    });
                }
            }
            Structure::RecordArray(array) => {
                let case = format!("array {name}");
                env.step(steps, "opaque", &case, |context| {
                    let test = Test::new(env, context, name);
                    zipped(&test, &array.fields, array.rank, array.elem)?;
                    mismatch(&test, &array.fields)?;
                    let has_bytes = opaque.ops.store.is_some();
                    whole_and_elements(&test, ty, array.elem, array.new.is_some(), has_bytes)
                });
            }
            Structure::OpaqueArray(array) => {
                let case = format!("array {name}");
                env.step(steps, "opaque", &case, |context| {
                    let test = Test::new(env, context, name);
                    let whole = test.maker(EXTENT).value(ty)?;
                    has_rank(&as_opaque(&whole)?.shape()?, array.rank)?;
                    let has_bytes = opaque.ops.store.is_some();
                    whole_and_elements(&test, ty, array.elem, array.new.is_some(), has_bytes)
                });
            }
            Structure::Plain => {}
        }
    }
}

/// Repeats a test with different parts.
fn rounds(
    env: &Env<'_>,
    context: &Context,
    name: &str,
    test: impl Fn(&Test<'_>) -> StepResult,
) -> StepResult {
    (0..ROUNDS).try_for_each(|round| {
        test(&Test {
            round,
            ..Test::new(env, context, name)
        })
    })
}

/// The test of one type in one context.
struct Test<'a> {
    env: &'a Env<'a>,
    context: &'a Context,
    name: &'a str,
    round: usize,
}

impl<'a> Test<'a> {
    fn new(env: &'a Env<'a>, context: &'a Context, name: &'a str) -> Test<'a> {
        Test {
            env,
            context,
            name,
            round: 0,
        }
    }

    fn program(&self) -> &'a Program {
        self.env.program()
    }

    fn maker(&self, extent: usize) -> Maker<'a> {
        Maker::new(
            self.env,
            self.context,
            Random::new(self.env.seed, &format!("{} {}", self.name, self.round)),
            extent,
        )
    }

    /// Snapshots of the parts that a value will be made of.
    fn contents(
        &self,
        types: impl Iterator<Item = TypeRef>,
        values: &[Value],
    ) -> StepResult<Vec<Snapshot>> {
        types
            .zip(values)
            .map(|(ty, value)| Snapshot::take(self.program(), ty, value))
            .collect()
    }

    /// Compares fields with these contents.
    fn check_fields(&self, whole: &Opaque, fields: &[Field], contents: &[Snapshot]) -> StepResult {
        fields
            .iter()
            .zip(contents)
            .try_for_each(|(field, contents)| {
                let value = whole.project(&field.name)?;
                contents
                    .check(self.program(), field.ty, &value)
                    .map_err(|stop| stop.at(&format!("field {}", field.name)))
            })
    }
}

/// Projecting a record, twice, must return the fields that it was made of.
fn fields(test: &Test<'_>, fields: &[Field]) -> StepResult {
    let values = test.maker(EXTENT).fields(fields)?;
    let contents = test.contents(fields.iter().map(|field| field.ty), &values)?;
    let whole = test.context.record(test.name, &refs(&values))?;
    test.check_fields(&whole, fields, &contents)?;
    // The record must not depend on the handles that it was made of.
    drop(values);
    test.check_fields(&whole, fields, &contents)?;
    if whole.project("no such field").is_ok() {
        return Err(Stop::mismatch("a projection of a missing field succeeded"));
    }
    if !fields.is_empty() && test.context.record(test.name, &[]).is_ok() {
        return Err(Stop::mismatch("a record was created without fields"));
    }
    Ok(())
}

/// A sum must report its variant, return its payload, and refuse to be destructed as another
/// variant.
fn variant(test: &Test<'_>, sum: &Sum, variant: &Variant) -> StepResult {
    let payload = test.maker(EXTENT).values(variant.payload.iter().copied())?;
    let contents = test.contents(variant.payload.iter().copied(), &payload)?;
    let whole = test
        .context
        .sum(test.name, &variant.name, &refs(&payload))?;
    drop(payload);
    let said = whole.variant()?;
    if said != variant.name {
        return Err(Stop::mismatch(format!("the value reports variant {said}")));
    }
    for other in sum
        .variants
        .iter()
        .filter(|other| other.name != variant.name)
    {
        if whole.destruct(&other.name).is_ok() {
            return Err(Stop::mismatch(format!(
                "the value was destructed as variant {}",
                other.name
            )));
        }
    }
    let taken = whole.destruct(&variant.name)?;
    if taken.len() != contents.len() {
        return Err(Stop::mismatch(format!(
            "destructing returned {} parts, expected {}",
            taken.len(),
            contents.len()
        )));
    }
    let parts = variant
        .payload
        .iter()
        .zip(&taken)
        .zip(&contents)
        .enumerate();
    for (number, ((ty, value), contents)) in parts {
        contents
            .check(test.program(), *ty, value)
            .map_err(|stop| stop.at(&format!("part {number}")))?;
    }
    Ok(())
}

/// An array of records must return the arrays that it was zipped from, and have their outer shape;
/// its elements must consist of their elements.
fn zipped(test: &Test<'_>, fields: &[Field], rank: usize, elem: TypeRef) -> StepResult {
    for extent in [EXTENT, 1, 0] {
        let values = test.maker(extent).fields(fields)?;
        let contents = test.contents(fields.iter().map(|field| field.ty), &values)?;
        let whole = test.context.zip(test.name, &refs(&values))?;
        let at = |stop: Stop| stop.at(&format!("with {extent} elements in each dimension"));
        let shape = whole.shape()?;
        has_rank(&shape, rank)?;
        if !fields.is_empty() && shape != vec![extent; rank] {
            return Err(at(Stop::mismatch(format!("the value has shape {shape:?}"))));
        }
        test.check_fields(&whole, fields, &contents).map_err(at)?;
        elements(test.program(), elem, &whole, &shape).map_err(at)?;
        parts_of_elements(test.program(), fields, elem, &whole, &shape).map_err(at)?;
    }
    Ok(())
}

/// Zipping must refuse arrays of different sizes, without an effect on later calls.
fn mismatch(test: &Test<'_>, fields: &[Field]) -> StepResult {
    if fields.len() < 2 {
        return Ok(());
    }
    for (place, field) in fields.iter().enumerate() {
        let mut values = test.maker(EXTENT).fields(fields)?;
        for other in [EXTENT + 1, EXTENT - 1, 0] {
            let right = std::mem::replace(&mut values[place], test.maker(other).value(field.ty)?);
            if test.context.zip(test.name, &refs(&values)).is_ok() {
                return Err(Stop::mismatch(format!(
                    "extents of {EXTENT} were zipped with {other} in field {}",
                    field.name
                )));
            }
            test.context.sync()?;
            values[place] = right;
        }
        drop(test.context.zip(test.name, &refs(&values))?);
    }
    Ok(())
}

/// Checks that apply to every array of opaque values.
fn whole_and_elements(
    test: &Test<'_>,
    ty: TypeRef,
    elem: TypeRef,
    can_be_made: bool,
    has_bytes: bool,
) -> StepResult {
    let value = test.maker(EXTENT).value(ty)?;
    let whole = as_opaque(&value)?;
    let shape = whole.shape()?;
    elements(test.program(), elem, whole, &shape)?;
    if has_bytes {
        bytes_of_elements(whole, &shape)?;
    }
    made_of_elements(
        test.program(),
        test.context,
        (ty, elem),
        &value,
        can_be_made,
    )
}

fn has_rank(shape: &[usize], rank: usize) -> StepResult {
    if shape.len() == rank {
        return Ok(());
    }
    Err(Stop::mismatch(format!(
        "the shape {shape:?} does not have rank {rank}"
    )))
}

fn as_opaque(value: &Value) -> StepResult<&Opaque> {
    match value {
        Value::Opaque(opaque) => Ok(opaque),
        Value::Scalar(_) | Value::Array(_) => {
            Err(Stop::mismatch("a value of an opaque type is not opaque"))
        }
    }
}
