//! Every error has the place, the expected and the actual value.

use crate::common::fixture;
use futhark_manifest::{Code, Error, Manifest};
use serde_json::{Value, json};

/// The fixture with the most features, to be damaged.
fn whole() -> Value {
    serde_json::from_str(&fixture("0.26.4")).expect("JSON")
}

fn fails(text: &str) -> Error {
    let result = Manifest::parse(text).and_then(|manifest| manifest.resolve());
    result.expect_err(text)
}

/// The error after changing or removing a member.
fn after(object: &str, key: &str, value: Option<Value>) -> Error {
    let mut json = whole();
    let target = json
        .pointer_mut(object)
        .expect("the fixture has the object");
    match (target, value) {
        (Value::Array(items), Some(value)) => items[key.parse::<usize>().unwrap()] = value,
        (Value::Object(members), Some(value)) => drop(members.insert(key.to_owned(), value)),
        (Value::Object(members), None) => {
            members.remove(key).expect("the fixture has the member");
        }
        (other, _) => panic!("{object}: {other}"),
    }
    fails(&json.to_string())
}

const CELL: &str = "{level: i32, tags: []i32}";

#[test]
fn text_that_is_not_json_is_an_error() {
    for (text, found) in [
        ("", "an empty file"),
        (" \n", "nothing but white space"),
        (
            "{\n  \"backend\": c}",
            "invalid JSON (expected value at line 2 column 14)",
        ),
        (
            "{} {}",
            "invalid JSON (trailing characters at line 1 column 4)",
        ),
        (
            "{\"backend\": \"c",
            "an incomplete file (EOF while parsing a string at line 1 column 14)",
        ),
        (
            "#pragma once\n",
            "C code: the manifest is the file prog.json next to prog.c and prog.h",
        ),
        (
            "-- | Adds.\nentry add (x: i32) = x + 1",
            "a Futhark program: `futhark c --library prog.fut` makes its manifest, prog.json",
        ),
    ] {
        let error = fails(text);
        assert_eq!(error.code(), Code::NotJson, "{text}");
        assert_eq!(error.pointer(), "");
        assert_eq!(
            error.to_string(),
            format!("not a manifest: expected a manifest in JSON, found {found}")
        );
    }
}

/// Editors and shells write text in other encodings, and users pass other files.
#[test]
fn other_formats_and_encodings_are_rejected() {
    let text = fixture("0.26.4");
    let utf16 = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect();
    let with = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
    let utf32: Vec<u8> = text
        .chars()
        .flat_map(|c| u32::from(c).to_le_bytes())
        .collect();
    for (bytes, found) in [
        (
            utf16(u16::to_le_bytes),
            "text in UTF-16: convert it to UTF-8",
        ),
        (
            utf16(u16::to_be_bytes),
            "text in UTF-16: convert it to UTF-8",
        ),
        (
            with(b"\xff\xfe", utf16(u16::to_le_bytes)),
            "text in UTF-16: convert it to UTF-8",
        ),
        (utf32.clone(), "text in UTF-32: convert it to UTF-8"),
        (
            with(b"\xff\xfe\0\0", utf32),
            "text in UTF-32: convert it to UTF-8",
        ),
        (
            with(b"\xef\xbb\xbf", text.clone().into_bytes()),
            "a byte order mark before it, which JSON does not allow",
        ),
        (b"\x1f\x8b\x08\0\0".to_vec(), "data compressed by gzip"),
        (b"\x7fELF\x02\x01\x01\0".to_vec(), "binary data"),
        (b"\xc3\x28 Latin".to_vec(), "text that is not UTF-8"),
    ] {
        let error = Manifest::parse_bytes(&bytes).unwrap_err();
        assert_eq!(
            (error.code(), error.found()),
            (Code::NotJson, found),
            "{bytes:?}"
        );
    }
}

/// The output of `futhark-manifest resolve` has the members of a manifest in another form.
#[test]
fn a_resolved_document_is_rejected() {
    let program = Manifest::parse(&fixture("0.26.4")).unwrap().resolve();
    let document = program.unwrap().to_json();
    let found = "a resolved document, which `futhark-manifest resolve` prints";
    let error = fails(&document.to_string());
    assert_eq!((error.code(), error.found()), (Code::NotAManifest, found));
}

#[test]
fn an_unknown_version_is_a_warning() {
    for (version, found) in [
        (json!("latest"), "\"latest\""),
        (json!("0.25"), "\"0.25\""),
        (json!(""), "\"\""),
        (json!("0.19.0.\nCompiled"), "\"0.19.0.\\nCompiled\""),
        (Value::Null, "nothing"),
    ] {
        let mut json = whole();
        json["version"] = version;
        json.as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
        let manifest = Manifest::parse(&json.to_string()).unwrap();
        let warnings = manifest.warnings();
        let [warning] = &warnings[..] else {
            panic!("{found}: {warnings:?}");
        };
        assert_eq!(
            (warning.code(), warning.pointer(), warning.found()),
            (Code::UnknownVersion, "/version", found)
        );
        let program = manifest.resolve().expect("it can be used");
        assert_eq!(program.to_json()["compiler"]["number"], Value::Null);
        // Without a version, nothing is certain about the functions of the library.
        assert!(!program.assertions("prog.h").contains("futhark_context_new"));
    }
}

/// Deep nesting must not overflow the stack.
#[test]
fn deeply_nested_json_is_rejected() {
    let deep = "[".repeat(100_000);
    assert_eq!(fails(&deep).code(), Code::NotAManifest, "rejected unparsed");
    let deep = format!("{{\"types\": {}", "{\"a\":".repeat(100_000));
    assert_eq!(fails(&deep).code(), Code::NotJson);
}

#[test]
fn other_json_is_not_a_manifest() {
    for (text, found) in [
        ("[]", "an array"),
        ("3", "a number"),
        ("null", "null"),
        ("\"manifest\"", "a string"),
        ("{}", "an empty object"),
        (r#"{"name": "left-pad", "version": "1.0.0"}"#, "an object"),
    ] {
        let error = fails(text);
        assert_eq!(error.code(), Code::NotAManifest, "{text}");
        assert_eq!(error.pointer(), "");
        assert_eq!(
            error.to_string(),
            format!(
                "not a manifest: expected an object with \"backend\", \"entry_points\" and \
                 \"types\" (written by `futhark c --library`), found {found}"
            )
        );
    }
}

#[test]
fn missing_members_are_errors() {
    let record = format!("/types/{CELL}/record");
    let array = format!("/types/[]{CELL}/record_array");
    let function = "the name of a C function";
    for (object, key, expected) in [
        ("", "backend", "the name of a backend"),
        ("", "types", "an object"),
        ("", "entry_points", "an object"),
        ("/entry_points/grow", "cfun", function),
        ("/entry_points/grow", "inputs", "an array of parameters"),
        ("/entry_points/grow/inputs/0", "unique", "true or false"),
        (
            "/entry_points/grow/inputs/0",
            "name",
            "the name of a parameter",
        ),
        ("/entry_points/grow/output", "type", "the name of a type"),
        ("/types/[]i32", "kind", "\"array\" or \"opaque\""),
        ("/types/[]i32", "ctype", "a C type"),
        ("/types/[]i32", "rank", "a positive integer"),
        ("/types/[]i32", "elemtype", "the name of a scalar type"),
        ("/types/[]i32", "ops", "the array's C functions (an object)"),
        ("/types/[]i32/ops", "free", function),
        ("/types/[]i32/ops", "values", function),
        ("/types/state", "ops", "the type's C functions (an object)"),
        ("/types/state/ops", "free", function),
        ("/types/state/sum", "variants", "an array of variants"),
        ("/types/state/sum/variants/1", "destruct", function),
        (
            "/types/state/sum/variants/1",
            "payload",
            "an array of type names",
        ),
        (&record, "new", function),
        (&record, "fields", "an array of fields"),
        (&format!("{record}/fields/0"), "project", function),
        (&array, "zip", function),
        (&array, "elemtype", "the name of a type"),
        ("/types/[][]state/opaque_array", "index", function),
        (
            "/types/[][]state/opaque_array",
            "rank",
            "a positive integer",
        ),
    ] {
        let error = after(object, key, None);
        assert_eq!(error.code(), Code::MissingMember, "{error}");
        assert_eq!(error.pointer(), format!("{object}/{key}"));
        assert_eq!(error.expected(), expected, "{error}");
        assert_eq!(error.found(), "nothing");
    }
    let error = after("/entry_points/grow", "output", None);
    assert_eq!(
        error.to_string(),
        "at /entry_points/grow/outputs: expected an array of results, found nothing"
    );
}

#[test]
fn values_of_the_wrong_json_type_are_errors() {
    for (object, key, value, display) in [
        (
            "/types/[]i32",
            "rank",
            json!("two"),
            "at /types/[]i32/rank: expected a positive integer, found \"two\"",
        ),
        (
            "/types/[]i32",
            "rank",
            json!(-1),
            "at /types/[]i32/rank: expected a positive integer, found -1",
        ),
        (
            "/types/[]i32",
            "rank",
            json!(1.5),
            "at /types/[]i32/rank: expected a positive integer, found 1.5",
        ),
        (
            "",
            "types",
            json!([]),
            "at /types: expected an object, found an empty array",
        ),
        (
            "",
            "version",
            json!(0.25),
            "at /version: expected the compiler's version, found 0.25",
        ),
        (
            "/types",
            "a/b~c",
            json!(null),
            "at /types/a~1b~0c: expected a type (an object), found null",
        ),
        (
            "/entry_points/grow/inputs",
            "1",
            json!("i32"),
            "at /entry_points/grow/inputs/1: expected a parameter (an object), found \"i32\"",
        ),
        (
            "/entry_points/grow",
            "attributes",
            json!({"keep": true}),
            "at /entry_points/grow/attributes: expected an array of strings, found an object",
        ),
        (
            "/entry_points/grow",
            "tuning_params",
            json!([3]),
            "at /entry_points/grow/tuning_params/0: expected the name of a tuning parameter, found 3",
        ),
        (
            "/types/state/sum/variants/1/payload",
            "0",
            json!(["i32"]),
            "at /types/state/sum/variants/1/payload/0: expected the name of a type, found an array",
        ),
        (
            "/types/[]i32/ops",
            "index",
            json!(true),
            "at /types/[]i32/ops/index: expected the name of a C function, found true",
        ),
    ] {
        let error = after(object, key, Some(value));
        assert_eq!(error.code(), Code::WrongType, "{error}");
        assert_eq!(error.to_string(), display);
    }
}

#[test]
fn unknown_backends_and_kinds_are_errors() {
    for (code, object, key, value, display) in [
        (
            Code::UnknownBackend,
            "",
            "backend",
            "vulkan",
            "at /backend: expected c, multicore, ispc, opencl, cuda or hip, found \"vulkan\"",
        ),
        (
            Code::UnknownValue,
            "/types/[]i32",
            "kind",
            "list",
            "at /types/[]i32/kind: expected \"array\" or \"opaque\", found \"list\"",
        ),
        (
            Code::UnknownValue,
            "/types/[]i32",
            "elemtype",
            "i128",
            "at /types/[]i32/elemtype: expected i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, \
             f64 or bool, found \"i128\"",
        ),
    ] {
        let error = after(object, key, Some(json!(value)));
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(error.to_string(), display);
    }
}

#[test]
fn dangling_references_are_errors() {
    let record = format!("/types/{CELL}/record");
    let expected = "a scalar type or one that is described under /types";
    for (object, key) in [
        ("/entry_points/grow/inputs/0", "type"),
        ("/entry_points/grow/output", "type"),
        ("/types/state/sum/variants/2/payload", "1"),
        (&format!("{record}/fields/1"), "type"),
        (&format!("/types/[]{CELL}/record_array"), "elemtype"),
        (&format!("/types/[]{CELL}/record_array/fields/0"), "type"),
        ("/types/[][]state/opaque_array", "elemtype"),
    ] {
        let error = after(object, key, Some(json!("[]nowhere")));
        assert_eq!(error.code(), Code::DanglingType, "{error}");
        assert_eq!(error.pointer(), format!("{object}/{key}"));
        assert_eq!(error.expected(), expected);
        assert_eq!(error.found(), "\"[]nowhere\"");
    }
}

/// Generators insert C names into code, so anything but an identifier is rejected.
#[test]
fn invalid_c_names_are_rejected() {
    for (object, key) in [
        ("/entry_points/grow", "cfun"),
        ("/types/[]i32/ops", "values_raw"),
        ("/types/state/ops", "store"),
        ("/types/state/sum", "variant"),
        ("/types/[][]state/opaque_array", "set"),
    ] {
        for name in ["", "9lives", "f; exit(1)", "f\u{301}", "a b", "a-b"] {
            let error = after(object, key, Some(json!(name)));
            assert_eq!(error.code(), Code::InvalidCName, "{error}");
            assert_eq!(error.pointer(), format!("{object}/{key}"));
        }
    }
    for ctype in ["struct futhark_x", "int *", "struct a; struct b *", ""] {
        let error = after("/types/state", "ctype", Some(json!(ctype)));
        assert_eq!(error.code(), Code::InvalidCName, "{error}");
        assert_eq!(error.pointer(), "/types/state/ctype");
    }
    let error = after("/types/state", "ctype", Some(json!("int *")));
    assert_eq!(
        error.to_string(),
        "at /types/state/ctype: expected a pointer to a C struct, written \"struct NAME *\", \
         found \"int *\""
    );
}

#[test]
fn duplicate_c_names_are_errors() {
    for (code, object, key, value, pointer, found) in [
        (
            Code::DuplicateCName,
            "/types/[]i32/ops",
            "shape",
            "futhark_free_i32_1d",
            "/types/[]i32/ops/shape",
            "\"futhark_free_i32_1d\", used by /types/[]i32/ops/free",
        ),
        (
            Code::DuplicateCName,
            "/types/[]i32",
            "ctype",
            "struct futhark_i32_2d *",
            "/types/[]i32/ctype",
            "\"futhark_i32_2d\", used by /types/[][]i32/ctype",
        ),
        (
            Code::DuplicateCName,
            "/entry_points/grow",
            "cfun",
            "futhark_entry_count",
            "/entry_points/grow/cfun",
            "\"futhark_entry_count\", used by /entry_points/count/cfun",
        ),
        (
            Code::DuplicateVariant,
            "/types/state/sum/variants/2",
            "name",
            "dead",
            "/types/state/sum/variants/2/name",
            "\"dead\"",
        ),
        (
            Code::DuplicateField,
            "/types/minmax/record/fields/1",
            "name",
            "0",
            "/types/minmax/record/fields/1/name",
            "\"0\"",
        ),
    ] {
        let error = after(object, key, Some(json!(value)));
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(error.pointer(), pointer);
        assert_eq!(error.found(), found);
    }
}

#[test]
fn inconsistent_parts_are_errors() {
    let array = format!("/types/[]{CELL}/record_array");
    let elem = format!("{array}/elemtype");
    let opaque_elem = "/types/[][]state/opaque_array/elemtype";
    let state = whole()["types"]["state"].clone();
    let record = json!({"new": "futhark_new_x", "fields": []});
    let outputs = json!([{"type": "i32", "unique": false}]);
    for (code, object, key, value, pointer, expected) in [
        (
            Code::RankOutOfRange,
            "/types/[]i32",
            "rank",
            json!(0),
            "/types/[]i32/rank",
            "an integer from 1 to 255",
        ),
        (
            Code::RankOutOfRange,
            "/types/[]i32",
            "rank",
            json!(256),
            "/types/[]i32/rank",
            "an integer from 1 to 255",
        ),
        (
            Code::RankOutOfRange,
            &array,
            "rank",
            json!(0),
            &format!("{array}/rank"),
            "an integer from 1 to 255",
        ),
        (
            Code::RankOutOfRange,
            "/types/[][]state/opaque_array",
            "rank",
            json!(0),
            "/types/[][]state/opaque_array/rank",
            "an integer from 1 to 255",
        ),
        (
            Code::ScalarDescribed,
            "/types",
            "i32",
            state,
            "/types/i32",
            "no description of a scalar type",
        ),
        (
            Code::WrongElement,
            &array,
            "elemtype",
            json!("i32"),
            &elem,
            "the name of a record type",
        ),
        (
            Code::WrongElement,
            &array,
            "elemtype",
            json!("[]i32"),
            &elem,
            "the name of a record type",
        ),
        (
            Code::WrongElement,
            &array,
            "elemtype",
            json!("state"),
            &elem,
            "the name of a record type",
        ),
        (
            Code::FieldsDisagree,
            &array,
            "elemtype",
            json!("minmax"),
            &format!("{array}/fields"),
            "the fields of \"minmax\", in that order",
        ),
        (
            Code::WrongFieldType,
            &format!("{array}/fields/0"),
            "type",
            json!("i32"),
            &format!("{array}/fields/0/type"),
            "an array of i32 with 1 dimension",
        ),
        (
            Code::WrongElement,
            "/types/[][]state/opaque_array",
            "elemtype",
            json!("bool"),
            opaque_elem,
            "the name of an opaque type",
        ),
        (
            Code::WrongElement,
            "/types/[][]state/opaque_array",
            "elemtype",
            json!("[]i32"),
            opaque_elem,
            "the name of an opaque type",
        ),
        (
            Code::NoVariants,
            "/types/state/sum",
            "variants",
            json!([]),
            "/types/state/sum/variants",
            "at least one variant",
        ),
        (
            Code::Ambiguous,
            "/types/state",
            "record",
            record,
            "/types/state",
            "at most one of record, sum, record_array, opaque_array",
        ),
        (
            Code::Ambiguous,
            "/entry_points/grow",
            "outputs",
            outputs,
            "/entry_points/grow",
            "either \"outputs\" or \"output\"",
        ),
    ] {
        let error = after(object, key, Some(value));
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(error.pointer(), pointer, "{error}");
        assert_eq!(error.expected(), expected, "{error}");
    }
}

#[test]
fn types_that_contain_themselves_are_errors() {
    let error = after(
        "/types/minmax/record/fields/1",
        "type",
        Some(json!("minmax")),
    );
    assert_eq!(error.code(), Code::TypeContainsItself);
    assert_eq!(
        error.to_string(),
        "at /types/minmax: expected a type that does not contain itself, \
         found a part of \"minmax\""
    );
    // Here an array closes the cycle.
    let error = after(
        "/types/state/sum/variants/1/payload",
        "0",
        Some(json!("[][]state")),
    );
    assert_eq!(error.code(), Code::TypeContainsItself);
    assert_eq!(error.pointer(), "/types/[][]state");
}

/// A long chain of types must not overflow the stack.
#[test]
fn long_chains_of_types_are_resolved() {
    let mut json = json!({"backend": "c", "entry_points": {}, "types": {}});
    let length = 20_000;
    for n in 0..length {
        let inner = if n + 1 == length {
            "i32".to_owned()
        } else {
            format!("t{:05}", n + 1)
        };
        json["types"][format!("t{n:05}")] = json!({
            "kind": "opaque",
            "ctype": format!("struct t{n} *"),
            "ops": {"free": format!("free{n}")},
            "record": {
                "new": format!("new{n}"),
                "fields": [{"name": "next", "type": inner, "project": format!("get{n}")}]
            }
        });
    }
    let manifest = Manifest::parse(&json.to_string()).unwrap();
    assert_eq!(manifest.resolve().unwrap().types().len(), length);
}
