//! What came out: one stream of records, for everyone who wants to know.

pub mod json;
pub mod matrix;
pub mod progress;

use crate::record::{Outcome, Record};

/// How many records ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Promises that held.
    pub passed: usize,
    /// Promises that did not.
    pub failed: usize,
    /// Failures that were expected.
    pub expected: usize,
    /// Questions that could not be asked.
    pub skipped: usize,
}

impl Counts {
    /// Counts one more.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Pass => self.passed += 1,
            Outcome::Fail => self.failed += 1,
            Outcome::ExpectedFail => self.expected += 1,
            Outcome::Skip => self.skipped += 1,
        }
    }

    /// The sum.
    #[must_use]
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.expected + self.skipped
    }
}

/// The command that repeats a finding and nothing else.
#[must_use]
pub fn repeat(record: &Record, compiler: &str, seed: u64) -> String {
    let place = &record.place;
    let finding = &record.finding;
    let check = if finding.case.is_empty() {
        finding.check.clone()
    } else {
        format!("{}:{}", finding.check, finding.case)
    };
    let words = [
        "futhark-conformance",
        "run",
        &place.program,
        "--backend",
        &place.backend,
        "--futhark",
        compiler,
        "--check",
        &check,
    ];
    let mut command = words.map(quoted).join(" ");
    if seed != 1 {
        command.push_str(&format!(" --seed {seed}"));
    }
    command
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Finding, Place};

    #[test]
    fn the_command_repeats_exactly_one_case() {
        let place = Place {
            program: "programs/a b.fut".into(),
            backend: "c".into(),
            device: "cpu".into(),
            compiler: "0.25.32".into(),
        };
        let finding = Finding {
            check: "blocks".into(),
            case: "f' #0".into(),
            outcome: Outcome::Fail,
            cause: None,
            message: String::new(),
            seconds: 0.0,
        };
        let record = Record { place, finding };
        assert_eq!(
            repeat(&record, "/x/futhark", 1),
            r"futhark-conformance run 'programs/a b.fut' --backend c --futhark /x/futhark --check 'blocks:f'\'' #0'"
        );
        assert!(repeat(&record, "futhark", 7).ends_with(" --seed 7"));
    }
}
