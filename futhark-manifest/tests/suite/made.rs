//! Generates large manifests, so that none has to be stored.

use serde_json::{Map, Value, json};

/// A manifest with `size` types, of every kind in equal numbers, and `size` entry points, in the
/// form that compilers have written since 0.26.4.
pub fn manifest(size: usize) -> String {
    let mut types = Map::new();
    let mut entries = Map::new();
    for n in 0..size {
        types.insert(type_name(n), ty(n));
        let entry = json!({
            "cfun": format!("futhark_entry_change_{n}"),
            "inputs": [
                {"name": "value", "type": type_name(n), "unique": true},
                {"name": "by", "type": "i64", "unique": false},
            ],
            "output": {"type": type_name(n), "unique": true},
            "tuning_params": [],
            "attributes": [],
            "doc": "Changes a value.\nThe \"second\" parameter says by how much.",
        });
        entries.insert(format!("change_{n}"), entry);
    }
    json!({
        "backend": "c",
        "version": "0.27.1.\nCompiled with GHC 9.10.3.\n",
        "entry_points": entries,
        "types": types,
    })
    .to_string()
}

fn type_name(n: usize) -> String {
    format!("module.type_{n}")
}

/// Types come in groups of five that refer to each other: an array, a record, a sum, and
/// arrays of the last two.
fn ty(n: usize) -> Value {
    let function = |name: &str| format!("futhark_{name}_opaque_module_type_{n}");
    let field = |name: &str, ty: String| {
        let project = function(&format!("project_{name}"));
        json!({"name": name, "type": ty, "project": project})
    };
    let (array, record, sum) = (n - n % 5, n - n % 5 + 1, n - n % 5 + 2);
    let mut ty = json!({
        "kind": "opaque",
        "ctype": format!("struct futhark_opaque_module_type_{n} *"),
        "ops": {
            "free": function("free"),
            "store": function("store"),
            "restore": function("restore"),
        },
    });
    match n % 5 {
        0 => {
            let names = "free shape values new index new_raw values_raw";
            let op = |name: &str| (name.to_owned(), Value::from(function(name)));
            ty = json!({
                "kind": "array",
                "ctype": format!("struct futhark_f32_1d_{n} *"),
                "elemtype": "f32",
                "rank": 1,
                "ops": Map::from_iter(names.split(' ').map(op)),
            });
        }
        1 => {
            ty["record"] = json!({
                "fields": [field("data", "f32".to_owned()), field("size", "f32".to_owned())],
                "new": function("new"),
            });
        }
        2 => {
            let variant = |name: &str, payload: Value| {
                json!({
                    "name": name,
                    "construct": function(&format!("new_{name}")),
                    "destruct": function(&format!("destruct_{name}")),
                    "payload": payload,
                })
            };
            ty["sum"] = json!({
                "variant": function("variant"),
                "variants": [
                    variant("none", json!([])),
                    variant("some", json!([type_name(record), "f64"])),
                ],
            });
        }
        3 => {
            let columns = [
                field("data", type_name(array)),
                field("size", type_name(array)),
            ];
            ty["record_array"] = json!({
                "rank": 1,
                "elemtype": type_name(record),
                "fields": columns,
                "zip": function("zip"),
                "index": function("index"),
                "shape": function("shape"),
                "new": function("new"),
                "set": function("set"),
            });
        }
        _ => {
            ty["opaque_array"] = json!({
                "rank": 1,
                "elemtype": type_name(sum),
                "index": function("index"),
                "shape": function("shape"),
                "new": function("new"),
                "set": function("set"),
            });
        }
    }
    ty
}
