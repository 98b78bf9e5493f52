//! Expected failures, as data. The head of `programs/expectations.toml` describes the keys. Of the patterns, only
//! `program` is required; a missing one matches everything. With `check = "CHECK:CASE"` every case that matches must
//! fail; with `CHECK` at least one case of each check that matches must fail.
//!
//! A failure that matches becomes an expected failure. If a case or check that must fail passes in a job, that is a
//! failure, so that entries do not outlive their reasons. Only what an entry with `sometimes = true`
//! matches may pass: for failures that depend on uninitialised memory or on generated inputs. What an entry with
//! `hangs = true` matches may not end, so its time limit is [`HANG`] instead of that of the run.

use crate::files::key;
use crate::pattern::{CheckPattern, Pattern, Versions};
use crate::record::{CaseResult, Cause, JobId, Outcome};
use anyhow::anyhow;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time limit of a case that is expected to hang.
const HANG: Duration = Duration::from_secs(5);

/// The name of the file, looked up in the folders of the programs and above.
const FILE_NAME: &str = "expectations.toml";

/// An expected failure, as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    program: Patterns<Pattern>,
    #[serde(default)]
    check: Patterns<CheckPattern>,
    #[serde(default)]
    backend: Patterns<Pattern>,
    #[serde(default)]
    compiler: Patterns<Versions>,
    #[serde(default)]
    device: Patterns<Pattern>,
    reason: String,
    /// Whether it may also pass.
    #[serde(default)]
    sometimes: bool,
    /// Whether it may not end.
    #[serde(default)]
    hangs: bool,
    /// The folder of the file; the program pattern may be relative to it.
    #[serde(skip)]
    folder: PathBuf,
}

impl Expectation {
    fn is_about(&self, job: &JobId) -> bool {
        let program = &job.program;
        let relative = Path::new(program).strip_prefix(&self.folder).ok();
        let relative = relative.map(|path| path.to_string_lossy());
        let is_program = |pattern: &Pattern| {
            pattern.matches(program) || relative.as_ref().is_some_and(|path| pattern.matches(path))
        };
        self.program.any(is_program)
            && self.backend.any(|backend| backend.matches(&job.backend))
            && self.compiler.any(|range| range.contain(&job.compiler))
            && self.device.any(|device| device.matches(&job.device))
    }

    fn unexpected(&self, check: &str, case: &str) -> CaseResult {
        CaseResult {
            check: check.to_owned(),
            case: case.to_owned(),
            outcome: Outcome::Fail,
            cause: Some(Cause::UnexpectedPass),
            message: format!("passed, but was expected to fail: {}", self.reason),
            seconds: 0.0,
        }
    }
}

/// A pattern or a list of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "OneOrSeveral<P>")]
struct Patterns<P>(Vec<P>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a pattern or a list of patterns")]
enum OneOrSeveral<P> {
    One(P),
    Several(Vec<P>),
}

impl<P> Patterns<P> {
    fn any(&self, matches: impl FnMut(&P) -> bool) -> bool {
        self.0.iter().any(matches)
    }
}

impl<P> TryFrom<OneOrSeveral<P>> for Patterns<P> {
    type Error = &'static str;

    fn try_from(patterns: OneOrSeveral<P>) -> Result<Patterns<P>, &'static str> {
        match patterns {
            OneOrSeveral::One(pattern) => Ok(Patterns(vec![pattern])),
            OneOrSeveral::Several(patterns) if patterns.is_empty() => {
                Err("an expectation with an empty list expects nothing")
            }
            OneOrSeveral::Several(patterns) => Ok(Patterns(patterns)),
        }
    }
}

impl<P: Default> Default for Patterns<P> {
    fn default() -> Patterns<P> {
        Patterns(vec![P::default()])
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    expect: Vec<Expectation>,
}

/// All expected failures of a run.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    list: Vec<Expectation>,
    texts: Vec<String>,
}

impl Expectations {
    /// Adds the entries of a file.
    pub fn add(&mut self, path: &Path) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        let folder = path.parent().unwrap_or(Path::new(""));
        let added = text.and_then(|text| Expectations::parse(&text, folder));
        let added = added.map_err(|why| {
            anyhow!(
                "failed to read the expectations in {}: {why}",
                path.display()
            )
        })?;
        self.list.extend(added.list);
        self.texts.extend(added.texts);
        Ok(())
    }

    pub(crate) fn parse(text: &str, folder: &Path) -> Result<Expectations, String> {
        let mut file: File = toml::from_str(text).map_err(|error| {
            // Not with the line itself: the file may be a link to another one.
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.unwrap_or_default().matches('\n').count() + 1;
            let message: String = error.message().chars().take(200).collect();
            format!("line {line}: {message}")
        })?;
        for entry in &mut file.expect {
            if entry.reason.trim().is_empty() {
                let program = &entry.program.0[0];
                return Err(format!("an expectation needs a reason: {program}"));
            }
            entry.folder = folder.to_owned();
        }
        Ok(Expectations {
            list: file.expect,
            texts: vec![text.to_owned()],
        })
    }

    /// Finds the list of a program or a folder: the nearest `expectations.toml` in it or above it.
    #[must_use]
    pub fn find(path: &Path) -> Option<PathBuf> {
        path.ancestors()
            .map(|folder| folder.join(FILE_NAME))
            .find(|file| file.is_file())
    }

    /// A hash of the files; empty without any.
    #[must_use]
    pub fn hash(&self) -> String {
        let texts: Vec<&[u8]> = self.texts.iter().map(String::as_bytes).collect();
        match texts.as_slice() {
            [] => String::new(),
            texts => key(texts),
        }
    }

    /// The first entry that matches the case: its index, and its pattern that matches the check.
    fn first_match(&self, job: &JobId, check: &str, case: &str) -> Option<(usize, &CheckPattern)> {
        let mut entries = self.list.iter().enumerate();
        entries.find_map(|(index, entry)| {
            let mut checks = entry.check.0.iter();
            let pattern = checks.find(|pattern| pattern.matches(check, case))?;
            entry.is_about(job).then_some((index, pattern))
        })
    }

    /// The time limit of the case, if it is expected to hang.
    #[must_use]
    pub fn time_limit(&self, job: &JobId, check: &str, case: &str) -> Option<Duration> {
        let (index, _) = self.first_match(job, check, case)?;
        self.list[index].hangs.then_some(HANG)
    }

    /// Turns a matching failure into an expected one, and a pass of a case that must fail into a
    /// failure.
    pub fn judge(&self, job: &JobId, result: &mut CaseResult) {
        let Some((index, pattern)) = self.first_match(job, &result.check, &result.case) else {
            return;
        };
        let entry = &self.list[index];
        match result.outcome {
            Outcome::Fail => {
                result.outcome = Outcome::ExpectedFail;
                result.message = format!("{}\n{}", entry.reason, result.message);
            }
            Outcome::Pass if !entry.sometimes && !pattern.is_whole() => {
                *result = CaseResult {
                    seconds: result.seconds,
                    ..entry.unexpected(&result.check, &result.case)
                };
            }
            // Whole checks are judged at the end, by `passed_checks`.
            Outcome::Pass | Outcome::Skip | Outcome::ExpectedFail => {}
        }
    }

    /// A failure for each check that must fail in this job, but of which no case failed. `judged` are all results of
    /// the job, after [`judge`](Expectations::judge).
    #[must_use]
    pub fn passed_checks(&self, job: &JobId, judged: &[CaseResult]) -> Vec<CaseResult> {
        let mut has_failed: BTreeMap<(usize, &str), bool> = BTreeMap::new();
        for result in judged {
            let Some((index, pattern)) = self.first_match(job, &result.check, &result.case) else {
                continue;
            };
            let check = (index, result.check.as_str());
            match result.outcome {
                _ if self.list[index].sometimes || !pattern.is_whole() => {}
                Outcome::ExpectedFail => drop(has_failed.insert(check, true)),
                Outcome::Pass => drop(has_failed.entry(check).or_insert(false)),
                Outcome::Fail | Outcome::Skip => {}
            }
        }
        let passed = has_failed.iter().filter(|(_, has_failed)| !**has_failed);
        let unexpected = passed.map(|((index, check), _)| self.list[*index].unexpected(check, ""));
        unexpected.collect()
    }

    /// The patterns of checks that, as a whole, are expected to fail in the job.
    pub fn failing_checks(&self, job: &JobId) -> impl Iterator<Item = &CheckPattern> {
        let about = self.list.iter().filter(|entry| entry.is_about(job));
        let patterns = about.flat_map(|entry| &entry.check.0);
        patterns.filter(|pattern| pattern.is_whole())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use std::sync::Arc;

    impl Expectations {
        fn judge_record(&self, record: &mut Record) {
            self.judge(&record.job, &mut record.result);
        }
    }

    fn list(text: &str) -> Expectations {
        Expectations::parse(text, Path::new("programs")).unwrap_or_else(|error| panic!("{error}"))
    }

    fn record(program: &str, check: &str, case: &str, outcome: Outcome) -> Record {
        let mut record = crate::report::tests::record(program, "multicore", outcome);
        record.result.check = check.into();
        record.result.case = case.into();
        record
    }

    const F16: &str = "[[expect]]\nprogram = \"numbers/f16.fut\"\ncheck = \"blocks:sum *\"\nbackend = \"multicore\"\nreason = \"known\"\n";

    #[test]
    fn only_an_entry_for_a_whole_check_expects_the_check_to_fail() {
        let whole = F16.replace("blocks:sum *", "blocks");
        let job = record("programs/numbers/f16.fut", "", "", Outcome::Pass).job;
        let expects = |text: &str, check: &str| {
            let list = list(text);
            list.failing_checks(&job)
                .any(|pattern| pattern.may_match(check))
        };
        assert!(expects(&whole, "blocks"));
        assert!(!expects(&whole, "arrays"));
        assert!(!expects(F16, "blocks"));
    }

    #[test]
    fn an_entry_can_be_about_a_range_of_versions() {
        let is_about = |pattern: &str| {
            let list = list(&format!("{F16}compiler = \"{pattern}\"\n"));
            let mut job = record("numbers/f16.fut", "", "", Outcome::Pass).job;
            Arc::make_mut(&mut job).compiler = "0.25.32".to_owned();
            list.list[0].is_about(&job)
        };
        for pattern in ["0.25.32", "0.25.*", "<0.26", "=0.25.32"] {
            assert!(is_about(pattern), "{pattern}");
        }
        assert!(!is_about("0.25.3") && !is_about(">0.25.32"));
    }

    #[test]
    fn an_entry_for_a_check_needs_one_failure() {
        let text = "[[expect]]\nprogram = \"a.fut\"\ncheck = \"blocks\"\nreason = \"known\"\n";
        let judged = |outcomes: &[Outcome]| {
            let expectations = list(text);
            let mut records: Vec<_> = outcomes
                .iter()
                .map(|outcome| record("a.fut", "blocks", "f #0", *outcome))
                .collect();
            records
                .iter_mut()
                .for_each(|record| expectations.judge_record(record));
            let after: Vec<Outcome> = records.iter().map(|record| record.result.outcome).collect();
            let job = record("a.fut", "", "", Pass).job;
            let judged: Vec<CaseResult> = records.into_iter().map(|one| one.result).collect();
            (after, expectations.passed_checks(&job, &judged).len())
        };
        use Outcome::{ExpectedFail, Fail, Pass, Skip};
        assert_eq!(judged(&[Pass, Fail]), (vec![Pass, ExpectedFail], 0));
        assert_eq!(judged(&[Pass, Pass]), (vec![Pass, Pass], 1));
        assert_eq!(judged(&[Skip]), (vec![Skip], 0));
        assert_eq!(judged(&[]), (vec![], 0));
    }

    #[test]
    fn an_entry_with_sometimes_may_pass() {
        let expectations = list(&format!("{F16}sometimes = true\n"));
        for (outcome, expected) in [
            (Outcome::Pass, Outcome::Pass),
            (Outcome::Fail, Outcome::ExpectedFail),
        ] {
            let mut found = record("numbers/f16.fut", "blocks", "sum #0", outcome);
            expectations.judge_record(&mut found);
            assert_eq!(found.result.outcome, expected);
            let closed = expectations.passed_checks(&found.job, &[found.result]);
            assert!(closed.is_empty());
        }
    }

    #[test]
    fn only_a_case_that_is_expected_to_hang_has_a_time_limit() {
        let job = record("programs/numbers/f16.fut", "", "", Outcome::Pass).job;
        let limit = |text: &str, case| list(text).time_limit(&job, "blocks", case);
        let hangs = format!("{F16}hangs = true\n");
        assert_eq!(limit(&hangs, "sum #0"), Some(HANG));
        assert_eq!(limit(&hangs, "product #0"), None);
        assert_eq!(limit(F16, "sum #0"), None);
    }

    #[test]
    fn results_without_an_entry_are_not_changed() {
        let expectations = list(F16);
        use Outcome::{Fail, Skip};
        for (program, check, case, outcome) in [
            ("f32.fut", "blocks", "sum #0", Fail),
            ("f16.fut", "arrays", "[]f16", Fail),
            ("f16.fut", "blocks", "product #0", Fail),
            ("f16.fut", "blocks", "sum #0", Skip),
        ] {
            let mut other = record(&format!("programs/numbers/{program}"), check, case, outcome);
            let before = other.clone();
            expectations.judge_record(&mut other);
            assert_eq!(other, before);
        }
    }

    #[test]
    fn one_pattern_of_a_list_must_match() {
        let text = "[[expect]]\nprogram = [\"a.fut\", \"b.fut\"]\ncheck = [\"blocks\", \"arrays\"]\nreason = \"known\"\n";
        let expectations = list(text);
        let mut failures = [("a.fut", "blocks"), ("b.fut", "arrays")]
            .map(|(program, check)| record(program, check, "f", Outcome::Fail));
        for failure in &mut failures {
            expectations.judge_record(failure);
            assert_eq!(failure.result.outcome, Outcome::ExpectedFail);
        }
    }

    #[test]
    fn invalid_entries_are_errors() {
        for (entry, expected) in [
            (
                "program = []\nreason = 'x'",
                "line 2: an expectation with an empty list",
            ),
            (
                "program = 1\nreason = 'x'",
                "expected a pattern or a list of patterns",
            ),
            ("reason = 'x'", "program"),
            ("program = 'a'\nreason = ' '", "needs a reason"),
            ("program = 'a'\nbackand = 'c'\nreason = 'x'", "backand"),
        ] {
            let text = format!("[[expect]]\n{entry}\n");
            let error = Expectations::parse(&text, Path::new("")).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert!(Expectations::parse("expect = 1\n", Path::new("")).is_err());
        assert!(Expectations::parse("", Path::new("")).is_ok());
    }

    #[test]
    fn an_error_repeats_only_the_beginning_of_a_line() {
        let secret = "x".repeat(1000);
        let error = Expectations::parse(&format!("a = {secret}"), Path::new("")).unwrap_err();
        assert!(
            error.contains("line 1") && !error.contains(&secret[..61]),
            "{error}"
        );
    }
}
