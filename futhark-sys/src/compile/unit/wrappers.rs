//! One wrapper of type `fut_call` per function of the manifest. The bodies are the macros of
//! `fut_wrappers.h`; each function here writes one use of them.
//!
//! Assertions before the wrappers compare the type of each C function with the one that follows
//! from the manifest, so a manifest that disagrees with its code does not compile.

use std::fmt::Write as _;

use futhark_manifest::c::{CType, Prototype};
use futhark_manifest::{
    self as manifest, ArrayType, Call, ElemType, Operation, Owner, Program, Structure, Type,
    TypeKind, TypeRef,
};

use super::{Unit, shapes, write_text};
use crate::compile::generated::blanks::Blank;

/// A function of `fut_table.functions`.
pub(in crate::compile) struct Function<'a> {
    pub call: Call<'a>,
    /// A description for messages.
    pub label: String,
    /// The names of the parameters of an entry point.
    pub names: Vec<&'a str>,
    /// The names of the tuning parameters that influence an entry point.
    pub tuning_params: &'a [String],
}

impl<'a> Function<'a> {
    /// The name of the C function.
    pub fn cfun(&self) -> &'a str {
        self.call.function.name
    }

    pub fn is_entry(&self) -> bool {
        self.call.function.operation == Operation::EntryPoint
    }
}

/// All functions in the table, in the order of their numbers.
pub(in crate::compile) fn functions(program: &Program) -> Vec<Function<'_>> {
    let calls = program.calls().into_iter();
    let listed = calls.map(|call| {
        let entry = match call.function.owner {
            Owner::Entry(index) => Some(&program.entries()[index]),
            Owner::Type(_) => None,
        };
        let inputs = entry.into_iter().flat_map(|entry| &entry.inputs);
        Function {
            label: label(program, &call.function),
            names: inputs.map(|input| &*input.name).collect(),
            tuning_params: entry.map_or(&[], |entry| &entry.tuning_params),
            call,
        }
    });
    listed.collect()
}

/// A description for messages.
fn label(program: &Program, function: &manifest::Function<'_>) -> String {
    let ty = match function.owner {
        Owner::Entry(index) => return format!("entry point {}", program.entries()[index].name),
        Owner::Type(id) => program.get(id),
    };
    let structure = ty.as_opaque().map(|opaque| &opaque.structure);
    let part = || match (structure, function.part) {
        (Some(Structure::Record(record)), Some(part)) => &*record.fields[part].name,
        (Some(Structure::RecordArray(array)), Some(part)) => &*array.fields[part].name,
        (Some(Structure::Sum(sum)), Some(part)) => &*sum.variants[part].name,
        _ => "",
    };
    let name = &ty.name;
    match function.operation {
        Operation::RecordNew => format!("record {name}"),
        Operation::RecordArrayZip => format!("zip to {name}"),
        Operation::RecordProject | Operation::RecordArrayProject => {
            format!("field {} of {name}", part())
        }
        Operation::SumVariant => format!("variant of {name}"),
        Operation::SumConstruct => format!("construct #{} of {name}", part()),
        Operation::SumDestruct => format!("destruct #{} of {name}", part()),
        other => format!("{other} of {name}"),
    }
}

/// Asserts that every C function has the type that follows from the manifest.
fn write_types(program: &Program, c: &mut String) {
    for Prototype {
        name,
        result,
        parameters,
        ..
    } in program.prototypes()
    {
        let types: Vec<String> = parameters.iter().map(|p| p.ty.to_string()).collect();
        let _ = writeln!(c, "FUT_ASSERT_TYPE({name}, {result}, {})", types.join(", "));
    }
}

pub(super) fn write(unit: &Unit<'_>, c: &mut String) {
    write_types(unit.program, c);
    let blanks = &unit.generated.blanks;
    let bytes = blanks.values().flatten().filter_map(Blank::bytes).max();
    if let Some(bytes) = bytes {
        let _ = writeln!(c, "static unsigned char fut_zeros[{}];", bytes.max(1));
    }
    for function in functions(unit.program) {
        let blanks = blanks.get(function.cfun()).map_or(&[][..], Vec::as_slice);
        write_function(unit, &function, blanks, c);
    }
    for ty in unit.program.types() {
        if let TypeKind::Array(array) = &ty.kind {
            write_array(unit, ty, array, c);
        }
    }
}

/// The argument of the C function for input `i`.
fn argument(program: &Program, ty: TypeRef, i: usize) -> String {
    match ty {
        TypeRef::Scalar(elem) => format!("FUT_SCALAR_IN({i}, {})", elem.c_type()),
        TypeRef::Type(id) => format!("FUT_VALUE_IN({i}, {})", program.get(id).c_ident()),
    }
}

fn write_function(unit: &Unit<'_>, f: &Function<'_>, blanks: &[Blank], c: &mut String) {
    let (cfun, program) = (f.cfun(), unit.program);
    let (inputs, outputs) = (&f.call.inputs, &f.call.outputs);
    if f.call.returns_variant {
        let TypeRef::Type(id) = inputs[0].0 else {
            unreachable!("only values have variants");
        };
        let _ = writeln!(c, "FUT_WRAP_VARIANT({cfun}, {})", program.get(id).c_ident());
        return;
    }
    let (mut clear, mut frees) = (String::new(), String::new());
    let (mut call, mut results) = ("c->ctx".to_owned(), String::new());
    for (i, &ty) in outputs.iter().enumerate() {
        match ty {
            TypeRef::Scalar(elem) => {
                let _ = write!(call, ", FUT_SCALAR_OUT({i}, {})", elem.c_type());
            }
            TypeRef::Type(id) => {
                let ty = program.get(id);
                let _ = write!(clear, "FUT_CLEAR({i}) ");
                let _ = write!(call, ", FUT_VALUE_OUT({i}, {})", ty.c_ident());
                frees += &free_result(ty, i);
            }
        }
    }
    let mut arguments = String::new();
    for (i, &(ty, _)) in inputs.iter().enumerate() {
        let _ = write!(call, ", {}", argument(program, ty, i));
        arguments += &shapes::argument(program, ty, i);
    }
    if f.call.function.operation == Operation::SumDestruct {
        arguments += &expect_variant(program, f);
    }
    for blank in blanks {
        if let TypeRef::Type(sum) = outputs[0] {
            results += &fill_blank(program.get(sum).c_ident(), blank);
        }
    }
    for (i, &ty) in outputs.iter().enumerate() {
        results += &shapes::result(program, ty, i);
    }
    let is_scalar = |ty: &TypeRef| matches!(ty, TypeRef::Scalar(_));
    if outputs.is_empty() || outputs.iter().any(is_scalar) {
        // A scalar must be complete when the call returns; an array may still be pending.
        results += "FUT_SYNC(c, rc); ";
    }
    let kind = if f.is_entry() { "ENTRY" } else { "OPERATION" };
    let _ = writeln!(
        c,
        "FUT_WRAP_{kind}({cfun}, {clear}, {arguments}, ({call}), {results}, {frees})"
    );
}

/// The validation of the variant of a sum before its payload is read.
fn expect_variant(program: &Program, f: &Function<'_>) -> String {
    let (Owner::Type(id), Some(part)) = (f.call.function.owner, f.call.function.part) else {
        unreachable!("a payload is that of a variant");
    };
    let ty = program.get(id);
    let structure = ty.as_opaque().map(|opaque| &opaque.structure);
    let Some(Structure::Sum(sum)) = structure else {
        unreachable!("only sums have variants");
    };
    // No other variant, and no assertion.
    if sum.variants.len() == 1 {
        return String::new();
    }
    let mut c = format!(
        "FUT_EXPECT_VARIANT({}, {}, {part}",
        sum.variant,
        ty.c_ident()
    );
    for variant in &sum.variants {
        c.push_str(",\n");
        write_text(&variant.name, &mut c);
    }
    c + ") "
}

fn fill_blank(sum: &str, blank: &Blank) -> String {
    let (array, i) = (&blank.array, blank.component);
    let dims: Vec<_> = blank.shape.iter().map(i64::to_string).collect();
    format!(
        "FUT_FILL_BLANK({sum}, {i}, {}, {}, {}, {}) ",
        array.ident,
        array.function("new"),
        array.function("free"),
        dims.join(", ")
    )
}

/// Frees result `i` of a failed call.
pub(super) fn free_result(ty: &Type, i: usize) -> String {
    format!(
        "FUT_FREE_RESULT(c, out, {i}, struct {}, {}) ",
        ty.c_ident(),
        ty.free()
    )
}

/// "dims[0], dims[1]" and the like.
pub(super) fn indexed(name: &str, rank: usize) -> String {
    let all: Vec<_> = (0..rank).map(|i| format!("{name}[{i}]")).collect();
    all.join(", ")
}

fn write_array(unit: &Unit<'_>, ty: &Type, array: &ArrayType, c: &mut String) {
    let ArrayType { ops, rank, .. } = array;
    let (ident, elem, free) = (ty.c_ident(), array.elem.c_type(), &ops.free);
    let (dims, indices) = (indexed("dims", *rank), indexed("indices", *rank));
    let mut line = |text: String| {
        c.push_str(&text);
        c.push('\n');
    };
    line(format!("FUT_ARRAY_REFERENCES({ident})"));
    line(format!(
        "FUT_WRAP_NEW({}, {ident}, {elem}, {free}, {dims})",
        ops.new
    ));
    line(format!("FUT_WRAP_FREE({free}, {ident})"));
    line(format!("FUT_WRAP_SHAPE({}, {ident})", ops.shape));
    line(format!("FUT_WRAP_VALUES({}, {ident}, {elem})", ops.values));
    if let Some(index) = &ops.index {
        line(format!(
            "FUT_WRAP_INDEX({index}, {ident}, {elem}, {indices})"
        ));
    }
    if let Some(values_raw) = &ops.values_raw {
        line(format!("FUT_WRAP_RAW_MEMORY({values_raw}, {ident})"));
    }
    if let Some(new_raw) = &ops.new_raw {
        let memory = CType::raw_memory(unit.program.backend);
        line(format!(
            "FUT_WRAP_BORROW({new_raw}, {ident}, {memory}, {free}, {dims})"
        ));
    }
    line(duplicate_array(
        ident,
        array.elem,
        *rank,
        [&ops.new, &ops.values, free],
    ));
    line(format!("FUT_WRAP_DUPLICATE({ident}, {free})"));
}

/// Defines the function that copies an array, by its functions new, values and free.
pub(super) fn duplicate_array(
    ident: &str,
    elem: ElemType,
    rank: usize,
    functions: [&str; 3],
) -> String {
    let size: Vec<_> = (0..rank)
        .map(|i| format!("(size_t)value->shape[{i}]"))
        .collect();
    format!(
        "FUT_DUPLICATE_ARRAY({ident}, {}, {}, {}, {})",
        elem.c_type(),
        functions.join(", "),
        size.join(" * "),
        indexed("value->shape", rank)
    )
}
