//! Diagnostics: findings with their position and an excerpt of the line.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use futhark_manifest::{Code, Finding, Locator, Position, Severity};

use crate::input::File;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default().bold();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const BLUE: Style = AnsiColor::Blue.on_default();

/// Characters of the line to show on each side of a position. Manifests consist of
/// one long line.
const CONTEXT: usize = 36;

/// Prints an error message.
pub(crate) fn error(message: &str) {
    // Nothing else can be done if standard error is closed.
    let _ = writeln!(anstream::stderr(), "{RED}error{RED:#}: {message}");
}

pub(crate) fn note(message: &str) {
    let _ = writeln!(anstream::stderr(), "{DIM}{message}{DIM:#}");
}

/// Writes a JSON value as one line. Escapes the control characters that JSON allows unescaped,
/// which a stream that strips colours would drop.
pub(crate) fn json_line(out: &mut impl Write, value: &serde_json::Value) -> io::Result<()> {
    for c in value.to_string().chars() {
        if c.is_control() {
            write!(out, "\\u{:04x}", u32::from(c))?;
        } else {
            write!(out, "{c}")?;
        }
    }
    writeln!(out)
}

/// Writes the findings about one file, each with an excerpt.
pub(crate) struct Findings<'t> {
    file: &'t File,
    text: &'t str,
    /// Created for the first finding: most files have none.
    locator: Option<Locator<'t>>,
}

impl<'t> Findings<'t> {
    pub(crate) fn new(file: &'t File, text: &'t str) -> Findings<'t> {
        let locator = None;
        Findings {
            file,
            text,
            locator,
        }
    }

    /// The position of a JSON pointer.
    pub(crate) fn position(&mut self, pointer: &str) -> Position {
        let text = self.text;
        let locator = self.locator.get_or_insert_with(|| Locator::new(text));
        locator.nearest(pointer)
    }

    pub(crate) fn write_all<'f>(
        &mut self,
        out: &mut impl Write,
        findings: impl IntoIterator<Item = &'f Finding>,
    ) -> io::Result<()> {
        for finding in findings {
            self.write(out, finding)?;
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, out: &mut impl Write, finding: &Finding) -> io::Result<()> {
        let known = finding.position();
        let position = known.unwrap_or_else(|| self.position(finding.pointer()));
        let message = match finding.code() {
            // The position is printed anyway.
            Code::NotJson => format!("expected {}, found {}", finding.expected(), finding.found()),
            _ => finding.to_string(),
        };
        let code = finding.code().as_str();
        self.write_at(out, position, finding.severity(), code, &message)
    }

    /// Writes one finding of any depth.
    pub(crate) fn write_at(
        &self,
        out: &mut impl Write,
        position: Position,
        severity: Severity,
        code: &str,
        message: &str,
    ) -> io::Result<()> {
        let style = match severity {
            Severity::Error => RED,
            Severity::Warning => YELLOW,
        };
        let (file, Position { line, column, .. }) = (self.file, position);
        writeln!(
            out,
            "{BOLD}{file}:{line}:{column}{BOLD:#}: {style}{severity}[{code}]{style:#}: {message}"
        )?;
        if let Some((excerpt, before)) = excerpt(self.text, position) {
            writeln!(out, "  {BLUE}|{BLUE:#} {excerpt}")?;
            writeln!(out, "  {BLUE}|{BLUE:#} {:before$}{style}^{style:#}", "")?;
        }
        Ok(())
    }
}

/// The part of the line around a position, and the number of columns before it. Reads no more than it
/// shows, since lines can be long.
fn excerpt(text: &str, position: Position) -> Option<(String, usize)> {
    let (before, after) = text.split_at_checked(position.offset)?;
    let in_line = |c: &char| *c != '\n';
    let mut shown: Vec<char> = before
        .chars()
        .rev()
        .take_while(in_line)
        .take(CONTEXT + 1)
        .collect();
    if shown.len() > CONTEXT {
        shown[CONTEXT] = '…';
    }
    shown.reverse();
    let columns = shown.len();
    let mut rest = after.chars().take_while(in_line);
    shown.extend(rest.by_ref().take(CONTEXT));
    if rest.next().is_some() {
        shown.push('…');
    }
    // One column per character, so that the mark is below the position.
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = shown.into_iter().map(printable).collect();
    (!shown.trim().is_empty()).then_some((shown, columns))
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
    fn the_mark_is_below_the_position() {
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
