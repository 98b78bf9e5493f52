//! Unknown members are kept, duplicate ones are refused.

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
            let manifest = Manifest::parse(&json.to_string()).unwrap();
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
    }
}
