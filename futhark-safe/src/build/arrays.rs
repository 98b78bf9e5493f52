//! Arrays of records, and of other opaque values.

use futhark_manifest::{RecordArray, TypeId, TypeRef};

use super::module::{Module, list, method};
use super::names;
use super::records::{Expression, member};

impl Module<'_> {
    /// Shape and index, and `new` and `set` if the compiler provides them.
    pub(super) fn array_methods(
        &self,
        id: TypeId,
        rank: usize,
        elem: TypeRef,
        new: &Option<String>,
        set: &Option<String>,
    ) -> String {
        let (rust, elem) = (self.names.of(id), self.rust_type(elem));
        let macros = [("of", true), ("new", new.is_some()), ("set", set.is_some())];
        let calls = macros.into_iter().filter(|(_, exists)| *exists);
        let calls = calls
            .map(|(name, _)| format!("__futhark_safe::__array_{name}!({rust}, {rank}, {elem});\n"));
        calls.collect::<String>() + "\n"
    }

    pub(super) fn array_of_records(&self, id: TypeId, array: &RecordArray) -> String {
        let common = self.array_methods(id, array.rank, array.elem, &array.new, &array.set);
        if array.fields.is_empty() {
            return common;
        }
        let rust = self.names.of(id);
        let docs = "Creates an array from the arrays of its fields, which must have one shape.";
        let mut methods = vec![self.constructor(docs, "zip", id, &array.zip, &array.fields)];
        let mut observed = String::new();
        if let Some(row_methods) = self.row_methods(id, array) {
            methods.extend(row_methods);
            if array.rank == 1 {
                let rows = format!("[{}]", self.plain_type(array.elem));
                observed = self.observed_as(id, &rows, "from_slice,");
            }
        }
        methods.extend(self.field_methods(&array.fields));
        let methods = methods.join("\n");
        let parts = self.parts_struct(id, &array.fields);
        format!("{common}impl {rust} {{\n{methods}}}\n\n{parts}{observed}")
    }

    /// Conversions from and to rows; `None` unless all leaves are arrays of scalars with the rank of the array.
    fn row_methods(&self, id: TypeId, array: &RecordArray) -> Option<[String; 2]> {
        let mut columns = Columns {
            module: self,
            rank: array.rank,
            leaves: Vec::new(),
        };
        let (row, zip) = columns.add(id, array, array.elem, "self", "row")?;
        let row_type = self.plain_type(array.elem);
        let field = self.number(&array.fields[0].project);
        let from_slice = columns.slice_constructor(self.names.of(id), &row_type, &zip);
        Some([columns.to_vec_method(&row_type, &row, field), from_slice])
    }
}

/// The columns of an array of records of scalars.
struct Columns<'a> {
    module: &'a Module<'a>,
    rank: usize,
    /// Per column, outermost first: the call of the array `self` that returns it, and the field of `row`.
    leaves: Vec<(String, String)>,
}

impl Columns<'_> {
    /// Adds the columns of the array that `call` returns and whose rows, of type `row`, are at `path`. Returns an
    /// expression for row `i`, and the call of `zip` for finished columns.
    ///
    /// Ignores the element type of an inner array, which can be another name for the type of the
    /// field in `row`.
    fn add(
        &mut self,
        id: TypeId,
        array: &RecordArray,
        row: TypeRef,
        call: &str,
        path: &str,
    ) -> Option<(String, Expression)> {
        let (row, record) = self.module.plain_record(row)?;
        let members = names::of_fields(&record.fields);
        if array.fields.is_empty() || members != names::of_fields(&array.fields) {
            return None;
        }
        let (mut values, mut arrays) = (Vec::new(), Vec::new());
        for (i, name) in members.iter().enumerate() {
            let call = format!("{call}.{name}()");
            let path = format!("{path}.{}", member(record, i, name));
            let id = array.fields[i].ty.as_type()?;
            let column = self.module.program.get(id);
            if let Some(own) = column.as_array() {
                if own.rank != self.rank || record.fields[i].ty != TypeRef::Scalar(own.elem) {
                    return None;
                }
                let n = self.leaves.len();
                self.leaves.push((call, path));
                values.push(format!("columns.{n}[i]"));
                arrays.push(format!("&columns.{n}.finish()?"));
            } else {
                let own = column
                    .as_record_array()
                    .filter(|own| own.rank == self.rank)?;
                let call = format!("{call}?");
                let (value, zip) = self.add(id, own, record.fields[i].ty, &call, &path)?;
                values.push(value);
                arrays.push(format!("&{}?", zip.on_one_line()));
            }
        }
        let row = self.module.literal(row, record, &members, values);
        let zip = self.module.constructor_call(id, "zip", &members, arrays);
        Some((row.on_one_line(), zip))
    }

    fn to_vec_method(&self, row_type: &str, row: &str, field: usize) -> String {
        let leaves = self.leaves.iter().enumerate();
        let arrays = leaves.map(|(i, (call, _))| format!("columns.get({i}, || {call})?"));
        let arrays = self.tuple("let arrays = (", arrays.collect());
        let slices = (0..self.leaves.len()).map(|i| format!("&arrays.{i}[..n]"));
        let slices = self.tuple("let columns = (", slices.collect());
        // With one length known, the loop needs no bounds checks.
        let body = format!(
            "        let columns = __f::columns(self, {field})?;
{arrays}        let n = arrays.0.len();
{slices}        __f::rows(n, |i| {row})
"
        );
        let docs = "Returns all elements in row-major order. Waits until they are computed.";
        let result = format!("::std::vec::Vec<{row_type}>");
        method(docs, "to_vec", &["&self".to_owned()], &result, &body)
    }

    fn slice_constructor(&self, rust: &str, row_type: &str, zip: &Expression) -> String {
        let context = "context: &Context".to_owned();
        let rows = format!("rows: &[{row_type}]");
        let (docs, name, parameters, shape) = match self.rank {
            1 => (
                "Creates an array from elements.",
                "from_slice",
                vec![context, rows],
                "let shape = [rows.len()];",
            ),
            rank => (
                "Creates an array from elements in row-major order. The shape must match their\nnumber.",
                "from_slice_nd",
                vec![context, format!("shape: [usize; {rank}]"), rows],
                "__f::check_rows(shape, rows.len())?;",
            ),
        };
        let new = vec!["new.column()?".to_owned(); self.leaves.len()];
        let columns = self.tuple("let mut columns = (", new);
        let fill: String = (0..self.leaves.len())
            .step_by(2)
            .map(|i| self.fill(i))
            .collect();
        let zip = list(8, &zip.before, &zip.items, zip.after);
        let body = format!(
            "        {shape}
        let new = __f::new_records::<{rust}>(context, &shape)?;
{columns}        for rows in __f::blocks(rows) {{
{fill}        }}
        if let Some(array) = new.finish()? {{
            return Ok(array);
        }}
{zip}"
        );
        method(docs, name, &parameters, rust, &body)
    }

    /// Writes column `i` and the next one, if there is one.
    fn fill(&self, i: usize) -> String {
        let (_, first) = &self.leaves[i];
        let Some((_, second)) = self.leaves.get(i + 1) else {
            return format!("            __f::fill(rows, &mut columns.{i}, |row| {first})?;\n");
        };
        let inputs = [
            "rows".to_owned(),
            format!("&mut columns.{i}"),
            format!("&mut columns.{}", i + 1),
            format!("(|row| {first}, |row| {second})"),
        ];
        list(12, "__f::fill_two(", &inputs, ")?;")
    }

    /// A `let` of a tuple with an element for each column. One of one element needs a comma.
    fn tuple(&self, before: &str, elements: Vec<String>) -> String {
        let after = if self.leaves.len() == 1 { ",);" } else { ");" };
        list(8, before, &elements, after)
    }
}
