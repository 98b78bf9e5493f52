//! Arrays of records, and of other opaque values.

use std::fmt::Write as _;

use futhark_manifest::{Field, OpaqueArray, RecordArray, Structure, TypeId, TypeKind, TypeRef};

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
        write_from_slice(&columns, &row, array.rank, text);
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
    /// The struct of the array.
    array: String,
    /// Around the fields of a row: `PtFields { ` and ` }`, or parentheses.
    around: (String, &'static str),
    /// The struct of the arguments of `zip`, if it takes one.
    parts: Option<String>,
    fields: Vec<Column>,
}

/// One field of the rows.
struct Column {
    /// The method of the array that returns it.
    method: String,
    /// The field in a row: its name, or its index in a tuple.
    path: String,
    /// The label of the field in a struct expression: `x: `, or nothing.
    label: String,
    /// The columns of the field, if its type is a record.
    inner: Option<Columns>,
}

impl Columns {
    /// The columns of an array whose rows have type `row`; `None` unless all leaves are arrays of
    /// scalars with the rank of the array.
    ///
    /// Ignores the element type of an inner array, which can be another name for the type of the
    /// field in `row`.
    fn new(module: &Module<'_>, id: TypeId, array: &RecordArray, row: TypeRef) -> Option<Columns> {
        let (row, record) = module.plain_record(row)?;
        let names = |fields: &[Field]| names::of_fields(fields);
        let members = names(&record.fields);
        if array.fields.is_empty() || members != names(&array.fields) {
            return None;
        }
        let column = |(i, method): (usize, String)| {
            let (column, field) = (&array.fields[i], &record.fields[i]);
            let (path, label) = match record.is_tuple() {
                true => (i.to_string(), String::new()),
                false => (method.clone(), format!("{method}: ")),
            };
            let id = column.ty.as_type()?;
            let inner = match (&module.program.get(id).kind, field.ty) {
                (TypeKind::Array(own), TypeRef::Scalar(elem)) => {
                    (own.rank == array.rank && own.elem == elem).then_some(None)
                }
                (TypeKind::Opaque(opaque), row) => match &opaque.structure {
                    Structure::RecordArray(own) if own.rank == array.rank => {
                        Columns::new(module, id, own, row).map(Some)
                    }
                    _ => None,
                },
                _ => None,
            }?;
            Some(Column {
                method,
                path,
                label,
                inner,
            })
        };
        let around = match record.is_tuple() {
            true => ("(".to_owned(), ")"),
            false => (format!("{} {{ ", module.names.view(row)), " }"),
        };
        Some(Columns {
            parts: module.names.parts(id).map(str::to_owned),
            array: module.names.of(id).to_owned(),
            around,
            fields: members
                .into_iter()
                .enumerate()
                .map(column)
                .collect::<Option<_>>()?,
        })
    }

    /// Expressions for the results of the calls that return the array of each column, outermost first.
    fn leaves(&self, array: &str, all: &mut Vec<String>) {
        for field in &self.fields {
            let column = format!("{array}.{}()", field.method);
            match &field.inner {
                None => all.push(column),
                Some(inner) => inner.leaves(&format!("{column}?"), all),
            }
        }
    }

    /// An expression for row `i` of the columns of `leaves`, starting with column `next`.
    fn row(&self, next: &mut usize) -> String {
        let fields: Vec<String> = self
            .fields
            .iter()
            .map(|field| match &field.inner {
                None => {
                    *next += 1;
                    format!("{}columns.{}[i]", field.label, *next - 1)
                }
                Some(inner) => format!("{}{}", field.label, inner.row(next)),
            })
            .collect();
        format!("{}{}{}", self.around.0, fields.join(", "), self.around.1)
    }

    /// The fields of a row in the order of `leaves`, where `path` is the row.
    fn paths(&self, path: &str, all: &mut Vec<String>) {
        for field in &self.fields {
            let path = format!("{path}.{}", field.path);
            match &field.inner {
                None => all.push(path),
                Some(inner) => inner.paths(&path, all),
            }
        }
    }

    /// The call of `zip` for finished columns, starting with column `next`: its beginning, arguments and
    /// end.
    fn zip(&self, next: &mut usize) -> (String, Vec<String>, &'static str) {
        let mut column = |field: &Column| {
            let array = match &field.inner {
                None => {
                    *next += 1;
                    format!("&columns.{}.finish()?", *next - 1)
                }
                Some(inner) => {
                    let (begin, inputs, end) = inner.zip(next);
                    format!("&{begin}{}{end}?", inputs.join(", "))
                }
            };
            match self.parts {
                Some(_) => format!("{}: {array}", field.method),
                None => array,
            }
        };
        let mut inputs: Vec<String> = self.fields.iter().map(&mut column).collect();
        let array = &self.array;
        match &self.parts {
            Some(parts) => (format!("{array}::zip(context, {parts} {{ "), inputs, " })"),
            None => {
                inputs.insert(0, "context".to_owned());
                (format!("{array}::zip("), inputs, ")")
            }
        }
    }
}

fn write_to_vec(columns: &Columns, row: &str, field: usize, text: &mut String) {
    text.push_str(
        "\n    /// Returns all elements in row-major order. Waits until they are computed.\n",
    );
    let result = format!("::std::vec::Vec<{row}>");
    text::open(text, "pub fn to_vec", &["&self".to_owned()], &result);
    let mut leaves = Vec::new();
    columns.leaves("self", &mut leaves);
    let leaves = leaves.iter().enumerate();
    let arrays: Vec<String> = leaves
        .map(|(i, leaf)| format!("columns.get({i}, || {leaf})?"))
        .collect();
    let _ = writeln!(text, "        let columns = __f::columns(self, {field})?;");
    let end = tuple_end(&arrays);
    let each = |expression: &dyn Fn(usize) -> String| -> Vec<String> {
        (0..arrays.len()).map(expression).collect()
    };
    text::list(text, 8, "let arrays = (", &arrays, end);
    let cows = each(&|i| format!("arrays.{i}.to_cow()?"));
    text::list(text, 8, "let cows = (", &cows, end);
    // With one length known, the loop needs no bounds checks.
    text.push_str("        let n = cows.0.len();\n");
    let slices = each(&|i| format!("&cows.{i}[..n]"));
    text::list(text, 8, "let columns = (", &slices, end);
    let row = columns.row(&mut 0);
    let _ = writeln!(text, "        __f::rows(n, |i| {row})\n    }}");
}

fn write_from_slice(columns: &Columns, row: &str, rank: usize, text: &mut String) {
    let rust = &columns.array;
    let mut parameters = vec!["context: &Context".to_owned()];
    let rows = format!("rows: &[{row}]");
    let mut paths = Vec::new();
    columns.paths("row", &mut paths);
    let (begin, inputs, end) = columns.zip(&mut 0);
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
    let new = vec!["new.column()?".to_owned(); paths.len()];
    text::list(text, 8, "let mut columns = (", &new, tuple_end(&paths));
    text.push_str("        for rows in __f::blocks(rows) {\n");
    for (pair, paths) in paths.chunks(2).enumerate() {
        let i = 2 * pair;
        match paths {
            [a, b] => {
                let inputs = [
                    "rows".to_owned(),
                    format!("&mut columns.{i}"),
                    format!("&mut columns.{}", i + 1),
                    format!("(|row| {a}, |row| {b})"),
                ];
                text::list(text, 12, "__f::fill_two(", &inputs, ")?;");
            }
            paths => {
                for a in paths {
                    let fill = format!("__f::fill(rows, &mut columns.{i}, |row| {a})?;");
                    let _ = writeln!(text, "            {fill}");
                }
            }
        }
    }
    text.push_str("        }\n        if let Some(array) = new.finish()? {\n            return Ok(array);\n        }\n");
    text::list(text, 8, &begin, &inputs, end);
    text.push_str("    }\n");
}

/// The end of a `let` of a tuple. One of one element needs a comma.
fn tuple_end(elements: &[String]) -> &'static str {
    if elements.len() == 1 { ",);" } else { ");" }
}
