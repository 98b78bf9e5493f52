//! Annotations for the pages of CI systems.

use super::counted;
use super::escape::{command_message, command_property};
use super::summary::{Cause, Summary};
use crate::record::Header;
use clap::ValueEnum;

/// The number of annotations of a kind that GitHub shows for a step.
const LIMIT: usize = 10;
/// The number of characters of a message. GitHub's limit for an annotation is 64 KiB.
const LONGEST: usize = 4000;

/// A CI system that takes annotations from the standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Annotations {
    /// Workflow commands of GitHub, such as `::error`
    Github,
}

/// One `::error` per cause of failures; `only_new` leaves out those without a new failure.
#[must_use]
pub fn github(header: &Header, summary: &Summary, only_new: bool) -> String {
    let mut causes = summary.causes(header);
    causes.retain(|cause| !only_new || cause.new_failures() > 0);
    let mut text: String = causes.iter().take(LIMIT).map(error).collect();
    if causes.len() > LIMIT {
        let more = counted(causes.len() - LIMIT, "more cause");
        text += &format!("::warning title={more} of failures::see the report\n");
    }
    text
}

fn error(cause: &Cause<'_>) -> String {
    let program = &cause.example.place.program;
    let mut title = format!("{} in {program}", cause.heading());
    if cause.count() > 1 {
        title += &format!(" and {}", counted(cause.count() - 1, "more failure"));
    }
    let mut properties = format!("title={}", command_property(&title));
    // GitHub shows the annotation beside this line of a pull request.
    if let Some(excerpt) = cause.excerpt() {
        let program = command_property(program);
        properties += &format!(",file={program},line={}", excerpt.line);
    }
    let message: String = cause.message().chars().take(LONGEST).collect();
    let message = format!("{}\n{message}\nrepeat: {}", cause.title(), cause.repeat);
    format!("::error {properties}::{}\n", command_message(&message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Outcome, Record};
    use crate::report::tests::{compared, header, record};

    fn annotated(records: &[(Record, bool)], only_new: bool) -> String {
        github(&header(), &compared(records), only_new)
    }

    #[test]
    fn texts_cannot_leave_their_command() {
        let mut evil = record("a,b:c%.fut", "c", Outcome::Fail);
        evil.finding.message = "100%\r\n::set-output name=x::y\n\x1b[31m".into();
        let text = annotated(&[(evil, false)], false);
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.starts_with(
                "::error title=blocks%3A mismatch in a%2Cb%3Ac%25.fut::a,b:c%25.fut ["
            ),
            "{text}"
        );
        assert!(
            text.contains("%0A100%25%0A\\::set-output name=x::y%0A\\x1b[31m%0Arepeat"),
            "{text}"
        );
    }

    #[test]
    fn only_new_failures_are_annotated_with_a_baseline() {
        let old = record("a.fut", "c", Outcome::Fail);
        let mut new = record("b.fut", "c", Outcome::Fail);
        new.finding.message = "other".into();
        let records = [(old, false), (new, true)];
        assert_eq!(annotated(&records, false).lines().count(), 2);
        let text = annotated(&records, true);
        assert_eq!(text.lines().count(), 1);
        assert!(text.contains("b.fut"), "{text}");
    }

    #[test]
    fn there_are_at_most_ten_errors() {
        let records: Vec<_> = ('a'..='n')
            .map(|letter| {
                let mut one = record("a.fut", "c", Outcome::Fail);
                one.finding.message = format!("cause {letter}");
                (one, false)
            })
            .collect();
        let text = annotated(&records, false);
        assert_eq!(text.matches("::error").count(), 10);
        assert!(
            text.ends_with("::warning title=4 more causes of failures::see the report\n"),
            "{text}"
        );
    }
}
