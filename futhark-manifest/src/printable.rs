//! Untrusted text on a terminal.

use std::fmt::{self, Write as _};

/// Displays untrusted text on one line: escapes characters that move the cursor, set colours, end the line
/// or change the direction of writing.
///
/// ```
/// use futhark_manifest::Printable;
///
/// let name = "pt\u{1b}[31m\n\u{202e}é";
/// assert_eq!(Printable(name).to_string(), r"pt\u{1b}[31m\u{a}\u{202e}é");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if is_printable(c) {
                f.write_char(c)?;
            } else {
                write!(f, "{}", c.escape_unicode())?;
            }
        }
        Ok(())
    }
}

fn is_printable(c: char) -> bool {
    let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
    let turns = matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !(c.is_control() || ends_line || turns)
}
