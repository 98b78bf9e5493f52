//! Annotations for the pages of CI systems.

use super::counted;
use super::groups::{Group, start};
use super::summary::Summary;
use super::{shown, shown_lines};
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

/// One `::error` per cause of failures; with a baseline, only of those with a new failure.
pub(super) fn github(summary: &Summary<'_>) -> String {
    let is_shown = |cause: &&Group<'_>| summary.changes.is_none() || cause.new > 0;
    let causes: Vec<&Group<'_>> = summary.failures.iter().filter(is_shown).collect();
    let mut text: String = causes
        .iter()
        .take(LIMIT)
        .map(|cause| error(cause))
        .collect();
    if causes.len() > LIMIT {
        let more = counted(causes.len() - LIMIT, "more cause");
        text += &format!("::warning title={more} of failures::see the report\n");
    }
    text
}

fn error(cause: &Group<'_>) -> String {
    let property = |text: &str| {
        let text = shown(text).replace('%', "%25");
        text.replace(':', "%3A").replace(',', "%2C")
    };
    let program = &cause.example.place.program;
    let mut title = format!("{} in {program}", cause.heading());
    if cause.members.len() > 1 {
        let more = counted(cause.members.len() - 1, "more failure");
        title += &format!(" and {more}");
    }
    let mut properties = format!("title={}", property(&title));
    // GitHub shows the annotation beside this line of a pull request.
    if let Some(excerpt) = cause.excerpt() {
        properties += &format!(",file={},line={}", property(program), excerpt.line);
    }
    let message = start(cause.message(), LONGEST);
    let message = format!("{}\n{message}\nrepeat: {}", cause.title(), cause.repeat());
    let message = shown_lines(&message, "").replace('%', "%25");
    format!("::error {properties}::{}\n", message.replace('\n', "%0A"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::report::tests::{compared, record, report};

    #[test]
    fn texts_cannot_leave_their_command() {
        let mut evil = record("a,b:c%.fut", "c", Outcome::Fail);
        evil.finding.message = "100%\r\n::set-output name=x::y\n\x1b[31m".into();
        let text = github(&Summary::of(&report(&[evil])));
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
        let all = github(&Summary::of(&report(&[old.clone(), new.clone()])));
        assert_eq!(all.lines().count(), 2);
        let text = github(&Summary::of(&compared(&[(old, false), (new, true)])));
        assert_eq!(text.lines().count(), 1);
        assert!(text.contains("b.fut"), "{text}");
    }

    #[test]
    fn there_are_at_most_ten_errors() {
        let records: Vec<_> = ('a'..='n')
            .map(|letter| {
                let mut one = record("a.fut", "c", Outcome::Fail);
                one.finding.message = format!("cause {letter}");
                one
            })
            .collect();
        let text = github(&Summary::of(&report(&records)));
        assert_eq!(text.matches("::error").count(), 10);
        assert!(
            text.ends_with("::warning title=4 more causes of failures::see the report\n"),
            "{text}"
        );
    }
}
