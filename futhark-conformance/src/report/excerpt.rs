//! The lines of a program that a failure is about.

use super::groups::first_line;
use crate::corpus::name;
use crate::record::Record;
use futhark_safe::compile::lexer::{self, Kind};
use std::fs;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 4 << 20;
/// The number of lines of an excerpt.
const LINES: usize = 14;

/// Some lines of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The number of the line that the failure is about.
    pub line: usize,
    /// The number of the first line in `lines`.
    pub first: usize,
    /// The lines.
    pub lines: Vec<String>,
}

/// The lines around the position in the message, or else the entry point of the case, or else none.
/// A program that cannot be read, for example in the report of another machine, has no excerpt.
#[must_use]
pub fn excerpt(record: &Record) -> Option<Excerpt> {
    let path = name::path(&record.place.program);
    let path = path.as_path();
    let data = fs::metadata(path).ok()?;
    if !data.is_file() || data.len() > LARGEST {
        return None;
    }
    let source = fs::read_to_string(path).ok()?;
    let lines: Vec<&str> = source.lines().collect();
    let file = path.file_name()?.to_str()?;
    let finding = &record.finding;
    let at = position(&finding.message, file)
        .or_else(|| entry(&source, &finding.case))
        .filter(|line| (1..=lines.len()).contains(line))?;
    // A comment and the test block of an entry point are above it.
    let first = at.saturating_sub(4).max(1);
    let lines = lines.iter().skip(first - 1).take(LINES);
    Some(Excerpt {
        line: at,
        first,
        lines: lines.map(|line| line.chars().take(200).collect()).collect(),
    })
}

/// The line in the first `NAME:LINE` of a message.
fn position(message: &str, name: &str) -> Option<usize> {
    let mut found = message.match_indices(name);
    found.find_map(|(at, _)| {
        let after = message[at + name.len()..].strip_prefix(':')?;
        let end = after.find(|c: char| !c.is_ascii_digit());
        after[..end.unwrap_or(after.len())].parse().ok()
    })
}

/// The line that declares the entry point in a case's name, which begins with it.
fn entry(source: &str, case: &str) -> Option<usize> {
    let mut names = lexer::code(first_line(case)).filter(|token| token.kind == Kind::Name);
    names.find_map(|name| {
        let [keyword, _] = lexer::pairs(source).find(|[keyword, declared]| {
            matches!(keyword.text, "entry" | "def" | "let" | "type") && declared.text == name.text
        })?;
        Some(source[..keyword.at].matches('\n').count() + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::report::tests::record;

    fn found(source: &str, case: &str, message: &str) -> Option<(usize, usize)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.fut");
        fs::write(&path, source).unwrap();
        let mut record = record(path.to_str().unwrap(), "c", Outcome::Fail);
        record.finding.case = case.into();
        record.finding.message = message.into();
        excerpt(&record).map(|excerpt| (excerpt.line, excerpt.first))
    }

    #[test]
    fn the_excerpt_shows_what_the_failure_is_about() {
        let source = "-- entry: f'\n\n\n\n\ndef help = 1\nentry f' (x: i32) = x\n";
        assert_eq!(found(source, "f' #0", "wrong"), Some((7, 3)));
        assert_eq!(found(source, "help", ""), Some((6, 2)));
        assert_eq!(
            found(source, "f' #0", "Error at x/a.fut:2:3-4"),
            Some((2, 1))
        );
        assert_eq!(found(source, "g", "Error at a.fut:99:1"), None);
        let source = "def s = \"entry f\"\ndef a = 1 #[inline] entry -- g\nf = 1\n";
        assert_eq!(found(source, "f", ""), Some((2, 1)));
    }

    #[test]
    fn a_program_that_cannot_be_read_has_no_excerpt() {
        let record = record("nowhere/a.fut", "c", Outcome::Fail);
        assert_eq!(excerpt(&record), None);
    }
}
