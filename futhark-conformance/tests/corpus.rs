//! The corpus says of itself what it proves; these tests keep what it says true.

#![forbid(unsafe_code)]

use futhark_conformance::blocks::{Source, TestBlocks};
use futhark_conformance::checks::{ALL, SECTIONS};
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

/// Every program: its path below `programs`, and its source.
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

/// What stands between backquotes.
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
fn every_program_says_what_it_proves_and_is_listed() {
    let readme = read("programs/README.md");
    let programs = programs();
    assert!(programs.len() >= 120, "{}", programs.len());
    for (path, source) in &programs {
        let promise = promise(source).unwrap_or_else(|| panic!("{path}: no promise"));
        let row = format!("| [`{path}`]({path}) | {promise} |");
        assert!(readme.contains(&row), "programs/README.md lacks\n{row}");
    }
    let listed = readme.matches("| [`").count();
    assert_eq!(
        listed,
        programs.len(),
        "programs are listed that are not there"
    );
}

#[test]
fn enough_programs_are_comparable_with_futhark_test() {
    let comparable = |source: &str| {
        let blocks = TestBlocks::parse(source).expect("test blocks can be read");
        let left_out = blocks.set_aside().is_some() || blocks.tags.iter().any(|tag| tag == "kills");
        !left_out && (!blocks.cases.is_empty() || blocks.compile_error.is_some())
    };
    let count = programs()
        .iter()
        .filter(|(_, source)| comparable(source))
        .count();
    assert!(count > 100, "{count}");
    let workloads = programs()
        .iter()
        .filter(|(path, _)| path.starts_with("workloads/"))
        .count();
    assert!(workloads >= 10, "{workloads}");
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
            assert!(programs.contains(program), "{program} is not there");
            named += 1;
        }
        for check in quoted(of_checks) {
            assert!(
                ALL.iter().any(|known| known.name == check),
                "{check} is no check"
            );
        }
    }
    assert!(named > 100, "{named}");
}

#[test]
fn coverage_lacks_no_section_and_no_mistake() {
    let coverage = read("programs/coverage.md");
    let (sections, mistakes) = coverage.split_once("## Mistakes").expect("two tables");
    let sections: BTreeSet<&str> = rows(sections).map(|row| row[0]).collect();
    for section in SECTIONS {
        assert!(sections.contains(section), "{section} is missing");
    }
    let numbers = |row: &Vec<&'_ str>| -> Vec<String> {
        let before_colon = row[0].split(':').next().unwrap_or_default();
        before_colon.split(", ").map(str::to_owned).collect()
    };
    let covered: BTreeSet<String> = rows(mistakes).flat_map(|row| numbers(&row)).collect();
    let listed = read("futhark-safe/docs/misuse.md");
    for row in rows(&listed) {
        let number = row[0];
        if number.parse::<u32>().is_ok() {
            assert!(
                covered.contains(number),
                "mistake {number} is missing: {row:?}"
            );
        }
    }
}
