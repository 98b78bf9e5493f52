//! The check `consume`: a call changes no value except the arguments that it consumes.
//!
//! An entry point may overwrite the memory of an argument that it consumes. If another value shares
//! this memory, the call corrupts that value, unless futhark-safe copies the argument first. A
//! *trial* makes the argument in one *way* that can share memory with other values, keeps those
//! values, calls the entry point, and compares their contents with a snapshot from before the call:
//!
//! ```text
//! way ──▶ argument ──▶ consuming call ──▶ results
//!   └──▶ held values ─── snapshots ──┴──▶ compared after the call
//! ```

use crate::harness::answers::{self, arguments};
use crate::harness::calls;
use crate::harness::constructor::{Constructor, Form};
use crate::harness::content::{Content, Held};
use crate::harness::env::Env;
use crate::harness::make::{Maker, Random};
use crate::harness::steps::{StepResult, Steps, Stop, error, skip};
use futhark_manifest::{EntryPoint, Program, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Opaque, Value};

/// The number of ways of one kind to try for a parameter. More ways of the same kind use the same
/// code.
const MAX_WAYS: usize = 6;

/// The extent of each dimension of generated arrays.
const EXTENT: usize = 3;

/// Runs a trial for every consumed parameter and every way to make its argument.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    let program = env.program();
    let entries = program.entries().iter();
    let consuming: Vec<_> = entries
        .filter(|entry| entry.consumed().next().is_some())
        .collect();
    answers::measure(env, steps, "consume", &consuming, false);
    for entry in consuming {
        for (place, input) in entry.consumed() {
            for way in ways(program, entry, place) {
                let case = format!("{} {}, {}", entry.name, input.name, way.describe());
                env.step(steps, "consume", &case, |context| {
                    let trial = Trial {
                        env,
                        context,
                        entry,
                        place,
                    };
                    match way {
                        Way::Twice(other) => trial.twice(other),
                        _ => trial.run(&way),
                    }
                });
            }
        }
    }
}

/// A way to make an argument that will be consumed.
#[derive(Clone, Copy)]
enum Way<'a> {
    /// Uploaded from the host.
    Fresh,
    /// Uploaded, and a second handle to the same memory is another argument, with this number.
    Twice(usize),
    /// The result of an entry point that may return its argument; the argument is held.
    Passed(Passage<'a>),
    /// The argument of such an entry point; the result is held.
    Passing(Passage<'a>),
    /// A result without an argument of this type, so it may be a constant of the program. The result of
    /// another call is held, which then has the same memory.
    Produced(&'a EntryPoint, usize),
    /// A value that was made part of another one, which is held.
    PartOf(Constructor<'a>, usize),
    /// A part that was taken out of such a value, which is held.
    TakenFrom(Constructor<'a>, usize),
    /// A value of parts that are held.
    MadeOf(Constructor<'a>),
}

/// An entry point with a parameter and a result of the same type.
#[derive(Clone, Copy)]
struct Passage<'a> {
    entry: &'a EntryPoint,
    input: usize,
    output: usize,
}

impl Way<'_> {
    fn describe(&self) -> String {
        match self {
            Way::Fresh => "new".to_owned(),
            Way::Twice(other) => format!("also given as argument {other}"),
            Way::Passed(through) => format!("returned by {}", through.entry.name),
            Way::Passing(through) => format!("passed to {}", through.entry.name),
            Way::Produced(entry, _) => format!("made by {}", entry.name),
            Way::PartOf(whole, place) => match whole.form {
                Form::Variant(variant) => format!("in variant {} of {}", variant.name, whole.name),
                _ => format!("a {} of {}", whole.part_name(*place), whole.name),
            },
            Way::TakenFrom(whole, place) => match whole.form {
                Form::Variant(variant) => {
                    format!("taken out of variant {} of {}", variant.name, whole.name)
                }
                Form::Record(fields) | Form::Zip(fields) => {
                    format!("projected from {} of {}", fields[*place].name, whole.name)
                }
            },
            Way::MadeOf(whole) => match whole.form {
                Form::Variant(variant) => format!("made as variant {}", variant.name),
                _ => "made of fields".to_owned(),
            },
        }
    }
}

/// The ways that the program offers to make an argument of an entry point.
fn ways<'a>(program: &'a Program, consumer: &EntryPoint, place: usize) -> Vec<Way<'a>> {
    let ty = consumer.inputs[place].ty;
    let mut ways = vec![Way::Fresh];
    let alike = consumer
        .inputs
        .iter()
        .enumerate()
        .filter(|(other, input)| *other != place && input.ty == ty);
    ways.extend(alike.map(|(other, _)| Way::Twice(other)).take(MAX_WAYS));

    let takes = |entry: &EntryPoint| {
        entry
            .inputs
            .iter()
            .position(|input| input.ty == ty && !input.unique)
    };
    let gives = |entry: &EntryPoint| entry.outputs.iter().position(|output| output.ty == ty);
    let others = program
        .entries()
        .iter()
        .filter(|entry| entry.name != consumer.name);
    let passages = others.clone().filter_map(|entry| {
        Some(Passage {
            entry,
            input: takes(entry)?,
            output: gives(entry)?,
        })
    });
    let passages = passages.take(MAX_WAYS);
    ways.extend(passages.clone().map(Way::Passed));
    ways.extend(passages.map(Way::Passing));
    let makers = others.filter(|entry| takes(entry).is_none() && entry.consumed().count() == 0);
    let produced = makers.filter_map(|entry| Some(Way::Produced(entry, gives(entry)?)));
    ways.extend(produced.take(MAX_WAYS));

    let types = program.types_with_ids();
    let constructors = types.flat_map(|(id, _)| Constructor::all_of(program, id));
    let around = constructors.filter_map(|whole| {
        let place = whole.parts().iter().position(|part| *part == ty)?;
        Some([Way::PartOf(whole, place), Way::TakenFrom(whole, place)])
    });
    ways.extend(around.take(MAX_WAYS).flatten());
    let own = ty.as_type().map(|id| Constructor::all_of(program, id));
    let own = own.into_iter().flatten();
    let own = own.filter(|whole| !whole.parts().is_empty());
    ways.extend(own.map(Way::MadeOf).take(MAX_WAYS));
    ways
}

/// One parameter of one entry point, in one context.
struct Trial<'a> {
    env: &'a Env<'a>,
    context: &'a Context,
    entry: &'a EntryPoint,
    place: usize,
}

impl Trial<'_> {
    /// Makes the argument in this way, and consumes it.
    fn run(&self, way: &Way<'_>) -> StepResult {
        let ty = self.entry.inputs[self.place].ty;
        let mut held = Held::new(self.env.program());
        // Earlier results must keep their contents, too. This call also shows whether the entry
        // point accepts the arguments.
        let accepted = "the entry point accepts no known arguments";
        let (earlier, _) = self.call(self.entry, self.arguments(self.entry)?, accepted)?;
        for (value, output) in earlier.into_iter().zip(&self.entry.outputs) {
            held.hold("the result of an earlier call", output.ty, value)?;
        }
        let mut arguments = self.arguments(self.entry)?;
        let fresh = arguments.remove(self.place);
        let consumed = self.make(way, ty, fresh, &mut held)?;
        arguments.insert(self.place, consumed);
        match calls::call_observing(self.context, self.entry, arguments)? {
            Ok(outputs) => {
                calls::check_count(self.entry, &outputs)?;
                for (value, output) in outputs.into_iter().zip(&self.entry.outputs) {
                    held.hold("the result", output.ty, value)?;
                }
            }
            Err(error) if error.kind() == ErrorKind::ContextLost => {
                error!("with this argument: {error}");
            }
            // Even if the call fails, no value may change.
            Err(_) => {}
        }
        held.check()
    }

    /// Two arguments that share memory must give the same results as two copies.
    fn twice(&self, other: usize) -> StepResult {
        let program = self.env.program();
        let ty = self.entry.inputs[self.place].ty;
        let contents = |outputs: Vec<Value>| -> StepResult<Vec<Content>> {
            let outputs = outputs.iter().zip(&self.entry.outputs);
            outputs
                .map(|(value, output)| Content::snapshot(program, output.ty, value))
                .collect()
        };
        let mut copies = self.arguments(self.entry)?;
        copies[other] = self.arguments(self.entry)?.swap_remove(self.place);
        let refused = "the entry point does not accept equal arguments";
        let expected = contents(self.call(self.entry, copies, refused)?.0)?;

        let mut arguments = self.arguments(self.entry)?;
        let value = arguments.remove(self.place);
        let (alias, value) = self.alias(ty, value)?;
        arguments.insert(self.place, value);
        arguments[other] = alias;
        let actual = contents(calls::call(self.context, self.entry, arguments).0?)?;
        for (number, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
            expected.same(actual).map_err(|stop| {
                stop.at(&format!("result {number}, compared with that for copies"))
            })?;
        }
        Ok(())
    }

    /// Makes the argument, and holds the values that may share memory with it.
    fn make(
        &self,
        way: &Way<'_>,
        ty: TypeRef,
        fresh: Value,
        held: &mut Held<'_>,
    ) -> StepResult<Value> {
        let (value, others) = match *way {
            Way::Fresh | Way::Twice(_) => return Ok(fresh),
            Way::Passed(through) => {
                let (result, fresh) = self.through(through, fresh)?;
                let what = format!("the value that was passed to {}", through.entry.name);
                held.hold(what, ty, fresh)?;
                return Ok(result);
            }
            Way::Passing(through) => {
                let (result, fresh) = self.through(through, fresh)?;
                held.hold(format!("the result of {}", through.entry.name), ty, result)?;
                return Ok(fresh);
            }
            Way::Produced(entry, output) => {
                let what = format!("another result of {}", entry.name);
                held.hold(what, ty, self.produced(entry, output)?)?;
                return self.produced(entry, output);
            }
            Way::PartOf(constructor, place) | Way::TakenFrom(constructor, place) => {
                let (whole, mut parts) = self.around(constructor, place, fresh)?;
                let mut types = constructor.parts();
                let value = match way {
                    Way::PartOf(..) => {
                        types.remove(place);
                        parts.remove(place)
                    }
                    _ => constructor.take_apart(&whole)?.swap_remove(place),
                };
                let what = format!("the held value (argument: {})", way.describe());
                let ty = TypeRef::Type(constructor.id);
                held.hold(what, ty, Value::Opaque(whole))?;
                (value, types.into_iter().zip(parts))
            }
            Way::MadeOf(constructor) => {
                let parts = self.maker(EXTENT).values(constructor.parts())?;
                let whole = self.assemble(constructor, &parts)?;
                let types = constructor.parts();
                (Value::Opaque(whole), types.into_iter().zip(parts))
            }
        };
        for (number, (ty, part)) in others.enumerate() {
            held.hold(format!("part {number} of a value"), ty, part)?;
        }
        Ok(value)
    }

    /// A second handle to the memory of a value, and the value itself, if the program has a way to
    /// get one. An entry point that returns its argument may have copied it, which cannot be
    /// observed.
    fn alias(&self, ty: TypeRef, mut value: Value) -> StepResult<(Value, Value)> {
        let program = self.env.program();
        let contents = Content::snapshot(program, ty, &value)?;
        for way in ways(program, self.entry, self.place) {
            let other = match way {
                Way::Passed(through) => {
                    let (result, back) = self.through(through, value)?;
                    value = back;
                    result
                }
                Way::TakenFrom(constructor, place) => {
                    let (whole, mut parts) = self.around(constructor, place, value)?;
                    value = parts.swap_remove(place);
                    constructor.take_apart(&whole)?.swap_remove(place)
                }
                _ => continue,
            };
            let now = Content::snapshot(program, ty, &other);
            if now.is_ok_and(|now| contents.same(&now).is_ok()) {
                return Ok((other, value));
            }
        }
        let name = program.name_of(ty);
        skip!("the program has no way to get a second handle to a value of type {name}")
    }

    /// Arguments for an entry point, the same on each call.
    fn arguments(&self, entry: &EntryPoint) -> StepResult<Vec<Value>> {
        arguments(self.env, self.context, entry)
    }

    fn maker(&self, extent: usize) -> Maker<'_> {
        let random = Random::new(self.env.seed(), "consume");
        Maker::new(self.env, self.context, random, extent)
    }

    /// Calls an entry point that may refuse the arguments. Returns the results, and the arguments that
    /// it does not consume.
    fn call(
        &self,
        entry: &EntryPoint,
        arguments: Vec<Value>,
        refused: &str,
    ) -> StepResult<(Vec<Value>, Vec<Option<Value>>)> {
        let (outputs, kept) = calls::call(self.context, entry, arguments);
        let outputs = outputs.map_err(|error| Stop::skip(format!("{refused}: {error}")))?;
        calls::check_count(entry, &outputs)?;
        Ok((outputs, kept))
    }

    /// Passes a value to another entry point. Returns the result and the value.
    fn through(&self, passage: Passage<'_>, value: Value) -> StepResult<(Value, Value)> {
        let entry = passage.entry;
        let mut arguments = self.arguments(entry)?;
        arguments[passage.input] = value;
        let refused = format!("{} does not accept the value", entry.name);
        let (mut outputs, mut kept) = self.call(entry, arguments, &refused)?;
        let value = kept[passage.input]
            .take()
            .ok_or_else(|| Stop::error("an observed argument was consumed"))?;
        Ok((outputs.swap_remove(passage.output), value))
    }

    fn produced(&self, entry: &EntryPoint, output: usize) -> StepResult<Value> {
        let refused = format!("{} accepts no known arguments", entry.name);
        let (mut outputs, _) = self.call(entry, self.arguments(entry)?, &refused)?;
        Ok(outputs.swap_remove(output))
    }

    /// Makes a value with this part, and returns all its parts, too.
    fn around(
        &self,
        constructor: Constructor<'_>,
        place: usize,
        part: Value,
    ) -> StepResult<(Opaque, Vec<Value>)> {
        // The parts of a value may have to agree in size.
        let extent = match &part {
            Value::Array(array) => array.shape().first().copied().unwrap_or(EXTENT),
            Value::Scalar(_) | Value::Opaque(_) => EXTENT,
        };
        let mut parts = self.maker(extent).values(constructor.parts())?;
        parts[place] = part;
        Ok((self.assemble(constructor, &parts)?, parts))
    }

    fn assemble(&self, constructor: Constructor<'_>, parts: &[Value]) -> StepResult<Opaque> {
        let whole = constructor.make(self.context, parts);
        whole.map_err(|error| match constructor.form {
            Form::Zip(_) => Stop::skip(format!(
                "the value does not fit into {}: {error}",
                constructor.name
            )),
            _ => error.into(),
        })
    }
}
