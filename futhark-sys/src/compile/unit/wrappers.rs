//! One wrapper of type `fut_call` per function of the manifest, and the validation of shapes (`fut_sizes.h`). The
//! bodies are the macros of `fut_wrappers.h`; each function here writes one use of them.
//!
//! Assertions before the wrappers compare the type of each C function with the one that follows
//! from the manifest, so a manifest that disagrees with its code does not compile.

use futhark_manifest::c::Prototype;
use futhark_manifest::{
    self as manifest, Call, Operation, Owner, Program, Structure, Type, TypeRef,
};

use super::inputs::{Unit, literal};
use crate::compile::generated::blanks::Blank;
use crate::compile::generated::layout::ArrayStruct;

/// A function of `fut_table.functions`.
pub(super) struct Function<'a> {
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
    pub(super) fn cfun(&self) -> &'a str {
        self.call.function.name
    }

    pub(super) fn is_entry(&self) -> bool {
        self.call.function.operation == Operation::EntryPoint
    }
}

/// All functions in the table, in the order of their numbers.
pub(super) fn functions(program: &Program) -> Vec<Function<'_>> {
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
    let part = match (structure, function.part) {
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
            format!("field {part} of {name}")
        }
        Operation::SumVariant => format!("variant of {name}"),
        Operation::SumConstruct => format!("construct #{part} of {name}"),
        Operation::SumDestruct => format!("destruct #{part} of {name}"),
        other => format!("{other} of {name}"),
    }
}

/// The validation of shapes, the assertions, and the wrappers.
pub(super) fn write(unit: &Unit<'_>) -> String {
    let (program, blanks) = (unit.program, &unit.generated.blanks);
    let mut c = String::new();
    for ty in program.types() {
        c += &find_misshapen(unit, ty.c_ident());
    }
    for Prototype {
        name,
        result,
        parameters,
        ..
    } in program.prototypes()
    {
        let types: Vec<String> = parameters.iter().map(|p| p.ty.to_string()).collect();
        c += &format!("FUT_ASSERT_TYPE({name}, {result}, {})\n", types.join(", "));
    }
    if let Some(bytes) = blanks.values().flatten().filter_map(Blank::bytes).max() {
        c += &format!("static unsigned char fut_zeros[{}];\n", bytes.max(1));
    }
    for function in functions(program) {
        let blanks = blanks.get(function.cfun()).map_or(&[][..], Vec::as_slice);
        c += &wrapper(program, &function, blanks);
    }
    c
}

/// A function that finds an array with an invalid shape in a value.
fn find_misshapen(unit: &Unit<'_>, ident: &str) -> String {
    let test = |array: &ArrayStruct, value: &str| {
        let (rank, size) = (array.rank, array.element_size());
        format!(
            "  if (FUT_UNLIKELY(!fut_shape_fits({value}->shape, {rank}, {size}, FUT_BLOCK({value})))) {{\n    \
             *rank = {rank};\n    return {value}->shape;\n  }}\n"
        )
    };
    let layouts = &unit.generated.layouts;
    let tests: Vec<String> = match layouts.array(ident) {
        Some(array) => vec![test(array, "value")],
        None => {
            let arrays = layouts.arrays(ident);
            arrays
                .map(|(i, array)| test(array, &format!("value->v{i}")))
                .collect()
        }
    };
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

fn wrapper(program: &Program, f: &Function<'_>, blanks: &[Blank]) -> String {
    let (cfun, inputs, outputs) = (f.cfun(), &f.call.inputs, &f.call.outputs);
    let ident = |ty: TypeRef| ty.as_type().map_or("", |id| program.get(id).c_ident());
    if f.call.returns_variant {
        return format!("FUT_WRAP_VARIANT({cfun}, {})\n", ident(inputs[0].0));
    }
    let [mut clear, mut checks, mut results, mut frees] = [const { String::new() }; 4];
    let mut call = "c->ctx".to_owned();
    for (i, &ty) in outputs.iter().enumerate() {
        match ty {
            TypeRef::Scalar(elem) => call += &format!(", FUT_SCALAR_OUT({i}, {})", elem.c_type()),
            TypeRef::Type(id) => {
                clear += &format!("FUT_CLEAR({i}) ");
                call += &format!(", FUT_VALUE_OUT({i}, {})", ident(ty));
                frees += &free_result(program.get(id), i);
            }
        }
    }
    for (i, &(ty, _)) in inputs.iter().enumerate() {
        match ty {
            TypeRef::Scalar(elem) => call += &format!(", FUT_SCALAR_IN({i}, {})", elem.c_type()),
            TypeRef::Type(_) => {
                let ident = ident(ty);
                call += &format!(", FUT_VALUE_IN({i}, {ident})");
                checks += &format!(
                    "FUT_CHECK_ARGUMENT(c, fut_misshapen_{ident}, in[{i}], \"argument {i}\") "
                );
            }
        }
    }
    if f.call.function.operation == Operation::SumDestruct {
        checks += &expect_variant(program, f);
    }
    for blank in blanks {
        results += &fill_blank(ident(outputs[0]), blank);
    }
    for (i, &ty) in outputs.iter().enumerate() {
        results += &check_result(program, ty, i);
    }
    let is_scalar = |ty: &TypeRef| matches!(ty, TypeRef::Scalar(_));
    if outputs.is_empty() || outputs.iter().any(is_scalar) {
        // A scalar must be complete when the call returns; an array may still be pending.
        results += "FUT_SYNC(c, rc); ";
    }
    let kind = if f.is_entry() { "ENTRY" } else { "OPERATION" };
    format!("FUT_WRAP_{kind}({cfun}, {clear}, {checks}, ({call}), {results}, {frees})\n")
}

/// The validation of result `i` after the call.
pub(super) fn check_result(program: &Program, ty: TypeRef, i: usize) -> String {
    let Some(id) = ty.as_type() else {
        return String::new();
    };
    let ident = program.get(id).c_ident();
    format!(
        "FUT_CHECK_RESULT(c, rc, fut_misshapen_{ident}, *(struct {ident} **)out[{i}], \"result {i}\") "
    )
}

/// Frees result `i` of a failed call.
pub(super) fn free_result(ty: &Type, i: usize) -> String {
    let (ident, free) = (ty.c_ident(), ty.free());
    format!("FUT_FREE_RESULT(c, out, {i}, struct {ident}, {free}) ")
}

/// The validation of the variant of a sum before its payload is read.
fn expect_variant(program: &Program, f: &Function<'_>) -> String {
    let (Owner::Type(id), Some(part)) = (f.call.function.owner, f.call.function.part) else {
        unreachable!("a payload is that of a variant");
    };
    let ty = program.get(id);
    let sum = ty.as_sum().expect("only sums have variants");
    // No other variant, and no assertion.
    if sum.variants.len() == 1 {
        return String::new();
    }
    let names = sum
        .variants
        .iter()
        .map(|variant| format!(",\n{}", literal(&variant.name)));
    let (variant, names) = (&sum.variant, names.collect::<String>());
    format!(
        "FUT_EXPECT_VARIANT({variant}, {}, {part}{names}) ",
        ty.c_ident()
    )
}

fn fill_blank(sum: &str, blank: &Blank) -> String {
    let (array, i) = (&blank.array, blank.component);
    let [new, free] = ["new", "free"].map(|operation| array.function(operation));
    let dims: Vec<_> = blank.shape.iter().map(i64::to_string).collect();
    let (ident, dims) = (&array.ident, dims.join(", "));
    format!("FUT_FILL_BLANK({sum}, {i}, {ident}, {new}, {free}, {dims}) ")
}
