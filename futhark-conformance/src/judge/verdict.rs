//! Compares the verdicts of both judges, case by case.

use super::copy::Copied;
use super::second::Said;
use crate::blocks::{Case, TestBlocks};
use crate::record::{Finding, Outcome};
use std::fmt;

/// Counts of equal verdicts.
#[derive(Debug, Default)]
pub struct Tally {
    programs: usize,
    passed: usize,
    failed: usize,
    open: usize,
    differences: Vec<String>,
}

impl Tally {
    /// Counts a program by its test cases, or as a whole if it has none or one judge has no
    /// verdicts on them.
    pub fn add(&mut self, copied: &Copied, theirs: &Said, ours: &[Finding]) {
        self.programs += 1;
        let has_cases = |blocks: &&TestBlocks| !blocks.cases.is_empty();
        let refused = theirs.refused() || ours.iter().any(is_refusal);
        match copied.blocks.as_ref().filter(has_cases) {
            Some(blocks) if !refused => {
                for case in &blocks.cases {
                    self.case(copied, case, theirs, ours);
                }
            }
            _ => self.count(&Both {
                what: copied.name.clone(),
                theirs: theirs.passed,
                ours: !ours.iter().any(has_failed),
                they_say: &theirs.text,
                we_say: ours.iter().collect(),
            }),
        }
    }

    fn case(&mut self, copied: &Copied, case: &Case, theirs: &Said, ours: &[Finding]) {
        let title = case.title();
        let what = format!("{}: {title}", copied.name);
        let of_case = |finding: &&Finding| finding.check == "blocks" && finding.case == title;
        let Some(finding) = ours.iter().find(of_case) else {
            self.differences.push(format!("{what}: was not run"));
            return;
        };
        let key = (case.entry.to_string(), case.data_name());
        if finding.outcome == Outcome::Skip || theirs.not_run.contains(&key) {
            self.open += 1;
            return;
        }
        self.count(&Both {
            what,
            theirs: !theirs.failed.contains(&key) && !theirs.unknown.contains(&key.0),
            ours: !has_failed(finding),
            they_say: &theirs.text,
            we_say: vec![finding],
        });
    }

    fn count(&mut self, both: &Both<'_>) {
        match (both.theirs, both.ours) {
            (true, true) => self.passed += 1,
            (false, false) => self.failed += 1,
            _ => self.differences.push(both.to_string()),
        }
    }

    /// The cases with different verdicts, with the details.
    pub fn differences(&self) -> &[String] {
        &self.differences
    }
}

fn has_failed(finding: &Finding) -> bool {
    finding.outcome == Outcome::Fail
}

/// A failure of the program, not of a test case.
fn is_refusal(finding: &Finding) -> bool {
    has_failed(finding) && finding.check != "blocks"
}

/// The verdicts of both on one case; true is "passed".
struct Both<'a> {
    what: String,
    theirs: bool,
    ours: bool,
    they_say: &'a str,
    we_say: Vec<&'a Finding>,
}

impl fmt::Display for Both<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = |passed| if passed { "passed" } else { "failed" };
        writeln!(
            f,
            "{}: futhark test: {}; futhark-conformance: {}:",
            self.what,
            verdict(self.theirs),
            verdict(self.ours)
        )?;
        if self.ours {
            return f.write_str(self.they_say);
        }
        for finding in self.we_say.iter().filter(|finding| has_failed(finding)) {
            writeln!(f, "{} {}: {}", finding.check, finding.case, finding.message)?;
        }
        Ok(())
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}: both passed {}, both failed {}, they differ on {}; {} without a verdict of both",
            crate::report::counted(self.programs, "program"),
            crate::report::counted(
                self.passed + self.failed + self.differences.len(),
                "verdict"
            ),
            self.passed,
            self.failed,
            self.differences.len(),
            crate::report::counted(self.open, "test case"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn finding(check: &str, case: &str, outcome: Outcome) -> Finding {
        Finding {
            check: check.to_owned(),
            case: case.to_owned(),
            outcome,
            cause: None,
            message: String::new(),
            seconds: 0.0,
        }
    }

    fn copied() -> Copied {
        let source =
            "-- ==\n-- entry: f\n-- \"a\" input {}\n-- \"b\" input {}\n-- \"c\" input {}\n";
        Copied {
            name: "p.fut".to_owned(),
            path: "p.fut".into(),
            blocks: TestBlocks::parse(source).ok(),
        }
    }

    #[test]
    fn verdicts_are_compared_case_by_case() {
        let theirs = Said {
            failed: HashSet::from([("f".to_owned(), "b".to_owned())]),
            ..Said::default()
        };
        let ours = [
            finding("blocks", "f a", Outcome::Pass),
            finding("blocks", "f b", Outcome::Pass),
            finding("blocks", "f c", Outcome::Skip),
        ];
        let mut tally = Tally::default();
        tally.add(&copied(), &theirs, &ours);
        assert_eq!((tally.passed, tally.failed, tally.open), (1, 0, 1));
        assert!(tally.differences()[0].starts_with("p.fut: f b: futhark test: failed;"));
        tally.add(&copied(), &theirs, &ours[..2]);
        assert!(tally.differences()[2].ends_with("f c: was not run"));
    }

    #[test]
    fn a_program_that_fails_as_a_whole_has_one_verdict() {
        let ours = [finding("compile", "", Outcome::Fail)];
        let mut tally = Tally::default();
        tally.add(&copied(), &Said::default(), &ours);
        assert_eq!((tally.failed, tally.differences().len()), (1, 0));
        let passed = Said {
            passed: true,
            ..Said::default()
        };
        tally.add(&copied(), &passed, &ours);
        assert_eq!(tally.differences().len(), 1);
    }
}
