//! Reading and writing a manifest is lossless.

use crate::common::{files_below, fixture, fixtures, pointers, read};
use futhark_manifest::{Code, Manifest, Severity};
use serde_json::{Value, json};

/// Every object of a manifest, by pointer.
fn objects(json: &Value) -> Vec<String> {
    let is_object = |at: &String| json.pointer(at).is_some_and(Value::is_object);
    pointers(json).into_iter().filter(is_object).collect()
}

/// The maps from names to types and to entry points take any name as a member.
const MAPS: [&str; 2] = ["/types", "/entry_points"];

#[test]
fn unknown_members_are_kept_in_every_object() {
    let mut places = 0;
    for file in files_below(&fixtures(), "json") {
        let original: Value = serde_json::from_str(&read(&file)).unwrap();
        for object in objects(&original) {
            if MAPS.contains(&&*object) {
                continue;
            }
            let mut json = original.clone();
            let added = json!({"a": [null, 1.5, {"b": "é"}]});
            json.pointer_mut(&object).unwrap()["x/y"] = added;
            let manifest = Manifest::from_json(json.clone()).unwrap();
            assert_eq!(manifest.to_json(), json, "{object}");
            let warnings = manifest.warnings();
            assert_eq!(warnings.len(), 1, "{object}: {warnings:?}");
            assert_eq!(warnings[0].code(), Code::UnknownMember);
            assert_eq!(warnings[0].severity(), Severity::Warning);
            assert_eq!(warnings[0].pointer(), format!("{object}/x~1y"));
            assert!(manifest.resolve().is_ok(), "{object}");
            places += 1;
        }
    }
    assert!(places > 100, "{places}");
}

/// Optional members that are missing stay missing.
#[test]
fn optional_members_stay_absent() {
    let text = fixture("0.26.4");
    let mut json: Value = serde_json::from_str(&text).unwrap();
    for (object, key) in [
        ("", "version"),
        ("/entry_points/grow", "tuning_params"),
        ("/entry_points/grow", "attributes"),
        ("/entry_points/grow", "doc"),
        ("/types/state/ops", "store"),
        ("/types/[]i32/ops", "index"),
        ("/types/[][]state/opaque_array", "set"),
    ] {
        let members = json.pointer_mut(object).unwrap().as_object_mut().unwrap();
        assert!(members.remove(key).is_some(), "{object}/{key}");
        let manifest = Manifest::from_json(json.clone()).unwrap();
        assert_eq!(manifest.to_json(), json, "{object}/{key}");
    }
}

#[test]
fn serde_agrees_with_parse_and_to_json() {
    let text = fixture("0.25.36");
    let manifest = Manifest::parse(&text).unwrap();
    let by_serde: Manifest = serde_json::from_str(&text).unwrap();
    assert_eq!(by_serde, manifest);
    let written = serde_json::to_string(&manifest).unwrap();
    assert_eq!(Manifest::parse(&written).unwrap(), manifest);
    assert_eq!(Manifest::parse_bytes(text.as_bytes()).unwrap(), manifest);

    let error = serde_json::from_str::<Manifest>(r#"{"backend": 3}"#).unwrap_err();
    let text = "at /backend: expected the name of a backend, found 3";
    assert!(error.to_string().starts_with(text), "{error}");
}

/// JSON readers disagree on which of two duplicate members counts.
#[test]
fn duplicate_members_are_rejected() {
    let text = fixture("0.26.4");
    for (from, to, pointer) in [
        ("\"backend\":", "\"backend\": 1, \"backend\":", "/backend"),
        ("\"[]i32\":", "\"[]i32\": {}, \"[]i32\":", "/types/[]i32"),
        ("\"rank\":", "\"rank\": 9, \"r\\u0061nk\":", "/rank"),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text);
        let error = Manifest::parse(&damaged).unwrap_err();
        assert_eq!(error.code(), Code::DuplicateMember, "{error}");
        assert!(error.pointer().ends_with(pointer), "{error}");
        let position = error.position().unwrap();
        let line = damaged.lines().nth(position.line - 1).unwrap();
        assert!(
            line.contains(to),
            "{position}: the line of the second one: {line}"
        );
        let by_serde = serde_json::from_str::<Manifest>(&damaged).unwrap_err();
        assert!(
            by_serde.to_string().contains("each member once"),
            "{by_serde}"
        );
    }
}

#[test]
fn errors_have_line_and_column() {
    let text = "{\n  \"backend\": \"c\",\n  \"types\": {\n    \"ö\": {\"kind\": 3}},\n  \"entry_points\": {}\n}";
    let error = Manifest::parse(text).unwrap_err();
    assert_eq!(error.pointer(), "/types/ö/kind");
    assert_eq!(error.position().unwrap().to_string(), "line 4, column 19");
    let missing = text.replace("{\"kind\": 3}", "{}");
    let error = Manifest::parse(&missing).unwrap_err();
    assert_eq!(error.code(), Code::MissingMember);
    assert_eq!(error.position().unwrap().to_string(), "line 4, column 10");
    let error = Manifest::parse("{\"types\": \"é\u{1}\"}").unwrap_err();
    assert_eq!(error.code(), Code::NotJson);
    assert_eq!(error.position().unwrap().to_string(), "line 1, column 13");
    let error = Manifest::parse_bytes(b"{\"types\": \"\xff\"}").unwrap_err();
    assert_eq!(error.code(), Code::NotJson);
}
