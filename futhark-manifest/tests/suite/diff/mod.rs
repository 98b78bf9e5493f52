//! Compares programs as APIs: each difference is found at its place, with its impact on the
//! users of a bridge.

mod chains;
mod compilers;
mod edits;
mod eras;
mod matching;

use futhark_manifest::diff::{self, Diff};
use futhark_manifest::{Manifest, Program};
use serde_json::{Value, json};

use crate::common::fixture;

/// The name of a record type in the base.
const CELL: &str = "{level: i32, tags: []i32}";

/// The manifest to edit: the fixture with the most features.
fn base() -> Value {
    serde_json::from_str(&fixture("0.26.4")).expect("JSON")
}

fn resolve(json: &Value) -> Program {
    let manifest = Manifest::parse(&json.to_string()).unwrap_or_else(|error| panic!("{error}"));
    manifest.resolve().unwrap_or_else(|error| panic!("{error}"))
}

fn compare(old: &Value, new: &Value) -> Diff {
    diff::compare(&resolve(old), &resolve(new))
}

/// Each change as `SEVERITY CODE PLACE`.
fn lines(diff: &Diff) -> Vec<String> {
    let line = |change: &diff::Change| {
        let (impact, code) = (change.impact(), change.code);
        format!("{impact} {code} {}", change.place.pointer())
    };
    diff.changes().iter().map(line).collect()
}

/// The value at a JSON pointer. Panics if it does not exist.
fn at<'a>(json: &'a mut Value, pointer: &str) -> &'a mut Value {
    json.pointer_mut(pointer)
        .unwrap_or_else(|| panic!("nothing at {pointer}"))
}

/// Sets a member of an object, or replaces an element.
fn set(json: &mut Value, object: &str, key: &str, value: Value) {
    at(json, object)[key] = value;
}

fn remove(json: &mut Value, object: &str, key: &str) {
    let members = at(json, object).as_object_mut().expect("an object");
    members.remove(key).expect("the member was there");
}

fn items<'a>(json: &'a mut Value, pointer: &str) -> &'a mut Vec<Value> {
    at(json, pointer).as_array_mut().expect("an array")
}

/// Renames a type and all references to it.
fn rename(json: &mut Value, from: &str, to: &str) {
    match json {
        Value::String(text) if text == from => to.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, from, to)),
        Value::Object(members) => {
            members
                .values_mut()
                .for_each(|member| rename(member, from, to));
            if let Some(ty) = members.remove(from) {
                members.insert(to.to_owned(), ty);
            }
        }
        _ => {}
    }
}

/// An array of scalars, for `types`.
fn array(elem: &str, rank: usize) -> Value {
    let c = |word: &str| format!("futhark_{word}_{elem}_{rank}d");
    json!({
        "kind": "array",
        "ctype": format!("struct futhark_{elem}_{rank}d *"),
        "elemtype": elem,
        "rank": rank,
        "ops": {
            "free": c("free"), "shape": c("shape"), "values": c("values"), "new": c("new"),
        },
    })
}

/// A record with these fields, for `types`.
fn record(c_name: &str, fields: &[(&str, &str)]) -> Value {
    let c = |word: &str| format!("futhark_{word}_opaque_{c_name}");
    let fields = fields.iter().map(|(name, ty)| {
        let project = format!("{}_{name}", c("project"));
        json!({"name": name, "type": ty, "project": project})
    });
    json!({
        "kind": "opaque",
        "ctype": format!("struct futhark_opaque_{c_name} *"),
        "ops": {"free": c("free"), "store": c("store"), "restore": c("restore")},
        "record": {"new": c("new"), "fields": fields.collect::<Vec<_>>()},
    })
}

/// An entry point with these parameters and this result, as since 0.26.1.
fn entry(name: &str, inputs: &[&str], output: &str) -> Value {
    let inputs = inputs.iter().enumerate();
    let inputs =
        inputs.map(|(i, ty)| json!({"name": format!("x{i}"), "type": ty, "unique": false}));
    json!({
        "cfun": format!("futhark_entry_{name}"),
        "inputs": inputs.collect::<Vec<_>>(),
        "output": {"type": output, "unique": false},
    })
}

/// A program with these types and entry points.
fn program(types: &[(&str, Value)], entries: &[(&str, Value)]) -> Value {
    let object = |members: &[(&str, Value)]| -> Value {
        let members = members.iter();
        let members = members.map(|(name, value)| ((*name).to_owned(), value.clone()));
        Value::Object(members.collect())
    };
    json!({
        "backend": "c",
        "version": "0.26.4.\n",
        "types": object(types),
        "entry_points": object(entries),
    })
}
