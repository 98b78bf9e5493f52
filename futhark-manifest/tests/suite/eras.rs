//! Manifests of every format since the first can be read. Members that a format lacks are
//! absent, not errors.

use crate::common::{faultless, fixture, json};
use futhark_manifest::{
    Backend, ElemType, Manifest, Program, ResultForm, Structure, Type, TypeRef,
};

fn ty<'p>(program: &'p Program, name: &str) -> &'p Type {
    let id = program
        .type_named(name)
        .unwrap_or_else(|| panic!("type {name}"));
    program.get(id)
}

fn structure<'p>(program: &'p Program, name: &str) -> &'p Structure {
    &ty(program, name).as_opaque().expect("opaque").structure
}

fn load(version: &str) -> Program {
    let program = faultless(&fixture(version), version);
    assert_eq!(program.version.to_string(), version);
    program
}

/// The type names of the values that an entry point returns.
fn components<'p>(program: &'p Program, entry: &str) -> Vec<&'p str> {
    let entry = program.entry(entry).expect("listed");
    let form = entry.result_form(program);
    form.components().map(|ty| program.name_of(ty)).collect()
}

#[test]
fn v0_20_3_manifests_are_read() {
    let program = load("0.20.3");
    assert_eq!(program.backend, Backend::Multicore);
    assert_eq!(*structure(&program, "model"), Structure::Plain);

    let matrix = ty(&program, "[][]f32");
    assert_eq!(matrix.c_struct(), "struct futhark_f32_2d");
    assert_eq!(matrix.c_ident(), "futhark_f32_2d");
    let matrix = matrix.as_array().expect("an array");
    assert_eq!((matrix.elem, matrix.rank), (ElemType::F32, 2));
    assert_eq!(matrix.ops.new, "futhark_new_f32_2d");
    let newer = [
        &matrix.ops.index,
        &matrix.ops.new_raw,
        &matrix.ops.values_raw,
    ];
    assert_eq!(newer, [&None, &None, &None]);

    let fit = program.entry("fit").expect("listed");
    assert_eq!(components(&program, "fit"), ["model", "f32"]);
    assert!(matches!(fit.result_form(&program), ResultForm::Several(_)));
    assert!(fit.tuning_params.is_empty() && fit.attributes.is_empty() && fit.doc.is_none());
    let predict = program.entry("predict").expect("listed");
    assert!(predict.outputs[0].unique && predict.consumed().next().is_none());
    assert!(program.entry("train").is_none());
}

#[test]
fn v0_21_13_records_are_read() {
    let program = load("0.21.13");
    let line = ty(&program, "line").as_record().expect("a record");
    assert_eq!(line.new, "futhark_new_opaque_line");
    assert_eq!(line.fields[1].name, "slope");
    assert_eq!(line.fields[1].ty, TypeRef::Scalar(ElemType::F64));
    assert_eq!(line.fields[1].project, "futhark_project_opaque_line_slope");
    assert!(!line.is_tuple());

    let pair = ty(&program, "(line, []f64)").as_record().expect("a record");
    assert!(pair.is_tuple());
    assert_eq!(program.name_of(pair.fields[0].ty), "line");
}

#[test]
fn v0_24_1_tuning_parameters_are_read() {
    let program = load("0.24.1");
    assert_eq!(program.backend, Backend::OpenCl);
    let tuning = |name: &str| program.entry(name).expect("listed").tuning_params.clone();
    assert_eq!(tuning("dot"), ["dot.reduce_group_size", "dot.suff_outer_0"]);
    assert_eq!(tuning("sort!"), [""; 0]);
    let sort = program.entry("sort!").expect("listed");
    let consumed: Vec<_> = sort
        .consumed()
        .map(|(i, input)| (i, &*input.name))
        .collect();
    assert_eq!(consumed, [(0, "keys")]);
}

#[test]
fn v0_25_35_the_unit_type_is_a_record() {
    let program = load("0.25.35");
    let unit = ty(&program, "()").as_record().expect("a record");
    assert!(unit.is_unit() && !unit.is_tuple());
    let nothing = program.entry("nothing").expect("listed");
    assert_eq!(nothing.result_form(&program), ResultForm::Nothing);
    assert!(program.entry("answer").expect("listed").inputs.is_empty());
}

#[test]
fn v0_25_36_array_builders_and_attributes_are_read() {
    let program = load("0.25.36");
    let Structure::RecordArray(cells) = structure(&program, "[]{level: i32, tags: []i32}") else {
        panic!("an array of records");
    };
    assert!(cells.new.is_some() && cells.set.is_some());
    let grow = program.entry("grow").expect("listed");
    assert_eq!(grow.attributes, ["keep", "cost(high, 2)"]);
    assert_eq!(grow.doc, None);
}

/// The same program, compiled by versions before and since 0.26.1.
#[test]
fn v0_26_1_results_look_alike_in_both_forms() {
    let (split, whole) = (load("0.25.36"), load("0.26.1"));
    for entry in split.entries() {
        let name = &entry.name;
        assert_eq!(
            components(&split, name),
            components(&whole, name),
            "{name}: a bridge gives the same values"
        );
        let form = |program| entry_form(program, name);
        let expected = match name.as_str() {
            "count" => ("several", "tuple"),
            "discard" => ("nothing", "unit"),
            "range" => ("tuple", "tuple"),
            _ => ("one", "one"),
        };
        assert_eq!((form(&split), form(&whole)), expected, "{name}");
        let outputs = whole.entry(name).expect("listed").outputs.len();
        assert_eq!(outputs, 1, "{name}: one output parameter");
    }
}

fn entry_form(program: &Program, name: &str) -> &'static str {
    match program.entry(name).expect("listed").result_form(program) {
        ResultForm::Nothing => "nothing",
        ResultForm::Unit(_) => "unit",
        ResultForm::One(_) => "one",
        ResultForm::Several(_) => "several",
        ResultForm::Tuple { .. } => "tuple",
    }
}

#[test]
fn v0_26_4_documentation_is_read() {
    let program = load("0.26.4");
    let doc = |name: &str| program.entry(name).expect("listed").doc.as_deref();
    assert_eq!(doc("grow"), Some("Grows each cell.\nA \"cell\" has\ttags."));
    assert_eq!(doc("count"), None);
}

/// Unknown members are kept in the resolved program.
#[test]
fn unknown_members_of_a_future_version_are_kept() {
    let mut json = json("0.26.4");
    json["abi"] = 3.into();
    json["entry_points"]["grow"]["inputs"][0]["region"] = 3.into();
    let manifest = Manifest::parse(&json.to_string()).unwrap();
    let warnings: Vec<String> = manifest.warnings().iter().map(|w| w.to_string()).collect();
    let expected = "at /abi: expected no member of that name, found 3";
    assert_eq!((warnings.len(), &*warnings[0]), (2, expected));
    let program = manifest.resolve().unwrap();
    assert_eq!(program.unknown["abi"], 3);
    let grow = program.entry("grow").unwrap();
    assert_eq!(grow.inputs[0].unknown["region"], 3);
}
