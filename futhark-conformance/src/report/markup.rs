//! Text in XML and HTML.

use std::fmt;

/// Text between tags, or as the value of an attribute in double quotes: what
/// has a meaning there is escaped, and what has no place in XML is shown as
/// U+FFFD.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Attributes would lose these.
                '\n' | '\t' => write!(f, "&#{};", u32::from(c))?,
                '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                    f.write_str("\u{fffd}")?;
                }
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_text_is_markup() {
        let text = Escaped("a<b & \"c\" > 'd'\n\x1b[31m\u{ffff}é").to_string();
        assert_eq!(
            text,
            "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;&#10;\u{fffd}[31m\u{fffd}é"
        );
    }
}
