//! One wrapper of the uniform shape per function of the manifest.
//!
//! Before them stand assertions that each C function has exactly the type that
//! follows from the manifest, so a manifest that disagrees with its code does not
//! compile.

use std::fmt::Write as _;

use futhark_manifest::c::{CType, ParameterRole, Passing, Prototype, Returns};
use futhark_manifest::{
    self as manifest, ArrayType, ElemType, Operation, Owner, Program, Structure, Type, TypeKind,
    TypeRef,
};

use super::{Unit, identifier, shapes};
use crate::compile::generated::blanks::Blank;

/// A function of `fut_table.functions`.
pub(in crate::compile) struct Function<'a> {
    pub cfun: &'a str,
    /// What it is, for messages.
    pub label: String,
    pub is_entry: bool,
    pub out: Vec<TypeRef>,
    /// Type, and whether it is consumed.
    pub input: Vec<(TypeRef, bool)>,
    /// Of the parameters of an entry point.
    pub names: Vec<&'a str>,
    shape: Shape,
}

/// In which order the C function takes results and parameters.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// `int f(ctx, out…, in…)`, the common one.
    Out,
    /// `int f(ctx, in)`: the result is what it returns.
    Returns,
}

/// Every function that the table lists, sorted by name.
pub(in crate::compile) fn functions(program: &Program) -> Vec<Function<'_>> {
    let mut all: Vec<_> = program
        .functions()
        .filter_map(|function| listed(program, function))
        .collect();
    all.sort_by_key(|f| f.cfun);
    all
}

/// The function as the table lists it, unless every type has one of its own kind.
fn listed<'a>(program: &'a Program, function: manifest::Function<'a>) -> Option<Function<'a>> {
    let label = label(program, &function)?;
    let mut out = Vec::new();
    let mut input = Vec::new();
    let prototype = program.prototype(&function);
    for parameter in &prototype.parameters {
        let consumed = parameter.passing == Passing::Consumed;
        match (parameter.role, function.owner) {
            (ParameterRole::Output { ty, .. }, _) => out.push(ty),
            (ParameterRole::Value, Owner::Type(id)) => input.push((TypeRef::Type(id), consumed)),
            (
                ParameterRole::Field { ty, .. }
                | ParameterRole::Payload { ty, .. }
                | ParameterRole::Argument { ty, .. },
                _,
            ) => input.push((ty, consumed)),
            _ => {}
        }
    }
    let shape = match prototype.returns {
        Returns::Variant => Shape::Returns,
        _ => Shape::Out,
    };
    if shape == Shape::Returns {
        out.push(TypeRef::Scalar(ElemType::I32));
    }
    let names = match function.owner {
        Owner::Entry(index) => {
            let inputs = program.entries()[index].inputs.iter();
            inputs.map(|input| &*input.name).collect()
        }
        Owner::Type(_) => Vec::new(),
    };
    Some(Function {
        cfun: function.name,
        label,
        is_entry: function.operation == Operation::EntryPoint,
        out,
        input,
        names,
        shape,
    })
}

/// What a function is, for messages; nothing for what every type has.
fn label(program: &Program, function: &manifest::Function<'_>) -> Option<String> {
    let ty = match function.owner {
        Owner::Entry(index) => {
            return Some(format!("entry point {}", program.entries()[index].name));
        }
        Owner::Type(id) => program.get(id),
    };
    let (name, structure) = (&ty.name, &ty.as_opaque()?.structure);
    let part = || match (structure, function.part) {
        (Structure::Record(record), Some(part)) => &*record.fields[part].name,
        (Structure::RecordArray(array), Some(part)) => &*array.fields[part].name,
        (Structure::Sum(sum), Some(part)) => &*sum.variants[part].name,
        _ => "",
    };
    Some(match function.operation {
        Operation::RecordNew => format!("record {name}"),
        Operation::RecordArrayZip => format!("zip to {name}"),
        Operation::RecordProject | Operation::RecordArrayProject => {
            format!("field {} of {name}", part())
        }
        Operation::SumVariant => format!("variant of {name}"),
        Operation::SumConstruct => format!("construct #{} of {name}", part()),
        Operation::SumDestruct => format!("destruct #{} of {name}", part()),
        _ => return None,
    })
}

/// The head of a wrapper.
pub(super) fn open(c: &mut String, cfun: &str) {
    let _ = writeln!(
        c,
        "static int32_t fut_w_{cfun}(struct fut_context *c, void *const *out, const void *const *in) {{\n  (void)out;\n  (void)in;"
    );
}

/// Assertions that every C function has the type that follows from the manifest.
fn write_types(program: &Program, c: &mut String) {
    for Prototype {
        name,
        result,
        parameters,
        ..
    } in program.prototypes()
    {
        let types: Vec<String> = parameters.iter().map(|p| p.ty.to_string()).collect();
        let types = types.join(", ");
        let _ = writeln!(
            c,
            "_Static_assert(__builtin_types_compatible_p(__typeof__(&{name}), {result} (*)({types})), \
             \"manifest and header disagree about {name}\");"
        );
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
        let blanks = blanks.get(function.cfun).map_or(&[][..], Vec::as_slice);
        write_function(unit, &function, blanks, c);
    }
    for ty in unit.program.types() {
        if let TypeKind::Array(array) = &ty.kind {
            write_array(unit, ty, array, c);
        }
    }
}

fn argument(unit: &Unit<'_>, ty: TypeRef, i: usize) -> String {
    match ty {
        TypeRef::Scalar(elem) => format!("*(const {} *)in[{i}]", elem.c_type()),
        TypeRef::Type(_) => format!("(const {})in[{i}]", unit.c_type(ty)),
    }
}

fn write_function(unit: &Unit<'_>, f: &Function<'_>, blanks: &[Blank], c: &mut String) {
    let cfun = f.cfun;
    if f.shape == Shape::Returns {
        open(c, cfun);
        let argument = argument(unit, f.input[0].0, 0);
        let _ = writeln!(
            c,
            "  FUT_ENTER(c)\n  *(int32_t *)out[0] = {cfun}(c->ctx, {argument});"
        );
        c.push_str("  FUT_LEAVE(c, 0, (void)0)\n}\n");
        return;
    }
    open(c, cfun);
    let mut call = format!("{cfun}(c->ctx");
    let mut frees = String::new();
    let mut scalars = f.out.is_empty();
    for (i, &ty) in f.out.iter().enumerate() {
        let c_type = unit.c_type(ty);
        let _ = write!(call, ", ({c_type}*)out[{i}]");
        match ty {
            TypeRef::Scalar(_) => scalars = true,
            TypeRef::Type(id) => {
                let ty = unit.program.get(id);
                let _ = writeln!(c, "  *(void **)out[{i}] = NULL;");
                let _ = write!(
                    frees,
                    " FUT_FREE_RESULT(c, out, {i}, struct {}, {})",
                    ty.c_ident(),
                    ty.free()
                );
            }
        }
    }
    let mut checks = String::new();
    for (i, &(ty, _)) in f.input.iter().enumerate() {
        let _ = write!(call, ", {}", argument(unit, ty, i));
        checks.push_str(&shapes::argument(unit.program, ty, i));
    }
    // What makes a value of one variant writes only its own parts: the rest must not be
    // what the heap held before. These functions make structs and nothing large.
    let (zero, done) = if f.is_entry {
        ("", "")
    } else {
        ("  fut_self.zero = true;\n", "  fut_self.zero = false;\n")
    };
    let _ = write!(
        c,
        "  FUT_ENTER(c)\n{checks}{zero}  int rc = {call});\n{done}"
    );
    for blank in blanks {
        write_blank(&unit.c_type(f.out[0]), blank, c);
    }
    for (i, &ty) in f.out.iter().enumerate() {
        c.push_str(&shapes::result(unit.program, ty, i));
    }
    if scalars {
        // A scalar must be there when the call returns; an array may still be under way.
        c.push_str("  FUT_SYNC(c, rc);\n");
    }
    let _ = writeln!(c, "  FUT_LEAVE(c, rc,{frees})\n}}");
}

/// Puts an array of zeros in the place of an empty one that belongs to another variant. The zeros
/// are static, so that a device may read them after the call.
fn write_blank(sum: &str, blank: &Blank, c: &mut String) {
    let (array, i) = (&blank.array, blank.component);
    let dims: String = blank.shape.iter().map(|dim| format!(", {dim}")).collect();
    let _ = writeln!(
        c,
        "  if (rc == 0) {{\n    {sum}value = *({sum}*)out[0];\n    \
         struct {ident} *zeros = {new}(c->ctx, (const void *)fut_zeros{dims});\n    \
         if (zeros == NULL) {{\n      rc = 1;\n    }} else {{\n      \
         if (value->v{i} != NULL)\n        (void){free}(c->ctx, value->v{i});\n      \
         value->v{i} = zeros;\n    }}\n  }}",
        ident = array.ident,
        new = array.function("new"),
        free = array.function("free"),
    );
}

/// ", dims[0], dims[1]" and the like.
pub(super) fn indexed(name: &str, rank: usize) -> String {
    (0..rank).fold(String::new(), |mut text, i| {
        let _ = write!(text, ", {name}[{i}]");
        text
    })
}

fn write_array(unit: &Unit<'_>, ty: &Type, array: &ArrayType, c: &mut String) {
    let this = format!("struct {} *", ty.c_ident());
    let ident = identifier(ty.c_ident());
    let elem = array.elem.c_type();
    let rank = array.rank;
    let ops = &array.ops;

    let _ = writeln!(
        c,
        "static int32_t fut_references_{ident}(const void *value) {{\n  return fut_count(((const {this})value)->mem.references);\n}}"
    );

    open(c, &ops.new);
    let list = indexed("dims", rank);
    let _ = writeln!(
        c,
        "  const int64_t *dims = in[1];\n  *(void **)out[0] = NULL;\n  FUT_ENTER(c)\n  \
         {this}value = {new}(c->ctx, (const {elem} *)in[0]{list});\n  *(void **)out[0] = value;\n  \
         int rc = value == NULL;\n  FUT_SYNC(c, rc);\n  \
         FUT_LEAVE(c, rc, FUT_FREE_RESULT(c, out, 0, struct {ident}, {free}))\n}}",
        new = ops.new,
        free = ops.free,
    );

    write_free(c, &this, &ops.free);
    write_shape(c, &this, &ops.shape);

    open(c, &ops.values);
    let _ = writeln!(
        c,
        "  FUT_ENTER(c)\n  int rc = {values}(c->ctx, ({this})in[0], ({elem} *)out[0]);\n  \
         FUT_SYNC(c, rc);\n  FUT_LEAVE(c, rc, (void)0)\n}}",
        values = ops.values,
    );

    if let Some(index) = &ops.index {
        open(c, index);
        let list = indexed("indices", rank);
        let _ = writeln!(
            c,
            "  const int64_t *indices = in[1];\n  FUT_ENTER(c)\n  \
             int rc = {index}(c->ctx, ({elem} *)out[0], ({this})in[0]{list});\n  \
             FUT_SYNC(c, rc);\n  FUT_LEAVE(c, rc, (void)0)\n}}"
        );
    }
    write_raw(unit, ty, array, c);
    let copied = CopiedArray {
        ident,
        elem,
        rank,
        new: &ops.new,
        values: &ops.values,
        free: &ops.free,
    };
    copied.write(c);
    write_duplicate(c, ident, &ops.free);
}

/// Memory as the backend has it, out and in. On GPU backends it may be a number, which
/// goes through the table as a pointer.
fn write_raw(unit: &Unit<'_>, ty: &Type, array: &ArrayType, c: &mut String) {
    let ident = ty.c_ident();
    if let Some(values_raw) = &array.ops.values_raw {
        open(c, values_raw);
        let _ = writeln!(
            c,
            "  *(void **)out[0] = (void *)(uintptr_t){values_raw}(c->ctx, (struct {ident} *)in[0]);\n  return FUT_OK;\n}}"
        );
    }
    if let Some(new_raw) = &array.ops.new_raw {
        open(c, new_raw);
        let memory = CType::raw_memory(unit.program.backend);
        let list = indexed("dims", array.rank);
        let _ = writeln!(
            c,
            "  const int64_t *dims = in[1];\n  *(void **)out[0] = NULL;\n  FUT_ENTER(c)\n  \
             struct {ident} *value = {new_raw}(c->ctx, ({memory})(uintptr_t)in[0]{list});\n  \
             FUT_BORROW(c, value)\n  *(void **)out[0] = value;\n  int rc = value == NULL;\n  \
             FUT_LEAVE(c, rc, FUT_FREE_RESULT(c, out, 0, struct {ident}, {free}))\n}}",
            free = array.ops.free,
        );
    }
}

/// What `fut_duplicate_<ident>` of an array needs.
pub(super) struct CopiedArray<'a> {
    pub ident: &'a str,
    /// The C type of an element.
    pub elem: &'a str,
    pub rank: usize,
    pub new: &'a str,
    pub values: &'a str,
    pub free: &'a str,
}

impl CopiedArray<'_> {
    /// Writes the function: a copy with memory of its own. Host memory is read where it
    /// lies; device memory takes the way through the host. If a wait fails, the device may
    /// still write into the memory on the way, so that is given back only when a second
    /// wait has shown that nothing is under way any more.
    pub(super) fn write(&self, c: &mut String) {
        let CopiedArray {
            ident,
            elem,
            rank,
            new,
            values,
            free,
        } = *self;
        let dims = indexed("value->shape", rank);
        let size: String = (0..rank)
            .map(|i| format!(" * (size_t)value->shape[{i}]"))
            .collect();
        let _ = writeln!(
            c,
            "static struct {ident} *fut_duplicate_{ident}(struct futhark_context *ctx, struct {ident} *value) {{\n\
             #if FUT_GPU_BACKEND\n  size_t bytes = sizeof({elem}){size};\n  \
             {elem} *data = malloc(bytes == 0 ? 1 : bytes);\n  \
             if ({values}(ctx, value, data) != 0 || fut_wait(ctx) != 0) {{\n    \
             if (fut_wait(ctx) == 0)\n      free(data);\n    return NULL;\n  }}\n  \
             struct {ident} *copy = {new}(ctx, data{dims});\n  \
             if (fut_wait(ctx) != 0) {{\n    \
             if (copy != NULL)\n      (void){free}(ctx, copy);\n    \
             if (fut_wait(ctx) == 0)\n      free(data);\n    return NULL;\n  }}\n  \
             free(data);\n  return copy;\n\
             #else\n  return {new}(ctx, (const {elem} *)value->mem.mem{dims});\n#endif\n}}"
        );
    }
}

/// The wrapper around `fut_duplicate_<ident>`.
pub(super) fn write_duplicate(c: &mut String, ident: &str, free: &str) {
    let _ = writeln!(
        c,
        "static int32_t fut_w_duplicate_{ident}(struct fut_context *c, void *const *out, const void *const *in) {{\n  \
         *(void **)out[0] = NULL;\n  FUT_ENTER(c)\n  \
         struct {ident} *copy = fut_duplicate_{ident}(c->ctx, (struct {ident} *)in[0]);\n  \
         *(void **)out[0] = copy;\n  int rc = copy == NULL;\n  \
         FUT_LEAVE(c, rc, FUT_FREE_RESULT(c, out, 0, struct {ident}, {free}))\n}}"
    );
}

pub(super) fn write_free(c: &mut String, this: &str, free: &str) {
    open(c, free);
    let _ = writeln!(
        c,
        "  FUT_ENTER(c)\n  int rc = {free}(c->ctx, ({this})in[0]);\n  FUT_LEAVE(c, rc, (void)0)\n}}"
    );
}

/// A shape is part of the value: reading it enters nothing.
pub(super) fn write_shape(c: &mut String, this: &str, shape: &str) {
    open(c, shape);
    let _ = writeln!(
        c,
        "  *(const int64_t **)out[0] = {shape}(c->ctx, ({this})in[0]);\n  return FUT_OK;\n}}"
    );
}
