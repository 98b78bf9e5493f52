//! The report for continuous integration: JUnit XML.
//!
//! A suite per column (backend, device and compiler), with a test case per check of a program: a
//! case per case of a check would be more than GitLab and Jenkins can show. A wrong answer or a leak
//! is a failure; a crash, a timeout or an unexpected error is an error. Checks that failed as
//! expected, and checks of which nothing ran, are skipped, with the reason.
//!
//! Jenkins takes the part of a class name before the last dot as a package, so the suite is the
//! package and the program the class, and neither has other dots. GitLab shows only the names of
//! cases, which therefore contain the program. The document is valid by the schema of Jenkins' plugin
//! xUnit, `junit-10.xsd`, which allows no attribute `file`.

use super::escape::visible;
use super::groups::first_line;
use super::summary::{Cell, Column, Summary, reason, seconds, target};
use super::{command_to_repeat, counted, shown};
use crate::record::{Cause, Header, Outcome, Record};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

/// The number of failures of a check that are shown in full.
const FAILURES: usize = 5;

pub(super) fn write(out: &mut dyn Write, summary: &Summary<'_>) -> io::Result<()> {
    let mut report = Report::new("futhark-conformance");
    for (number, column) in summary.columns.iter().enumerate() {
        let target = target(column.backend, column.device);
        let name = shown(&format!("{target}, {}", column.compiler)).into_owned();
        let mut suite = TestSuite::new(name.as_str());
        let cells = summary.programs.values().map(|cells| &cells[number]);
        suite.set_time(time(cells.flat_map(Cell::values).flatten().copied()));
        for (program, cells) in &summary.programs {
            for ((_, check), records) in &cells[number] {
                suite.add_test_case(case(summary.header, &name, program, check, records));
            }
        }
        report.add_test_suite(suite);
    }
    // Failures of files that are not programs.
    let failures = summary.failures.iter().flat_map(|group| &group.members);
    let mut files: BTreeMap<(&str, &str), Vec<&Record>> = BTreeMap::new();
    for record in failures.filter(|record| Column::from_job(&record.job).is_none()) {
        let key = (record.job.program.as_str(), record.result.check.as_str());
        files.entry(key).or_default().push(record);
    }
    if !files.is_empty() {
        let mut suite = TestSuite::new("files");
        for ((program, check), records) in files {
            suite.add_test_case(case(summary.header, "files", program, check, &records));
        }
        report.add_test_suite(suite);
    }
    let text = report.to_string().map_err(io::Error::other)?;
    // The schema does not know this attribute of all suites.
    let (start, rest) = text.split_once(" skipped=\"").unwrap_or_default();
    let (_, rest) = rest.split_once('"').unwrap_or_default();
    write!(out, "{start}{rest}")
}

/// The records of one check of one program.
fn case(header: &Header, suite: &str, program: &str, check: &str, records: &[&Record]) -> TestCase {
    let failures = records.iter().copied();
    let failures = failures.filter(|record| record.result.outcome == Outcome::Fail);
    let failures: Vec<&Record> = failures.collect();
    let has = |outcome| {
        records
            .iter()
            .any(|record| record.result.outcome == outcome)
    };
    let status = if !failures.is_empty() {
        failed(header, &failures)
    } else if has(Outcome::Pass) && !has(Outcome::ExpectedFail) {
        TestCaseStatus::success()
    } else {
        let expected = if has(Outcome::ExpectedFail) {
            "failed as expected: "
        } else {
            ""
        };
        let mut status = TestCaseStatus::skipped();
        status.set_message(shown(&format!("{expected}{}", reason(records))));
        status
    };
    let program = shown(program);
    let mut case = TestCase::new(format!("{program}: {}", shown(check)), status);
    let class = program.strip_suffix(".fut").unwrap_or(&program);
    let package = suite.replace('.', "_");
    case.set_classname(format!("{package}.{}", class.replace('.', "_")));
    case.set_time(time(records.iter().copied()));
    case
}

fn failed(header: &Header, failures: &[&Record]) -> TestCaseStatus {
    // An error prevented the check from completing; a failure is the result of a completed check.
    let is_error = failures.iter().any(|record| {
        let cause = record.result.cause;
        matches!(cause, Some(Cause::Crash | Cause::Timeout | Cause::Error))
    });
    let mut status = TestCaseStatus::non_success(match is_error {
        true => NonSuccessKind::Error,
        false => NonSuccessKind::Failure,
    });
    let first = &failures[0].result;
    let mut message = shown(first_line(&first.message)).into_owned();
    if failures.len() > 1 {
        let more = counted(failures.len() - 1, "more case");
        message += &format!(" (and {more})");
    }
    status.set_message(message);
    let cause = first.cause.map(|cause| cause.to_string());
    status.set_type(cause.unwrap_or_default());
    let texts = failures.iter().take(FAILURES).map(|record| {
        let case = match record.result.case.as_str() {
            "" => String::new(),
            case => format!("{}: ", shown(case)),
        };
        let repeat = command_to_repeat(header, record);
        format!("{case}{}\nrepeat: {repeat}", record.result.message)
    });
    let mut texts: Vec<String> = texts.collect();
    if failures.len() > FAILURES {
        let more = counted(failures.len() - FAILURES, "more case");
        texts.push(format!("and {more}"));
    }
    status.set_description(visible(&texts.join("\n\n"), "\n\t"));
    status
}

/// The time of records. Those that were read from a file may contain any number.
fn time<'r>(records: impl Iterator<Item = &'r Record>) -> Duration {
    Duration::try_from_secs_f64(seconds(records)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{assert_has, record, report};

    fn written(records: &[Record]) -> String {
        let mut out = Vec::new();
        write(&mut out, &Summary::from_report(&report(records))).unwrap();
        let text = String::from_utf8(out).unwrap();
        let parsed = Report::deserialize_from_str(&text).expect("the document is JUnit XML");
        let cases = parsed
            .test_suites
            .iter()
            .map(|suite| suite.test_cases.len());
        assert_eq!(cases.sum::<usize>(), text.matches("<testcase ").count());
        text
    }

    #[test]
    fn suites_are_columns_and_cases_are_checks_of_programs() {
        let mut other = record("b.fut", "c", Outcome::Pass);
        other.result.check = "leaks".into();
        let mut skipped = record("b.fut", "c", Outcome::Skip);
        skipped.result.message = "no\x1b arguments\nmore".into();
        let text = written(&[
            record("x/a.fut", "c", Outcome::Pass),
            record("x/a.fut", "c", Outcome::Pass),
            record("x/a.fut", "opencl", Outcome::ExpectedFail),
            record("x/a.fut", "c", Outcome::Fail),
            other,
            skipped,
        ]);
        let suites: Vec<_> = text
            .lines()
            .filter(|line| line.contains("<testsuite "))
            .collect();
        assert_eq!(suites.len(), 2);
        assert!(
            suites[0].contains(r#"name="c, 1" tests="3" skipped="1" errors="0" failures="1""#),
            "{text}"
        );
        assert_has(
            &text,
            r#"<testcase name="x/a.fut: blocks" classname="c, 1.x/a" time="0.000">"#,
        );
        assert_has(
            &text,
            r#"<skipped message="failed as expected: first line"/>"#,
        );
        assert_has(&text, r#"<skipped message="no\x1b arguments"/>"#);
    }

    #[test]
    fn failures_have_a_repeat_command_and_crashes_are_errors() {
        let crash = |case: &str| {
            let mut died = record("a.fut", "c", Outcome::Fail);
            died.result.cause = Some(Cause::Crash);
            died.result.case = case.into();
            died.result.message = "killed by <signal> \"11\"\x1b[0m\u{ffff}".into();
            died
        };
        let text = written(&[crash("main #0"), crash("main #1")]);
        assert_has(&text, r#"errors="1""#);
        let message = "killed by &lt;signal&gt; &quot;11&quot;\\x1b[0m\\u{ffff}";
        assert_has(
            &text,
            &format!(
                "<error message=\"{message} (and 1 more case)\" type=\"crash\">main #0: {message}\nrepeat: futhark-conformance run a.fut"
            ),
        );
        assert_has(&text, "main #1: killed");
    }

    #[test]
    fn failures_of_files_have_a_suite() {
        let mut folder = record("locked", "-", Outcome::Fail);
        folder.result.cause = Some(Cause::Error);
        let text = written(&[record("a.fut", "c", Outcome::Pass), folder]);
        assert_has(&text, r#"<testsuite name="files" tests="1""#);
    }
}
