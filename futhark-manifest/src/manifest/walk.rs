//! A walk over a manifest, for rules that apply to all parts of one kind.

use crate::manifest::json::Path;
use crate::manifest::model::{Field, Structure, TypeKind, Unknown};
use crate::manifest::syntax::{Manifest, Outputs, Type};

/// A part of a manifest.
pub(crate) enum Part<'m> {
    /// The name of a C function.
    Function(&'m str),
    /// The C type of a handle.
    CType(&'m str),
    /// A reference to a type.
    Reference(&'m str),
    /// The unknown members of an object.
    Unknown(&'m Unknown),
}

/// Calls `see` with each part and its path; for unknown members, the path is that of their object. Types
/// come first, then entry points, each by name.
pub(crate) fn walk<'m>(manifest: &'m Manifest, see: &mut impl FnMut(&Path<'_>, Part<'m>)) {
    let root = Path::Root;
    let mut walk = Walk { see };
    walk.unknown(&root, &manifest.unknown);
    let path = root.key("types");
    for (name, ty) in &manifest.types {
        walk.ty(&path.key(name), ty);
    }
    let path = root.key("entry_points");
    for (name, entry) in &manifest.entry_points {
        let path = path.key(name);
        walk.unknown(&path, &entry.unknown);
        walk.function(&path, "cfun", &entry.cfun);
        let inputs = path.key("inputs");
        for (index, input) in entry.inputs.iter().enumerate() {
            let path = inputs.index(index);
            walk.unknown(&path, &input.unknown);
            walk.reference(&path.key("type"), &input.ty);
        }
        let several = path.key("outputs");
        for (index, output) in entry.outputs.as_slice().iter().enumerate() {
            let path = match entry.outputs {
                Outputs::Several(_) => several.index(index),
                Outputs::Single(_) => path.key("output"),
            };
            walk.unknown(&path, &output.unknown);
            walk.reference(&path.key("type"), &output.ty);
        }
    }
}

struct Walk<'f, F> {
    see: &'f mut F,
}

impl<'m, F: FnMut(&Path<'_>, Part<'m>)> Walk<'_, F> {
    fn ty(&mut self, path: &Path<'_>, ty: &'m Type) {
        self.unknown(path, &ty.unknown);
        (self.see)(&path.key("ctype"), Part::CType(&ty.ctype));
        let ops_path = path.key("ops");
        match &ty.kind {
            TypeKind::Array(array) => {
                let ops = &array.ops;
                self.unknown(&ops_path, &ops.unknown);
                self.function(&ops_path, "free", &ops.free);
                self.function(&ops_path, "shape", &ops.shape);
                self.function(&ops_path, "values", &ops.values);
                self.function(&ops_path, "new", &ops.new);
                self.optional(&ops_path, "index", &ops.index);
                self.optional(&ops_path, "new_raw", &ops.new_raw);
                self.optional(&ops_path, "values_raw", &ops.values_raw);
            }
            TypeKind::Opaque(opaque) => {
                let ops = &opaque.ops;
                self.unknown(&ops_path, &ops.unknown);
                self.function(&ops_path, "free", &ops.free);
                self.optional(&ops_path, "store", &ops.store);
                self.optional(&ops_path, "restore", &ops.restore);
                self.structure(path, &opaque.structure);
            }
        }
    }

    fn structure(&mut self, path: &Path<'_>, structure: &'m Structure<String>) {
        match structure {
            Structure::Plain => {}
            Structure::Record(record) => {
                let path = path.key("record");
                self.unknown(&path, &record.unknown);
                self.function(&path, "new", &record.new);
                self.fields(&path, &record.fields);
            }
            Structure::Sum(sum) => {
                let path = path.key("sum");
                self.unknown(&path, &sum.unknown);
                self.function(&path, "variant", &sum.variant);
                let path = path.key("variants");
                for (index, variant) in sum.variants.iter().enumerate() {
                    let path = path.index(index);
                    self.unknown(&path, &variant.unknown);
                    self.function(&path, "construct", &variant.construct);
                    self.function(&path, "destruct", &variant.destruct);
                    let path = path.key("payload");
                    for (index, ty) in variant.payload.iter().enumerate() {
                        self.reference(&path.index(index), ty);
                    }
                }
            }
            Structure::RecordArray(array) => {
                let path = path.key("record_array");
                self.unknown(&path, &array.unknown);
                self.reference(&path.key("elemtype"), &array.elem);
                self.function(&path, "zip", &array.zip);
                self.function(&path, "index", &array.index);
                self.function(&path, "shape", &array.shape);
                self.optional(&path, "new", &array.new);
                self.optional(&path, "set", &array.set);
                self.fields(&path, &array.fields);
            }
            Structure::OpaqueArray(array) => {
                let path = path.key("opaque_array");
                self.unknown(&path, &array.unknown);
                self.reference(&path.key("elemtype"), &array.elem);
                self.function(&path, "index", &array.index);
                self.function(&path, "shape", &array.shape);
                self.optional(&path, "new", &array.new);
                self.optional(&path, "set", &array.set);
            }
        }
    }

    fn fields(&mut self, path: &Path<'_>, fields: &'m [Field<String>]) {
        let path = path.key("fields");
        for (index, field) in fields.iter().enumerate() {
            let path = path.index(index);
            self.unknown(&path, &field.unknown);
            self.function(&path, "project", &field.project);
            self.reference(&path.key("type"), &field.ty);
        }
    }

    fn unknown(&mut self, path: &Path<'_>, unknown: &'m Unknown) {
        if !unknown.is_empty() {
            (self.see)(path, Part::Unknown(unknown));
        }
    }

    fn function(&mut self, path: &Path<'_>, key: &str, name: &'m str) {
        (self.see)(&path.key(key), Part::Function(name));
    }

    fn optional(&mut self, path: &Path<'_>, key: &str, name: &'m Option<String>) {
        if let Some(name) = name {
            self.function(path, key, name);
        }
    }

    fn reference(&mut self, path: &Path<'_>, name: &'m str) {
        (self.see)(path, Part::Reference(name));
    }
}
