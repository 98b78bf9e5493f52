//! The fixtures contain every change of the manifest format.

use crate::common::{faultless, files_below, fixture, fixtures, json};
use serde_json::Value;

#[test]
fn fixtures_are_faultless_and_named_after_their_version() {
    let files = files_below(&fixtures(), "json");
    assert!(!files.is_empty());
    for file in files {
        let name = file.file_stem().and_then(|name| name.to_str());
        let program = faultless(&crate::common::read(&file), file.display());
        assert_eq!(Some(&*program.version.to_string()), name);
    }
}

/// The changes: the version since which a place has a value, and an earlier fixture with a place and its older value,
/// which is null if there was none.
const CHANGES: &str = r#"
0.21.13 /types/line/record/new = "futhark_new_opaque_line" ; before: 0.20.3 /types/model/record = null
0.21.13 /types/line/record/fields/0/project = "futhark_project_opaque_line_offset" ; before: 0.20.3 /types/model/record = null
0.24.1 /entry_points/sort!/tuning_params = [] ; before: 0.22.1 /entry_points/spawn/tuning_params = null
0.25.12 /types/pixel/sum/variants/0 = { "name": "clear", "construct": "futhark_new_opaque_pixel_clear", "destruct": "futhark_destruct_opaque_pixel_clear", "payload": [] } ; before: 0.22.1 /types/hit:f32 | missed:/sum = null
0.25.14 /types/[][][]bool/ops/new_raw = "futhark_new_raw_bool_3d" ; before: 0.25.12 /types/[]u8/ops/new_raw = null
0.25.19 /types/[]i32/ops/index = "futhark_index_i32_1d" ; before: 0.25.14 /types/[][][]bool/ops/index = null
0.25.19 /types/[]{level:i32, tags:[]i32}/record_array/rank = 1 ; before: 0.22.1 /types/[]particle/record_array = null
0.25.19 /types/[][]state/opaque_array/rank = 2 ; before: 0.22.1 /types/[]particle/opaque_array = null
0.25.31 /types/grid.cell/ctype = "struct futhark_opaque_grid_cell *" ; before: 0.22.1 /types/grid.cell/ctype = "struct futhark_opaque_3c71 *"
0.25.35 /types/()/record = {"fields": [], "new": "futhark_new_opaque_unit"} ; before: 0.25.31 /types/()/record = null
0.25.35 /types/[]()/ctype = "struct futhark_opaque_arr1d_unit *" ; before: 0.25.31 /types/[]()/ctype = "struct futhark_opaque_arr1d_tup0_ *"
0.25.36 /types/[][]state/opaque_array/set = "futhark_set_opaque_arr2d_state" ; before: 0.25.19 /types/[][]state/opaque_array/set = null
0.25.36 /types/[]{level: i32, tags: []i32}/record_array/new = "futhark_new_opaque_arr5e1f" ; before: 0.25.19 /types/[]{level:i32, tags:[]i32}/record_array/new = null
0.25.37 /types/[]()/opaque_array/new = "futhark_new_opaque_arr1d_unit" ; before: 0.25.35 /types/[]()/opaque_array/new = null
0.25.36 /entry_points/grow/attributes = ["keep", "cost(high, 2)"] ; before: 0.25.35 /entry_points/answer/attributes = null
0.26.1 /entry_points/count/output = {"type": "(i32, []i32)", "unique": false} ; before: 0.25.36 /entry_points/count/outputs = [{"type": "i32", "unique": false}, {"type": "[]i32", "unique": false}]
0.27.1 /entry_points/idle/output/type = "()" ; before: 0.25.37 /entry_points/drop/outputs = []
0.26.4 /entry_points/grow/doc = "Grows each cell.\nA \"cell\" has\ttags." ; before: 0.26.1 /entry_points/grow/doc = null
"#;

#[test]
fn every_change_of_the_format_is_in_a_fixture() {
    for line in CHANGES
        .trim()
        .lines()
        .flat_map(|line| line.split(" ; before: "))
    {
        let (version, rest) = line.split_once(' ').expect("a version");
        let (pointer, value) = rest.split_once(" = ").expect("a value");
        let value: Value = serde_json::from_str(value).expect("JSON");
        assert_eq!(at(version, pointer), value, "{line}");
    }
}

/// Up to 0.25.37, some types had no known structure.
#[test]
fn all_structures_are_known_in_0_27_1() {
    let closed = |version| {
        let program = faultless(&fixture(version), version);
        let types = program.types().iter();
        let plain = types.filter(|ty| {
            let opaque = ty.as_opaque();
            opaque.is_some_and(|opaque| opaque.structure == futhark_manifest::Structure::Plain)
        });
        plain.count()
    };
    assert_eq!(closed("0.22.1"), 3);
    assert_eq!(closed("0.25.31"), 2);
    assert_eq!(closed("0.27.1"), 0);
}

/// One type of a program can have two names and two C structs.
#[test]
fn one_type_can_have_two_names() {
    let names = ["{x: f32, y: f32}", "{x:f32, y:f32}"];
    let [first, second] = names.map(|name| at("0.25.31", &format!("/types/{name}")));
    assert_ne!(first["ctype"], second["ctype"]);
    let parts = |ty: &Value| {
        let fields = ty["record"]["fields"].as_array().expect("fields").clone();
        fields
            .into_iter()
            .map(|f| (f["name"].clone(), f["type"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(parts(&first), parts(&second));
}

/// The value at a place in the fixture of a version; null if there is none.
fn at(version: &str, pointer: &str) -> Value {
    json(version).pointer(pointer).cloned().unwrap_or_default()
}
