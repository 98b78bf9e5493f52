//! The check `opaque`: operations on records, sums and arrays of them.

use super::arrays::outside;
use crate::compare::position;
use crate::harness::cases::{Cases, CheckResult, Stop, ensure};
use crate::harness::content::{Content, Reading, stored_components};
use crate::harness::env::Env;
use crate::harness::make::{Constructor, Form, Maker, as_opaque};
use futhark_manifest::{Structure, TypeRef};
use futhark_safe::dynamic::{Context, Opaque, Value};

/// The extent of each dimension of generated arrays.
const EXTENT: usize = 3;

/// The extent of each dimension of larger arrays of a rank.
const fn larger(rank: usize) -> usize {
    match rank {
        1 => 48,
        2 => 7,
        _ => 4,
    }
}

/// The number of values to make of each type. Two parts that are swapped may be equal by chance,
/// but not in each of them.
const ROUNDS: usize = 4;

/// The number of elements of an array to read.
const MAX_ELEMENTS: usize = 64;

/// Runs a case for every opaque type, by its structure.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let program = env.program();
    for (id, described) in program.types_with_ids() {
        let Some(opaque) = described.as_opaque() else {
            continue;
        };
        let name = described.name.as_str();
        let (elem, rank, can_be_made) = match &opaque.structure {
            Structure::RecordArray(array) => (array.elem, array.rank, array.new.is_some()),
            Structure::OpaqueArray(array) => (array.elem, array.rank, array.new.is_some()),
            Structure::Record(_) | Structure::Sum(_) => {
                for constructor in Constructor::all_of(program, id) {
                    let case = match constructor.form {
                        Form::Variant(variant) => format!("sum {name}, variant {}", variant.name),
                        _ => format!("record {name}"),
                    };
                    cases.run_in_context(env, "opaque", &case, |context| {
                        (0..ROUNDS).try_for_each(|round| {
                            Test::new(env, context, name, round)
                                .parts(&constructor, EXTENT)
                                .map(drop)
                        })
                    });
                }
                continue;
            }
            Structure::Plain => continue,
        };
        cases.run_in_context(env, "opaque", &format!("array {name}"), |context| {
            let test = Test::new(env, context, name, 0);
            for constructor in Constructor::all_of(program, id) {
                test.zip(&constructor, rank)?;
            }
            let ty = TypeRef::Type(id);
            for extent in [EXTENT, larger(rank)] {
                let value = test.maker(extent).value(ty)?;
                let whole = as_opaque(&value)?;
                let shape = whole.shape()?;
                if shape.len() != rank {
                    return Err(wrong_shape(&shape));
                }
                bounds(env, whole, &shape)?;
                if opaque.ops.store.is_some() {
                    bytes_of_elements(whole, &shape)?;
                }
                if can_be_made {
                    test.made_of_elements((ty, elem), &value, &shape)?;
                }
            }
            Ok(())
        });
    }
}

/// The test of one type in one context.
struct Test<'a> {
    env: &'a Env<'a>,
    context: &'a Context,
    seed: String,
}

impl<'a> Test<'a> {
    fn new(env: &'a Env<'a>, context: &'a Context, name: &str, round: usize) -> Test<'a> {
        let seed = format!("{name} {round}");
        Test { env, context, seed }
    }

    fn maker(&self, extent: usize) -> Maker<'a> {
        Maker::new(self.env, self.context, &self.seed, extent).wild()
    }

    /// A value must return the parts that it was made of, and must not depend on the handles that it
    /// was made of, nor on those that it returned before.
    fn parts(&self, constructor: &Constructor<'_>, extent: usize) -> CheckResult<Opaque> {
        let program = self.env.program();
        let parts = self.maker(extent).values(constructor.parts())?;
        let contents = constructor.parts().into_iter().zip(&parts);
        let contents = contents.map(|(ty, part)| Ok((ty, Content::snapshot(program, ty, part)?)));
        let contents: Vec<(TypeRef, Content)> = contents.collect::<CheckResult<_>>()?;
        let whole = constructor.make(self.context, &parts)?;
        drop(parts);
        if let Form::Variant(variant) = constructor.form {
            let actual = whole.variant()?;
            ensure!(actual == variant.name, "the value reports variant {actual}");
        }
        for _ in 0..2 {
            let parts = constructor.take_apart(&whole)?;
            for (number, (part, (ty, contents))) in parts.iter().zip(&contents).enumerate() {
                contents.is_still(program, *ty, part, &constructor.part_name(number))?;
            }
        }
        Ok(whole)
    }

    /// An array of records must have the outer shape of the arrays that it was zipped from. Zipping
    /// must refuse arrays of different sizes, without an effect on later calls.
    fn zip(&self, constructor: &Constructor<'_>, rank: usize) -> CheckResult {
        let types = constructor.parts();
        for extent in [EXTENT, larger(rank), 1, 0] {
            let at = |stop: Stop| stop.at(&format!("with {extent} elements in each dimension"));
            let whole = self.parts(constructor, extent).map_err(at)?;
            let shape = whole.shape()?;
            if !types.is_empty() && shape != vec![extent; rank] {
                return Err(at(wrong_shape(&shape)));
            }
            bounds(self.env, &whole, &shape).map_err(at)?;
        }
        if types.len() < 2 {
            return Ok(());
        }
        for field in 0..types.len() {
            let mut parts = self.maker(EXTENT).values(types.iter().copied())?;
            for other in [EXTENT + 1, EXTENT - 1, 0] {
                let wrong = self.maker(other).value(types[field])?;
                let right = std::mem::replace(&mut parts[field], wrong);
                ensure!(
                    constructor.make(self.context, &parts).is_err(),
                    "extents of {EXTENT} were zipped with {other} in {}",
                    constructor.part_name(field)
                );
                self.context.sync()?;
                parts[field] = right;
            }
            drop(constructor.make(self.context, &parts)?);
        }
        Ok(())
    }

    /// An array made from the elements of another one must be equal to it. Replacing an element must
    /// change only this element, and no other value.
    fn made_of_elements(
        &self,
        (ty, elem): (TypeRef, TypeRef),
        whole: &Value,
        shape: &[usize],
    ) -> CheckResult {
        let program = self.env.program();
        let opaque = as_opaque(whole)?;
        let values = positions(shape).map(|index| opaque.index(&index));
        let values: Vec<Value> = values.collect::<Result<_, _>>()?;
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return Ok(());
        };
        let name = opaque.type_name();
        let made =
            self.context
                .array_from_values_nd(name, shape, &values.iter().collect::<Vec<_>>())?;
        let mut made = Value::Opaque(made);
        let elements =
            |ty, value: &Value| Content::read_from(program, ty, value, Reading::Elements);
        let contents = elements(ty, whole)?;
        let same = |now: &Value, what: &str| {
            let now = elements(ty, now)?;
            contents.same(&now).map_err(|stop| stop.at(what))
        };
        same(&made, "an array made of the elements of another one")?;
        // Replace the last element by the first, and back.
        let index = position(shape, values.len() - 1);
        for element in [first, last] {
            if let Value::Opaque(changed) = &mut made {
                changed.set(&index, element)?;
                elements(elem, element)?
                    .same(&elements(elem, &changed.index(&index)?)?)
                    .map_err(|stop| stop.at("a replaced element"))?;
            }
        }
        same(&made, "an element replaced and restored")?;
        same(whole, "the array that the elements came from")
    }
}

/// An index out of bounds must be refused, by futhark-safe and by the library.
fn bounds(env: &Env<'_>, whole: &Opaque, shape: &[usize]) -> CheckResult {
    for index in outside(&mut env.random("outside"), shape) {
        ensure!(
            whole.index_checked_by_c(&index).is_err() && whole.index(&index).is_err(),
            "index {index:?} of shape {shape:?} was accepted"
        );
    }
    Ok(())
}

/// The stored bytes of an element must be part of the stored bytes of the array: each component of
/// the array contains that of the element at its index.
fn bytes_of_elements(whole: &Opaque, shape: &[usize]) -> CheckResult {
    let body = whole.store()?.body().to_vec();
    let of_whole = stored_components(&body)?;
    let count: usize = shape.iter().product();
    for (flat, index) in positions(shape).take(MAX_ELEMENTS).enumerate() {
        let element = whole.index(&index)?;
        let stored = as_opaque(&element)?.store()?;
        let of_element = stored_components(stored.body())?;
        ensure!(
            of_element.len() == of_whole.len(),
            "an element has {} components, the array {}",
            of_element.len(),
            of_whole.len()
        );
        for (number, (part, whole)) in of_element.iter().zip(&of_whole).enumerate() {
            let all = &body[whole.data.clone()];
            let size = all.len() / count;
            ensure!(
                stored.body()[part.data.clone()] == all[flat * size..(flat + 1) * size],
                "component {number} of element {index:?} differs from that of the array"
            );
        }
    }
    Ok(())
}

fn wrong_shape(shape: &[usize]) -> Stop {
    Stop::mismatch(format!("the value has shape {shape:?}"))
}

/// The indices of all elements.
fn positions(shape: &[usize]) -> impl Iterator<Item = Vec<i64>> {
    (0..shape.iter().product()).map(|flat| position(shape, flat))
}
