//! Compares generated modules with snapshots, each next to its manifest. `INSTA_UPDATE=always` writes them.
//!
//! The snapshot of `nothing`, a program without entry points, is the whole module. Each other snapshot is
//! a difference: from `nothing`, or from the module of the same program and an older compiler.

use std::collections::BTreeSet;

use futhark_safe_generated_tests::{MODULES, Module};
use similar::TextDiff;

/// Programs with a manifest of a newer compiler: the older module, then the newer one.
const ERAS: [(&str, &str); 6] = [
    ("golden_entries", "golden_entries_0_26"),
    ("golden_nested", "golden_nested_0_27"),
    ("golden_opaque_arrays", "golden_opaque_arrays_0_26"),
    ("golden_record_arrays", "golden_record_arrays_0_25_36"),
    ("golden_tuples", "golden_tuples_0_26"),
    ("golden_unit", "golden_unit_0_26"),
];

fn module(name: &str) -> &'static Module {
    let module = MODULES.iter().find(|module| module.name == name);
    module.expect("the module has a manifest")
}

#[test]
fn generated_code_equals_the_snapshots() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _guard = settings.bind_to_scope();

    let mut files = BTreeSet::new();
    for module in MODULES {
        let Some(name) = module.name.strip_prefix("golden_") else {
            continue;
        };
        insta::assert_snapshot!(name, snapshot(module));
        files.extend([format!("{name}.json"), format!("{name}.snap")]);
    }
    // No snapshot is left of a manifest that was removed.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden");
    let found = std::fs::read_dir(folder).unwrap();
    let found = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(found.collect::<BTreeSet<_>>(), files);
}

fn snapshot(module: &Module) -> String {
    if module.name == "golden_nothing" {
        return module.text.to_owned();
    }
    let era = ERAS.iter().find(|(_, newer)| *newer == module.name);
    let base = self::module(era.map_or("golden_nothing", |(older, _)| older));
    // A module contains its own name.
    let text = module.text.replace(module.name, base.name);
    let diff = TextDiff::from_lines(base.text, &text);
    let mut diff = diff.unified_diff();
    diff.context_radius(0).header(base.name, module.name);
    diff.to_string()
}

/// Compilers name the results of entry points in different ways, but a user's code must compile with
/// all of them: the older module has no type or method that the newer one lacks.
#[test]
fn names_do_not_depend_on_the_compiler() {
    let public = |text: &'static str| {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| {
            ["pub struct ", "pub enum ", "pub fn "]
                .iter()
                .any(|begin| line.starts_with(begin))
        });
        // The definition of a type contains its Futhark name.
        let names = lines.map(|line| line.split(": Program").next().unwrap_or(line));
        names.collect::<BTreeSet<_>>()
    };
    for (old, new) in ERAS {
        let (older, newer) = (public(module(old).text), public(module(new).text));
        let lost: Vec<_> = older.difference(&newer).collect();
        assert!(lost.is_empty() && !older.is_empty(), "{new}: {lost:#?}");
    }
}
