//! Annotations for the pages of CI systems.

use super::excerpt::excerpt;
use super::matrix::{Matrix, title};
use super::{counted, shown};
use crate::record::Record;
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
pub fn github(matrix: &Matrix, only_new: bool, repeat: &dyn Fn(&Record) -> String) -> String {
    let groups = matrix.failures();
    let selected: Vec<_> = groups
        .into_iter()
        .filter(|group| !only_new || group.new_failures() > 0)
        .collect();
    let mut text = String::new();
    for group in selected.iter().take(LIMIT) {
        let record = group.record(group.example(), matrix.columns());
        let cause = group
            .cause
            .map_or_else(String::new, |cause| format!(" ({cause})"));
        let mut heading = format!("{}{cause}: {}", group.check, record.place.program);
        let more = group.members.len() - 1;
        if more > 0 {
            heading.push_str(&format!(" and {}", counted(more, "more failure")));
        }
        let mut properties = vec![format!("title={}", property(&heading))];
        // GitHub shows the annotation beside this line of a pull request.
        if let Some(excerpt) = excerpt(&record) {
            properties.push(format!("file={}", property(&record.place.program)));
            properties.push(format!("line={}", excerpt.line));
        }
        let message: String = record.finding.message.chars().take(LONGEST).collect();
        let message = format!("{}\n{message}\nrepeat: {}", title(&record), repeat(&record));
        text.push_str(&format!(
            "::error {}::{}\n",
            properties.join(","),
            data(&message)
        ));
    }
    if selected.len() > LIMIT {
        let more = counted(selected.len() - LIMIT, "more cause");
        text.push_str(&format!(
            "::warning title={more} of failures::see the report\n"
        ));
    }
    text
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    let lines = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line));
    let lines: Vec<String> = lines.map(|line| shown(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    let text = shown(text).replace('%', "%25");
    text.replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::report::tests::{compared, record};

    fn annotated(records: &[(Record, bool)], only_new: bool) -> String {
        let matrix = compared(records);
        github(&matrix, only_new, &|_| "again".into())
    }

    #[test]
    fn texts_cannot_leave_their_command() {
        let mut evil = record("a,b:c%.fut", "c", Outcome::Fail);
        evil.finding.message = "100%\r\n::set-output name=x::y\n\x1b[31m".into();
        let text = annotated(&[(evil, false)], false);
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.starts_with("::error title=blocks (mismatch)%3A a%2Cb%3Ac%25.fut::a,b:c%25.fut ["),
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
