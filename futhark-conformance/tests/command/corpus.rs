//! The corpus is documented and complete.

use futhark_conformance::blocks::{Source, TestBlocks};
use futhark_conformance::checks::ALL;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The path within `programs` and the source of every program.
fn programs() -> Vec<(String, String)> {
    let folder = root().join("programs");
    let mut programs = Vec::new();
    for entry in WalkDir::new(&folder).sort_by_file_name() {
        let path = entry.expect("the corpus can be read").into_path();
        if path.extension().is_some_and(|extension| extension == "fut") {
            let inside = path.strip_prefix(&folder).expect("it is below");
            let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
            let source = fs::read_to_string(&path).expect("it can be read");
            programs.push((parts.join("/"), source));
        }
    }
    programs
}

/// The first sentence of the comment that opens a program.
fn promise(source: &str) -> Option<String> {
    let comment = source
        .lines()
        .map_while(|line| line.strip_prefix("--"))
        .map(str::trim)
        .take_while(|line| !line.is_empty() && *line != "==");
    let text = comment.collect::<Vec<_>>().join(" ");
    let end = text
        .find(". ")
        .or_else(|| text.ends_with('.').then(|| text.len() - 1))?;
    Some(text[..=end].to_owned())
}

/// The parts of a text in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The cells of the rows of every table.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines()
        .filter(|line| line.starts_with("| "))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

#[test]
fn each_program_says_its_promise_and_is_in_a_listed_folder() {
    let readme = read("programs/README.md");
    let programs = programs();
    assert!(programs.len() >= 120, "{}", programs.len());
    for (path, source) in &programs {
        assert!(promise(source).is_some(), "{path}: no promise");
        let folder = path.split('/').next().unwrap_or_default();
        assert!(readme.contains(&format!("| `{folder}/` |")), "{folder}");
    }
}

#[test]
fn every_form_of_input_and_output_is_in_the_corpus() {
    let mut forms = BTreeSet::new();
    for (_, source) in programs() {
        let blocks = TestBlocks::parse(&source).expect("test blocks can be read");
        for case in blocks.cases {
            forms.insert(match case.input {
                Source::Text(_) => "text",
                Source::File(path) if path.extension().is_some_and(|e| e == "gz") => "gz",
                Source::File(_) => "file",
                Source::Random(_) => "random",
                Source::Script(_) => "script",
                Source::ScriptFile(_) => "script file",
            });
        }
    }
    assert_eq!(forms.len(), 6, "{forms:?}");
}

#[test]
fn coverage_names_programs_and_checks_that_exist() {
    let coverage = read("programs/coverage.md");
    let programs: BTreeSet<String> = programs().into_iter().map(|(path, _)| path).collect();
    let mut named = 0;
    for row in rows(&coverage).filter(|row| !row[0].starts_with("---")) {
        let [.., of_programs, of_checks] = row.as_slice() else {
            panic!("{row:?}")
        };
        for program in quoted(of_programs) {
            assert!(programs.contains(program), "unknown program {program}");
            named += 1;
        }
        for check in quoted(of_checks) {
            assert!(
                ALL.iter().any(|known| known.name == check),
                "unknown check {check}"
            );
        }
    }
    assert!(named > 100, "{named}");
}
