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

use super::escape::for_xml;
use super::groups::{Group, Member, first_line};
use super::summary::{Column, Summary, Tally};
use super::{counted, repeat_with, shown};
use crate::record::{Cause, Header};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

/// The number of failures of a check that are shown in full.
const FAILURES: usize = 5;

/// The failures by column, program and check.
type Failures<'s> = BTreeMap<(Option<usize>, &'s str, &'s str), Vec<(&'s Group, &'s Member)>>;

/// Writes the document.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(out: &mut dyn Write, header: &Header, summary: &Summary) -> io::Result<()> {
    let mut failures = Failures::new();
    for group in summary.failures() {
        for member in &group.members {
            let key = (member.column, &*member.program, group.check.as_str());
            failures.entry(key).or_default().push((group, member));
        }
    }
    let failed = |failures: &[(&Group, &Member)]| failed(failures, summary.columns(), header);
    let suite = |(number, column): (usize, &Column)| {
        let name = suite_name(column);
        let mut suite = TestSuite::new(name.as_str());
        let mut seconds = 0.0;
        for (program, cells) in summary.cells() {
            for tally in &cells[number] {
                let check = summary.checks()[tally.check].as_str();
                let status = match failures.get(&(Some(number), program, check)) {
                    Some(failures) => failed(failures),
                    None => held(summary, tally),
                };
                let mut case = case(&name, program, check, status);
                case.set_time(duration(f64::from(tally.seconds)));
                seconds += f64::from(tally.seconds);
                suite.add_test_case(case);
            }
        }
        suite.set_time(duration(seconds));
        suite
    };
    // Failures of files that are not programs.
    let mut files = TestSuite::new("files");
    for ((_, program, check), failures) in failures.iter().filter(|(key, _)| key.0.is_none()) {
        files.add_test_case(case("files", program, check, failed(failures)));
    }
    let suites = summary.columns().iter().enumerate().map(suite);
    let suites = suites.chain((!files.test_cases.is_empty()).then_some(files));
    // One suite at a time: all cases of a large corpus would need much memory, and the library only
    // writes whole documents. The totals are optional in the format.
    let seconds: f64 = summary.by_column().iter().map(|sum| sum.seconds).sum();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuites name="futhark-conformance" time="{seconds:.3}">"#
    )?;
    for suite in suites {
        let mut report = Report::new("");
        report.add_test_suite(suite);
        let text = report.to_string().map_err(io::Error::other)?;
        // Neither tag can be in a text, where `<` is escaped.
        let start = text.find("<testsuite ").unwrap_or(0);
        let end = text.rfind("</testsuites>").unwrap_or(text.len());
        writeln!(out, "    {}", text[start..end].trim_end())?;
    }
    writeln!(out, "</testsuites>")
}

fn held(summary: &Summary, tally: &Tally) -> TestCaseStatus {
    let reason = summary.reason(tally);
    let text = match (tally.counts.expected, tally.counts.passed) {
        (0, 1..) => return TestCaseStatus::success(),
        (0, 0) => reason.to_owned(),
        _ => format!("failed as expected: {reason}"),
    };
    let mut status = TestCaseStatus::skipped();
    status.set_message(for_xml(&shown(&text)));
    status
}

fn failed(failures: &[(&Group, &Member)], columns: &[Column], header: &Header) -> TestCaseStatus {
    // An error prevented the check from completing; a failure is the result of a completed check.
    let is_error = failures.iter().any(|(group, _)| {
        matches!(
            group.cause,
            Some(Cause::Crash | Cause::Timeout | Cause::Error)
        )
    });
    let mut status = TestCaseStatus::non_success(match is_error {
        true => NonSuccessKind::Error,
        false => NonSuccessKind::Failure,
    });
    let (group, member) = failures[0];
    let mut message = shown(first_line(&member.message)).into_owned();
    if failures.len() > 1 {
        let more = counted(failures.len() - 1, "more case");
        message += &format!(" (and {more})");
    }
    status.set_message(for_xml(&message));
    status.set_type(
        group
            .cause
            .map(|cause| cause.to_string())
            .unwrap_or_default(),
    );
    let texts = failures.iter().take(FAILURES).map(|(group, member)| {
        let case = match &*member.case {
            "" => String::new(),
            case => format!("{}: ", shown(case)),
        };
        let repeat = repeat_with(header, &group.record(member, columns));
        format!("{case}{}\nrepeat: {repeat}", member.message)
    });
    let mut texts: Vec<String> = texts.collect();
    if failures.len() > FAILURES {
        let more = counted(failures.len() - FAILURES, "more case");
        texts.push(format!("and {more}"));
    }
    status.set_description(for_xml(&texts.join("\n\n")));
    status
}

fn case(suite: &str, program: &str, check: &str, status: TestCaseStatus) -> TestCase {
    let program = for_xml(&shown(program));
    let mut case = TestCase::new(format!("{program}: {}", shown(check)), status);
    let class = program.strip_suffix(".fut").unwrap_or(&program);
    let package = suite.replace('.', "_");
    case.set_classname(format!("{package}.{}", class.replace('.', "_")));
    case
}

fn suite_name(column: &Column) -> String {
    let device = match column.named_device() {
        "" => String::new(),
        device => format!(", {device}"),
    };
    let name = format!("{}{device}, {}", column.backend, column.compiler);
    for_xml(&shown(&name))
}

/// A report that was read from a file may contain any number.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Outcome, Record};
    use crate::report::tests::{header, record, summary};

    fn written(records: &[Record]) -> String {
        let mut out = Vec::new();
        write(&mut out, &header(), &summary(records)).unwrap();
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
        other.finding.check = "leaks".into();
        let mut skipped = record("b.fut", "c", Outcome::Skip);
        skipped.finding.message = "no\x1b arguments\nmore".into();
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
        assert!(
            text.contains(r#"<testcase name="x/a.fut: blocks" classname="c, 1.x/a" time="0.000">"#),
            "{text}"
        );
        assert!(
            text.contains(r#"<skipped message="failed as expected: first line"/>"#),
            "{text}"
        );
        assert!(
            text.contains(r#"<skipped message="no\x1b arguments"/>"#),
            "{text}"
        );
    }

    #[test]
    fn failures_have_a_repeat_command_and_crashes_are_errors() {
        let crash = |case: &str| {
            let mut died = record("a.fut", "c", Outcome::Fail);
            died.finding.cause = Some(Cause::Crash);
            died.finding.case = case.into();
            died.finding.message = "killed by <signal> \"11\"\x1b[0m\u{ffff}".into();
            died
        };
        let text = written(&[crash("main #0"), crash("main #1")]);
        assert!(text.contains(r#"errors="1""#), "{text}");
        let message = "killed by &lt;signal&gt; &quot;11&quot;\\x1b[0m\u{fffd}";
        assert!(
            text.contains(&format!(
                "<error message=\"{message} (and 1 more case)\" type=\"crash\">main #0: {message}\nrepeat: futhark-conformance run a.fut"
            )),
            "{text}"
        );
        assert!(text.contains("main #1: killed"), "{text}");
    }

    #[test]
    fn failures_of_files_have_a_suite() {
        let mut folder = record("locked", "-", Outcome::Fail);
        folder.finding.cause = Some(Cause::Error);
        let text = written(&[record("a.fut", "c", Outcome::Pass), folder]);
        assert!(
            text.contains(r#"<testsuite name="files" tests="1""#),
            "{text}"
        );
    }
}
