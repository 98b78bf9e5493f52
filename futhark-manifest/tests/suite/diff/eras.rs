//! The same program from compilers of different generations.

use std::path::Path;

use futhark_manifest::diff::{self, Impact};

use super::lines;
use crate::common::{faultless, files_below, fixture, fixtures, read};
use crate::samples;

#[test]
fn a_program_does_not_differ_from_itself() {
    let mut files = files_below(&fixtures(), "json");
    assert!(!files.is_empty());
    files.extend(samples::files());
    for file in files {
        let program = faultless(&read(&file), file.display());
        let diff = diff::compare(&program, &program);
        assert_eq!(lines(&diff), [""; 0], "{}", file.display());
        assert_eq!(diff.verdict(), None);
    }
}

/// From 0.26.1 a tuple is one result; users of a bridge see no difference, in
/// either direction.
#[test]
fn a_tuple_is_the_same_in_both_forms() {
    let split = faultless(&fixture("0.25.36"), "0.25.36");
    let whole = faultless(&fixture("0.26.1"), "0.26.1");
    let upgrade = diff::compare(&split, &whole);
    let expected = [
        "cosmetic compiler-changed /version",
        "cosmetic result-form-changed /entry_points/count/result",
        "cosmetic result-form-changed /entry_points/discard/result",
        "cosmetic result-type-added /types/(i32, []i32)",
    ];
    assert_eq!(lines(&upgrade), expected);
    let downgrade = diff::compare(&whole, &split);
    assert_eq!(downgrade.verdict(), Some(Impact::Cosmetic));
    assert_eq!(downgrade.changes().len(), expected.len());
}

/// Only the compiler changed.
#[test]
fn a_program_of_many_types_is_the_same_in_both_forms() {
    let Some(samples) = samples::folder() else {
        return;
    };
    let file = |version: &str| samples.join(version).join("probe-p.json");
    let (old, new) = (file("0.25.37"), file("0.27.1"));
    if !old.exists() || !new.exists() {
        println!("skipped: {} has no probe-p.json", samples.display());
        return;
    }
    let load = |file: &Path| faultless(&read(file), file.display());
    let diff = diff::compare(&load(&old), &load(&new));
    let expected = [
        "cosmetic compiler-changed /version",
        "cosmetic result-form-changed /entry_points/nested/result",
        "cosmetic result-form-changed /entry_points/onetup/result",
        // The older compiler does not write documentation.
        "cosmetic doc-changed /entry_points/two",
        "cosmetic result-form-changed /entry_points/two/result",
        "cosmetic result-form-changed /entry_points/twou/result",
        "cosmetic result-form-changed /entry_points/unit/result",
        // The other tuples are types of parameters, and were there before.
        "cosmetic result-type-added /types/([]i32, i32)",
        "cosmetic result-type-added /types/(i32, []i32)",
    ];
    assert_eq!(lines(&diff), expected);
}
