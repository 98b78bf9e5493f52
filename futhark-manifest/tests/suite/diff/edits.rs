//! Each edit of a manifest, with all changes that it causes, in both directions.

use serde_json::{Value, json};

use super::{CELL, array, at, base, compare, entry, items, lines, record, remove, rename, set};

/// A description, the edit, and the changes in both directions.
type Case = (
    &'static str,
    fn(&mut Value),
    &'static [&'static str],
    &'static [&'static str],
);

fn check(cases: &[Case]) {
    let base = base();
    for (what, edit, forwards, backwards) in cases {
        let mut edited = base.clone();
        edit(&mut edited);
        assert_ne!(edited, base, "{what}: the edit must change the manifest");
        assert_eq!(lines(&compare(&base, &edited)), *forwards, "{what}");
        let diff = compare(&edited, &base);
        assert_eq!(lines(&diff), *backwards, "{what}, backwards");
        for change in &diff {
            // A change has an old or a new value, and they differ.
            let both = (&change.was, &change.is);
            assert_ne!(both, (&None, &None), "{what}: {change}");
            assert_ne!(change.was, change.is, "{what}: {change}");
        }
    }
}

fn cell(steps: &str) -> String {
    format!("/types/{CELL}{steps}")
}

/// Applies the edit to the record's fields and to its array's, which must match.
fn both_fields(json: &mut Value, edit: impl Fn(&mut Vec<Value>)) {
    edit(items(json, &cell("/record/fields")));
    edit(items(json, &format!("/types/[]{CELL}/record_array/fields")));
}

#[test]
fn edits_of_the_program_are_found() {
    check(&[
        (
            "backend",
            |json| set(json, "", "backend", json!("cuda")),
            &["cosmetic backend-changed /backend"],
            &["cosmetic backend-changed /backend"],
        ),
        (
            "version",
            |json| set(json, "", "version", json!("0.27.1.\n")),
            &["cosmetic compiler-changed /version"],
            &["cosmetic compiler-changed /version"],
        ),
        (
            "another build of the same version",
            |json| set(json, "", "version", json!("0.26.4.\ngit: 0000002\n")),
            &["cosmetic compiler-changed /version"],
            &["cosmetic compiler-changed /version"],
        ),
    ]);
}

#[test]
fn edits_of_entry_points_are_found() {
    check(&[
        (
            "remove an entry point",
            |json| remove(json, "/entry_points", "range"),
            &["breaking entry-removed /entry_points/range"],
            &["compatible entry-added /entry_points/range"],
        ),
        (
            "add an entry point and its type",
            |json| {
                set(json, "/types", "pt", record("pt", &[("x", "f64")]));
                let norm = entry("norm", &["pt"], "f64");
                set(json, "/entry_points", "norm", norm);
            },
            &[
                "compatible entry-added /entry_points/norm",
                "compatible type-added /types/pt",
            ],
            &[
                "breaking entry-removed /entry_points/norm",
                "breaking type-removed /types/pt",
            ],
        ),
        (
            "C function of an entry point",
            |json| {
                let cfun = json!("futhark_entry_reach");
                set(json, "/entry_points/range", "cfun", cfun);
            },
            &["cosmetic entry-function-changed /entry_points/range"],
            &["cosmetic entry-function-changed /entry_points/range"],
        ),
        (
            "tuning parameters of an entry point",
            |json| {
                let params = json!(["range.suff_outer_0"]);
                set(json, "/entry_points/range", "tuning_params", params);
            },
            &["cosmetic tuning-parameters-changed /entry_points/range"],
            &["cosmetic tuning-parameters-changed /entry_points/range"],
        ),
        (
            "attributes of an entry point",
            |json| set(json, "/entry_points/grow", "attributes", json!(["keep"])),
            &["cosmetic attributes-changed /entry_points/grow"],
            &["cosmetic attributes-changed /entry_points/grow"],
        ),
        (
            "documentation of an entry point",
            |json| remove(json, "/entry_points/grow", "doc"),
            &["cosmetic doc-changed /entry_points/grow"],
            &["cosmetic doc-changed /entry_points/grow"],
        ),
    ]);
}

#[test]
fn edits_of_parameters_are_found() {
    check(&[
        (
            "insert first parameter",
            |json| {
                let input = json!({"name": "seed", "type": "u64", "unique": false});
                items(json, "/entry_points/classify'/inputs").insert(0, input);
            },
            &["breaking parameter-added /entry_points/classify'/inputs/0"],
            &["breaking parameter-removed /entry_points/classify'/inputs/0"],
        ),
        (
            "another scalar type of a parameter",
            |json| set(json, "/entry_points/grow/inputs/1", "type", json!("i64")),
            &["breaking parameter-type-changed /entry_points/grow/inputs/1"],
            &["breaking parameter-type-changed /entry_points/grow/inputs/1"],
        ),
        (
            "another array type of a parameter",
            |json| {
                let ty = json!("[]bool");
                set(json, "/entry_points/range/inputs/0", "type", ty);
            },
            &["breaking parameter-type-changed /entry_points/range/inputs/0"],
            &["breaking parameter-type-changed /entry_points/range/inputs/0"],
        ),
        (
            "consumption of a parameter",
            |json| set(json, "/entry_points/count/inputs/0", "unique", json!(true)),
            &["breaking parameter-consumed /entry_points/count/inputs/0"],
            &["breaking parameter-observed /entry_points/count/inputs/0"],
        ),
        (
            "name of a parameter",
            |json| set(json, "/entry_points/count/inputs/0", "name", json!("ys")),
            &["cosmetic parameter-renamed /entry_points/count/inputs/0"],
            &["cosmetic parameter-renamed /entry_points/count/inputs/0"],
        ),
        (
            "swap two parameters",
            |json| items(json, "/entry_points/grow/inputs").reverse(),
            &["breaking parameters-reordered /entry_points/grow"],
            &["breaking parameters-reordered /entry_points/grow"],
        ),
    ]);
}

#[test]
fn edits_of_results_are_found() {
    check(&[
        (
            "another type of a result",
            |json| {
                let ty = json!("[]i32");
                set(json, "/entry_points/classify'/output", "type", ty);
            },
            &["breaking result-type-changed /entry_points/classify'/result"],
            &["breaking result-type-changed /entry_points/classify'/result"],
        ),
        (
            "another type of one of two results",
            |json| {
                let outputs = json!([
                    {"type": "i64", "unique": false}, {"type": "[]i32", "unique": false},
                ]);
                set(json, "/entry_points/count", "outputs", outputs);
                remove(json, "/entry_points/count", "output");
            },
            &[
                "cosmetic result-form-changed /entry_points/count/result",
                "breaking result-type-changed /entry_points/count/result/0",
            ],
            &[
                "cosmetic result-form-changed /entry_points/count/result",
                "breaking result-type-changed /entry_points/count/result/0",
            ],
        ),
        (
            "one result instead of two",
            |json| set(json, "/entry_points/count/output", "type", json!("i32")),
            &["breaking result-count-changed /entry_points/count/result"],
            &["breaking result-count-changed /entry_points/count/result"],
        ),
        (
            "uniqueness of a result",
            |json| set(json, "/entry_points/grow/output", "unique", json!(false)),
            &["cosmetic result-uniqueness-changed /entry_points/grow/result"],
            &["cosmetic result-uniqueness-changed /entry_points/grow/result"],
        ),
        (
            "component of a tuple, reported at the tuple type",
            |json| {
                let field = "/types/minmax/record/fields/0";
                set(json, field, "type", json!("i64"));
            },
            &["breaking field-type-changed /types/minmax/fields/0"],
            &["breaking field-type-changed /types/minmax/fields/0"],
        ),
        (
            "name of a tuple type used only as a result",
            |json| rename(json, "minmax", "extremes"),
            &[
                "cosmetic result-type-added /types/extremes",
                "cosmetic result-type-removed /types/minmax",
            ],
            &[
                "cosmetic result-type-removed /types/extremes",
                "cosmetic result-type-added /types/minmax",
            ],
        ),
    ]);
}

#[test]
fn edits_of_records_are_found() {
    check(&[
        (
            "insert first field",
            |json| {
                let age = |ty: &str, c_name: &str| {
                    let project = format!("futhark_project_opaque_{c_name}_age");
                    json!({"name": "age", "type": ty, "project": project})
                };
                items(json, &cell("/record/fields")).insert(0, age("bool", "5e1f"));
                let array = format!("/types/[]{CELL}/record_array/fields");
                items(json, &array).insert(0, age("[]bool", "arr5e1f"));
            },
            &["breaking field-added /types/{level: i32, tags: []i32}/fields/age"],
            &["breaking field-removed /types/{level: i32, tags: []i32}/fields/age"],
        ),
        (
            "name of a field",
            |json| both_fields(json, |fields| fields[1]["name"] = json!("marks")),
            &["breaking field-renamed /types/{level: i32, tags: []i32}/fields/tags"],
            &["breaking field-renamed /types/{level: i32, tags: []i32}/fields/marks"],
        ),
        (
            "type of a field, in the record and in its array",
            |json| {
                set(json, "/types", "[]i64", array("i64", 1));
                set(json, &cell("/record/fields/0"), "type", json!("i64"));
                let field = format!("/types/[]{CELL}/record_array/fields/0");
                set(json, &field, "type", json!("[]i64"));
            },
            &[
                "cosmetic array-added /types/[]i64",
                "breaking field-type-changed /types/{level: i32, tags: []i32}/fields/level",
            ],
            &[
                "cosmetic array-removed /types/[]i64",
                "breaking field-type-changed /types/{level: i32, tags: []i32}/fields/level",
            ],
        ),
        (
            "order of fields",
            |json| both_fields(json, |fields| fields.reverse()),
            &["breaking fields-reordered /types/{level: i32, tags: []i32}"],
            &["breaking fields-reordered /types/{level: i32, tags: []i32}"],
        ),
    ]);
}

#[test]
fn edits_of_sums_are_found() {
    check(&[
        (
            "remove a variant",
            |json| drop(items(json, "/types/state/sum/variants").remove(2)),
            &["breaking variant-removed /types/state/variants/shut"],
            &["breaking variant-added /types/state/variants/shut"],
        ),
        (
            "name of a variant",
            |json| set(json, "/types/state/sum/variants/1", "name", json!("well")),
            &["breaking variant-renamed /types/state/variants/live"],
            &["breaking variant-renamed /types/state/variants/well"],
        ),
        (
            "order of variants",
            |json| items(json, "/types/state/sum/variants").reverse(),
            &["breaking variants-reordered /types/state"],
            &["breaking variants-reordered /types/state"],
        ),
        (
            "more values in a payload",
            |json| items(json, "/types/state/sum/variants/0/payload").push(json!("i32")),
            &["breaking payload-count-changed /types/state/variants/dead"],
            &["breaking payload-count-changed /types/state/variants/dead"],
        ),
        (
            "another type of a payload value",
            |json| items(json, "/types/state/sum/variants/2/payload")[1] = json!("i8"),
            &["breaking payload-type-changed /types/state/variants/shut/payload/1"],
            &["breaking payload-type-changed /types/state/variants/shut/payload/1"],
        ),
    ]);
}

#[test]
fn edits_of_arrays_are_found() {
    check(&[
        (
            "element type of an array of scalars",
            |json| set(json, "/types/[]bool", "elemtype", json!("i8")),
            &["breaking element-type-changed /types/[]bool"],
            &["breaking element-type-changed /types/[]bool"],
        ),
        (
            "element type of an array of opaque values",
            |json| {
                let array = "/types/[][]state/opaque_array";
                set(json, array, "elemtype", json!("minmax"));
            },
            &["breaking element-type-changed /types/[][]state"],
            &["breaking element-type-changed /types/[][]state"],
        ),
        (
            "rank of an array of scalars",
            |json| set(json, "/types/[]bool", "rank", json!(2)),
            &["breaking rank-changed /types/[]bool"],
            &["breaking rank-changed /types/[]bool"],
        ),
        (
            "rank of an array of opaque values",
            |json| set(json, "/types/[][]state/opaque_array", "rank", json!(3)),
            &["breaking rank-changed /types/[][]state"],
            &["breaking rank-changed /types/[][]state"],
        ),
        (
            "rank of an array of records",
            |json| {
                let array = format!("/types/[]{CELL}/record_array");
                set(json, &array, "rank", json!(2));
                set(json, "/types", "[][][]i32", self::array("i32", 3));
                set(json, &format!("{array}/fields/0"), "type", json!("[][]i32"));
                set(
                    json,
                    &format!("{array}/fields/1"),
                    "type",
                    json!("[][][]i32"),
                );
            },
            &[
                "cosmetic array-added /types/[][][]i32",
                "breaking rank-changed /types/[]{level: i32, tags: []i32}",
            ],
            &[
                "cosmetic array-removed /types/[][][]i32",
                "breaking rank-changed /types/[]{level: i32, tags: []i32}",
            ],
        ),
    ]);
}

#[test]
fn edits_of_unknown_members_are_found() {
    check(&[
        (
            "unknown member of the manifest",
            |json| set(json, "", "abi", json!(2)),
            &["compatible unknown-changed "],
            &["compatible unknown-changed "],
        ),
        (
            "unknown member of a parameter",
            |json| {
                set(
                    json,
                    "/entry_points/grow/inputs/0",
                    "region",
                    json!("device"),
                )
            },
            &["compatible unknown-changed /entry_points/grow"],
            &["compatible unknown-changed /entry_points/grow"],
        ),
        (
            "unknown member of a variant",
            |json| set(json, "/types/state/sum/variants/0", "tag", json!(7)),
            &["compatible unknown-changed /types/state"],
            &["compatible unknown-changed /types/state"],
        ),
    ]);
}

#[test]
fn edits_of_operations_are_found() {
    check(&[
        (
            "remove operations of an array of scalars",
            |json| {
                for word in ["index", "new_raw", "values_raw"] {
                    remove(json, "/types/[]i32/ops", word);
                }
            },
            &["breaking operations-removed /types/[]i32"],
            &["compatible operations-added /types/[]i32"],
        ),
        (
            "remove an operation of an array of records",
            |json| {
                let array = format!("/types/[]{CELL}/record_array");
                remove(json, &array, "set");
            },
            &["breaking operations-removed /types/[]{level: i32, tags: []i32}"],
            &["compatible operations-added /types/[]{level: i32, tags: []i32}"],
        ),
        (
            "remove an operation of a sum",
            |json| remove(json, "/types/state/ops", "store"),
            &["breaking operations-removed /types/state"],
            &["compatible operations-added /types/state"],
        ),
        (
            "remove two operations of an array of opaque values",
            |json| {
                remove(json, "/types/[][]state/opaque_array", "set");
                remove(json, "/types/[][]state/ops", "restore");
            },
            &["breaking operations-removed /types/[][]state"],
            &["compatible operations-added /types/[][]state"],
        ),
        (
            "C names of a type",
            |json| {
                let name = json!("struct futhark_opaque_4711 *");
                set(json, "/types/state", "ctype", name);
                let name = json!("futhark_free_opaque_4711");
                set(json, "/types/state/ops", "free", name);
            },
            &["cosmetic type-functions-changed /types/state"],
            &["cosmetic type-functions-changed /types/state"],
        ),
        (
            "C name of a field's projection",
            |json| {
                let field = cell("/record/fields/0");
                set(json, &field, "project", json!("futhark_project_level"));
            },
            &["cosmetic type-functions-changed /types/{level: i32, tags: []i32}"],
            &["cosmetic type-functions-changed /types/{level: i32, tags: []i32}"],
        ),
    ]);
}

#[test]
fn types_that_become_opaque_or_transparent_are_reported() {
    check(&[
        (
            "hide a sum",
            |json| remove(json, "/types/state", "sum"),
            &["breaking type-hidden /types/state"],
            &["compatible type-revealed /types/state"],
        ),
        (
            "hide the unit type, also as a result",
            |json| remove(json, "/types/()", "record"),
            &["breaking type-hidden /types/()"],
            &["compatible type-revealed /types/()"],
        ),
        (
            "hide a tuple, also as a result",
            |json| remove(json, "/types/minmax", "record"),
            &["breaking type-hidden /types/minmax"],
            &["compatible type-revealed /types/minmax"],
        ),
        (
            "hide the fields of an array of records",
            |json| {
                let ty = format!("/types/[]{CELL}");
                let mut array = at(json, &format!("{ty}/record_array")).take();
                for word in ["fields", "zip"] {
                    array.as_object_mut().expect("an object").remove(word);
                }
                set(json, &ty, "opaque_array", array);
                remove(json, &ty, "record_array");
            },
            &["breaking type-hidden /types/[]{level: i32, tags: []i32}"],
            &["compatible type-revealed /types/[]{level: i32, tags: []i32}"],
        ),
        (
            "hide the structure and remove an operation",
            |json| {
                remove(json, "/types/state", "sum");
                remove(json, "/types/state/ops", "store");
            },
            &[
                "breaking type-hidden /types/state",
                "breaking operations-removed /types/state",
            ],
            &[
                "compatible type-revealed /types/state",
                "compatible operations-added /types/state",
            ],
        ),
        (
            "replace a sum by a record of the same name",
            |json| set(json, "/types", "state", record("state", &[("a", "i32")])),
            &["breaking type-kind-changed /types/state"],
            &["breaking type-kind-changed /types/state"],
        ),
        (
            "documentation of a type",
            |json| set(json, "/types/state", "doc", json!("What a cell is in.")),
            &["cosmetic doc-changed /types/state"],
            &["cosmetic doc-changed /types/state"],
        ),
    ]);
}

#[test]
fn renamed_types_are_found() {
    check(&[
        (
            "rename a type and its array type",
            |json| {
                rename(json, "state", "mode");
                rename(json, "[][]state", "[][]mode");
            },
            &["breaking type-renamed /types/state"],
            &["breaking type-renamed /types/mode"],
        ),
        (
            "rename a type and its C type",
            |json| {
                rename(json, "state", "mode");
                let name = json!("struct futhark_opaque_mode *");
                set(json, "/types/mode", "ctype", name);
            },
            &["breaking type-renamed /types/state"],
            &["breaking type-renamed /types/mode"],
        ),
        (
            "change spaces in a type name and its array",
            |json| {
                rename(json, CELL, "{level:i32, tags:[]i32}");
                rename(json, &format!("[]{CELL}"), "[]{level:i32, tags:[]i32}");
            },
            &["cosmetic type-respelled /types/{level: i32, tags: []i32}"],
            &["cosmetic type-respelled /types/{level:i32, tags:[]i32}"],
        ),
        (
            "rename only the array type",
            |json| rename(json, "[][]state", "board"),
            &["breaking type-renamed /types/[][]state"],
            &["breaking type-renamed /types/board"],
        ),
        (
            "rename a type and change a field",
            |json| {
                rename(json, CELL, "beast");
                rename(json, &format!("[]{CELL}"), "[]beast");
                set(json, "/types/beast/record/fields/0", "type", json!("u8"));
                set(json, "/types", "[]u8", array("u8", 1));
                let field = "/types/[]beast/record_array/fields/0";
                set(json, field, "type", json!("[]u8"));
            },
            &[
                "cosmetic array-added /types/[]u8",
                "breaking type-replaced /types/{level: i32, tags: []i32}",
            ],
            &[
                "cosmetic array-removed /types/[]u8",
                "breaking type-replaced /types/beast",
            ],
        ),
        (
            "change spaces in the name of an array of scalars",
            |json| rename(json, "[][]i32", "[] []i32"),
            &["cosmetic type-respelled /types/[][]i32"],
            &["cosmetic type-respelled /types/[] []i32"],
        ),
    ]);
}
