//! The check `consume`: a call changes no value except the arguments that it consumes.
//!
//! Each case makes the argument in one [`Way`] that can share memory with other values, keeps those values, calls the
//! entry point, and compares their contents with a snapshot from before the call. `Way::Fresh` shares no memory;
//! `Way::Twice` compares the results with those for copies instead.

use crate::harness::answers::{self, arguments};
use crate::harness::calls;
use crate::harness::cases::{Cases, CheckResult, Stop, error, skip};
use crate::harness::content::{Content, Held};
use crate::harness::env::Env;
use crate::harness::make::{Constructor, Form, Maker};
use futhark_manifest::{EntryPoint, Program, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Opaque, Value};

/// The maximum number of ways of one kind to try for a parameter. More ways of the same kind use the same code.
const MAX_WAYS: usize = 6;

/// The extent of generated parts, unless the given part is an array.
const EXTENT: usize = 3;

/// Runs a case for every consumed parameter and every way to make its argument.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let program = env.program();
    let entries = program.entries().iter();
    let consuming: Vec<_> = entries
        .filter(|entry| entry.consumed().next().is_some())
        .collect();
    answers::measure(env, cases, "consume", &consuming, false);
    for entry in consuming {
        for (argument, input) in entry.consumed() {
            for way in ways(program, entry, argument) {
                let name = format!("{} {}, {}", entry.name, input.name, way.describe());
                cases.run_in_context(env, "consume", &name, |context| {
                    let case = Case {
                        env,
                        context,
                        entry,
                        argument,
                    };
                    match way {
                        Way::Twice(other) => case.twice(other),
                        _ => case.consume(&way),
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
    ReturnedBy(Passage<'a>),
    /// The argument of such an entry point; the result is held.
    PassedTo(Passage<'a>),
    /// A result of an entry point without a parameter of this type, perhaps a constant. A result of an
    /// earlier call is held, which then has the same memory.
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
            Way::ReturnedBy(through) => format!("returned by {}", through.entry.name),
            Way::PassedTo(through) => format!("passed to {}", through.entry.name),
            Way::Produced(entry, _) => format!("made by {}", entry.name),
            Way::PartOf(whole, part) => format!("in {}", describe_part(whole, *part)),
            Way::TakenFrom(whole, part) => format!("taken from {}", describe_part(whole, *part)),
            Way::MadeOf(whole) => format!("made as {}", whole.kind()),
        }
    }
}

fn describe_part(whole: &Constructor<'_>, part: usize) -> String {
    format!(
        "{} of {} {}",
        whole.part_name(part),
        whole.kind(),
        whole.name
    )
}

/// The ways that the program offers to make an argument of an entry point.
fn ways<'a>(program: &'a Program, consumer: &EntryPoint, argument: usize) -> Vec<Way<'a>> {
    let ty = consumer.inputs[argument].ty;
    let mut ways = vec![Way::Fresh];
    let others = (0..consumer.inputs.len()).filter(|other| *other != argument);
    let alike = others.filter(|other| consumer.inputs[*other].ty == ty);
    ways.extend(alike.map(Way::Twice).take(MAX_WAYS));

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
    ways.extend(passages.clone().map(Way::ReturnedBy));
    ways.extend(passages.map(Way::PassedTo));
    let makers = others.filter(|entry| takes(entry).is_none() && entry.consumed().count() == 0);
    let produced = makers.filter_map(|entry| Some(Way::Produced(entry, gives(entry)?)));
    ways.extend(produced.take(MAX_WAYS));

    let types = program.types_with_ids();
    let constructors = types.flat_map(|(id, _)| Constructor::all_of(program, id));
    let around = constructors.filter_map(|whole| {
        let part = whole.parts().iter().position(|part| *part == ty)?;
        Some([Way::PartOf(whole, part), Way::TakenFrom(whole, part)])
    });
    ways.extend(around.take(MAX_WAYS).flatten());
    let own = ty.as_type().map(|id| Constructor::all_of(program, id));
    let own = own.into_iter().flatten();
    let own = own.filter(|whole| !whole.parts().is_empty());
    ways.extend(own.map(Way::MadeOf).take(MAX_WAYS));
    ways
}

/// One parameter of one entry point, in one context.
struct Case<'a> {
    env: &'a Env<'a>,
    context: &'a Context,
    entry: &'a EntryPoint,
    argument: usize,
}

impl Case<'_> {
    /// Makes the argument in this way, and consumes it.
    fn consume(&self, way: &Way<'_>) -> CheckResult {
        let mut held = Held::new(self.env.program());
        // Earlier results must keep their contents, too. This call also shows whether the entry
        // point accepts the arguments.
        let earlier = self.call(self.entry, &mut self.arguments(self.entry)?)?;
        for (value, output) in earlier.into_iter().zip(&self.entry.outputs) {
            held.hold("the result of an earlier call", output.ty, value)?;
        }
        let mut arguments = self.arguments(self.entry)?;
        let fresh = arguments.remove(self.argument);
        let (consumed, others) = self.make(way, fresh, &mut held)?;
        for (ty, value) in others {
            held.hold("a value that may share the argument's memory", ty, value)?;
        }
        arguments.insert(self.argument, consumed);
        match calls::call_observing(self.context, self.entry, &mut arguments)? {
            Ok(outputs) => {
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
        held.compare()
    }

    /// Two arguments that share memory must give the same results as two copies.
    fn twice(&self, other: usize) -> CheckResult {
        let program = self.env.program();
        let contents = |outputs: Vec<Value>| -> CheckResult<Vec<Content>> {
            let outputs = outputs.iter().zip(&self.entry.outputs);
            outputs
                .map(|(value, output)| Content::snapshot(program, output.ty, value))
                .collect()
        };
        let mut copies = self.arguments(self.entry)?;
        copies[other] = self.arguments(self.entry)?.swap_remove(self.argument);
        let expected = contents(self.call(self.entry, &mut copies)?)?;

        let mut arguments = self.arguments(self.entry)?;
        let value = arguments.remove(self.argument);
        let (alias, value) = self.alias(value)?;
        arguments.insert(self.argument, value);
        arguments[other] = alias;
        let actual = contents(calls::call(self.context, self.entry, &mut arguments)?)?;
        for (number, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
            expected.same(actual).map_err(|stop| {
                stop.at(&format!("result {number}, compared with that for copies"))
            })?;
        }
        Ok(())
    }

    /// Makes the argument, and returns the values that may share its memory, that of `Way::Produced` in `held`.
    fn make(
        &self,
        way: &Way<'_>,
        fresh: Value,
        held: &mut Held<'_>,
    ) -> CheckResult<(Value, Vec<(TypeRef, Value)>)> {
        let ty = self.entry.inputs[self.argument].ty;
        Ok(match *way {
            Way::Fresh | Way::Twice(_) => (fresh, Vec::new()),
            Way::ReturnedBy(passage) => {
                let (result, fresh) = self.through(passage, fresh)?;
                (result, vec![(ty, fresh)])
            }
            Way::PassedTo(passage) => {
                let (result, fresh) = self.through(passage, fresh)?;
                (fresh, vec![(ty, result)])
            }
            Way::Produced(entry, output) => {
                let other = self.produced(entry, output)?;
                held.hold("the result of an earlier call", ty, other)?;
                (self.produced(entry, output)?, Vec::new())
            }
            Way::PartOf(constructor, part) => {
                let (whole, mut others) = self.build(constructor, Some((part, fresh)))?;
                let (_, value) = others.remove(part);
                others.push((TypeRef::Type(constructor.id), Value::Opaque(whole)));
                (value, others)
            }
            Way::TakenFrom(constructor, part) => {
                let (whole, mut others) = self.build(constructor, Some((part, fresh)))?;
                let value = constructor.take_apart(&whole)?.swap_remove(part);
                others.push((TypeRef::Type(constructor.id), Value::Opaque(whole)));
                (value, others)
            }
            Way::MadeOf(constructor) => {
                let (whole, parts) = self.build(constructor, None)?;
                (Value::Opaque(whole), parts)
            }
        })
    }

    /// A second handle to the memory of a value, and the value itself, if the program has a way to
    /// get one. An entry point that returns its argument may have copied it, which cannot be
    /// observed.
    fn alias(&self, mut value: Value) -> CheckResult<(Value, Value)> {
        let program = self.env.program();
        let ty = self.entry.inputs[self.argument].ty;
        let contents = Content::snapshot(program, ty, &value)?;
        for way in ways(program, self.entry, self.argument) {
            let other;
            (other, value) = match way {
                Way::ReturnedBy(passage) => self.through(passage, value)?,
                Way::TakenFrom(constructor, part) => {
                    let (whole, mut parts) = self.build(constructor, Some((part, value)))?;
                    let taken = constructor.take_apart(&whole)?.swap_remove(part);
                    (taken, parts.swap_remove(part).1)
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
    fn arguments(&self, entry: &EntryPoint) -> CheckResult<Vec<Value>> {
        arguments(self.env, self.context, entry)
    }

    /// Calls an entry point that may refuse the arguments.
    fn call(&self, entry: &EntryPoint, arguments: &mut [Value]) -> CheckResult<Vec<Value>> {
        let outputs = calls::call(self.context, entry, arguments);
        outputs.map_err(|error| {
            let name = &entry.name;
            Stop::skip(format!("{name} does not accept the arguments: {error}"))
        })
    }

    /// Passes a value to another entry point. Returns the result and the value.
    fn through(&self, passage: Passage<'_>, value: Value) -> CheckResult<(Value, Value)> {
        let mut arguments = self.arguments(passage.entry)?;
        arguments[passage.input] = value;
        let mut outputs = self.call(passage.entry, &mut arguments)?;
        let value = arguments.swap_remove(passage.input);
        Ok((outputs.swap_remove(passage.output), value))
    }

    fn produced(&self, entry: &EntryPoint, output: usize) -> CheckResult<Value> {
        let mut outputs = self.call(entry, &mut self.arguments(entry)?)?;
        Ok(outputs.swap_remove(output))
    }

    /// Makes a value of generated parts, one of which can be given, and returns the parts, too.
    fn build(
        &self,
        constructor: Constructor<'_>,
        part: Option<(usize, Value)>,
    ) -> CheckResult<(Opaque, Vec<(TypeRef, Value)>)> {
        // The parts of a value may have to agree in size.
        let extent = match &part {
            Some((_, Value::Array(array))) => array.shape().first().copied().unwrap_or(EXTENT),
            _ => EXTENT,
        };
        let mut maker = Maker::new(self.env, self.context, "consume", extent);
        let mut parts = maker.values(constructor.parts())?;
        if let Some((number, part)) = part {
            parts[number] = part;
        }
        let whole = constructor.make(self.context, &parts);
        let whole = whole.map_err(|error| match constructor.form {
            Form::Zip(_) => Stop::skip(format!(
                "the value does not fit into {}: {error}",
                constructor.name
            )),
            _ => error.into(),
        })?;
        Ok((whole, constructor.parts().into_iter().zip(parts).collect()))
    }
}
