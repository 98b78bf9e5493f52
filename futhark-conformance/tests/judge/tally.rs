//! Compares the verdicts of both judges, case by case.

use super::Copied;
use super::futhark_test::Said;
use futhark_conformance::blocks::{Case, TestBlocks};
use std::fmt;

/// A result of this program.
pub struct Finding {
    pub check: String,
    pub case: String,
    pub outcome: String,
    pub message: String,
}

/// Counts of equal verdicts.
#[derive(Debug, Default)]
pub struct Tally {
    pub programs: usize,
    pub passed: usize,
    pub failed: usize,
    /// The cases without a verdict of both.
    pub open: usize,
    /// The cases with different verdicts, with the details.
    pub differences: Vec<String>,
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
                what: copied.path.clone(),
                theirs: theirs.passed,
                ours: !ours.iter().any(has_failed),
                they_say: &theirs.text,
                we_say: ours.iter().collect(),
            }),
        }
    }

    fn case(&mut self, copied: &Copied, case: &Case, theirs: &Said, ours: &[Finding]) {
        let title = case.title();
        let what = format!("{}: {title}", copied.path);
        let of_case = |finding: &&Finding| finding.check == "blocks" && finding.case == title;
        let Some(finding) = ours.iter().find(of_case) else {
            self.differences.push(format!("{what}: was not run"));
            return;
        };
        let key = (case.entry.to_string(), case.data_name());
        if finding.outcome == "skip" || theirs.not_run.contains(&key) {
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
}

fn has_failed(finding: &Finding) -> bool {
    finding.outcome == "fail"
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
        let Tally {
            programs,
            passed,
            failed,
            open,
            differences,
        } = self;
        write!(
            f,
            "{programs} programs: both passed {passed}, both failed {failed}, they differ on {}; {open} test cases without a verdict of both",
            differences.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn finding(check: &str, case: &str, outcome: &str) -> Finding {
        Finding {
            check: check.to_owned(),
            case: case.to_owned(),
            outcome: outcome.to_owned(),
            message: String::new(),
        }
    }

    fn copied() -> Copied {
        let source =
            "-- ==\n-- entry: f\n-- \"a\" input {}\n-- \"b\" input {}\n-- \"c\" input {}\n";
        Copied {
            path: "p.fut".to_owned(),
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
            finding("blocks", "f a", "pass"),
            finding("blocks", "f b", "pass"),
            finding("blocks", "f c", "skip"),
        ];
        let mut tally = Tally::default();
        tally.add(&copied(), &theirs, &ours);
        assert_eq!((tally.passed, tally.failed, tally.open), (1, 0, 1));
        assert!(tally.differences[0].starts_with("p.fut: f b: futhark test: failed;"));
        tally.add(&copied(), &theirs, &ours[..2]);
        assert!(tally.differences[2].ends_with("f c: was not run"));
    }

    #[test]
    fn a_program_that_fails_as_a_whole_has_one_verdict() {
        let ours = [finding("compile", "", "fail")];
        let mut tally = Tally::default();
        tally.add(&copied(), &Said::default(), &ours);
        assert_eq!((tally.failed, tally.differences.len()), (1, 0));
        let passed = Said {
            passed: true,
            ..Said::default()
        };
        tally.add(&copied(), &passed, &ours);
        assert_eq!(tally.differences.len(), 1);
    }
}
