//! Compares generated modules with committed ones, one per feature, each next to its manifest.
//! `FUTHARK_BLESS=1` writes them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use futhark_safe_generated_tests::MODULES;

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../golden")
}

#[test]
fn generated_code_equals_the_golden_files() {
    let bless = std::env::var_os("FUTHARK_BLESS").is_some();
    let mut seen = 0;
    for module in MODULES {
        let Some(name) = module.name.strip_prefix("golden_") else {
            continue;
        };
        seen += 1;
        let path = golden().join(format!("{name}.rs"));
        if bless {
            std::fs::write(&path, module.text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = committed
            .lines()
            .zip(module.text.lines())
            .position(|(a, b)| a != b);
        assert!(
            committed == module.text,
            "{} differs from the generated module, first in line {:?}; FUTHARK_BLESS=1 writes it",
            path.display(),
            differs.map(|line| line + 1)
        );
    }
    assert_eq!(seen, 17);
}

#[test]
fn every_golden_file_has_its_manifest() {
    for entry in std::fs::read_dir(golden()).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.with_extension("json").exists(), "{}", path.display());
    }
}

/// Compilers name the results of entry points in different ways, but a user's code must compile with
/// all of them: the older module has no type or method that the newer one lacks.
#[test]
fn names_do_not_depend_on_the_compiler() {
    let module = |name: &str| {
        let module = MODULES.iter().find(|module| module.name == name);
        module.expect("the module exists").text
    };
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
    for (old, new) in [
        ("golden_nested", "golden_nested_0_27"),
        ("golden_tuples", "golden_tuples_0_26"),
        ("golden_entries", "golden_entries_0_26"),
        ("golden_opaque_arrays", "golden_opaque_arrays_0_26"),
        ("golden_record_arrays", "golden_record_arrays_0_25_36"),
    ] {
        let (older, newer) = (public(module(old)), public(module(new)));
        let lost: Vec<_> = older.difference(&newer).collect();
        assert!(lost.is_empty() && !older.is_empty(), "{new}: {lost:#?}");
    }
}
