//! Generates large manifests, so that none has to be stored.

use serde_json::{Map, Value, json};

/// A manifest with `size` types, and half as many entry points: copies of those of a fixture in the form that
/// compilers have written since 0.26.4, each with names of its own.
pub fn manifest(size: usize) -> String {
    let text = include_str!("../fixtures/0.26.4.json");
    let fixture: Value = serde_json::from_str(text).expect("JSON");
    let [own_types, own_entries] =
        ["types", "entry_points"].map(|key| fixture[key].as_object().expect("an object"));
    let (mut types, mut entries) = (Map::new(), Map::new());
    for copy in 0..size / own_types.len() {
        let copied = |(name, value): (&String, &Value)| {
            (format!("{name} {copy}"), renamed(value, own_types, copy))
        };
        types.extend(own_types.iter().map(copied));
        entries.extend(own_entries.iter().map(copied));
    }
    let mut made = json!({"backend": "c", "version": "0.27.1.\nCompiled with GHC 9.10.3.\n"});
    made["entry_points"] = entries.into();
    made["types"] = types.into();
    made.to_string()
}

/// The value with other names of types, structs and C functions.
fn renamed(json: &Value, types: &Map<String, Value>, copy: usize) -> Value {
    match json {
        Value::String(text) if types.contains_key(text) => json!(format!("{text} {copy}")),
        Value::String(text) if text.starts_with("futhark_") => json!(format!("{text}_{copy}")),
        Value::String(text) => match text.strip_suffix(" *") {
            Some(tag) => json!(format!("{tag}_{copy} *")),
            None => json.clone(),
        },
        Value::Array(items) => {
            let items = items.iter().map(|item| renamed(item, types, copy));
            items.collect()
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| (key.clone(), renamed(value, types, copy)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}
