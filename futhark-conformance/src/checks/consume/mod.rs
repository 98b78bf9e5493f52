//! The check `consume`: an entry point may overwrite an argument that it
//! consumes, so whatever shares memory with that argument is in danger. Each
//! case makes the argument in another way, holds on to everything that it may
//! share memory with, calls, and looks whether all that is held has kept its
//! contents.

mod trial;

use crate::harness::env::Env;
use crate::harness::steps::Steps;
use futhark_manifest::{EntryPoint, Field, Program, Structure, TypeId, TypeKind, Variant};
use trial::Trial;

/// So many ways of one kind are tried for a parameter; more of the same kind
/// go through the same code.
const MAX_WAYS: usize = 6;

/// Every consumed parameter, in every way that its type allows.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    let program = env.program();
    for entry in program.entries() {
        for (place, input) in entry.consumed() {
            let name = format!("{} {}", entry.name, input.name);
            for way in ways(program, entry, place) {
                let case = format!("{name}, {}", way.describe(program));
                env.step(steps, "consume", &case, |context| {
                    Trial {
                        env,
                        context,
                        entry,
                        place,
                    }
                    .run(&way)
                });
            }
        }
    }
}

/// How an argument comes about that will be consumed.
#[derive(Clone, Copy)]
enum Way<'a> {
    /// From the host.
    Fresh,
    /// From the host, with its own memory as another argument, too.
    Twice(usize),
    /// As the result of an entry point that gets the value that is held.
    Passed(&'a EntryPoint, usize, usize),
    /// The value itself, after it was passed to such an entry point, whose
    /// result is held.
    Passing(&'a EntryPoint, usize, usize),
    /// As a result that may be a constant of the program: asked for again
    /// afterwards.
    Produced(&'a EntryPoint, usize),
    /// After it was made a field of a record, or of an array of records.
    Field(TypeId, &'a [Field], usize),
    /// As a field of such a value that is held.
    Projected(TypeId, &'a [Field], usize),
    /// After it was made part of a sum.
    Payload(TypeId, &'a Variant, usize),
    /// As part of a sum that is held.
    Destructed(TypeId, &'a Variant, usize),
    /// Made of fields that are held.
    OfFields(&'a [Field]),
    /// Made of a variant's parts that are held.
    OfPayload(&'a Variant),
}

impl Way<'_> {
    fn describe(&self, program: &Program) -> String {
        let name = |id: &TypeId| program.get(*id).name.clone();
        match self {
            Way::Fresh => "new".to_owned(),
            Way::Twice(other) => format!("also given as argument {other}"),
            Way::Passed(entry, ..) => format!("returned by {}", entry.name),
            Way::Passing(entry, ..) => format!("passed to {}", entry.name),
            Way::Produced(entry, _) => format!("made by {}", entry.name),
            Way::Field(id, fields, place) => {
                format!("a field {} of {}", fields[*place].name, name(id))
            }
            Way::Projected(id, fields, place) => {
                format!("projected from {} of {}", fields[*place].name, name(id))
            }
            Way::Payload(id, variant, _) => format!("in variant {} of {}", variant.name, name(id)),
            Way::Destructed(id, variant, _) => {
                format!("taken out of variant {} of {}", variant.name, name(id))
            }
            Way::OfFields(_) => "made of fields".to_owned(),
            Way::OfPayload(variant) => format!("made as variant {}", variant.name),
        }
    }
}

/// The ways to make a value of a type that the program offers.
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
    let others = || {
        program
            .entries()
            .iter()
            .filter(|entry| entry.name != consumer.name)
    };
    let through: Vec<_> = others()
        .filter_map(|entry| Some((entry, takes(entry)?, gives(entry)?)))
        .take(MAX_WAYS)
        .collect();
    ways.extend(
        through
            .iter()
            .map(|&(entry, input, output)| Way::Passed(entry, input, output)),
    );
    ways.extend(
        through
            .iter()
            .map(|&(entry, input, output)| Way::Passing(entry, input, output)),
    );
    let makers = others().filter(|entry| takes(entry).is_none() && entry.consumed().count() == 0);
    ways.extend(
        makers
            .filter_map(|entry| Some(Way::Produced(entry, gives(entry)?)))
            .take(MAX_WAYS),
    );

    let mut inside = Vec::new();
    for (id, described) in program.types_with_ids() {
        let TypeKind::Opaque(opaque) = &described.kind else {
            continue;
        };
        let fields: &[Field] = match &opaque.structure {
            Structure::Record(record) => &record.fields,
            Structure::RecordArray(array) => &array.fields,
            _ => &[],
        };
        if let Some(place) = fields.iter().position(|field| field.ty == ty) {
            inside.push(Way::Field(id, fields, place));
            inside.push(Way::Projected(id, fields, place));
        }
        if let Structure::Sum(sum) = &opaque.structure {
            for variant in &sum.variants {
                if let Some(place) = variant.payload.iter().position(|part| *part == ty) {
                    inside.push(Way::Payload(id, variant, place));
                    inside.push(Way::Destructed(id, variant, place));
                }
            }
        }
    }
    ways.extend(inside.into_iter().take(2 * MAX_WAYS));

    let structure = ty
        .as_type()
        .and_then(|id| program.get(id).as_opaque())
        .map(|opaque| &opaque.structure);
    match structure {
        Some(Structure::Record(record)) if !record.fields.is_empty() => {
            ways.push(Way::OfFields(&record.fields))
        }
        Some(Structure::RecordArray(array)) => ways.push(Way::OfFields(&array.fields)),
        Some(Structure::Sum(sum)) => {
            let with_payload = sum
                .variants
                .iter()
                .filter(|variant| !variant.payload.is_empty());
            ways.extend(with_payload.map(Way::OfPayload).take(MAX_WAYS));
        }
        _ => {}
    }
    ways
}
