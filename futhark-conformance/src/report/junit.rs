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

use super::column::Column;
use super::groups::{Group, Member, first_line};
use super::matrix::{Matrix, Tally};
use super::{counted, shown, shown_lines};
use crate::record::{Cause, Record};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

/// The number of failures of a check that are shown in full.
const FAILURES: usize = 5;

/// The failures by program, column and check.
type Failures<'m> = HashMap<(&'m str, Option<usize>, &'m str), Vec<(&'m Group, &'m Member)>>;

/// Writes the document; `repeat` gives the command that repeats a finding.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(
    out: &mut dyn Write,
    matrix: &Matrix,
    repeat: &dyn Fn(&Record) -> String,
) -> io::Result<()> {
    let groups = matrix.failures();
    let mut failures = Failures::new();
    for group in &groups {
        for member in &group.members {
            let key = (&*member.program, member.column, group.check.as_str());
            failures.entry(key).or_default().push((group, member));
        }
    }
    let texts = Texts { matrix, repeat };
    let suites = (0..matrix.columns().len()).map(|column| texts.suite(column, &failures));
    let files = texts.files(&failures);
    let suites = suites.chain((!files.test_cases.is_empty()).then_some(files));
    // One suite at a time: all cases of a large corpus would need much memory. The totals are
    // optional in the format.
    let seconds: f64 = matrix.by_column().iter().map(|(_, seconds)| seconds).sum();
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

struct Texts<'m> {
    matrix: &'m Matrix,
    repeat: &'m dyn Fn(&Record) -> String,
}

impl Texts<'_> {
    fn suite(&self, number: usize, failures: &Failures<'_>) -> TestSuite {
        let name = suite_name(&self.matrix.columns()[number]);
        let mut suite = TestSuite::new(name.as_str());
        let mut seconds = 0.0;
        let order = self.matrix.checks_in_order();
        for (program, cells) in self.matrix.cells() {
            let rank = |tally: &&Tally| order.iter().position(|&check| check == tally.check);
            let mut tallies: Vec<&Tally> = cells[number].iter().collect();
            tallies.sort_by_key(rank);
            for tally in tallies {
                seconds += f64::from(tally.seconds);
                let check = self.matrix.checks()[tally.check].as_str();
                let failed = failures.get(&(program, Some(number), check));
                let status = match failed {
                    Some(failed) => self.failed(failed),
                    None => self.held(tally),
                };
                let mut case = case(&name, program, check, status);
                case.set_time(duration(f64::from(tally.seconds)));
                suite.add_test_case(case);
            }
        }
        suite.set_time(duration(seconds));
        suite
    }

    /// Failures of files that are not programs.
    fn files(&self, failures: &Failures<'_>) -> TestSuite {
        let mut suite = TestSuite::new("files");
        let mut list: Vec<_> = failures.iter().filter(|(key, _)| key.1.is_none()).collect();
        list.sort_by_key(|(key, _)| **key);
        for ((program, _, check), failed) in list {
            suite.add_test_case(case("files", program, check, self.failed(failed)));
        }
        suite
    }

    fn held(&self, tally: &Tally) -> TestCaseStatus {
        let counts = tally.counts;
        let reason = shown(self.matrix.reason(tally)).into_owned();
        let text = if counts.expected > 0 {
            format!("failed as expected: {reason}")
        } else if counts.passed > 0 {
            return TestCaseStatus::success();
        } else {
            reason
        };
        let mut status = TestCaseStatus::skipped();
        status.set_message(clean(&text));
        status
    }

    fn failed(&self, failed: &[(&Group, &Member)]) -> TestCaseStatus {
        let (group, member) = failed[0];
        let kind = failed.iter().map(|(group, _)| failure_kind(group.cause));
        let is_error = kind.clone().any(|kind| kind == NonSuccessKind::Error);
        let mut status = TestCaseStatus::non_success(match is_error {
            true => NonSuccessKind::Error,
            false => NonSuccessKind::Failure,
        });
        let mut message = shown(first_line(&member.message)).into_owned();
        if failed.len() > 1 {
            message.push_str(&format!(
                " (and {})",
                counted(failed.len() - 1, "more case")
            ));
        }
        status.set_message(clean(&message));
        status.set_type(
            group
                .cause
                .map(|cause| cause.to_string())
                .unwrap_or_default(),
        );
        let mut texts: Vec<String> = failed
            .iter()
            .take(FAILURES)
            .map(|(group, member)| {
                let record = group.record(member, self.matrix.columns());
                let case = match &*member.case {
                    "" => String::new(),
                    case => format!("{}: ", shown(case)),
                };
                let message = shown_lines(&member.message, "");
                format!("{case}{message}\nrepeat: {}", (self.repeat)(&record))
            })
            .collect();
        if failed.len() > FAILURES {
            texts.push(format!(
                "and {}",
                counted(failed.len() - FAILURES, "more case")
            ));
        }
        status.set_description(clean(&texts.join("\n\n")));
        status
    }
}

fn case(suite: &str, program: &str, check: &str, status: TestCaseStatus) -> TestCase {
    let program = clean(&shown(program));
    let mut case = TestCase::new(format!("{program}: {}", shown(check)), status);
    let class = program.strip_suffix(".fut").unwrap_or(&program);
    case.set_classname(format!("{}.{}", without_dots(suite), without_dots(class)));
    case
}

/// The text without the two characters that neither XML nor [`shown`] allows.
fn clean(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

fn without_dots(text: &str) -> String {
    text.replace('.', "_")
}

fn suite_name(column: &Column) -> String {
    let device = match column.device.as_str() {
        "" | crate::devices::HOST => String::new(),
        device => format!(", {device}"),
    };
    let name = format!("{}{device}, {}", column.backend, column.compiler);
    shown(&name).into_owned()
}

/// A report that was read from a file may contain any number.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
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
    use crate::record::Outcome;
    use crate::report::tests::{matrix, record};

    fn written(records: &[Record]) -> String {
        let matrix = matrix(records);
        let mut out = Vec::new();
        write(&mut out, &matrix, &|_| "again <now>".into()).unwrap();
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
                "<error message=\"{message} (and 1 more case)\" type=\"crash\">main #0: {message}\nrepeat: again &lt;now&gt;"
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
