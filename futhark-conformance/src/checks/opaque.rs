//! The check `opaque`: records, sums and arrays of them, by the algebra of
//! their operations, and what all opaque values can do: be stored and restored.

use super::bridge::Snapshot;
use super::env::Env;
use super::make::{Maker, Random, refs};
use crate::child::steps::{StepResult, Steps, Stop};
use futhark_manifest::{Field, Program, Structure, Sum, TypeRef, Variant};
use futhark_safe::dynamic::{Context, Opaque, Value};

/// How many elements made arrays have in each dimension.
const EXTENT: usize = 3;

/// Every opaque type, by its structure.
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
                    fields(&Test { env, context, name }, &record.fields)
                });
            }
            Structure::Sum(sum) => {
                for variant in &sum.variants {
                    let case = format!("sum {name}, variant {}", variant.name);
                    env.step(steps, "opaque", &case, |context| {
                        self::variant(&Test { env, context, name }, sum, variant)
                    });
                }
            }
            Structure::RecordArray(array) => {
                let case = format!("array {name}");
                env.step(steps, "opaque", &case, |context| {
                    let test = Test { env, context, name };
                    zipped(&test, &array.fields, array.rank, array.elem)?;
                    mismatch(&test, &array.fields)
                });
            }
            Structure::OpaqueArray(array) => {
                let case = format!("array {name}");
                env.step(steps, "opaque", &case, |context| {
                    let whole = Test { env, context, name }.maker(EXTENT).value(ty)?;
                    let whole = as_opaque(&whole)?;
                    let shape = whole.shape()?;
                    has_rank(&shape, array.rank)?;
                    elements(program, array.elem, whole, &shape)
                });
            }
            Structure::Plain => {}
        }
        if opaque.ops.store.is_some() && opaque.ops.restore.is_some() {
            let case = format!("store {name}");
            env.step(steps, "opaque", &case, |context| {
                store(&Test { env, context, name }, ty)
            });
        }
    }
}

/// One type in one context.
struct Test<'a> {
    env: &'a Env<'a>,
    context: &'a Context,
    name: &'a str,
}

impl<'a> Test<'a> {
    fn program(&self) -> &'a Program {
        self.env.program()
    }

    fn maker(&self, extent: usize) -> Maker<'a> {
        Maker::new(
            self.env.program(),
            self.context,
            Random::new(self.env.seed, self.name),
            extent,
        )
    }

    /// The contents of values that will go into a whole.
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

    /// Whether fields have these contents.
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

/// A record gives back the fields that it was made of, each one, twice.
fn fields(test: &Test<'_>, fields: &[Field]) -> StepResult {
    let values = test.maker(EXTENT).fields(fields)?;
    let contents = test.contents(fields.iter().map(|field| field.ty), &values)?;
    let whole = test.context.record(test.name, &refs(&values))?;
    test.check_fields(&whole, fields, &contents)?;
    // The record does not depend on the handles that it was made of.
    drop(values);
    test.check_fields(&whole, fields, &contents)?;
    if whole.project("no such field").is_ok() {
        return Err(Stop::mismatch("a field that does not exist was projected"));
    }
    if !fields.is_empty() && test.context.record(test.name, &[]).is_ok() {
        return Err(Stop::mismatch("a record was made of no fields"));
    }
    Ok(())
}

/// A sum knows its variant, gives its payload back, and refuses to be taken
/// for another one.
fn variant(test: &Test<'_>, sum: &Sum, variant: &Variant) -> StepResult {
    let payload = test.maker(EXTENT).values(variant.payload.iter().copied())?;
    let contents = test.contents(variant.payload.iter().copied(), &payload)?;
    let whole = test
        .context
        .sum(test.name, &variant.name, &refs(&payload))?;
    drop(payload);
    for other in sum
        .variants
        .iter()
        .filter(|other| other.name != variant.name)
    {
        if whole.destruct(&other.name).is_ok() {
            return Err(Stop::mismatch(format!(
                "it was destructed as variant {}",
                other.name
            )));
        }
    }
    let said = whole.variant()?;
    if said != variant.name {
        return Err(Stop::mismatch(format!("it says that it is variant {said}")));
    }
    let taken = whole.destruct(&variant.name)?;
    if taken.len() != contents.len() {
        return Err(Stop::mismatch(format!(
            "destructing gave {} parts instead of {}",
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

/// An array of records gives back the arrays that it was zipped of, has their
/// outer shape, and its elements are made of their elements.
fn zipped(test: &Test<'_>, fields: &[Field], rank: usize, elem: TypeRef) -> StepResult {
    for extent in [EXTENT, 1, 0] {
        let values = test.maker(extent).fields(fields)?;
        let contents = test.contents(fields.iter().map(|field| field.ty), &values)?;
        let whole = test.context.zip(test.name, &refs(&values))?;
        let at = |stop: Stop| stop.at(&format!("with {extent} elements in each dimension"));
        let shape = whole.shape()?;
        has_rank(&shape, rank)?;
        if !fields.is_empty() && shape != vec![extent; rank] {
            return Err(at(Stop::mismatch(format!("it has shape {shape:?}"))));
        }
        test.check_fields(&whole, fields, &contents).map_err(at)?;
        elements(test.program(), elem, &whole, &shape).map_err(at)?;
        parts_of_elements(test.program(), fields, elem, &whole, &shape).map_err(at)?;
    }
    Ok(())
}

/// The fields of an element are the elements of the fields.
fn parts_of_elements(
    program: &Program,
    fields: &[Field],
    elem: TypeRef,
    whole: &Opaque,
    shape: &[usize],
) -> StepResult {
    let record = elem.as_type().and_then(|id| program.get(id).as_record());
    let Some(record) = record else { return Ok(()) };
    for index in positions(shape) {
        let element = whole.index(&index)?;
        let element = as_opaque(&element)?;
        for (of_whole, of_element) in fields.iter().zip(&record.fields) {
            // Only scalar fields can be compared without a slice operation.
            let (Value::Array(column), TypeRef::Scalar(_)) =
                (whole.project(&of_whole.name)?, of_element.ty)
            else {
                continue;
            };
            let expected = column.index(&index)?;
            let Value::Scalar(actual) = element.project(&of_element.name)? else {
                return Err(Stop::mismatch(format!(
                    "field {} of an element is no scalar",
                    of_element.name
                )));
            };
            if actual.to_bytes() != expected.to_bytes() {
                let (expected, actual) = (expected.to_bytes(), actual.to_bytes());
                return Err(Stop::mismatch(format!(
                    "field {} at {index:?}: expected {expected:?}, got {actual:?}",
                    of_element.name
                )));
            }
        }
    }
    Ok(())
}

/// Arrays of different size are not zipped.
fn mismatch(test: &Test<'_>, fields: &[Field]) -> StepResult {
    if fields.len() < 2 {
        return Ok(());
    }
    let mut values = test.maker(EXTENT).fields(fields)?;
    let last = fields.len() - 1;
    values[last] = test.maker(EXTENT + 1).value(fields[last].ty)?;
    match test.context.zip(test.name, &refs(&values)) {
        Ok(_) => Err(Stop::mismatch("arrays of different size were zipped")),
        Err(_) => Ok(()),
    }
}

/// Elements can be taken at every position inside, are the same each time, and
/// cannot be taken outside.
fn elements(program: &Program, elem: TypeRef, whole: &Opaque, shape: &[usize]) -> StepResult {
    for index in positions(shape) {
        let first = Snapshot::take(program, elem, &whole.index(&index)?);
        let at = |stop: Stop| stop.at(&format!("element {index:?}"));
        match first {
            Ok(first) => first
                .check(program, elem, &whole.index(&index)?)
                .map_err(at)?,
            Err(Stop::Skip { .. }) => {}
            Err(stop) => return Err(at(stop)),
        }
    }
    for (dim, &extent) in shape.iter().enumerate() {
        let extent = i64::try_from(extent).unwrap_or(i64::MAX);
        for wrong in [extent, -1, i64::MAX, i64::MIN] {
            let mut index = vec![0; shape.len()];
            index[dim] = wrong;
            if whole.index(&index).is_ok() {
                return Err(Stop::mismatch(format!(
                    "index {index:?} of shape {shape:?} was accepted"
                )));
            }
        }
    }
    Ok(())
}

/// What is restored is stored again as the same bytes, and is as good as what
/// was stored.
fn store(test: &Test<'_>, ty: TypeRef) -> StepResult {
    let value = test.maker(EXTENT).value(ty)?;
    let value = as_opaque(&value)?;
    let stored = value.store()?;
    let restored = test.context.restore(&stored)?;
    if restored.type_name() != test.name {
        return Err(Stop::mismatch(format!(
            "it was restored as a value of type {}",
            restored.type_name()
        )));
    }
    let before = Snapshot::Stored(stored.body().to_vec());
    let again = Snapshot::Stored(restored.store()?.body().to_vec());
    before
        .same(&again)
        .map_err(|stop| stop.at("after restoring"))?;
    let still = Snapshot::Stored(value.store()?.body().to_vec());
    before
        .same(&still)
        .map_err(|stop| stop.at("storing changed the value"))
}

fn has_rank(shape: &[usize], rank: usize) -> StepResult {
    if shape.len() == rank {
        return Ok(());
    }
    Err(Stop::mismatch(format!(
        "its shape {shape:?} does not have rank {rank}"
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

/// Every position of a small array, the first ones of a larger one.
fn positions(shape: &[usize]) -> impl Iterator<Item = Vec<i64>> {
    let count: usize = shape.iter().product();
    let shape = shape.to_vec();
    (0..count.min(64)).map(move |flat| {
        let index = crate::compare::position(&shape, flat);
        index
            .into_iter()
            .map(|place| i64::try_from(place).unwrap_or(i64::MAX))
            .collect()
    })
}
