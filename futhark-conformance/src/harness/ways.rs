//! The ways to make an argument that a call consumes, most of which give it memory that other values share.

use super::cases::{CheckResult, Stop};
use super::env::Env;
use super::make::{Constructor, Form, Maker};
use futhark_manifest::{EntryPoint, Program, TypeRef};
use futhark_safe::dynamic::{Context, Value};

/// The maximum number of ways of one kind to try for a parameter. More ways of the same kind use the same code.
const MAX_WAYS: usize = 6;

/// The extent of generated parts, unless the given part is an array.
const EXTENT: usize = 3;

/// A way to make an argument that will be consumed.
#[derive(Clone, Copy)]
pub enum Way<'a> {
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
pub struct Passage<'a> {
    pub entry: &'a EntryPoint,
    pub input: usize,
    pub output: usize,
}

impl Way<'_> {
    /// The way in names of cases.
    #[must_use]
    pub fn describe(&self) -> String {
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
#[must_use]
pub fn ways<'a>(program: &'a Program, consumer: &EntryPoint, argument: usize) -> Vec<Way<'a>> {
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

/// Makes arguments of values `V`, or of names of values.
pub trait Making<V> {
    /// Arguments for an entry point, the same on each call.
    fn arguments(&self, entry: &EntryPoint) -> CheckResult<Vec<V>>;

    /// Calls an entry point; a skip if it refuses the arguments.
    fn call(&self, entry: &EntryPoint, arguments: &mut [V]) -> CheckResult<Vec<V>>;

    /// Generated parts of a value, which agree in size with a given one.
    fn parts(&self, of: Constructor<'_>, given: Option<&V>) -> CheckResult<Vec<V>>;

    /// Makes a value of parts.
    fn construct(&self, of: Constructor<'_>, parts: &[V]) -> CheckResult<V>;

    /// The parts of a value.
    fn take_apart(&self, of: Constructor<'_>, whole: &V) -> CheckResult<Vec<V>>;

    /// Makes an argument of a type. `fresh` shares no memory; it becomes this argument, or one of the values that may share
    /// its memory, each of which is passed to `hold`.
    fn make(
        &self,
        way: Way<'_>,
        ty: TypeRef,
        fresh: V,
        hold: &mut dyn FnMut(TypeRef, V) -> CheckResult,
    ) -> CheckResult<V> {
        match way {
            Way::Fresh | Way::Twice(_) => Ok(fresh),
            Way::ReturnedBy(passage) | Way::PassedTo(passage) => {
                let (result, fresh) = self.through(passage, fresh)?;
                let (value, other) = match way {
                    Way::PassedTo(_) => (fresh, result),
                    _ => (result, fresh),
                };
                hold(ty, other)?;
                Ok(value)
            }
            Way::Produced(entry, output) => {
                hold(ty, self.produced(entry, output)?)?;
                self.produced(entry, output)
            }
            Way::PartOf(of, part) | Way::TakenFrom(of, part) => {
                let (whole, mut parts) = self.build(of, Some((part, fresh)))?;
                let value = match way {
                    Way::TakenFrom(..) => self.take_apart(of, &whole)?.swap_remove(part),
                    _ => parts.remove(part).1,
                };
                hold(TypeRef::Type(of.id), whole)?;
                let mut parts = parts.into_iter();
                parts.try_for_each(|(ty, part)| hold(ty, part))?;
                Ok(value)
            }
            Way::MadeOf(of) => {
                let (whole, parts) = self.build(of, None)?;
                let mut parts = parts.into_iter();
                parts.try_for_each(|(ty, part)| hold(ty, part))?;
                Ok(whole)
            }
        }
    }

    /// Passes a value to another entry point. Returns the result and the value.
    fn through(&self, passage: Passage<'_>, value: V) -> CheckResult<(V, V)> {
        let mut arguments = self.arguments(passage.entry)?;
        arguments[passage.input] = value;
        let mut outputs = self.call(passage.entry, &mut arguments)?;
        let value = arguments.swap_remove(passage.input);
        Ok((outputs.swap_remove(passage.output), value))
    }

    /// A result of an entry point.
    fn produced(&self, entry: &EntryPoint, output: usize) -> CheckResult<V> {
        let mut outputs = self.call(entry, &mut self.arguments(entry)?)?;
        Ok(outputs.swap_remove(output))
    }

    /// Makes a value of generated parts, one of which can be given, and returns the parts, too.
    fn build(
        &self,
        of: Constructor<'_>,
        part: Option<(usize, V)>,
    ) -> CheckResult<(V, Vec<(TypeRef, V)>)> {
        let mut parts = self.parts(of, part.as_ref().map(|(_, value)| value))?;
        if let Some((number, part)) = part {
            parts[number] = part;
        }
        let whole = self
            .construct(of, &parts)
            .map_err(|stop| match (stop, of.form) {
                (Stop::Fail { message, .. }, Form::Zip(_)) => Stop::skip(format!(
                    "the value does not fit into {}: {message}",
                    of.name
                )),
                (stop, _) => stop,
            })?;
        Ok((whole, of.parts().into_iter().zip(parts).collect()))
    }
}

/// Generated parts of a value, which agree in size with a given one of this shape.
pub fn parts_like(
    env: &Env<'_>,
    context: &Context,
    of: Constructor<'_>,
    shape: &[usize],
) -> CheckResult<Vec<Value>> {
    let extent = shape.first().copied().unwrap_or(EXTENT);
    Maker::new(env, context, "consume", extent).values(of.parts())
}
