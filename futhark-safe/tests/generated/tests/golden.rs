//! Compares generated code with snapshots: each construct once, and the names that the rule for names gives.
//! `INSTA_UPDATE=always` writes them. That the other modules compile is tested by building this crate.

use std::collections::BTreeSet;

use futhark_safe_generated_tests::{MODULES, Module};

/// Programs with a manifest of a newer compiler: the older module, then the newer one.
const ERAS: [(&str, &str); 6] = [
    ("golden_entries", "golden_entries_0_26"),
    ("golden_nested", "golden_nested_0_27"),
    ("golden_opaque_arrays", "golden_opaque_arrays_0_26"),
    ("golden_record_arrays", "golden_record_arrays_0_25_36"),
    ("golden_tuples", "golden_tuples_0_26"),
    ("golden_unit", "golden_unit_0_26"),
];

/// Types and entry points with all constructs of generated code, by module.
const CONSTRUCTS: &[(&str, &[&str])] = &[
    // Nested records, and a record with an array.
    ("golden_records", &["Line"]),
    ("golden_record_arrays", &["Near"]),
    ("golden_nested", &["TupleTupleI32F32EndBool"]),
    ("golden_sums", &["Shape"]),
    // Rows of nested records, and of one record; `new` and `set`.
    (
        "golden_record_arrays_0_25_36",
        &["ArrayArrayCell", "ArrayPt"],
    ),
    // A type and an entry point with comments of the source.
    ("golden_opaque_arrays_0_26", &["ArrayColour", "code"]),
    (
        "golden_entries",
        &[
            "add_to",
            "constant",
            "long_parameter_list",
            "nothing",
            "split",
        ],
    ),
    // Newer compilers return one value instead of several, or of none.
    ("golden_entries_0_26", &["nothing", "split"]),
    ("golden_unit", &["Unit"]),
    ("golden_unit_0_26", &["Unit"]),
];

fn module(name: &str) -> &'static Module {
    let module = MODULES.iter().find(|module| module.name == name);
    module.expect("the module has a manifest")
}

/// The definition of a type with everything about it, or an entry point.
fn construct(module: &Module, name: &str) -> &'static str {
    const TYPE: &str = "__futhark_safe::__opaque! {\n";
    let (types, entries) = module
        .text
        .split_once("/// The entry points of the program")
        .expect("each module has entry points");
    let definition = format!("pub struct {name}: Program");
    let mut types = types.split(TYPE).skip(1);
    let (_, methods) = entries.split_once("impl Entries<'_> {\n").unwrap();
    let mut methods = methods.trim_end_matches("}\n").split("\n\n");
    let found = types
        .find(|text| text.contains(&definition))
        .or_else(|| methods.find(|text| text.contains(&format!("pub fn {name}("))));
    found
        .unwrap_or_else(|| panic!("{} has no {name}", module.name))
        .trim_end()
}

#[test]
fn generated_code_equals_the_snapshots() {
    let mut constructs = String::new();
    for (name, items) in CONSTRUCTS {
        for item in *items {
            let text = construct(module(name), item);
            constructs += &format!("=== {name}: {item}\n{text}\n");
        }
    }
    let names = public(module("golden_names").text).join("\n");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        insta::assert_snapshot!("nothing", module("golden_nothing").text);
        insta::assert_snapshot!("constructs", constructs);
        insta::assert_snapshot!("names", names);
    });
}

/// The names of types and methods, with the types of their parameters where they are on one line.
fn public(text: &'static str) -> Vec<&'static str> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| {
        ["pub struct ", "pub enum ", "pub fn "]
            .iter()
            .any(|begin| line.starts_with(begin))
    });
    // The definition of a type contains its Futhark name.
    lines
        .map(|line| line.split(": Program,").next().unwrap_or(line))
        .collect()
}

/// Compilers name the results of entry points in different ways, but a user's code must compile with
/// all of them: the older module has no type or method that the newer one lacks.
#[test]
fn names_do_not_depend_on_the_compiler() {
    let names = |name| public(module(name).text).into_iter().collect();
    for (old, new) in ERAS {
        let (older, newer): (BTreeSet<_>, BTreeSet<_>) = (names(old), names(new));
        let lost: Vec<_> = older.difference(&newer).collect();
        assert!(lost.is_empty() && !older.is_empty(), "{new}: {lost:#?}");
    }
}
