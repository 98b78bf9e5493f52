//! Every error has the place, the expected and the actual value.

use crate::common::{self, change, damages, fixture};
use futhark_manifest::{Backend, Code, Error, Manifest};
use serde_json::{Value, json};

fn fails(text: &str) -> Error {
    let result = Manifest::parse(text).and_then(|manifest| manifest.resolve());
    result.expect_err(text)
}

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
        let expected = format!("not a manifest: expected a manifest in JSON, found {found}");
        assert_eq!((error.pointer(), error.to_string()), ("", expected));
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
    let marked = with(b"\xff\xfe", utf16(u16::to_le_bytes));
    let in_utf16 = "text in UTF-16: convert it to UTF-8";
    let in_utf32 = "text in UTF-32: convert it to UTF-8";
    for (bytes, found) in [
        (utf16(u16::to_le_bytes), in_utf16),
        (utf16(u16::to_be_bytes), in_utf16),
        (marked, in_utf16),
        (utf32.clone(), in_utf32),
        (with(b"\xff\xfe\0\0", utf32), in_utf32),
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
        (json!("a\"b"), "\"a\\\"b\""),
        (json!("0.19.0.\nCompiled"), "\"0.19.0.\\nCompiled\""),
        (Value::Null, "nothing"),
    ] {
        let mut json = common::json("0.26.4");
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

/// As in `type u8 = {x: i32}`. The manifest writes the scalar `u8` in the same way.
#[test]
fn a_type_with_the_name_of_a_scalar_is_a_warning() {
    let text = r#"{"backend": "c", "version": "0.26.4",
        "types": {"u8": {"kind": "opaque", "ctype": "struct futhark_opaque_u8 *", "ops": {"free": "futhark_free_opaque_u8",
            "store": "futhark_store_opaque_u8", "restore": "futhark_restore_opaque_u8"}}},
        "entry_points": {"f": {"cfun": "futhark_entry_f", "tuning_params": [],
            "inputs": [{"name": "x", "type": "u8", "unique": false}], "outputs": [{"type": "i32", "unique": false}]}}}"#;
    let manifest = Manifest::parse(text).unwrap();
    let findings = manifest.check();
    let [warning] = &findings[..] else {
        panic!("{findings:?}");
    };
    let place = (warning.code(), warning.pointer());
    assert_eq!(place, (Code::ScalarDescribed, "/types/u8"));
    let program = manifest.resolve().expect("it can be used");
    let entry = &program.entries()[0];
    let input = entry.inputs[0].ty.as_type().map(|id| program.get(id));
    assert_eq!(input.unwrap().c_ident(), "futhark_opaque_u8");
    assert!(entry.outputs[0].ty.as_scalar().is_some());
}

/// Upstream's schema allows any text. Only the functions of raw memory depend on the backend.
#[test]
fn an_unknown_backend_is_a_warning() {
    let known = Manifest::parse(&common::json("0.26.4").to_string()).unwrap();
    let mut known = known.resolve().unwrap();
    known.backend = Backend::OpenCl;
    let is_raw = |name: &str| name.contains("_raw_");
    for name in ["webgpu", "", "other", "C", "b\n#error */", "\u{1b}[1m"] {
        let mut json = common::json("0.26.4");
        json["backend"] = json!(name);
        assert!(futhark_manifest::schema::validate(&json).is_ok());
        let manifest = Manifest::parse(&json.to_string()).unwrap();
        let findings = manifest.check();
        let [warning] = &findings[..] else {
            panic!("{name}: {findings:?}");
        };
        let place = (warning.code(), warning.pointer());
        assert_eq!(place, (Code::UnknownBackend, "/backend"));
        let program = manifest.resolve().expect("it can be used");
        assert_eq!(program.backend, Backend::Other);
        assert_eq!(program.backend_name(), name);
        assert_eq!(program.to_json()["backend"], name);
        assert_eq!(program.interface_text(), known.interface_text());
        let prototypes: Vec<_> = program.prototypes().collect();
        let mut expected: Vec<_> = known.prototypes().collect();
        expected.retain(|one| !is_raw(&one.name));
        assert_eq!(prototypes, expected);
        let assertions = program.assertions("prog.h");
        assert!(!assertions.contains("#error"), "{assertions}");
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

/// Each damage of the fixture gives one error, with its code, place, expected and actual value.
#[test]
fn each_damage_is_named_with_its_place() {
    for (what, pointer, value, expected) in damages(include_str!("errors.txt")) {
        let mut json = common::json("0.26.4");
        change(&mut json, pointer, value);
        let error = fails(&json.to_string());
        assert_eq!(format!("{}: {error}", error.code()), expected, "{what}");
    }
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
