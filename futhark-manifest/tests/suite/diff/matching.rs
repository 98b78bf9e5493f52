//! The matching of types, their users, and the text of changes.

use futhark_manifest::diff::UsedBy;
use serde_json::{Value, json};

use super::{CELL, array, base, compare, entry, items, lines, program, record, set};

/// A record of two coordinates; each C name occurs once in a program.
fn point(c_name: &str) -> Value {
    record(c_name, &[("x", "f64"), ("y", "f64")])
}

/// Two types have the same structure. If a parameter changes from one to the other, only the
/// parameter changed.
#[test]
fn two_names_of_one_structure_are_two_types() {
    let types = [("pt", point("pt")), ("vec", point("vec"))];
    let uses = |f: &str| {
        let entries = [
            ("f", entry("f", &[f], "f64")),
            ("g", entry("g", &["pt", "vec"], "f64")),
        ];
        program(&types, &entries)
    };
    let expected = ["breaking parameter-type-changed /entry_points/f/inputs/0"];
    assert_eq!(lines(&compare(&uses("pt"), &uses("vec"))), expected);

    // The old type is still in use, so the new name is a new type.
    let old = program(&types[..1], &[("f", entry("f", &["pt", "pt"], "f64"))]);
    let new = program(&types, &[("f", entry("f", &["pt", "vec"], "f64"))]);
    let expected = [
        "breaking parameter-type-changed /entry_points/f/inputs/1",
        "compatible type-added /types/vec",
    ];
    assert_eq!(lines(&compare(&old, &new)), expected);
}

/// Two new types are in places of one old type. The type with the same structure is the renamed
/// one, in any order of the places.
#[test]
fn replacements_of_the_same_structure_are_matched_first() {
    let old = program(
        &[("pt", point("pt"))],
        &[
            ("f", entry("f", &["pt"], "f64")),
            ("g", entry("g", &["pt"], "f64")),
        ],
    );
    let new = program(
        &[
            ("disk", record("disk", &[("r", "f64")])),
            ("vec", point("vec")),
        ],
        &[
            ("f", entry("f", &["disk"], "f64")),
            ("g", entry("g", &["vec"], "f64")),
        ],
    );
    let expected = [
        "breaking parameter-type-changed /entry_points/f/inputs/0",
        "compatible type-added /types/disk",
        "breaking type-renamed /types/pt",
    ];
    assert_eq!(lines(&compare(&old, &new)), expected);
}

/// Two types swap their structures. Users refer to types by name, so the structures changed.
#[test]
fn types_are_matched_by_name_before_structure() {
    let disk = || record("disk", &[("r", "f64")]);
    let program = |a: Value, b: Value| {
        let entries = [("f", entry("f", &["a", "b"], "f64"))];
        program(&[("a", a), ("b", b)], &entries)
    };
    let diff = compare(&program(point("pt"), disk()), &program(disk(), point("pt")));
    let expected = [
        "cosmetic type-functions-changed /types/a",
        "breaking field-added /types/a/fields/r",
        "breaking field-removed /types/a/fields/x",
        "breaking field-removed /types/a/fields/y",
        "cosmetic type-functions-changed /types/b",
        "breaking field-removed /types/b/fields/r",
        "breaking field-added /types/b/fields/x",
        "breaking field-added /types/b/fields/y",
    ];
    assert_eq!(lines(&diff), expected);
}

/// 0.25.27 uses a separate type for the elements of an array of rank 2, later compilers the
/// type of the program, so there are two types, or one with another name.
#[test]
fn renamed_element_types_are_reported() {
    let matrix = |c_name: &str, elem: &str| {
        let c = |word: &str| format!("futhark_{word}_opaque_{c_name}");
        json!({
            "kind": "opaque",
            "ctype": format!("struct futhark_opaque_{c_name} *"),
            "ops": {"free": c("free")},
            "record_array": {
                "rank": 2, "elemtype": elem, "zip": c("zip"), "index": c("index"),
                "shape": c("shape"), "fields": [
                    {"name": "x", "type": "[][]f64", "project": c("project_x")},
                    {"name": "y", "type": "[][]f64", "project": c("project_y")},
                ],
            },
        })
    };
    let program = |pixel: &str, cell: &str| {
        let mut types = vec![
            ("[][]cell", matrix("arr2d_cell", cell)),
            ("[][]f64", array("f64", 2)),
            ("[][]pixel", matrix("arr2d_pixel", pixel)),
            (cell, point("cell")),
            ("pixel", point("pixel")),
        ];
        if pixel != "pixel" {
            types.push((pixel, point("arr1d_pixel")));
        }
        let at = entry("at", &["[][]pixel", "[][]cell"], "pixel");
        program(&types, &[("at", at)])
    };
    let diff = compare(&program("[]pixel", "[]cell"), &program("pixel", "cell"));
    let expected = [
        "breaking element-type-changed /types/[][]pixel",
        "breaking type-renamed /types/[]cell",
        "breaking type-removed /types/[]pixel",
    ];
    assert_eq!(lines(&diff), expected);
}

/// A change of a type that many entry points use is reported once, with the first users.
#[test]
fn a_cause_is_reported_once() {
    let uses = |count: usize, field: &str| {
        let names: Vec<String> = (0..count).map(|n| format!("f{n:03}")).collect();
        let entries: Vec<(&str, Value)> = names
            .iter()
            .map(|name| (name.as_str(), entry(name, &["box"], "i32")))
            .collect();
        let types = [
            ("box", record("box", &[("corner", "pt")])),
            ("pt", record("pt", &[("x", field)])),
        ];
        program(&types, &entries)
    };
    for (count, more) in [(UsedBy::MOST, false), (100, true)] {
        let diff = compare(&uses(count, "f32"), &uses(count, "f64"));
        assert_eq!(
            lines(&diff),
            ["breaking field-type-changed /types/pt/fields/x"]
        );
        let used_by = &diff.changes()[0].used_by;
        let first: Vec<String> = (0..UsedBy::MOST).map(|n| format!("f{n:03}")).collect();
        assert_eq!((&used_by.entries, used_by.more), (&first, more));
    }
}

#[test]
fn changes_are_displayed_with_users_and_reason() {
    let mut edited = base();
    items(&mut edited, "/entry_points/grow/inputs").reverse();
    set(
        &mut edited,
        "/entry_points/grow",
        "doc",
        json!("First.\nSecond."),
    );
    set(&mut edited, "/types", "[]u8", array("u8", 1));
    let field = format!("/types/{CELL}/record/fields/0");
    set(&mut edited, &field, "type", json!("u8"));
    let field = format!("/types/[]{CELL}/record_array/fields/0");
    set(&mut edited, &field, "type", json!("[]u8"));
    let diff = compare(&base(), &edited);
    assert_eq!(
        diff.to_string(),
        "\
cosmetic: entry point `grow`: its documentation changed: \
was `Grows each cell.\\nA \"cell\" has\\ttags.`, is `First.\\nSecond.` [doc-changed]
breaking: entry point `grow`: its parameters changed places: \
was `cells, by`, is `by, cells` [parameters-reordered]
cosmetic: type `[]u8`: it was added: is `[]u8` [array-added]
breaking: type `{level: i32, tags: []i32}`, field `level`: its type changed: \
was `i32`, is `u8` [field-type-changed]
"
    );
    let last = diff.changes().last().expect("there are four");
    assert_eq!(
        format!("{last:#}"),
        "\
breaking: type `{level: i32, tags: []i32}`, field `level`: its type changed: \
was `i32`, is `u8` [field-type-changed]
  used by `classify'`, `grow`
  Code reads and passes a value of the old type."
    );
}
