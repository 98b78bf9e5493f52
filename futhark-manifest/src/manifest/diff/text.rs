//! Short texts for types and entry points, in Futhark syntax.

use super::align::Members;
use crate::manifest::model::{Field, Input, Structure, TypeKind, Variant};
use crate::manifest::program::{EntryPoint, Program, ResultForm, TypeId, TypeRef};

/// Quotes a text in backquotes, on one line and shortened.
pub(super) fn quote(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut quoted = String::from("`");
    for (index, c) in text.chars().enumerate() {
        if index == LONGEST {
            quoted.push('…');
            break;
        }
        if c.is_control() {
            quoted.extend(c.escape_default());
        } else {
            quoted.push(c);
        }
    }
    quoted.push('`');
    quoted
}

/// `(xs: *[]i32, n: i64) -> (i32, []i32)`.
pub(super) fn signature(program: &Program, entry: &EntryPoint) -> String {
    let inputs = list(&entry.inputs, ", ", |one| input(program, one));
    format!("({inputs}) -> {}", result(program, entry))
}

/// `xs: *[]i32`.
pub(super) fn input(program: &Program, input: &Input) -> String {
    let ty = mode(program, input.ty, input.is_consumed());
    format!("{}: {ty}", input.name)
}

/// The names of parameters, in order.
pub(super) fn names(inputs: &[Input]) -> String {
    list(inputs, ", ", |input| input.name.clone())
}

/// `*[]i32`: a type with the star that Futhark writes before a unique one.
pub(super) fn mode(program: &Program, ty: TypeRef, unique: bool) -> String {
    let star = if unique { "*" } else { "" };
    format!("{star}{}", program.name_of(ty))
}

/// The result in the form in which C returns it.
pub(super) fn result(program: &Program, entry: &EntryPoint) -> String {
    match entry.result_form(program) {
        ResultForm::Nothing => "nothing".to_owned(),
        ResultForm::Several(outputs) => list(outputs, ", ", |output| {
            program.name_of(output.ty).to_owned()
        }),
        ResultForm::Unit(_) | ResultForm::One(_) | ResultForm::Tuple { .. } => {
            program.name_of(entry.outputs[0].ty).to_owned()
        }
    }
}

/// A type with its definition: `point = {x: f64, y: f64}`.
pub(super) fn definition(program: &Program, id: TypeId) -> String {
    let name = &program.get(id).name;
    format!("{name} = {}", made_of(program, id))
}

/// The definition of a type, in notation like Futhark's.
pub(super) fn made_of(program: &Program, id: TypeId) -> String {
    let opaque = match &program.get(id).kind {
        TypeKind::Array(array) => return array_of(array.rank, array.elem.as_str()),
        TypeKind::Opaque(opaque) => opaque,
    };
    let of = |ty: TypeRef| program.name_of(ty);
    match &opaque.structure {
        Structure::Plain => "opaque".to_owned(),
        // The unit type is the empty tuple.
        Structure::Record(record) if record.is_tuple() || record.is_unit() => {
            let fields = list(&record.fields, ", ", |field| of(field.ty).to_owned());
            format!("({fields})")
        }
        Structure::Record(record) => {
            let field = |field: &Field| format!("{}: {}", field.name, of(field.ty));
            format!("{{{}}}", list(&record.fields, ", ", field))
        }
        Structure::Sum(sum) => list(&sum.variants, " | ", |variant| variant_of(program, variant)),
        Structure::RecordArray(array) => array_of(array.rank, of(array.elem)),
        Structure::OpaqueArray(array) => array_of(array.rank, of(array.elem)),
    }
}

/// `#rect f32 f32`.
pub(super) fn variant_of(program: &Program, variant: &Variant) -> String {
    let payload = variant.payload.iter();
    let payload = payload.map(|&ty| format!(" {}", program.name_of(ty)));
    format!("#{}{}", variant.name, payload.collect::<String>())
}

/// The names of the common members, in the old and the new order.
pub(super) fn orders<T>(
    members: &Members,
    old: &[T],
    new: &[T],
    name: impl Fn(&T) -> &str,
) -> (String, String) {
    let was: Vec<&str> = members.common.iter().map(|&(i, _)| name(&old[i])).collect();
    let mut places: Vec<usize> = members.common.iter().map(|&(_, j)| j).collect();
    places.sort_unstable();
    let is: Vec<&str> = places.into_iter().map(|j| name(&new[j])).collect();
    (was.join(", "), is.join(", "))
}

fn array_of(rank: usize, element: &str) -> String {
    format!("{}{element}", "[]".repeat(rank))
}

fn list<T>(items: &[T], between: &str, text: impl Fn(&T) -> String) -> String {
    let texts: Vec<String> = items.iter().map(text).collect();
    texts.join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_and_on_one_line() {
        assert_eq!(quote("a\n\"b\"\té"), "`a\\n\"b\"\\té`");
        let long = quote(&"é".repeat(1000));
        assert!(long.ends_with("…`") && long.chars().count() < 130, "{long}");
    }
}
