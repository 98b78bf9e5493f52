//! Arrays of records, and of other opaque values.

use std::fmt::Write as _;

use futhark_manifest::{OpaqueArray, RecordArray, Structure, TypeId, TypeKind, TypeRef};

use super::module::Module;
use super::{names, records, text};
use crate::error::Result;

pub(super) fn write_of_opaques(
    module: &Module<'_>,
    id: TypeId,
    array: &OpaqueArray,
    text: &mut String,
) {
    let optional = [array.new.is_some(), array.set.is_some()];
    write_common(module, id, array.rank, array.elem, optional, text);
}

pub(super) fn write_of_records(
    module: &Module<'_>,
    id: TypeId,
    array: &RecordArray,
    text: &mut String,
) -> Result<()> {
    let optional = [array.new.is_some(), array.set.is_some()];
    write_common(module, id, array.rank, array.elem, optional, text);
    if array.fields.is_empty() {
        return Ok(());
    }
    let rust = module.names.of(id);
    let _ = writeln!(text, "impl {rust} {{");
    text.push_str(
        "    /// Creates an array from the arrays of its fields, which must have one shape.\n",
    );
    records::write_make(module, "pub fn zip", id, &array.zip, &array.fields, text)?;
    if let Some(columns) = Columns::new(module, id, array, array.elem) {
        let row = module.plain_type(array.elem);
        let field = module.number(&array.fields[0].project)?;
        write_to_vec(&columns, &row, field, text);
        write_from_slice(&columns, rust, &row, array.rank, text);
    }
    records::write_methods(module, &array.fields, text)?;
    text.push_str("}\n\n");
    records::write_parts(module, id, &array.fields, text);
    Ok(())
}

/// Writes shape and index, and `new` and `set` if the compiler provides them.
fn write_common(
    module: &Module<'_>,
    id: TypeId,
    rank: usize,
    elem: TypeRef,
    [new, set]: [bool; 2],
    text: &mut String,
) {
    let (rust, elem) = (module.names.of(id), module.rust_type(elem));
    for (macro_name, exists) in [("of", true), ("new", new), ("set", set)] {
        if exists {
            let _ = writeln!(
                text,
                "::futhark_safe::__array_{macro_name}!({rust}, {rank}, {elem});"
            );
        }
    }
    text.push('\n');
}

/// The columns of an array of records of scalars.
struct Columns {
    /// Per column, outermost first: the call of the array `self` that returns it, and the field of `row`.
    leaves: Vec<(String, String)>,
    /// An expression for row `i`.
    row: String,
    /// The call of `zip` for finished columns.
    zip: text::Expression,
}

impl Columns {
    /// The columns of an array whose rows have type `row`; `None` unless all leaves are arrays of
    /// scalars with the rank of the array.
    ///
    /// Ignores the element type of an inner array, which can be another name for the type of the
    /// field in `row`.
    fn new(module: &Module<'_>, id: TypeId, array: &RecordArray, row: TypeRef) -> Option<Columns> {
        let mut leaves = Vec::new();
        let (row, zip) = Columns::of_field(module, id, array, row, ("self", "row"), &mut leaves)?;
        Some(Columns { leaves, row, zip })
    }

    /// `row` and `zip` of the array that `call` returns and whose rows are at `path`. Adds its leaves.
    fn of_field(
        module: &Module<'_>,
        id: TypeId,
        array: &RecordArray,
        row: TypeRef,
        (call, path): (&str, &str),
        leaves: &mut Vec<(String, String)>,
    ) -> Option<(String, text::Expression)> {
        let (row, record) = module.plain_record(row)?;
        let members = names::of_fields(&record.fields);
        if array.fields.is_empty() || members != names::of_fields(&array.fields) {
            return None;
        }
        let (mut values, mut arrays) = (Vec::new(), Vec::new());
        for (i, member) in members.iter().enumerate() {
            let call = format!("{call}.{member}()");
            let path = format!("{path}.{}", records::member(record, i, member));
            let column = array.fields[i].ty.as_type()?;
            let (value, array) = match (&module.program.get(column).kind, record.fields[i].ty) {
                (TypeKind::Array(own), TypeRef::Scalar(elem))
                    if own.rank == array.rank && own.elem == elem =>
                {
                    let n = leaves.len();
                    leaves.push((call, path));
                    (format!("columns.{n}[i]"), format!("&columns.{n}.finish()?"))
                }
                (TypeKind::Opaque(opaque), row) => match &opaque.structure {
                    Structure::RecordArray(own) if own.rank == array.rank => {
                        let from = (&*format!("{call}?"), &*path);
                        let (value, (begin, inputs, end)) =
                            Columns::of_field(module, column, own, row, from, leaves)?;
                        (value, format!("&{begin}{}{end}?", inputs.join(", ")))
                    }
                    _ => return None,
                },
                _ => return None,
            };
            values.push(value);
            arrays.push(array);
        }
        let (begin, values, end) = records::literal(module, row, record, &members, values);
        let row = format!("{begin}{}{end}", values.join(", "));
        Some((row, records::make(module, id, "zip", &members, arrays)))
    }
}

fn write_to_vec(columns: &Columns, row: &str, field: usize, text: &mut String) {
    text.push_str(
        "\n    /// Returns all elements in row-major order. Waits until they are computed.\n",
    );
    let result = format!("::std::vec::Vec<{row}>");
    text::open(text, "pub fn to_vec", &["&self".to_owned()], &result);
    let leaves = columns.leaves.iter().enumerate();
    let arrays: Vec<String> = leaves
        .map(|(i, (call, _))| format!("columns.get({i}, || {call})?"))
        .collect();
    let _ = writeln!(text, "        let columns = __f::columns(self, {field})?;");
    let end = tuple_end(&arrays);
    text::list(text, 8, "let arrays = (", &arrays, end);
    // With one length known, the loop needs no bounds checks.
    text.push_str("        let n = arrays.0.len();\n");
    let slices = (0..arrays.len()).map(|i| format!("&arrays.{i}[..n]"));
    let slices: Vec<String> = slices.collect();
    text::list(text, 8, "let columns = (", &slices, end);
    let _ = writeln!(text, "        __f::rows(n, |i| {})\n    }}", columns.row);
}

fn write_from_slice(columns: &Columns, rust: &str, row: &str, rank: usize, text: &mut String) {
    let mut parameters = vec!["context: &Context".to_owned()];
    let rows = format!("rows: &[{row}]");
    let (begin, inputs, end) = &columns.zip;
    if rank == 1 {
        parameters.push(rows);
        text.push_str("\n    /// Creates an array from elements.\n");
        text::open(text, "pub fn from_slice", &parameters, rust);
        text.push_str("        let shape = [rows.len()];\n");
    } else {
        parameters.extend([format!("shape: [usize; {rank}]"), rows]);
        text.push_str(
            "\n    /// Creates an array from elements in row-major order. The shape must match their\n    \
             /// number.\n",
        );
        text::open(text, "pub fn from_slice_nd", &parameters, rust);
        text.push_str("        __f::check_rows(shape, rows.len())?;\n");
    }
    let _ = writeln!(
        text,
        "        let new = __f::new_records::<{rust}>(context, &shape)?;"
    );
    let new = vec!["new.column()?".to_owned(); columns.leaves.len()];
    text::list(text, 8, "let mut columns = (", &new, tuple_end(&new));
    text.push_str("        for rows in __f::blocks(rows) {\n");
    for (pair, leaves) in columns.leaves.chunks(2).enumerate() {
        let i = 2 * pair;
        match leaves {
            [(_, a), (_, b)] => {
                let inputs = [
                    "rows".to_owned(),
                    format!("&mut columns.{i}"),
                    format!("&mut columns.{}", i + 1),
                    format!("(|row| {a}, |row| {b})"),
                ];
                text::list(text, 12, "__f::fill_two(", &inputs, ")?;");
            }
            leaves => {
                for (_, a) in leaves {
                    let fill = format!("__f::fill(rows, &mut columns.{i}, |row| {a})?;");
                    let _ = writeln!(text, "            {fill}");
                }
            }
        }
    }
    text.push_str("        }\n        if let Some(array) = new.finish()? {\n            return Ok(array);\n        }\n");
    text::list(text, 8, begin, inputs, end);
    text.push_str("    }\n");
}

/// The end of a `let` of a tuple. One of one element needs a comma.
fn tuple_end(elements: &[String]) -> &'static str {
    if elements.len() == 1 { ",);" } else { ");" }
}
