//! Large programs: the stack and the time of a comparison do not grow with the number of
//! paths through the types.

use serde_json::{Value, json};

use super::{compare, entry, lines, program, record};

const LENGTH: usize = 2_000;

/// A chain of records, each with two fields of the next type, so that there are 2^2000 paths
/// from the first to the last, which has scalar fields.
fn chain(prefix: &str, scalar: &str) -> Value {
    let name = |n: usize| format!("{prefix}{n:04}");
    let names: Vec<String> = (0..LENGTH).map(name).collect();
    let types: Vec<(&str, Value)> = (0..LENGTH)
        .map(|n| {
            let part = names.get(n + 1).map_or(scalar, String::as_str);
            let ty = record(&names[n], &[("a", part), ("b", part)]);
            (names[n].as_str(), ty)
        })
        .collect();
    let first = &names[0];
    program(&types, &[("f", entry("f", &[first], first))])
}

#[test]
fn an_unchanged_chain_has_no_changes() {
    let chain = chain("t", "i32");
    assert!(compare(&chain, &chain).is_empty());
}

#[test]
fn a_change_at_the_end_of_a_chain_is_reported_there() {
    let diff = compare(&chain("t", "i32"), &chain("t", "i64"));
    let expected = [
        "breaking field-type-changed /types/t1999/fields/a",
        "breaking field-type-changed /types/t1999/fields/b",
    ];
    assert_eq!(lines(&diff), expected);
    assert_eq!(diff.changes()[0].used_by.entries, ["f"]);
}

#[test]
fn every_type_of_a_chain_can_be_renamed() {
    let diff = compare(&chain("t", "i32"), &chain("u", "i32"));
    let expected = (0..LENGTH).map(|n| format!("breaking type-renamed /types/t{n:04}"));
    assert_eq!(lines(&diff), expected.collect::<Vec<_>>());
}

/// All names and the last type change, so every structure differs, and types are matched by
/// place.
#[test]
fn a_chain_with_new_names_and_structures_is_matched() {
    let diff = compare(&chain("t", "i32"), &chain("u", "i64"));
    let mut expected: Vec<String> = (0..LENGTH)
        .map(|n| format!("breaking type-renamed /types/t{n:04}"))
        .collect();
    let last = expected.last_mut().expect("there are some");
    *last = last.replace("renamed", "replaced");
    assert_eq!(lines(&diff), expected);
}

/// Many parameters, inserted and reordered.
#[test]
fn many_parameters_are_matched() {
    let uses = |names: Vec<usize>| {
        let mut f = entry("f", &[], "i32");
        let input = |n| json!({"name": format!("p{n}"), "type": "i32", "unique": false});
        f["inputs"] = names.into_iter().map(input).collect();
        program(&[], &[("f", f)])
    };
    let some = || uses((0..LENGTH).collect());
    let one_more = uses((0..=LENGTH).map(|n| (n + 1) % (LENGTH + 1)).collect());
    let diff = compare(&some(), &one_more);
    assert_eq!(diff.changes().len(), LENGTH + 1, "by position: {diff}");
    let expected = ["breaking parameters-reordered /entry_points/f"];
    let reversed = uses((0..LENGTH).rev().collect());
    assert_eq!(lines(&compare(&some(), &reversed)), expected);
}
