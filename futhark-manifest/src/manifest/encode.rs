//! Writes a [`Manifest`] as JSON: the inverse of `decode`.

use serde_core::ser::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::manifest::model::{
    ArrayType, Field, Input, OpaqueType, Output, Structure, Sum, TypeKind, Unknown, Variant,
};
use crate::manifest::syntax::{EntryPoint, Manifest, Outputs, Type};

impl Serialize for Manifest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

/// The manifest as JSON.
pub(crate) fn manifest(manifest: &Manifest) -> Value {
    let types = manifest.types.iter();
    let entries = manifest.entry_points.iter();
    Members::new(&manifest.unknown)
        .with("backend", manifest.backend.as_str())
        .optional("version", &manifest.version)
        .with("types", object(types.map(|(name, ty)| (name, r#type(ty)))))
        .with(
            "entry_points",
            object(entries.map(|(name, entry)| (name, entry_point(entry)))),
        )
        .done()
}

fn entry_point(entry: &EntryPoint) -> Value {
    let members = Members::new(&entry.unknown)
        .with("cfun", entry.cfun.as_str())
        .with("inputs", list(&entry.inputs, input))
        .optional("tuning_params", &entry.tuning_params)
        .optional("attributes", &entry.attributes)
        .optional("doc", &entry.doc);
    match &entry.outputs {
        Outputs::Several(outputs) => members.with("outputs", list(outputs, output)),
        Outputs::Single(one) => members.with("output", output(one)),
    }
    .done()
}

fn input(input: &Input<String>) -> Value {
    Members::new(&input.unknown)
        .with("name", input.name.as_str())
        .with("type", input.ty.as_str())
        .with("unique", input.unique)
        .done()
}

fn output(output: &Output<String>) -> Value {
    Members::new(&output.unknown)
        .with("type", output.ty.as_str())
        .with("unique", output.unique)
        .done()
}

fn r#type(ty: &Type) -> Value {
    let members = Members::new(&ty.unknown)
        .with("ctype", ty.ctype.as_str())
        .optional("doc", &ty.doc);
    match &ty.kind {
        TypeKind::Array(own) => array(members, own),
        TypeKind::Opaque(own) => opaque(members, own),
    }
    .done()
}

fn array(members: Members, array: &ArrayType) -> Members {
    let ops = &array.ops;
    let ops = Members::new(&ops.unknown)
        .with("free", ops.free.as_str())
        .with("shape", ops.shape.as_str())
        .with("values", ops.values.as_str())
        .with("new", ops.new.as_str())
        .optional("index", &ops.index)
        .optional("new_raw", &ops.new_raw)
        .optional("values_raw", &ops.values_raw);
    members
        .with("kind", "array")
        .with("rank", array.rank)
        .with("elemtype", array.elem.as_str())
        .with("ops", ops.done())
}

fn opaque(members: Members, opaque: &OpaqueType<String>) -> Members {
    let ops = Members::new(&opaque.ops.unknown)
        .with("free", opaque.ops.free.as_str())
        .optional("store", &opaque.ops.store)
        .optional("restore", &opaque.ops.restore);
    let members = members.with("kind", "opaque").with("ops", ops.done());
    match &opaque.structure {
        Structure::Plain => members,
        Structure::Record(record) => members.with(
            "record",
            Members::new(&record.unknown)
                .with("fields", fields(&record.fields))
                .with("new", record.new.as_str())
                .done(),
        ),
        Structure::Sum(own) => members.with("sum", sum(own)),
        Structure::RecordArray(array) => members.with(
            "record_array",
            Members::new(&array.unknown)
                .with("rank", array.rank)
                .with("elemtype", array.elem.as_str())
                .with("fields", fields(&array.fields))
                .with("zip", array.zip.as_str())
                .with("index", array.index.as_str())
                .with("shape", array.shape.as_str())
                .optional("new", &array.new)
                .optional("set", &array.set)
                .done(),
        ),
        Structure::OpaqueArray(array) => members.with(
            "opaque_array",
            Members::new(&array.unknown)
                .with("rank", array.rank)
                .with("elemtype", array.elem.as_str())
                .with("index", array.index.as_str())
                .with("shape", array.shape.as_str())
                .optional("new", &array.new)
                .optional("set", &array.set)
                .done(),
        ),
    }
}

fn sum(sum: &Sum<String>) -> Value {
    Members::new(&sum.unknown)
        .with("variant", sum.variant.as_str())
        .with("variants", list(&sum.variants, variant))
        .done()
}

fn variant(variant: &Variant<String>) -> Value {
    Members::new(&variant.unknown)
        .with("name", variant.name.as_str())
        .with("construct", variant.construct.as_str())
        .with("destruct", variant.destruct.as_str())
        .with("payload", json!(variant.payload))
        .done()
}

fn fields(fields: &[Field<String>]) -> Value {
    list(fields, |field| {
        Members::new(&field.unknown)
            .with("name", field.name.as_str())
            .with("type", field.ty.as_str())
            .with("project", field.project.as_str())
            .done()
    })
}

fn list<T>(items: &[T], item: impl Fn(&T) -> Value) -> Value {
    items.iter().map(item).collect()
}

fn object<'a>(members: impl Iterator<Item = (&'a String, Value)>) -> Value {
    members.map(|(name, value)| (name.clone(), value)).collect()
}

/// Builds a JSON object, unknown members first.
struct Members(Unknown);

impl Members {
    fn new(unknown: &Unknown) -> Members {
        Members(unknown.clone())
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Members {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    fn optional<T: Clone + Into<Value>>(self, key: &str, value: &Option<T>) -> Members {
        match value {
            Some(value) => self.with(key, value.clone()),
            None => self,
        }
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}
