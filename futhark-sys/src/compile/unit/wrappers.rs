//! One wrapper of the uniform shape per function of the manifest.
//!
//! Each comes with an assertion that the C function has exactly the type that the
//! manifest implies, so a manifest that disagrees with its code does not compile.

use std::fmt::Write as _;

use futhark_manifest::{ArrayType, Program, Structure, Type, TypeId, TypeKind, TypeRef};

use super::{Unit, identifier};

/// A function of `fut_table.functions`.
pub(in crate::compile) struct Function<'a> {
    pub cfun: &'a str,
    /// What it is, for messages.
    pub label: String,
    pub is_entry: bool,
    pub out: Vec<TypeRef>,
    /// Type, and whether it is consumed.
    pub input: Vec<(TypeRef, bool)>,
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
    let mut all = Vec::new();
    for entry in program.entries() {
        all.push(Function {
            cfun: &entry.cfun,
            label: format!("entry point {}", entry.name),
            is_entry: true,
            out: entry.outputs.iter().map(|o| o.ty).collect(),
            input: entry.inputs.iter().map(|i| (i.ty, i.unique)).collect(),
            shape: Shape::Out,
        });
    }
    for (id, ty) in program.types_with_ids() {
        structure_functions(id, ty, &mut all);
    }
    all.sort_by_key(|f| f.cfun);
    all
}

fn structure_functions<'a>(id: TypeId, ty: &'a Type, all: &mut Vec<Function<'a>>) {
    let this = TypeRef::Type(id);
    let name = &ty.name;
    let mut add =
        |cfun: &'a str, label: String, out: Vec<TypeRef>, input: Vec<TypeRef>, shape: Shape| {
            let input = input.into_iter().map(|ty| (ty, false)).collect();
            all.push(Function {
                cfun,
                label,
                is_entry: false,
                out,
                input,
                shape,
            });
        };
    let Some(opaque) = ty.as_opaque() else { return };
    match &opaque.structure {
        Structure::Record(record) => {
            let fields = record.fields.iter().map(|f| f.ty).collect();
            add(
                &record.new,
                format!("record {name}"),
                vec![this],
                fields,
                Shape::Out,
            );
            for field in &record.fields {
                let label = format!("field {} of {name}", field.name);
                add(
                    &field.project,
                    label,
                    vec![field.ty],
                    vec![this],
                    Shape::Out,
                );
            }
        }
        Structure::Sum(sum) => {
            let tag = TypeRef::Scalar(futhark_manifest::ElemType::I32);
            add(
                &sum.variant,
                format!("variant of {name}"),
                vec![tag],
                vec![this],
                Shape::Returns,
            );
            for variant in &sum.variants {
                let label = |what| format!("{what} #{} of {name}", variant.name);
                add(
                    &variant.construct,
                    label("construct"),
                    vec![this],
                    variant.payload.clone(),
                    Shape::Out,
                );
                add(
                    &variant.destruct,
                    label("destruct"),
                    variant.payload.clone(),
                    vec![this],
                    Shape::Out,
                );
            }
        }
        Structure::RecordArray(array) => {
            let fields = array.fields.iter().map(|f| f.ty).collect();
            add(
                &array.zip,
                format!("zip to {name}"),
                vec![this],
                fields,
                Shape::Out,
            );
            for field in &array.fields {
                let label = format!("field {} of {name}", field.name);
                add(
                    &field.project,
                    label,
                    vec![field.ty],
                    vec![this],
                    Shape::Out,
                );
            }
        }
        Structure::OpaqueArray(_) | Structure::Plain => {}
    }
}

/// The head of a wrapper.
pub(super) fn open(c: &mut String, cfun: &str) {
    let _ = writeln!(
        c,
        "static int32_t fut_w_{cfun}(struct fut_context *c, void *const *out, const void *const *in) {{\n  (void)out;\n  (void)in;"
    );
}

/// An assertion that `cfun` has this type; `parameters` come after the context.
pub(super) fn assert_type(c: &mut String, returns: &str, cfun: &str, parameters: &[String]) {
    let mut list = String::from("struct futhark_context *");
    for parameter in parameters {
        let _ = write!(list, ", {parameter}");
    }
    let _ = writeln!(
        c,
        "_Static_assert(__builtin_types_compatible_p(__typeof__(&{cfun}), {returns} (*)({list})), \
         \"manifest and header disagree about {cfun}\");"
    );
}

pub(super) fn write(unit: &Unit<'_>, c: &mut String) {
    for function in functions(unit.program) {
        write_function(unit, &function, c);
    }
    for ty in unit.program.types() {
        if let TypeKind::Array(array) = &ty.kind {
            write_array(ty, array, c);
        }
    }
}

/// `const struct X *` or the scalar's type: how a parameter of type `ty` is declared.
fn parameter(unit: &Unit<'_>, ty: TypeRef) -> String {
    match ty {
        TypeRef::Scalar(elem) => elem.c_type().to_owned(),
        TypeRef::Type(_) => format!("const {}", unit.c_type(ty)),
    }
}

fn argument(unit: &Unit<'_>, ty: TypeRef, i: usize) -> String {
    match ty {
        TypeRef::Scalar(elem) => format!("*(const {} *)in[{i}]", elem.c_type()),
        TypeRef::Type(_) => format!("(const {})in[{i}]", unit.c_type(ty)),
    }
}

fn write_function(unit: &Unit<'_>, f: &Function<'_>, c: &mut String) {
    let cfun = f.cfun;
    let inputs = f.input.iter().map(|&(ty, _)| parameter(unit, ty));
    if f.shape == Shape::Returns {
        assert_type(c, "int", cfun, &inputs.collect::<Vec<_>>());
        open(c, cfun);
        let argument = argument(unit, f.input[0].0, 0);
        let _ = writeln!(
            c,
            "  FUT_ENTER(c)\n  *(int32_t *)out[0] = {cfun}(c->ctx, {argument});"
        );
        c.push_str("  FUT_LEAVE(c, 0, (void)0)\n}\n");
        return;
    }
    let outputs = f.out.iter().map(|&ty| format!("{}*", unit.c_type(ty)));
    assert_type(c, "int", cfun, &outputs.chain(inputs).collect::<Vec<_>>());

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
    for (i, &(ty, _)) in f.input.iter().enumerate() {
        let _ = write!(call, ", {}", argument(unit, ty, i));
    }
    let _ = writeln!(c, "  FUT_ENTER(c)\n  int rc = {call});");
    if scalars {
        // A scalar must be there when the call returns; an array may still be under way.
        c.push_str("  FUT_SYNC(c, rc);\n");
    }
    let _ = writeln!(c, "  FUT_LEAVE(c, rc,{frees})\n}}");
}

/// ", dims[0], dims[1]" and the like.
pub(super) fn indexed(name: &str, rank: usize) -> String {
    (0..rank).fold(String::new(), |mut text, i| {
        let _ = write!(text, ", {name}[{i}]");
        text
    })
}

fn write_array(ty: &Type, array: &ArrayType, c: &mut String) {
    let this = format!("struct {} *", ty.c_ident());
    let ident = identifier(ty.c_ident());
    let elem = array.elem.c_type();
    let rank = array.rank;
    let dims = vec!["int64_t".to_owned(); rank];
    let ops = &array.ops;

    let _ = writeln!(
        c,
        "static int32_t fut_references_{ident}(const void *value) {{\n  return fut_count(((const {this})value)->mem.references);\n}}"
    );

    assert_type(
        c,
        &this,
        &ops.new,
        &[vec![format!("const {elem} *")], dims.clone()].concat(),
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

    assert_type(c, "int", &ops.values, &[this.clone(), format!("{elem} *")]);
    open(c, &ops.values);
    let _ = writeln!(
        c,
        "  FUT_ENTER(c)\n  int rc = {values}(c->ctx, ({this})in[0], ({elem} *)out[0]);\n  \
         FUT_SYNC(c, rc);\n  FUT_LEAVE(c, rc, (void)0)\n}}",
        values = ops.values,
    );

    if let Some(index) = &ops.index {
        assert_type(
            c,
            "int",
            index,
            &[vec![format!("{elem} *"), this.clone()], dims].concat(),
        );
        open(c, index);
        let list = indexed("indices", rank);
        let _ = writeln!(
            c,
            "  const int64_t *indices = in[1];\n  FUT_ENTER(c)\n  \
             int rc = {index}(c->ctx, ({elem} *)out[0], ({this})in[0]{list});\n  \
             FUT_SYNC(c, rc);\n  FUT_LEAVE(c, rc, (void)0)\n}}"
        );
    }
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
    /// still write into the memory on the way, so that is not given back.
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
             if ({values}(ctx, value, data) != 0 || fut_wait(ctx) != 0)\n    return NULL;\n  \
             struct {ident} *copy = {new}(ctx, data{dims});\n  \
             if (fut_wait(ctx) != 0) {{\n    \
             if (copy != NULL)\n      (void){free}(ctx, copy);\n    return NULL;\n  }}\n  \
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
    assert_type(c, "int", free, &[this.to_owned()]);
    open(c, free);
    let _ = writeln!(
        c,
        "  FUT_ENTER(c)\n  int rc = {free}(c->ctx, ({this})in[0]);\n  FUT_LEAVE(c, rc, (void)0)\n}}"
    );
}

/// A shape is part of the value: reading it enters nothing.
pub(super) fn write_shape(c: &mut String, this: &str, shape: &str) {
    assert_type(c, "const int64_t *", shape, &[this.to_owned()]);
    open(c, shape);
    let _ = writeln!(
        c,
        "  *(const int64_t **)out[0] = {shape}(c->ctx, ({this})in[0]);\n  return FUT_OK;\n}}"
    );
}
