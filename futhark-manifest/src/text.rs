//! Texts: lists of words in messages, untrusted text on a terminal, spaces in names, hashes of names.

use std::fmt::{self, Write as _};

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

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
            let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
            let turns = matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if c.is_control() || ends_line || turns {
                write!(f, "{}", c.escape_unicode())?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

/// Removes the spaces of a name that are not between two words, and joins repeated ones: compilers
/// differ in them, `{a:u8}` and `{a: u8}`.
pub(crate) fn squeezed(name: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    let mut text = String::with_capacity(name.len());
    let mut space = false;
    for c in name.chars() {
        if c.is_whitespace() {
            space = true;
            continue;
        }
        if space && is_word(c) && text.ends_with(is_word) {
            text.push(' ');
        }
        text.push(c);
        space = false;
    }
    text
}

/// The 64-bit FNV-1a hash: short, portable, and sufficient to distinguish names. All users handle collisions.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_listed() {
        assert_eq!(alternatives(&[]), "");
        assert_eq!(alternatives(&["a"]), "a");
        assert_eq!(alternatives(&["a", "b"]), "a or b");
        assert_eq!(alternatives(&["a", "b", "c"]), "a, b or c");
    }

    #[test]
    fn only_spaces_between_words_are_kept() {
        for (name, expected) in [
            ("{bar: f32, foo: []i32}", "{bar:f32,foo:[]i32}"),
            ("{bar:f32, foo:[]i32}", "{bar:f32,foo:[]i32}"),
            ("opt  i32", "opt i32"),
            (" a: | b: i32 ", "a:|b:i32"),
            ("", ""),
        ] {
            assert_eq!(squeezed(name), expected, "{name:?}");
        }
    }

    #[test]
    fn hashes_equal_the_published_values() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
