//! What people read: places in files, with the line they are in.

use std::fmt;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use futhark_manifest::{Code, Finding, Position, Severity};

use crate::input::File;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default().bold();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const BLUE: Style = AnsiColor::Blue.on_default();

/// Characters of the line that are shown on each side of a place. Manifests are
/// one long line.
const CONTEXT: usize = 36;

/// Why the command could do nothing.
pub(crate) fn error(message: &str) {
    // There is nobody left to tell when this fails.
    let _ = writeln!(anstream::stderr(), "{RED}error{RED:#}: {message}");
}

pub(crate) fn note(message: &str) {
    let _ = writeln!(anstream::stderr(), "{DIM}{message}{DIM:#}");
}

/// A finding of the crate.
pub(crate) fn finding(out: &mut impl Write, file: &File, text: &str, finding: &Finding) {
    let position = finding.position();
    let position = position.unwrap_or_else(|| Position::nearest(text, finding.pointer()));
    let message = match finding.code() {
        // The place is told anyway.
        Code::NotJson => format!("expected {}, found {}", finding.expected(), finding.found()),
        _ => finding.to_string(),
    };
    let severity = finding.severity();
    place(
        out,
        file,
        text,
        position,
        severity,
        finding.code(),
        &message,
    );
}

/// One finding with its place.
pub(crate) fn place(
    out: &mut impl Write,
    file: &File,
    text: &str,
    position: Position,
    severity: Severity,
    code: impl fmt::Display,
    message: &str,
) {
    let style = match severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
    };
    let Position { line, column, .. } = position;
    let _ = writeln!(
        out,
        "{BOLD}{file}:{line}:{column}{BOLD:#}: {style}{severity}[{code}]{style:#}: {message}"
    );
    if let Some((excerpt, before)) = excerpt(text, position) {
        let _ = writeln!(out, "  {BLUE}|{BLUE:#} {excerpt}");
        let _ = writeln!(out, "  {BLUE}|{BLUE:#} {:before$}{style}^{style:#}", "");
    }
}

/// The part of the line around a place, and how many columns are before it.
fn excerpt(text: &str, position: Position) -> Option<(String, usize)> {
    let line = text.split('\n').nth(position.line - 1)?;
    let start = position.column.saturating_sub(1 + CONTEXT);
    let mut shown = String::new();
    let mut before = 0;
    if start > 0 {
        shown.push('…');
        before += 1;
    }
    let characters = line.chars().skip(start).enumerate();
    for (place, c) in characters.take(2 * CONTEXT) {
        // One column each, so that the mark stands where it should.
        shown.push(if c.is_control() { ' ' } else { c });
        before += usize::from(start + place + 1 < position.column);
    }
    if line.chars().nth(start + 2 * CONTEXT).is_some() {
        shown.push('…');
    }
    (!shown.trim().is_empty()).then_some((shown, before))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, pointer: &str) -> (String, char) {
        let (shown, before) = excerpt(text, Position::nearest(text, pointer)).unwrap();
        let mark = shown.chars().nth(before).unwrap();
        (shown, mark)
    }

    #[test]
    fn the_mark_stands_below_the_place() {
        assert_eq!(
            marked("{\n  \"a\": 7\n}", "/a"),
            ("  \"a\": 7".to_owned(), '7')
        );
        let long = format!("{{\"{}\": 7, \"{}\": 8}}", "x".repeat(100), "é".repeat(100));
        let (shown, mark) = marked(&long, &format!("/{}", "x".repeat(100)));
        assert_eq!(mark, '7');
        assert!(
            shown.starts_with("…xxx") && shown.ends_with("é…"),
            "{shown}"
        );
        let (shown, mark) = marked(&long, &format!("/{}", "é".repeat(100)));
        assert_eq!(mark, '8');
        assert!(shown.ends_with("\": 8}"), "{shown}");
    }
}
