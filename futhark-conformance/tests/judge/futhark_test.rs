//! Runs `futhark test`, and parses its output.

use super::Copied;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::Command;

/// The verdict of `futhark test` on a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Everything passed.
    pub passed: bool,
    /// The failed cases: entry point and name.
    pub failed: HashSet<(String, String)>,
    /// The cases that it could not run because an earlier case failed.
    pub not_run: HashSet<(String, String)>,
    /// The entry points that it did not find.
    pub unknown: HashSet<String>,
    /// The output.
    pub text: String,
}

impl Said {
    /// Whether the program as a whole failed.
    pub fn refused(&self) -> bool {
        !self.passed && self.failed.is_empty() && self.not_run.is_empty() && self.unknown.is_empty()
    }
}

/// The verdict on each copy in the folder.
pub fn verdicts(folder: &Path, copies: &[Copied], futhark: &Path) -> Vec<Said> {
    // It stops at a program with invalid blocks, so each of those has its own run.
    let readable: Vec<&Copied> = copies.iter().filter(|copy| copy.blocks.is_some()).collect();
    let together = sections(&test(folder, &readable, futhark));
    let of_copy = |copied: &Copied| {
        if copied.blocks.is_none() {
            let text = test(folder, &[copied], futhark);
            return Said {
                passed: text.contains("1/1 passed"),
                text,
                ..Said::default()
            };
        }
        let passed = || Said {
            passed: true,
            ..Said::default()
        };
        together
            .get(&copied.path)
            .map_or_else(passed, |section| read(section))
    };
    copies.iter().map(of_copy).collect()
}

fn test(folder: &Path, copies: &[&Copied], futhark: &Path) -> String {
    let mut command = Command::new(futhark);
    command.args(["test", "--no-terminal", "--backend=c"]);
    let threads = futhark_conformance::parallel::processors();
    command.arg(format!("--concurrency={threads}"));
    command.args(copies.iter().map(|copied| &copied.path));
    // The programs run only briefly, so more optimisation would cost more than it saves.
    command.env("CFLAGS", "-O0").current_dir(folder);
    let output = command.output().expect("the compiler starts");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// The output about each program, under its path and a colon.
fn sections(text: &str) -> HashMap<String, String> {
    let mut sections: HashMap<String, String> = HashMap::new();
    let mut open: Option<String> = None;
    let mut ended = false;
    for line in text.lines() {
        let program = line.strip_suffix(":").filter(|path| path.ends_with(".fut"));
        if let Some(path) = program {
            open = Some(path.to_owned());
        } else if line.ends_with(" passed.") {
            (open, ended) = (None, true);
        } else if line.starts_with('(') && line.ends_with(" to go).") {
            // Progress output.
        } else if let Some(path) = &open {
            let section = sections.entry(path.clone()).or_default();
            section.push_str(line);
            section.push('\n');
        }
    }
    assert!(ended, "`futhark test` did not finish:\n{text}");
    sections
}

fn read(section: &str) -> Said {
    let mut said = Said {
        text: section.to_owned(),
        ..Said::default()
    };
    let mut lines = section.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(case) = case_of(line) {
            // After a case that fails early, its arguments take the names of the next case's.
            let not_run = lines
                .peek()
                .is_some_and(|line| line.starts_with("Variable already exists"));
            if not_run {
                said.not_run.insert(case);
            } else {
                said.failed.insert(case);
            }
        } else if let Some(entry) = line.strip_prefix("Unknown entry point: ") {
            said.unknown.insert(entry.to_owned());
        }
    }
    said
}

/// `Entry point: ENTRY; dataset: NAME:`.
fn case_of(line: &str) -> Option<(String, String)> {
    let line = line.strip_prefix("Entry point: ")?.strip_suffix(':')?;
    let (entry, name) = line.split_once("; dataset: ")?;
    Some((entry.to_owned(), name.to_owned()))
}
