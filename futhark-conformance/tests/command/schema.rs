//! The JSON report of a run, against the published schema.

use super::scene::Scene;
use futhark_conformance::report::json::SCHEMA;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/results.schema.json");
    let text = fs::read_to_string(path).expect("the schema can be read");
    serde_json::from_str(&text).expect("the schema is JSON")
}

/// What is wrong with a line, if anything.
fn violation(line: &str) -> Option<String> {
    let validator = jsonschema::draft202012::new(&schema()).expect("the schema is valid");
    let line: Value = serde_json::from_str(line).expect("each line is JSON");
    let error = validator.validate(&line).err()?;
    Some(format!("{error} at {} in {line}", error.instance_path()))
}

#[test]
fn a_run_writes_lines_of_the_schema() {
    let main = |output: &str| {
        format!("entry main (x: i32) = x\n-- ==\n-- input {{ 1 }} output {{ {output} }}\n")
    };
    let scene = needed!(Scene::new(&[
        ("pass.fut", &main("1")),
        ("fail.fut", &main("2")),
        ("error.fut", "entry main (x: i32) = y\n"),
        ("known.fut", &main("2")),
        ("library.fut", "let f (x: i32) = x\n"),
        (
            "expectations.toml",
            "[[expect]]\nprogram = \"known.fut\"\ncheck = \"blocks\"\nreason = \"wrong\"\n",
        ),
    ]));
    scene
        .run(". --all --backend c --check blocks --check compile")
        .ends_with(1);
    let report = scene.read("report.jsonl");
    for line in report.lines() {
        assert_eq!(violation(line), None);
    }
    for outcome in ["pass", "fail", "skip", "expected-fail"] {
        assert!(
            report.contains(&format!("\"outcome\":\"{outcome}\"")),
            "{outcome}:\n{report}"
        );
    }
    assert!(
        report.lines().last().unwrap().starts_with("{\"records\":"),
        "{report}"
    );
}

#[test]
fn damaged_lines_violate_the_schema() {
    let record = r#"{"program":"a.fut","backend":"c","device":"cpu","compiler":"1","check":"blocks","case":"","outcome":"fail","cause":"crash","message":"m","seconds":0.1}"#;
    assert_eq!(violation(record), None);
    for (part, damaged) in [
        (r#""program":"a.fut","#, ""),
        (r#""fail""#, r#""failed""#),
        (r#""crash""#, "null"),
        ("0.1", "-1"),
    ] {
        assert!(
            violation(&record.replace(part, damaged)).is_some(),
            "{part}"
        );
    }
    let header =
        format!(r#"{{"schema":{SCHEMA},"generator":"x","seed":1,"compilers":[],"devices":[]}}"#);
    assert_eq!(
        violation(&header),
        None,
        "the schema is of the version that runs write"
    );
    assert!(violation(&header.replace(r#""seed":1,"#, "")).is_some());
    // Readers must accept what later versions add.
    assert_eq!(violation(r#"{"kind":"of a later version"}"#), None);
    assert_eq!(violation(&record.replace('{', r#"{"more":1,"#)), None);
}
