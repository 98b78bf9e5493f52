//! The schema accepts the manifests of compilers, and rejects everything else with
//! the place of each violation.

use std::collections::BTreeSet;

use crate::common::{self, change, damages, files_below, fixture, fixtures, pointers, read};
use crate::corpus::primes;
use crate::toolchain::{compilers, generate};
use futhark_manifest::schema::{self, SCHEMA, Violation};
use futhark_manifest::{Backend, ElemType, Manifest};
use serde_json::{Value, json};

#[test]
fn the_schema_is_valid_and_described() {
    let schema = parsed(SCHEMA);
    if let Err(error) = jsonschema::draft202012::meta::validate(&schema) {
        panic!("{error} at {}", error.instance_path());
    }
    let definitions = schema["$defs"].as_object().expect("an object");
    for (name, definition) in definitions {
        assert!(definition["title"].is_string(), "{name}");
        assert!(definition["description"].is_string(), "{name}");
    }
    // Messages use the title beside the violated keyword.
    for keyword in assertions(&schema) {
        let (around, name) = keyword.rsplit_once('/').expect("not the whole schema");
        let titled = schema.pointer(around).expect("it is there").get("title");
        let own_words = name == "required" || schema.pointer(&keyword) == Some(&json!(false));
        assert!(own_words || titled.is_some(), "{keyword}");
    }
}

/// The schema has the backends and element types of the crate.
#[test]
fn the_schema_lists_the_names_of_the_crate() {
    let schema = parsed(SCHEMA);
    let backends: Vec<&str> = Backend::ALL.iter().map(|b| b.as_str()).collect();
    assert_eq!(schema["$defs"]["backend"]["examples"], json!(backends));
    let scalars: Vec<&str> = ElemType::ALL.iter().map(|elem| elem.as_str()).collect();
    assert_eq!(schema["$defs"]["element_type"]["enum"], json!(scalars));
}

/// The known compiler bug, invalid C names, is reported with its places.
#[test]
fn invalid_c_names_are_violations() {
    for compiler in compilers() {
        let file = generate(&compiler, Backend::C, &primes()).expect("it compiles");
        for violation in violations(&parsed(&read(&file))) {
            assert_eq!(violation.schema_path, "/$defs/c_function/pattern");
            let keys = ["/construct", "/destruct"];
            let is_variant = |place: &str| keys.iter().any(|key| place.ends_with(key));
            assert!(is_variant(&violation.instance_path), "{violation}");
        }
    }
}

/// Newer compilers may add members anywhere.
#[test]
fn unknown_members_are_accepted() {
    fn add(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.values_mut().for_each(add);
                members.insert("newer".to_owned(), json!([null, {"kind": 3}]));
            }
            Value::Array(items) => items.iter_mut().for_each(add),
            _ => {}
        }
    }
    for file in files_below(&fixtures(), "json") {
        let mut manifest = parsed(&read(&file));
        add(&mut manifest);
        // A member of these is an entry point or a type, not an addition to the format.
        for names in ["/entry_points/newer", "/types/newer"] {
            change(&mut manifest, names, None);
        }
        accepted(&manifest, file.display());
    }
}

/// Futhark names need not be C identifiers, and keys are not interpreted.
#[test]
fn names_of_any_spelling_are_accepted() {
    let mut manifest = whole();
    for name in ["", "/~ \n", "½", "i32"] {
        for object in ["entry_points", "types"] {
            let members = manifest[object].as_object_mut().expect("an object");
            let first = members.values().next().expect("not empty").clone();
            members.insert(name.to_owned(), first);
        }
    }
    accepted(&manifest, "other names");
}

/// A manifest with every member that any version writes.
pub fn whole() -> Value {
    let mut manifest = common::json("0.26.4");
    let split = common::json("0.25.36")["entry_points"]["count"].clone();
    manifest["entry_points"]["split"] = split;
    manifest["entry_points"]["split"]["tuning_params"] = json!(["split.tile"]);
    manifest["types"]["state"]["doc"] = json!("What a cell is.");
    manifest
}

/// Each change violates one keyword, and each keyword is violated by some change.
#[test]
fn each_constraint_is_violated_by_one_change() {
    accepted(&whole(), "before any change");
    let mut covered = BTreeSet::new();
    for (what, pointer, value, expected) in damages(include_str!("refusals.txt")) {
        let around = pointer.rsplit_once('/').expect("not the top").0;
        let place = if value.is_some() { pointer } else { around };
        let mut manifest = whole();
        change(&mut manifest, pointer, value);
        let violations = violations(&manifest);
        let [violation] = violations.as_slice() else {
            panic!("{what}: {violations:#?}");
        };
        assert_eq!(violation.instance_path, place);
        let found = format!("{}: {}", violation.schema_path, violation.message);
        assert_eq!(found, expected, "{what}");
        covered.insert(violation.schema_path.clone());
    }

    // `change` cannot replace the top.
    let [top] = &violations(&json!([]))[..] else {
        panic!("one violation");
    };
    assert_eq!(
        top.to_string(),
        "at the top: expected a manifest (an object), found an empty array (schema: /type)"
    );
    covered.insert(top.schema_path.clone());
    assert_eq!(covered, assertions(&parsed(SCHEMA)));
}

/// Members that every fixture has, but that the format does not require.
#[test]
fn optional_members_may_be_missing() {
    for pointer in [
        "/version",
        "/types/state/ops/store",
        "/types/state/ops/restore",
    ] {
        let mut manifest = whole();
        change(&mut manifest, pointer, None);
        accepted(&manifest, pointer);
    }
}

/// Violations are ordered by place in the manifest, items by number.
#[test]
fn all_violations_are_listed_in_order() {
    let mut manifest = whole();
    let variant = manifest["types"]["state"]["sum"]["variants"][0].clone();
    manifest["types"]["state"]["sum"]["variants"] = json!(vec![variant; 12]);
    for (pointer, value) in [
        ("/types/state/sum/variants/10/construct", Some(json!("+"))),
        ("/types/state/sum/variants/2/construct", Some(json!("-"))),
        ("/types/state/sum/variants/2/name", None),
        ("/types/state/sum/variants/2/payload", None),
        ("/types/[]i32/rank", Some(json!(-1))),
        ("/types/[]i32/elemtype", Some(json!("u128"))),
        ("/types/()/kind", Some(json!("unit"))),
        ("/entry_points/grow/inputs/1/unique", Some(json!(1))),
        ("/backend", None),
    ] {
        change(&mut manifest, pointer, value);
    }
    let violations = violations(&manifest);
    let places = violations
        .iter()
        .map(|one| format!("at {}: {}", one.instance_path, one.schema_path));
    let expected = "\
at : /required
at /entry_points/grow/inputs/1/unique: /$defs/input/properties/unique/type
at /types/()/kind: /$defs/type/properties/kind/enum
at /types/[]i32/elemtype: /$defs/element_type/enum
at /types/[]i32/rank: /$defs/rank/minimum
at /types/state/sum/variants/2: /$defs/variant/required
at /types/state/sum/variants/2: /$defs/variant/required
at /types/state/sum/variants/2/construct: /$defs/c_function/pattern
at /types/state/sum/variants/10/construct: /$defs/c_function/pattern";
    assert_eq!(places.collect::<Vec<_>>().join("\n"), expected);
    assert_eq!(schema::validate(&manifest), Err(violations));
}

#[test]
fn messages_have_bounded_length() {
    const SIZE: usize = 10_000_000;
    let long = json!("\u{1}é".repeat(SIZE / 3));
    let wide = json!(vec![json!(0); SIZE / 2]);
    let nested = json!({"a": {"b": "x".repeat(SIZE)}, "c": [1, 2]});
    for huge in [long, wide, nested] {
        for pointer in [
            "/entry_points/grow/cfun",
            "/entry_points/grow/inputs/0/unique",
            "/types/[]i32/rank",
            "/types/[]i32/kind",
            "/types/state/ctype",
            "/types/state/record",
        ] {
            let mut manifest = whole();
            change(&mut manifest, pointer, Some(huge.clone()));
            for violation in violations(&manifest) {
                let length = violation.message.len();
                assert!(length < 400, "{pointer}: {length} bytes");
            }
        }
    }
}

/// The schema is no more lenient than the reader (`mutations`), except for differences that JSON Schema does not see.
#[test]
fn a_rank_with_a_fraction_is_refused_by_the_reader_only() {
    // A number without a fraction is an integer, however it is written.
    let text = fixture("0.25.14").replace("\"rank\":3", "\"rank\":3.0");
    accepted(&parsed(&text), "a rank of 3.0");
    assert!(Manifest::parse(&text).is_err());
}

/// The places of all keywords that can be violated.
fn assertions(schema: &Value) -> BTreeSet<String> {
    const KEYWORDS: &str = "enum maximum minItems minLength minimum pattern required type";
    let violated = |pointer: &&String| {
        let (around, key) = pointer.rsplit_once('/').unwrap_or_default();
        // Conditions are not constraints, and names of properties are not keywords.
        let is_schema = !around.ends_with("/properties") && !around.ends_with("/$defs");
        let is_condition = around.split('/').any(|segment| segment == "if");
        let is_false = schema.pointer(pointer) == Some(&json!(false));
        !is_condition && (is_false || is_schema && KEYWORDS.split(' ').any(|one| one == key))
    };
    pointers(schema).iter().filter(violated).cloned().collect()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn accepted(manifest: &Value, what: impl std::fmt::Display) {
    if let Err(violations) = schema::validate(manifest) {
        panic!("{what}: {}", violations[0]);
    }
}

fn violations(manifest: &Value) -> Vec<Violation> {
    schema::validate(manifest).expect_err("the schema refuses it")
}
