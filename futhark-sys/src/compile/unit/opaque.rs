//! Wrappers that every opaque type has: free, store, restore, count, duplicate.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use futhark_manifest::{OpaqueType, Type};

use super::wrappers::{CopiedArray, open, write_duplicate, write_free};
use super::{Unit, elem_number, elements, shapes};
use crate::compile::generated::layout::{self, ArrayStruct, Component, Rule};

pub(super) fn write(unit: &Unit<'_>, c: &mut String) {
    // Duplicating a value of components needs those of arrays only, which stand already but
    // for types that the manifest does not list.
    let mut hidden = BTreeSet::new();
    for ty in unit
        .program
        .types()
        .iter()
        .filter(|ty| ty.as_opaque().is_some())
    {
        for component in unit.generated.layouts.components(ty.c_ident()) {
            match component {
                Component::Array(array) if !is_listed(unit, array) => hidden.insert(array),
                _ => false,
            };
        }
    }
    for array in hidden {
        let copied = CopiedArray {
            ident: &array.ident,
            elem: array.elem.c_type(),
            rank: array.rank,
            new: &array.function("new"),
            values: &array.function("values"),
            free: &array.function("free"),
        };
        copied.write(c);
    }
    for ty in unit.program.types() {
        if let Some(opaque) = ty.as_opaque() {
            write_opaque(unit, ty, opaque, c);
        }
    }
}

/// Does the manifest list this array type?
fn is_listed(unit: &Unit<'_>, array: &ArrayStruct) -> bool {
    unit.program
        .types()
        .iter()
        .any(|ty| ty.c_ident() == array.ident)
}

fn write_opaque(unit: &Unit<'_>, ty: &Type, opaque: &OpaqueType, c: &mut String) {
    let ident = ty.c_ident();
    let this = format!("struct {ident} *");
    let layouts = &unit.generated.layouts;
    let components = layouts.components(ident);
    let rules = layout::rules(layouts, unit.program, ty);
    write_components(ident, components, &rules, c);
    write_references(ident, components, c);
    write_copy(unit, ty, components, c);
    write_duplicate(c, ident, &opaque.ops.free);
    write_free(c, &this, &opaque.ops.free);

    if let Some(store) = &opaque.ops.store {
        let storable = storable(ident, components);
        let _ = writeln!(
            c,
            "static int32_t fut_w_size_{store}(struct fut_context *c, void *const *out, const void *const *in) {{\n  \
             FUT_ENTER(c)\n{storable}  int rc = {store}(c->ctx, (const {this})in[0], NULL, (size_t *)out[0]);\n  \
             FUT_LEAVE(c, rc, (void)0)\n}}"
        );
        open(c, store);
        // Units take no memory, so C leaves their bytes as they are.
        let zero = match components.iter().any(Component::is_units) {
            true => format!(
                "  if ({store}(c->ctx, (const {this})in[0], NULL, &size) == 0)\n    memset(bytes, 0, size);\n"
            ),
            false => String::new(),
        };
        let _ = writeln!(
            c,
            "  void *bytes = out[0];\n  size_t size;\n  FUT_ENTER(c)\n{storable}{zero}  \
             int rc = {store}(c->ctx, (const {this})in[0], &bytes, &size);\n  \
             FUT_SYNC(c, rc);\n  FUT_LEAVE(c, rc, (void)0)\n}}"
        );
    }
    if let Some(restore) = &opaque.ops.restore {
        open(c, restore);
        let _ = writeln!(
            c,
            "  *(void **)out[0] = NULL;\n  FUT_ENTER(c)\n  {this}value = {restore}(c->ctx, in[0]);\n  \
             *(void **)out[0] = value;\n  int rc = value == NULL;\n{check}  FUT_SYNC(c, rc);\n  \
             FUT_LEAVE(c, rc, FUT_FREE_RESULT(c, out, 0, struct {ident}, {free}))\n}}",
            check = shapes::value_result(ident, 0),
            free = opaque.ops.free,
        );
    }
    elements::write(unit, ty, opaque, c);
}

/// Refuses what C would compute a wrong size for.
fn storable(ident: &str, components: &[Component]) -> String {
    let mut checks = String::new();
    for (i, component) in components.iter().enumerate() {
        if let Component::Array(array) = component {
            let _ = writeln!(
                checks,
                "  FUT_REFUSE(c, fut_not_storable(((const struct {ident} *)in[0])->v{i}->shape, {}, {}))",
                array.rank,
                array.elem.size()
            );
        }
    }
    checks
}

/// The layout, with assertions that it is what the C compiler sees.
fn write_components(ident: &str, components: &[Component], rules: &[Rule], c: &mut String) {
    let c_type = |component: &Component| match component {
        Component::Scalar(elem) => elem.c_type().to_owned(),
        Component::Array(array) => format!("struct {} *", array.ident),
    };
    for (i, component) in components.iter().enumerate() {
        let c_type = c_type(component);
        let _ = writeln!(
            c,
            "_Static_assert(__builtin_types_compatible_p(__typeof__(((struct {ident} *)0)->v{i}), {c_type}), \
             \"component {i} of {ident} is not what was read\");"
        );
    }
    if components.is_empty() {
        return;
    }
    let _ = writeln!(
        c,
        "static const struct fut_component fut_components_{ident}[] = {{"
    );
    for (i, (component, rule)) in components.iter().zip(rules).enumerate() {
        let (elem, rank) = match component {
            Component::Scalar(elem) => (*elem, 0),
            Component::Array(array) => (array.elem, array.rank),
        };
        let number = elem_number(elem);
        let shape = match component {
            Component::Scalar(_) => "0".to_owned(),
            Component::Array(array) => format!("offsetof(struct {}, shape)", array.ident),
        };
        let _ = writeln!(
            c,
            "  {{{number}u, {rank}u, {}u, {}u, {}u, offsetof(struct {ident}, v{i}), {shape}}},",
            rule.variants, rule.like, rule.shared
        );
    }
    c.push_str("};\n");
    // A struct of what was read has the size of the real one: nothing was missed.
    let _ = writeln!(c, "struct fut_read_{ident} {{");
    for (i, component) in components.iter().enumerate() {
        let _ = writeln!(c, "  {} v{i};", c_type(component));
    }
    let _ = writeln!(
        c,
        "}};\n_Static_assert(sizeof(struct {ident}) == sizeof(struct fut_read_{ident}), \
         \"{ident} has components that were not read\");"
    );
}

fn write_references(ident: &str, components: &[Component], c: &mut String) {
    let _ = writeln!(
        c,
        "static int32_t fut_references_{ident}(const void *value) {{\n  const struct {ident} *v = value;\n  \
         (void)v;\n  int32_t most = 0;"
    );
    for (i, component) in components.iter().enumerate() {
        if let Component::Array(_) = component {
            let _ = writeln!(
                c,
                "  most = fut_max(most, fut_count(v->v{i}->mem.references));"
            );
        }
    }
    c.push_str("  return most;\n}\n");
}

/// A copy of each component in a fresh struct, as the runtime's own functions make it.
fn write_copy(unit: &Unit<'_>, ty: &Type, components: &[Component], c: &mut String) {
    let ident = ty.c_ident();
    let _ = writeln!(
        c,
        "static struct {ident} *fut_duplicate_{ident}(struct futhark_context *ctx, struct {ident} *value) {{\n  \
         (void)ctx;\n  struct {ident} *copy = calloc(1, sizeof *copy);"
    );
    let mut undo = String::new();
    for (i, component) in components.iter().enumerate() {
        match component {
            Component::Scalar(_) => {
                let _ = writeln!(c, "  copy->v{i} = value->v{i};");
            }
            Component::Array(array) => {
                let ident = &array.ident;
                let listed = unit.program.types().iter().find(|ty| ty.c_ident() == ident);
                let free = listed.map_or_else(|| array.function("free"), |ty| ty.free().to_owned());
                let _ = writeln!(
                    c,
                    "  copy->v{i} = fut_duplicate_{ident}(ctx, value->v{i});\n  if (copy->v{i} == NULL)\n    goto undo;"
                );
                let _ = writeln!(
                    undo,
                    "  if (copy->v{i} != NULL)\n    (void){free}(ctx, copy->v{i});"
                );
            }
        }
    }
    c.push_str("  return copy;\n");
    if !undo.is_empty() {
        let _ = write!(c, "undo:\n{undo}  free(copy);\n  return NULL;\n");
    }
    c.push_str("}\n");
}
