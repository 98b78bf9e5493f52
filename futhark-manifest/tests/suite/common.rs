//! Helpers of several test files.

use std::path::{Path, PathBuf};

use futhark_manifest::{Manifest, Program};
use serde_json::Value;
use walkdir::{DirEntry, WalkDir};

/// The folder of fixtures, on one line as compilers write them, each named after the first compiler version
/// that writes a manifest of that form.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of the fixture of a version.
pub fn fixture(version: &str) -> String {
    read(&fixtures().join(format!("{version}.json")))
}

/// The JSON of the fixture of a version.
pub fn json(version: &str) -> Value {
    serde_json::from_str(&fixture(version)).expect("JSON")
}

/// Reads and resolves a manifest that must be faultless.
pub fn faultless(text: &str, what: impl std::fmt::Display) -> Program {
    let manifest = Manifest::parse(text).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(manifest.check(), [], "{what}");
    let program = manifest
        .resolve()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(
        program.types().len(),
        manifest.types.len(),
        "{what}: every type is there"
    );
    assert_eq!(
        program.entries().len(),
        manifest.entry_points.len(),
        "{what}: every entry point is there"
    );
    program
}

/// The files with an extension in a folder and its subfolders, in order. Empty if the
/// folder does not exist.
pub fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let files = WalkDir::new(folder).sort_by_file_name().into_iter();
    let paths = files.flatten().map(DirEntry::into_path);
    paths
        .filter(|path| path.extension().is_some_and(|own| own == extension))
        .collect()
}

/// The JSON pointers to all values, the top first.
pub fn pointers(json: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    match json {
        Value::Object(members) => {
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                let below = pointers(member).into_iter();
                found.extend(below.map(|rest| format!("/{key}{rest}")));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let below = pointers(item).into_iter();
                found.extend(below.map(|rest| format!("/{index}{rest}")));
            }
        }
        _ => {}
    }
    found
}

/// Removes or sets a member of an object, or sets an item of an array.
pub fn change(manifest: &mut Value, pointer: &str, value: Option<Value>) {
    let (around, key) = pointer.rsplit_once('/').expect("not the whole manifest");
    let key = key.replace("~1", "/").replace("~0", "~");
    let around = manifest.pointer_mut(around).expect(pointer);
    match (around, value) {
        (Value::Array(items), Some(value)) => items[key.parse::<usize>().unwrap()] = value,
        (Value::Object(members), Some(value)) => drop(members.insert(key, value)),
        (Value::Object(members), None) => drop(members.remove(&key).expect(pointer)),
        (other, _) => panic!("{pointer}: {other}"),
    }
}

/// The cases of a text: `/a/b = JSON => EXPECTED`, a place with its new value and what is expected of it, or
/// `/a/b removed => EXPECTED`. Each is what happens to which place, the place, the value, and the expectation. Lines
/// with `#` are comments.
pub fn damages(text: &str) -> Vec<(&str, &str, Option<Value>, &str)> {
    let cases = text.lines().filter(|line| !line.starts_with('#'));
    let cases = cases.map(|case| {
        let (what, expected) = case.split_once(" => ").expect(case);
        match what.split_once(" = ") {
            Some((pointer, value)) => {
                let value = serde_json::from_str(value).expect(what);
                (what, pointer, Some(value), expected)
            }
            None => (
                what,
                what.strip_suffix(" removed").expect(what),
                None,
                expected,
            ),
        }
    });
    cases.collect()
}
