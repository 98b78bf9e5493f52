//! The report for continuous integration: JUnit XML.
//!
//! A suite for each program, backend, device and compiler; in it a test case
//! for each case of a check. A wrong answer or a leak is a failure, whatever
//! kept a promise from being asked to its end is an error. What failed as
//! expected is skipped, with the reason, as is what could not be asked.

use super::Counts;
use super::markup::Escaped;
use crate::record::{Cause, Outcome, Place, Record};
use std::collections::HashMap;
use std::io::{self, Write};

/// The records of a run, by where they were made.
#[derive(Debug, Default)]
pub struct Junit {
    suites: Vec<(Place, Vec<Record>)>,
    index: HashMap<Place, usize>,
}

impl Junit {
    /// Adds a record to its suite. Suites come in the order of their first
    /// records.
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
    /// If the stream does not take it.
    pub fn write(&self, out: &mut dyn Write, repeat: &dyn Fn(&Record) -> String) -> io::Result<()> {
        let all = || self.suites.iter().flat_map(|(_, records)| records);
        writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        writeln!(
            out,
            r#"<testsuites name="futhark-conformance" {}>"#,
            sums(all())
        )?;
        for (place, records) in &self.suites {
            let name = suite(place);
            let sums = sums(records.iter());
            writeln!(out, r#"  <testsuite name="{}" {sums}>"#, Escaped(&name))?;
            for record in records {
                case(out, record, &name, repeat)?;
            }
            writeln!(out, "  </testsuite>")?;
        }
        writeln!(out, "</testsuites>")
    }
}

fn suite(place: &Place) -> String {
    let Place {
        program,
        backend,
        device,
        compiler,
    } = place;
    format!("{program} [{backend}, {device}, {compiler}]")
}

fn sums<'a>(records: impl Iterator<Item = &'a Record>) -> String {
    let (mut counts, mut errors, mut seconds) = (Counts::default(), 0, 0.0);
    for record in records {
        counts.add(record.finding.outcome);
        errors += usize::from(is_error(record));
        seconds += record.finding.seconds;
    }
    format!(
        r#"tests="{}" failures="{}" errors="{errors}" skipped="{}" time="{seconds:.3}""#,
        counts.total(),
        counts.failed - errors,
        counts.skipped + counts.expected
    )
}

/// Whether the promise was not asked to its end.
fn is_error(record: &Record) -> bool {
    let finding = &record.finding;
    finding.outcome == Outcome::Fail
        && matches!(
            finding.cause,
            Some(Cause::Crash | Cause::Timeout | Cause::Error)
        )
}

fn case(
    out: &mut dyn Write,
    record: &Record,
    suite: &str,
    repeat: &dyn Fn(&Record) -> String,
) -> io::Result<()> {
    let finding = &record.finding;
    let name = match finding.case.as_str() {
        "" => finding.check.clone(),
        case => format!("{}: {case}", finding.check),
    };
    write!(
        out,
        r#"    <testcase classname="{}" name="{}" time="{:.3}""#,
        Escaped(suite),
        Escaped(&name),
        finding.seconds
    )?;
    let first = finding.message.lines().next().unwrap_or_default();
    match finding.outcome {
        Outcome::Pass => writeln!(out, "/>"),
        Outcome::Skip => writeln!(out, "><skipped message=\"{}\"/></testcase>", Escaped(first)),
        Outcome::ExpectedFail => writeln!(
            out,
            "><skipped message=\"failed as expected: {}\"/></testcase>",
            Escaped(first)
        ),
        Outcome::Fail => {
            let tag = if is_error(record) { "error" } else { "failure" };
            let cause = finding.cause.map(|cause| cause.to_string());
            let text = format!("{}\nrepeat: {}", finding.message, repeat(record));
            writeln!(
                out,
                ">\n      <{tag} type=\"{}\" message=\"{}\">{}</{tag}>\n    </testcase>",
                Escaped(&cause.unwrap_or_default()),
                Escaped(first),
                Escaped(&text)
            )
        }
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
    fn suites_count_what_is_in_them() {
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
            heads[0].contains(r#"tests="3" failures="1" errors="0" skipped="1""#),
            "{text}"
        );
        assert!(
            heads[1].contains(r#"name="a.fut [c, cpu, 1]" tests="2" failures="1""#),
            "{text}"
        );
        assert!(
            heads[2].contains(r#"tests="1" failures="0" errors="0" skipped="1""#),
            "{text}"
        );
        assert!(text.contains("failed as expected: first line"), "{text}");
    }

    #[test]
    fn failures_tell_how_to_repeat_them_and_deaths_are_errors() {
        let mut died = record("a.fut", "c", Outcome::Fail);
        died.finding.cause = Some(Cause::Crash);
        died.finding.message = "killed by <signal> \"11\"\x1b[0m".into();
        let text = written(&[died]);
        assert!(text.contains(r#"errors="1""#), "{text}");
        let message = "killed by &lt;signal&gt; &quot;11&quot;\u{fffd}[0m";
        assert!(
            text.contains(&format!(
                "<error type=\"crash\" message=\"{message}\">{message}&#10;repeat: again &lt;now&gt;</error>"
            )),
            "{text}"
        );
    }

    #[test]
    fn every_tag_is_closed() {
        let text = written(&[
            record("a.fut", "c", Outcome::Fail),
            record("b.fut", "c", Outcome::Skip),
            record("b.fut", "c", Outcome::Pass),
        ]);
        let mut open: Vec<&str> = Vec::new();
        for tag in text
            .split('<')
            .skip(1)
            .filter_map(|rest| rest.split('>').next())
        {
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "{text}");
            } else if !tag.ends_with('/') && !tag.starts_with('?') {
                open.push(tag.split(' ').next().unwrap());
            }
        }
        assert!(open.is_empty(), "{text}");
    }
}
