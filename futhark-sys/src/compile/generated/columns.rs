//! Arrays of records of scalars, at any depth, whose components are the columns in the order of the fields.
//!
//! A manifest does not tell the order of components. The functions that return a field tell it: each
//! reads the components of its field, and no other.

use std::collections::BTreeSet;

use futhark_manifest::{Program, RecordArray, Structure, Type, TypeKind};

use super::layout::{Component, Layouts};
use super::source::Source;

/// The C structs of these types.
pub(super) fn all(source: &Source<'_>, layouts: &Layouts, program: &Program) -> BTreeSet<String> {
    let types = program.types().iter();
    let tables = types.filter(|ty| columns(source, layouts, program, ty).is_some());
    tables.map(|ty| ty.c_ident().to_owned()).collect()
}

/// The number of columns of `ty`, if it is such an array.
fn columns(source: &Source<'_>, layouts: &Layouts, program: &Program, ty: &Type) -> Option<usize> {
    let array = record_array(ty)?;
    let components = layouts.components(ty.c_ident());
    let mut n = 0;
    for field in &array.fields {
        let part = program.get(field.ty.as_type()?);
        let first = n;
        n += match &part.kind {
            TypeKind::Array(own) if own.rank == array.rank => {
                let column = layouts.array(part.c_ident());
                let is_same = components.get(first)? == &Component::Array(column.clone());
                (is_same && column.element_size() > 0).then_some(1)?
            }
            _ => {
                record_array(part).filter(|own| own.rank == array.rank)?;
                let own = columns(source, layouts, program, part)?;
                let is_same =
                    components.get(first..first + own)? == layouts.components(part.c_ident());
                is_same.then_some(own)?
            }
        };
        let body = &source.functions.get(&*field.project)?.body;
        // The components of `obj` that the function refers to, in order.
        let read = body.windows(3).filter_map(|tokens| match *tokens {
            ["obj", "->", component] => Some(component.to_owned()),
            _ => None,
        });
        let expected = (first..n).map(|i| format!("v{i}"));
        expected.eq(read).then_some(())?;
    }
    (n > 0 && n == components.len()).then_some(n)
}

fn record_array(ty: &Type) -> Option<&RecordArray> {
    match &ty.as_opaque()?.structure {
        Structure::RecordArray(array) => Some(array),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use futhark_manifest::Manifest;

    use super::*;

    const MANIFEST: &str = r#"{"backend": "c", "version": "0.26.1", "entry_points": {}, "types": {
        "[]f32": {"kind": "array", "ctype": "struct futhark_f32_1d *", "rank": 1, "elemtype": "f32",
            "ops": {"free": "futhark_free_f32_1d", "shape": "futhark_shape_f32_1d",
                "values": "futhark_values_f32_1d", "new": "futhark_new_f32_1d"}},
        "pt": {"kind": "opaque", "ctype": "struct futhark_opaque_pt *",
            "ops": {"free": "futhark_free_opaque_pt", "store": "futhark_store_opaque_pt",
                "restore": "futhark_restore_opaque_pt"},
            "record": {"new": "futhark_new_opaque_pt", "fields": [
                {"name": "x", "type": "f32", "project": "futhark_project_opaque_pt_x"},
                {"name": "y", "type": "f32", "project": "futhark_project_opaque_pt_y"}]}},
        "[]pt": {"kind": "opaque", "ctype": "struct futhark_opaque_arr1d_pt *",
            "ops": {"free": "futhark_free_opaque_arr1d_pt", "store": "futhark_store_opaque_arr1d_pt",
                "restore": "futhark_restore_opaque_arr1d_pt"},
            "record_array": {"rank": 1, "elemtype": "pt", "zip": "futhark_zip_opaque_arr1d_pt",
                "index": "futhark_index_opaque_arr1d_pt", "shape": "futhark_shape_opaque_arr1d_pt",
                "fields": [
                    {"name": "x", "type": "[]f32", "project": "futhark_project_opaque_arr1d_pt_x"},
                    {"name": "y", "type": "[]f32", "project": "futhark_project_opaque_arr1d_pt_y"}]}}}}"#;
    const C: &str = r#"
struct futhark_f32_1d {
    struct memblock mem;
    int64_t shape[1];
};
struct futhark_opaque_pt {
    float v0;
    float v1;
};
struct futhark_opaque_arr1d_pt {
    struct futhark_f32_1d *v0;
    struct futhark_f32_1d *v1;
};
int futhark_project_opaque_arr1d_pt_x(struct futhark_f32_1d **out, const struct futhark_opaque_arr1d_pt *obj)
{
    memcpy(v, obj->v0, sizeof(struct futhark_f32_1d));
}
int futhark_project_opaque_arr1d_pt_y(struct futhark_f32_1d **out, const struct futhark_opaque_arr1d_pt *obj)
{
    memcpy(v, obj->v1, sizeof(struct futhark_f32_1d));
}
"#;

    fn all(c: &str) -> Vec<String> {
        let program = Manifest::parse(MANIFEST).unwrap().resolve().unwrap();
        let source = Source::read(c);
        let layouts = Layouts::read(&source, &program).unwrap();
        super::all(&source, &layouts, &program)
            .into_iter()
            .collect()
    }

    #[test]
    fn columns_are_known_if_each_field_is_the_component_of_its_number() {
        assert_eq!(all(C), ["futhark_opaque_arr1d_pt"]);
        let swapped = C.replace("obj->v0", "obj->w").replace("obj->v1", "obj->v0");
        for unknown in [
            swapped.replace("obj->w", "obj->v1"),
            C.replace("obj->v1", "obj->v0"),
            C.replace("obj->v0,", "f(obj->v0, obj->v1),"),
            C.replace("memcpy(v, obj->v1", "memcpy(v, of(obj)"),
            C.replace(
                "    struct futhark_f32_1d *v1;\n}",
                "    struct futhark_f32_1d *v1;\n    float v2;\n}",
            ),
            C.replace("*v1;", "*v1;\n    struct futhark_f32_1d *v2;"),
            C.replace("struct futhark_f32_1d *v1;", "struct futhark_f32_2d *v1;"),
        ] {
            assert_ne!(unknown, C);
            assert!(all(&unknown).is_empty(), "{unknown}");
        }
    }
}
