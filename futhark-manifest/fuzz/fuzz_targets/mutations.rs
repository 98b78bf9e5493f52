//! Valid manifests with some nodes changed: deleted, retyped, renamed, duplicated,
//! exchanged. Closer to real mistakes than arbitrary bytes.

#![no_main]

use arbitrary::{Result, Unstructured};
use futhark_manifest::Manifest;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

#[path = "../promises.rs"]
mod promises;

const SEEDS: [&str; 10] = [
    include_str!("../../tests/fixtures/0.20.3.json"),
    include_str!("../../tests/fixtures/0.21.13.json"),
    include_str!("../../tests/fixtures/0.24.1.json"),
    include_str!("../../tests/fixtures/0.25.12.json"),
    include_str!("../../tests/fixtures/0.25.14.json"),
    include_str!("../../tests/fixtures/0.25.19.json"),
    include_str!("../../tests/fixtures/0.25.35.json"),
    include_str!("../../tests/fixtures/0.25.36.json"),
    include_str!("../../tests/fixtures/0.26.1.json"),
    include_str!("../../tests/fixtures/0.26.4.json"),
];

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Unstructured::new(bytes);
    let Ok(json) = mutated(&mut choices) else {
        return;
    };
    let text = json.to_string();
    if let Ok(manifest) = Manifest::parse(&text) {
        promises::of(&manifest, text.len());
    }
});

fn mutated(choices: &mut Unstructured<'_>) -> Result<Value> {
    let seed: &str = choices.choose(&SEEDS)?;
    let mut json: Value = serde_json::from_str(seed).expect("a fixture");
    for _ in 0..choices.int_in_range(0..=6)? {
        let pointers = nodes(&json);
        let place = choices.choose(&pointers)?.clone();
        let other = choices.choose(&pointers)?;
        let other = json.pointer(other).cloned().expect("it is there");
        mutate(&mut json, &place, other, choices)?;
    }
    Ok(json)
}

/// The pointers to all nodes.
fn nodes(json: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut next = 0;
    while let Some(pointer) = found.get(next).cloned() {
        next += 1;
        match json.pointer(&pointer) {
            Some(Value::Object(members)) => found.extend(
                members
                    .keys()
                    .map(|key| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))),
            ),
            Some(Value::Array(items)) => {
                found.extend((0..items.len()).map(|n| format!("{pointer}/{n}")));
            }
            _ => {}
        }
    }
    found
}

fn mutate(
    json: &mut Value,
    pointer: &str,
    other: Value,
    choices: &mut Unstructured<'_>,
) -> Result<()> {
    let kind = choices.int_in_range(0..=4)?;
    if let (0..=2, Some((parent, key))) = (kind, pointer.rsplit_once('/')) {
        let key = key.replace("~1", "/").replace("~0", "~");
        let parent = json.pointer_mut(parent).expect("it is there");
        match (kind, parent) {
            (0, Value::Object(members)) => drop(members.remove(&key)),
            (0, Value::Array(items)) => drop(items.remove(key.parse().expect("an index"))),
            (1, Value::Object(members)) => {
                let value = members.remove(&key).expect("it is there");
                members.insert(choices.arbitrary()?, value);
            }
            (2, Value::Object(members)) => drop(members.insert(choices.arbitrary()?, other)),
            (_, Value::Array(items)) => items.push(other),
            _ => {}
        }
        return Ok(());
    }
    let scalars = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("i32"),
        json!([]),
        json!({}),
    ];
    *json.pointer_mut(pointer).expect("it is there") = match kind {
        3 => other,
        _ => choices.choose(&scalars)?.clone(),
    };
    Ok(())
}
