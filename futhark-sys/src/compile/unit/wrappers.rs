//! One wrapper of type `fut_call` per call, and the validation of shapes (`fut_sizes.h`). The bodies are the macros of
//! `fut_wrappers.h`; each function here writes one use of them. `values.rs` writes the wrappers of the other functions.
//!
//! Assertions before the wrappers compare the type of each C function with the one that follows
//! from the manifest, so a manifest that disagrees with its code does not compile.

use futhark_manifest::{Call, Operation, Owner, Program, Type, TypeRef};

use super::inputs::{Unit, literal};
use crate::compile::generated::blanks::Blank;

/// The validation of shapes, the assertions, and the wrappers.
pub(super) fn write(unit: &Unit<'_>) -> String {
    let (program, blanks) = (unit.program, &unit.generated.blanks);
    let mut c = String::new();
    for ty in program.types() {
        c += &find_misshapen(unit, ty.c_ident());
    }
    for prototype in program.prototypes() {
        let (name, result) = (prototype.name, prototype.result);
        let types: Vec<String> = (prototype.parameters.iter().map(|p| p.ty.to_string())).collect();
        c += &format!("FUT_ASSERT_TYPE({name}, {result}, {})\n", types.join(", "));
    }
    if let Some(bytes) = blanks.values().flatten().filter_map(Blank::bytes).max() {
        c += &format!("static unsigned char fut_zeros[{}];\n", bytes.max(1));
    }
    for call in program.calls() {
        let blanks = blanks.get(call.function.name);
        c += &wrapper(program, &call, blanks.map_or(&[], Vec::as_slice));
    }
    c
}

/// A function that finds an array with an invalid shape in a value.
fn find_misshapen(unit: &Unit<'_>, ident: &str) -> String {
    let layouts = &unit.generated.layouts;
    let own = layouts
        .array(ident)
        .map(|array| ("value".to_owned(), array));
    let components = layouts.arrays(ident);
    let components = components.map(|(i, array)| (format!("value->v{i}"), array));
    let tests = own.into_iter().chain(components).map(|(value, array)| {
        let (rank, size) = (array.rank, array.element_size());
        format!(
            "  if (FUT_UNLIKELY(!fut_shape_fits({value}->shape, {rank}, {size}, FUT_BLOCK({value})))) {{\n    \
             *rank = {rank};\n    return {value}->shape;\n  }}\n"
        )
    });
    let tests: Vec<String> = tests.collect();
    // One for many arrays is long, and many wrappers call it.
    let inline = match tests.len() {
        0 | 1 => "inline",
        _ => "__attribute__((noinline))",
    };
    format!(
        "static {inline} const int64_t *fut_misshapen_{ident}(const struct {ident} *value, int *rank) {{\n  \
         (void)value;\n  (void)rank;\n{}  return NULL;\n}}\n",
        tests.concat()
    )
}

fn wrapper(program: &Program, call: &Call<'_>, blanks: &[Blank]) -> String {
    let (cfun, inputs, outputs) = (call.function.name, &call.inputs, &call.outputs);
    let ident = |ty: TypeRef| ty.as_type().map_or("", |id| program.get(id).c_ident());
    if call.returns_variant {
        return format!("FUT_WRAP_VARIANT({cfun}, {})\n", ident(inputs[0].0));
    }
    let [mut checks, mut results, mut frees] = [const { String::new() }; 3];
    let mut arguments = "c->ctx".to_owned();
    for blank in blanks {
        results += &fill_blank(ident(outputs[0]), blank);
    }
    // A scalar must be complete when the call returns; an array may still be pending.
    let mut waits = outputs.is_empty();
    for (i, &ty) in outputs.iter().enumerate() {
        match ty {
            TypeRef::Scalar(elem) => {
                arguments += &format!(", FUT_SCALAR_OUT({i}, {})", elem.c_type());
                waits = true;
            }
            TypeRef::Type(id) => {
                let ty = program.get(id);
                arguments += &format!(", FUT_VALUE_OUT({i}, {})", ty.c_ident());
                results += &check_result(ty, i);
                frees += &free_result(ty, i);
            }
        }
    }
    for (i, &(ty, _)) in inputs.iter().enumerate() {
        match ty {
            TypeRef::Scalar(elem) => {
                arguments += &format!(", FUT_SCALAR_IN({i}, {})", elem.c_type());
            }
            TypeRef::Type(_) => {
                let ident = ident(ty);
                arguments += &format!(", FUT_VALUE_IN({i}, {ident})");
                checks += &format!(
                    "FUT_CHECK_ARGUMENT(c, fut_misshapen_{ident}, in[{i}], \"argument {i}\") "
                );
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
    format!("FUT_WRAP_{kind}({cfun}, {checks}, ({arguments}), {results}, {frees})\n")
}

pub(super) fn check_result(ty: &Type, i: usize) -> String {
    let ident = ty.c_ident();
    format!(
        "FUT_CHECK_RESULT(c, rc, fut_misshapen_{ident}, *(struct {ident} **)out[{i}], \"result {i}\") "
    )
}

/// Frees result `i` of a failed call.
pub(super) fn free_result(ty: &Type, i: usize) -> String {
    let (ident, free) = (ty.c_ident(), ty.free());
    format!("FUT_FREE_RESULT(c, out, {i}, struct {ident}, {free}) ")
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
