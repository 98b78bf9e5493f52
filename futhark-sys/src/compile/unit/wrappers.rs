//! One wrapper of type `fut_call` per call. The bodies are the macros of `fut_wrappers.h`; each function here writes one
//! use of them. `values.rs` writes the wrappers of the other functions.
//!
//! Assertions before the wrappers compare the type of each C function with the one that follows
//! from the manifest, so a manifest that disagrees with its code does not compile.

use futhark_manifest::{Call, Operation, Owner, Type, TypeRef};

use super::inputs::{Unit, literal};
use super::table;
use crate::compile::generated::blanks::Blank;

/// The assertions, and the wrappers, each after the constants of its row in the table. And the rows.
pub(super) fn write(unit: &Unit<'_>) -> (String, String) {
    let (program, blanks) = (unit.program, &unit.generated.blanks);
    let (mut c, mut rows) = (String::new(), String::new());
    for prototype in program.prototypes() {
        let (name, result) = (prototype.name, prototype.result);
        let types: Vec<String> = (prototype.parameters.iter().map(|p| p.ty.to_string())).collect();
        c += &format!("FUT_ASSERT_TYPE({name}, {result}, {})\n", types.join(", "));
    }
    if let Some(bytes) = blanks.values().flatten().filter_map(Blank::bytes).max() {
        c += &format!("static unsigned char fut_zeros[{}];\n", bytes.max(1));
    }
    for call in program.calls() {
        let (lists, row) = table::function(program, &call);
        rows += &row;
        c += &lists;
        let blanks = blanks.get(call.function.name);
        c += &wrapper(unit, &call, blanks.map_or(&[], Vec::as_slice));
    }
    (c, rows)
}

fn wrapper(unit: &Unit<'_>, call: &Call<'_>, blanks: &[Blank]) -> String {
    let (program, cfun) = (unit.program, call.function.name);
    let (inputs, outputs) = (&call.inputs, &call.outputs);
    let ident = |ty: TypeRef| ty.as_type().map_or("", |id| program.get(id).c_ident());
    if call.returns_variant {
        return format!("FUT_WRAP_VARIANT({cfun}, {})\n", ident(inputs[0].0));
    }
    let [mut checks, mut results] = [const { String::new() }; 2];
    let mut arguments = "c->ctx".to_owned();
    for blank in blanks {
        results += &fill_blank(ident(outputs[0]), blank);
    }
    // A scalar must be complete when the call returns; an array may still be pending.
    let mut waits = outputs.is_empty();
    let mut leave = "fut_leave(c, rc)".to_owned();
    for (i, &ty) in outputs.iter().enumerate() {
        match ty {
            TypeRef::Scalar(elem) => {
                arguments += &format!(", FUT_SCALAR_OUT({i}, {})", elem.c_type());
                waits = true;
            }
            TypeRef::Type(id) => {
                arguments += &format!(", FUT_VALUE_OUT({i}, {})", ident(ty));
                results.extend(unit.check_result(program.get(id), i));
                let n = outputs.len();
                leave = format!("fut_leave_values(c, rc, out, fut_out_{cfun}, {n})");
            }
        }
    }
    for (i, &(ty, _)) in inputs.iter().enumerate() {
        match ty {
            TypeRef::Scalar(elem) => {
                arguments += &format!(", FUT_SCALAR_IN({i}, {})", elem.c_type());
            }
            TypeRef::Type(id) => {
                arguments += &format!(", FUT_VALUE_IN({i}, {})", ident(ty));
                checks.extend(unit.check_argument(program.get(id), i));
            }
        }
    }
    if let (Operation::SumDestruct, Owner::Type(id), Some(part)) = (
        call.function.operation,
        call.function.owner,
        call.function.part,
    ) {
        checks += &expect_variant(program.get(id), part);
    }
    if waits {
        results += "FUT_SYNC(c, rc); ";
    }
    let kind = match call.function.operation {
        Operation::EntryPoint => "ENTRY",
        _ => "OPERATION",
    };
    format!("FUT_WRAP_{kind}({cfun}, {checks}, ({arguments}), {results}, {leave})\n")
}

/// The validation of the variant of a sum before the payload of variant `part` is read.
fn expect_variant(ty: &Type, part: usize) -> String {
    // A value of a sum with one variant always has it, and the generated function asserts nothing.
    let Some(sum) = ty.as_sum().filter(|sum| sum.variants.len() > 1) else {
        return String::new();
    };
    let names = sum.variants.iter();
    let names: String = (names.map(|variant| format!(",\n{}", literal(&variant.name)))).collect();
    let (variant, ident) = (&sum.variant, ty.c_ident());
    format!("FUT_EXPECT_VARIANT({variant}, {ident}, {part}{names}) ")
}

fn fill_blank(sum: &str, blank: &Blank) -> String {
    let (array, i) = (&blank.array, blank.component);
    let [new, free] = ["new", "free"].map(|operation| array.function(operation));
    let dims: Vec<_> = blank.shape.iter().map(i64::to_string).collect();
    let (ident, dims) = (&array.ident, dims.join(", "));
    format!("FUT_FILL_BLANK({sum}, {i}, {ident}, {new}, {free}, {dims}) ")
}
