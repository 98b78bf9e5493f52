//! Compares programs as APIs: whether the users of a bridge break, and where.

use futhark_manifest::diff::{self, Diff, Impact, Item};
use futhark_manifest::{Backend, Manifest, Program};
use serde_json::{Value, json};

use crate::common::{self, faultless, fixture, read};
use crate::toolchain::{compilers, generate};
use crate::{corpus, samples};

/// The name of a record type in the base.
const CELL: &str = "{level: i32, tags: []i32}";

fn resolve(json: &Value) -> Program {
    let manifest = Manifest::parse(&json.to_string()).unwrap_or_else(|error| panic!("{error}"));
    manifest.resolve().unwrap_or_else(|error| panic!("{error}"))
}

fn compare(old: &Value, new: &Value) -> Diff {
    diff::compare(&resolve(old), &resolve(new))
}

/// Each change as `IMPACT WHAT POINTER`.
fn lines(diff: &Diff) -> Vec<String> {
    let changes = diff.changes().iter();
    let line = changes.map(|change| {
        let (impact, what) = (change.impact().as_str(), change.what());
        format!("{impact} {what} {}", change.pointer())
    });
    line.collect()
}

/// Renames a type and all references to it.
fn rename(json: &mut Value, from: &str, to: &str) {
    match json {
        Value::String(text) if text == from => to.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, from, to)),
        Value::Object(members) => {
            for member in members.values_mut() {
                rename(member, from, to);
            }
            if let Some(ty) = members.remove(from) {
                members.insert(to.to_owned(), ty);
            }
        }
        _ => {}
    }
}

/// A record with these fields, for `types`.
fn record(c_name: &str, fields: &[(&str, &str)]) -> Value {
    let c = |word: &str| format!("futhark_{word}_opaque_{c_name}");
    let fields = fields.iter().map(|(name, ty)| {
        let project = format!("{}_{name}", c("project"));
        json!({"name": name, "type": ty, "project": project})
    });
    json!({
        "kind": "opaque",
        "ctype": format!("struct futhark_opaque_{c_name} *"),
        "ops": {"free": c("free"), "store": c("store"), "restore": c("restore")},
        "record": {"new": c("new"), "fields": fields.collect::<Vec<_>>()},
    })
}

type Edit = fn(&mut Value);

/// The changes, and the entry points that they affect.
fn changes(diff: &Diff) -> String {
    format!(
        "{}; affects {}",
        lines(diff).join(", "),
        diff.affected().join(", ")
    )
}

/// Edits that differ in the same way in both directions.
#[test]
fn edits_are_found_in_both_directions() {
    let cell = "breaking changed /types/[]{level: i32, tags: []i32}, \
                breaking changed /types/{level: i32, tags: []i32}; affects classify', grow";
    let edits: [(Edit, &str); 8] = [
        (
            |json| json["entry_points"]["grow"]["inputs"][1]["type"] = json!("i64"),
            "breaking changed /entry_points/grow; affects grow",
        ),
        (
            |json| json["entry_points"]["count"]["inputs"][0]["unique"] = json!(true),
            "breaking changed /entry_points/count; affects count",
        ),
        (
            |json| {
                let inputs = json["entry_points"]["grow"]["inputs"].as_array_mut();
                inputs.unwrap().reverse();
            },
            "breaking changed /entry_points/grow; affects grow",
        ),
        (
            |json| json["entry_points"]["count"]["output"]["type"] = json!("[]i32"),
            "breaking changed /entry_points/count; affects count",
        ),
        // A change of a type is reported once, and affects all that use it.
        (
            |json| json["types"]["state"]["sum"]["variants"][2]["payload"][0] = json!("i64"),
            "breaking changed /types/state; affects classify'",
        ),
        (
            |json| {
                json["types"][CELL]["record"]["fields"][0]["name"] = json!("height");
                let array = format!("[]{CELL}");
                json["types"][array]["record_array"]["fields"][0]["name"] = json!("height");
            },
            cell,
        ),
        // Compilers differ in spaces.
        (
            |json| {
                rename(json, CELL, "{level:i32, tags:[]i32}");
                rename(json, &format!("[]{CELL}"), "[]{level:i32, tags:[]i32}");
            },
            "; affects ",
        ),
        // Callers depend on none of these.
        (
            |json| {
                json["backend"] = json!("cuda");
                json["version"] = json!("0.27.1");
                let grow = &mut json["entry_points"]["grow"];
                grow["cfun"] = json!("elsewhere");
                grow["inputs"][1]["name"] = json!("amount");
                grow["output"]["unique"] = json!(false);
                grow["tuning_params"] = json!(["grow.tile"]);
                grow["doc"] = json!("Other words.");
                json["types"]["state"]["ops"]["free"] = json!("free_other");
                // No entry point uses it.
                json["types"]["pt"] = record("pt", &[("x", "f64")]);
            },
            "; affects ",
        ),
    ];
    let base = common::json("0.26.4");
    for (number, (edit, expected)) in edits.iter().enumerate() {
        let mut edited = base.clone();
        edit(&mut edited);
        assert_ne!(edited, base, "edit {number}");
        assert_eq!(
            changes(&compare(&base, &edited)),
            *expected,
            "edit {number}"
        );
        assert_eq!(
            changes(&compare(&edited, &base)),
            *expected,
            "edit {number}, backwards"
        );
    }
}

#[test]
fn what_was_added_was_removed_in_the_other_direction() {
    let mut edited = common::json("0.26.4");
    edited["entry_points"]
        .as_object_mut()
        .unwrap()
        .remove("range");
    let removed = "breaking removed /entry_points/range; affects range";
    assert_eq!(changes(&compare(&common::json("0.26.4"), &edited)), removed);
    let added = "compatible added /entry_points/range; affects ";
    assert_eq!(changes(&compare(&edited, &common::json("0.26.4"))), added);
    // Another name is another type.
    let mut edited = common::json("0.26.4");
    rename(&mut edited, "state", "a/state");
    assert_eq!(
        changes(&compare(&common::json("0.26.4"), &edited)),
        "breaking changed /types/[][]state, compatible added /types/a~1state, \
         breaking removed /types/state; affects classify'"
    );
}

#[test]
fn changes_are_displayed_with_both_sides() {
    let mut edited = common::json("0.26.4");
    edited["entry_points"]["grow"]["inputs"][1]["type"] = json!("i64");
    edited["types"]["state"]["sum"]["variants"][2]["payload"][0] = json!("i64");
    let diff = compare(&common::json("0.26.4"), &edited);
    assert_eq!(
        diff.to_string(),
        "breaking: entry point grow changed\n  \
         was (cells: *[]{level: i32, tags: []i32}) (by: i32): []{level: i32, tags: []i32}\n  \
         is  (cells: *[]{level: i32, tags: []i32}) (by: i64): []{level: i32, tags: []i32}\n\
         breaking: type state changed\n  \
         was sum #dead | #live {level: i32, tags: []i32} | #shut i32 bool\n  \
         is  sum #dead | #live {level: i32, tags: []i32} | #shut i64 bool\n"
    );
    assert_eq!(diff.changes()[1].item, Item::Type);
    assert_eq!(diff.verdict(), Some(Impact::Breaking));
}

#[test]
fn a_program_does_not_differ_from_itself() {
    for (file, program) in samples::programs() {
        let diff = diff::compare(&program, &program);
        assert_eq!(
            (lines(&diff), diff.verdict()),
            (Vec::new(), None),
            "{}",
            file.display()
        );
        assert!(diff.affected().is_empty());
    }
}

/// From 0.26.1 a tuple is one result; users of a bridge see no difference, in either direction.
#[test]
fn a_tuple_is_the_same_in_both_forms() {
    let split = faultless(&fixture("0.25.36"), "0.25.36");
    let whole = faultless(&fixture("0.26.1"), "0.26.1");
    assert_eq!(lines(&diff::compare(&split, &whole)), [""; 0]);
    assert_eq!(lines(&diff::compare(&whole, &split)), [""; 0]);
}

/// A chain of records, each with two fields of the next type, so that there are 2^2000 paths.
#[test]
fn long_chains_of_types_are_compared() {
    const LENGTH: usize = 2_000;
    let chain = |scalar: &str| {
        let names: Vec<String> = (0..LENGTH).map(|n| format!("t{n:04}")).collect();
        let types = (0..LENGTH).map(|n| {
            let part = names.get(n + 1).map_or(scalar, String::as_str);
            (
                names[n].clone(),
                record(&names[n], &[("a", part), ("b", part)]),
            )
        });
        let types: serde_json::Map<String, Value> = types.collect();
        let input = json!({"name": "x", "type": "t0000", "unique": false});
        let f = json!({"cfun": "f", "inputs": [input], "outputs": []});
        json!({"backend": "c", "version": "0.25.32", "types": types, "entry_points": {"f": f}})
    };
    assert_eq!(lines(&compare(&chain("i32"), &chain("i32"))), [""; 0]);
    let diff = compare(&chain("i32"), &chain("i64"));
    assert_eq!(lines(&diff), ["breaking changed /types/t1999"]);
    assert_eq!(diff.affected(), ["f"]);
}

/// The programs whose manifest by a compiler is wrong, so that the next compiler breaks users of a bridge by mending
/// it: the old version, the program, the type.
const MENDED: [((u32, u32, u32), &str, &str); 1] = [(
    (0, 25, 27),
    "arrays-of-records/rank2.fut",
    "type [][]pixel changed",
)];

/// A newer compiler breaks no program of the corpus for users of a bridge.
#[test]
fn compilers_do_not_break_programs() {
    let compilers = compilers();
    let (mut compared, mut broken) = (0, Vec::new());
    for source in corpus::sources() {
        let manifests = compilers
            .iter()
            .map(|compiler| generate(compiler, Backend::C, &source));
        let programs: Vec<_> = manifests
            .flatten()
            .map(|manifest| faultless(&read(&manifest), manifest.display()))
            .collect();
        for old in &programs {
            for new in programs.iter().filter(|new| new.version > old.version) {
                let diff = diff::compare(old, new);
                let breaking = diff.verdict() == Some(Impact::Breaking);
                let mended = MENDED.iter().find(|(version, program, _)| {
                    Some(*version) == old.version.number && source.ends_with(program)
                });
                let expected = match mended {
                    Some((_, _, change)) => breaking && diff.to_string().contains(change),
                    None => !breaking,
                };
                if !expected {
                    broken.push(format!("{}: {diff}", source.display()));
                }
                compared += 1;
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(
        compared > 5 || compilers.len() < 2,
        "{compared} pairs compared"
    );
}
