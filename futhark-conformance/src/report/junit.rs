//! The report for continuous integration: JUnit XML.
//!
//! A suite per program, backend, device and compiler, with a test case per case of a check. A wrong
//! answer or a leak is a failure; a crash, a timeout or an unexpected error is an error. Expected
//! failures and skips are skipped, with the reason.

use super::{shown, shown_lines};
use crate::record::{Cause, Outcome, Place, Record};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

/// The records of a run, grouped by place.
#[derive(Debug, Default)]
pub struct Junit {
    suites: Vec<(Place, Vec<Record>)>,
    index: HashMap<Place, usize>,
}

impl Junit {
    /// Adds a record to its suite. Suites are in the order of their first records.
    pub fn add(&mut self, record: &Record) {
        let index = *self.index.entry(record.place.clone()).or_insert_with(|| {
            self.suites.push((record.place.clone(), Vec::new()));
            self.suites.len() - 1
        });
        self.suites[index].1.push(record.clone());
    }

    /// Writes the document; `repeat` gives the command that repeats a finding.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write(&self, out: &mut dyn Write, repeat: &dyn Fn(&Record) -> String) -> io::Result<()> {
        let mut report = Report::new("futhark-conformance");
        report.set_time(time(self.suites.iter().flat_map(|(_, records)| records)));
        for (place, records) in &self.suites {
            let name = suite_name(place);
            let mut suite = TestSuite::new(name.as_str());
            suite.set_time(time(records));
            suite.add_test_cases(records.iter().map(|record| case(record, &name, repeat)));
            report.add_test_suite(suite);
        }
        report.serialize(out).map_err(io::Error::other)
    }
}

fn suite_name(place: &Place) -> String {
    let Place {
        program,
        backend,
        device,
        compiler,
    } = place;
    shown(&format!("{program} [{backend}, {device}, {compiler}]")).into_owned()
}

fn time<'a>(records: impl IntoIterator<Item = &'a Record>) -> Duration {
    let seconds = records.into_iter().map(|record| record.finding.seconds);
    duration(seconds.sum())
}

/// A report that was read from a file may contain any number.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn case(record: &Record, suite: &str, repeat: &dyn Fn(&Record) -> String) -> TestCase {
    let finding = &record.finding;
    let name = match finding.case.as_str() {
        "" => finding.check.clone(),
        case => format!("{}: {case}", finding.check),
    };
    let name = shown(&name).into_owned();
    // XML cannot contain control characters, and its readers show the others.
    let first = shown(finding.message.lines().next().unwrap_or_default()).into_owned();
    let mut status = match finding.outcome {
        Outcome::Pass => TestCaseStatus::success(),
        Outcome::Skip | Outcome::ExpectedFail => TestCaseStatus::skipped(),
        Outcome::Fail => TestCaseStatus::non_success(failure_kind(finding.cause)),
    };
    match finding.outcome {
        Outcome::Pass => {}
        Outcome::Skip => {
            status.set_message(first);
        }
        Outcome::ExpectedFail => {
            status.set_message(format!("failed as expected: {first}"));
        }
        Outcome::Fail => {
            status.set_message(first);
            status.set_type(
                finding
                    .cause
                    .map(|cause| cause.to_string())
                    .unwrap_or_default(),
            );
            let message = shown_lines(&finding.message, "");
            let text = format!("{message}\nrepeat: {}", repeat(record));
            status.set_description(text);
        }
    }
    let mut case = TestCase::new(name, status);
    case.set_classname(suite);
    case.set_time(duration(finding.seconds));
    case
}

/// An error prevented the check from completing; a failure is the result of a completed check.
fn failure_kind(cause: Option<Cause>) -> NonSuccessKind {
    match cause {
        Some(Cause::Crash | Cause::Timeout | Cause::Error) => NonSuccessKind::Error,
        _ => NonSuccessKind::Failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::record;

    fn written(records: &[Record]) -> String {
        let mut junit = Junit::default();
        records.iter().for_each(|record| junit.add(record));
        let mut out = Vec::new();
        junit.write(&mut out, &|_| "again <now>".into()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn suites_count_their_cases() {
        let text = written(&[
            record("a.fut", "c", Outcome::Pass),
            record("a.fut", "opencl", Outcome::ExpectedFail),
            record("a.fut", "c", Outcome::Fail),
        ]);
        let heads: Vec<_> = text
            .lines()
            .filter(|line| line.trim_start().starts_with("<testsuite"))
            .collect();
        assert!(
            heads[0].contains(r#"tests="3" skipped="1" failures="1" errors="0""#),
            "{text}"
        );
        assert!(
            heads[1].contains(
                r#"name="a.fut [c, cpu, 1]" tests="2" skipped="0" errors="0" failures="1""#
            ),
            "{text}"
        );
        assert!(
            heads[2].contains(r#"tests="1" skipped="1" errors="0" failures="0""#),
            "{text}"
        );
        assert!(text.contains("failed as expected: first line"), "{text}");
    }

    #[test]
    fn failures_have_a_repeat_command_and_crashes_are_errors() {
        let mut died = record("a.fut", "c", Outcome::Fail);
        died.finding.cause = Some(Cause::Crash);
        died.finding.message = "killed by <signal> \"11\"\x1b[0m".into();
        let text = written(&[died]);
        assert!(text.contains(r#"errors="1""#), "{text}");
        let message = r"killed by &lt;signal&gt; &quot;11&quot;\x1b[0m";
        assert!(
            text.contains(&format!(
                "<error message=\"{message}\" type=\"crash\">{message}\nrepeat: again &lt;now&gt;</error>"
            )),
            "{text}"
        );
    }
}
