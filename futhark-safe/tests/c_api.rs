//! `docs/c-api.md` has a row for every function on contexts, and names tests that exist.

use std::collections::BTreeSet;
use std::path::Path;

use futhark_safe::compile::BACKENDS;

use super::support;

/// The rows of the tables of functions: the function, its replacement, the test.
fn rows() -> Vec<[&'static str; 3]> {
    let text = include_str!("../docs/c-api.md");
    let (tables, _) = text.split_once("## Plain C").expect("a section");
    let rows = tables.lines().filter(|line| line.starts_with("| `"));
    let cells = |line: &'static str| {
        let mut cells = line.split('|').skip(1).map(str::trim);
        [(); 3].map(|()| cells.next().expect("three cells"))
    };
    rows.map(cells).collect()
}

#[test]
fn every_row_names_a_test_that_exists() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for [function, _, test] in rows() {
        let names: Vec<&str> = test.split('`').skip(1).step_by(2).collect();
        let [path, name] = names[..] else {
            panic!("{function}: expected a file and a test, got {test}");
        };
        // `typed/context.rs` is `typed/tests/context.rs`.
        let file = tests.join(path.replace("typed/", "typed/tests/"));
        let text = std::fs::read_to_string(file).unwrap();
        let is_there = text.contains(&format!("fn {name}()"));
        assert!(is_there, "{function}: {path} has no {name}");
    }
}

/// The headers are those of the installed compilers; the backends need no driver for them.
#[test]
fn every_declared_function_on_contexts_has_a_row() {
    let there: BTreeSet<_> = rows().iter().map(|[c, ..]| c.trim_matches('`')).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-api");
    std::fs::create_dir_all(&folder).unwrap();
    for compiler in support::compilers() {
        for backend in BACKENDS {
            let out = folder.join(format!("{backend}"));
            let made = std::process::Command::new(compiler.program())
                .args([backend.as_str(), "--library", "-o"])
                .arg(&out)
                .arg(support::program("failures.fut"))
                .output()
                .unwrap();
            assert!(made.status.success(), "{backend}: {made:?}");
            let header = std::fs::read_to_string(out.with_extension("h")).unwrap();
            let mut declared = header.split("futhark_").skip(1).filter_map(|rest| {
                let name = rest.split('(').next()?;
                let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let of_context = name.starts_with("context_") || name.starts_with("get_tuning");
                (is_name && of_context).then_some(name)
            });
            assert!(declared.clone().count() > 15, "{backend}: {header}");
            let missing = declared.find(|name| !there.contains(*name));
            assert_eq!(missing, None, "{backend}, {}", compiler.program().display());
        }
    }
}
