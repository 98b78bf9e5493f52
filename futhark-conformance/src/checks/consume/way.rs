//! The ways to make an argument that will be consumed.

use futhark_manifest::{EntryPoint, Field, Program, Structure, TypeId, TypeKind, Variant};

/// The number of ways of one kind to try for a parameter. More ways of the same kind use the same
/// code.
const MAX_WAYS: usize = 6;

/// A way to make an argument that will be consumed.
#[derive(Clone, Copy)]
pub(super) enum Way<'a> {
    /// Uploaded from the host.
    Fresh,
    /// Uploaded, and a second handle to the same memory is another argument, with this number.
    Twice(usize),
    /// The result of an entry point that may return its argument; the argument is held. The numbers
    /// are those of the argument and the result.
    Passed(&'a EntryPoint, usize, usize),
    /// The argument of such an entry point; the result is held.
    Passing(&'a EntryPoint, usize, usize),
    /// A result without an argument of this type, so it may be a constant of the program. The entry
    /// point is called again after the consuming call.
    Produced(&'a EntryPoint, usize),
    /// A value that was made a field of a record or of an array of records, which is held.
    Field(TypeId, &'a [Field], usize),
    /// A field that was projected from such a record, which is held.
    Projected(TypeId, &'a [Field], usize),
    /// A value that was made part of a sum, which is held.
    Payload(TypeId, &'a Variant, usize),
    /// A part that was destructed from such a sum, which is held.
    Destructed(TypeId, &'a Variant, usize),
    /// A record or an array of records; the fields are held.
    OfFields(&'a [Field]),
    /// A sum; the parts of its variant are held.
    OfPayload(&'a Variant),
}

impl Way<'_> {
    pub(super) fn describe(&self, program: &Program) -> String {
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

/// The ways that the program offers to make an argument of an entry point.
pub(super) fn ways<'a>(program: &'a Program, consumer: &EntryPoint, place: usize) -> Vec<Way<'a>> {
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
