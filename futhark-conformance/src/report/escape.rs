//! Text from outside in every language that reports are written in: names of files and devices, and
//! what compilers and programs under test print.
//!
//! Such text can contain anything. Control characters move the cursor or change colours,
//! bidirectional controls reorder what a reader sees, and CI systems take commands from the log:
//! GitHub a line that begins with `::`, also after blanks, and `##[` anywhere in a line; Azure and
//! TeamCity `##vso[` and `##teamcity[`. So every text from outside passes one of these functions
//! before it is printed. Templates use them by themselves: `askama.toml` gives the escaper of each
//! language ([`Terminal`], [`Markdown`], [`Html`]).

use askama::filters::Escaper;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::{self, Write};

/// The text for a part of one line: control characters, line ends included, are shown as escapes
/// such as `\n` and `\x1b`, and a command for a CI system gets a backslash that disables it.
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The text of several lines, each after `indent`. Line ends and tabs stay; every line is otherwise
/// as by [`shown`].
#[must_use]
pub fn shown_lines(text: &str, indent: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        format!("{indent}{}", escaped(line, |c| c == '\t'))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Texts in a template of text: each is a part of one line, as by [`shown`].
#[derive(Clone, Copy, Debug)]
pub struct Terminal;

impl Escaper for Terminal {
    fn write_escaped_str<W: Write>(&self, mut dest: W, text: &str) -> fmt::Result {
        dest.write_str(&shown(text))
    }
}

/// Texts in a template of Markdown: a part of one line or of a cell of a table. Every character that
/// Markdown or HTML could interpret is an entity.
#[derive(Clone, Copy, Debug)]
pub struct Markdown;

impl Escaper for Markdown {
    fn write_escaped_str<W: Write>(&self, mut dest: W, text: &str) -> fmt::Result {
        for c in shown(text).chars() {
            match c.is_alphanumeric() || " .,:;/-+='\"".contains(c) {
                true => dest.write_char(c)?,
                false => write!(dest, "&#{};", u32::from(c))?,
            }
        }
        Ok(())
    }
}

/// Texts in a template of HTML, also in attributes. They keep their lines.
#[derive(Clone, Copy, Debug)]
pub struct Html;

impl Escaper for Html {
    fn write_escaped_str<W: Write>(&self, mut dest: W, text: &str) -> fmt::Result {
        for c in printable(text).chars() {
            match c {
                '<' | '>' | '&' | '"' | '\'' => write!(dest, "&#{};", u32::from(c))?,
                c => dest.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Lines in a `<pre>` in Markdown, where only HTML is interpreted. An empty line would end some
/// elements, but not this one.
#[must_use]
pub fn preformatted(text: &str) -> String {
    let text = shown_lines(text, "").replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// JSON in a `script` element. `<` occurs only in strings, where it can be an escape; `</script>`
/// would end the element.
#[must_use]
pub fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Lines for XML, whose library escapes markup, but drops characters that XML does not allow.
#[must_use]
pub fn for_xml(text: &str) -> String {
    shown_lines(text, "").replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// The message of a workflow command of GitHub.
#[must_use]
pub fn command_message(text: &str) -> String {
    shown_lines(text, "")
        .replace('%', "%25")
        .replace('\n', "%0A")
}

/// A property of a workflow command of GitHub.
#[must_use]
pub fn command_property(text: &str) -> String {
    let text = shown(text).replace('%', "%25");
    text.replace(':', "%3A").replace(',', "%2C")
}

/// The text with U+FFFD for characters that HTML does not allow or a page does not show.
#[must_use]
pub fn printable(text: &str) -> String {
    let replaced = text.chars().map(|c| match c {
        '\n' | '\t' => c,
        c if is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    });
    replaced.collect()
}

/// Whether a terminal or a page does not show a character as itself: control characters, line and
/// paragraph separators, and bidirectional controls.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The escape of a hidden character, as in a literal of Rust.
#[must_use]
pub fn escape(c: char) -> String {
    match c {
        '\n' | '\r' | '\t' => c.escape_default().to_string(),
        c if c.is_ascii() => format!("\\x{:02x}", u32::from(c)),
        c => c.escape_unicode().to_string(),
    }
}

fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_plain = |c: char| !is_hidden(c) || is_kept(c);
    if text.chars().all(is_plain) && !text.contains("##") && !begins_command(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for (place, c) in text.char_indices() {
        let is_command = match c {
            // The first of two colons at the beginning.
            ':' => out.trim_start().is_empty() && begins_command(&text[place..]),
            '[' => out
                .trim_end_matches(|c: char| c.is_ascii_alphanumeric())
                .ends_with("##"),
            _ => false,
        };
        if is_command {
            out.push('\\');
        }
        if is_plain(c) {
            out.push(c);
        } else {
            out.push_str(&escape(c));
        }
    }
    Cow::Owned(out)
}

/// Whether GitHub would take the line as a command.
fn begins_command(line: &str) -> bool {
    line.trim_start().starts_with("::")
}

/// Quotes a word for a POSIX shell.
#[must_use]
pub fn quoted(word: &str) -> String {
    quoted_os(OsStr::new(word))
}

/// Quotes a word for a shell, so that it is one line of visible characters. A word with hidden
/// characters, `##` (see above) or bytes that are not UTF-8 is quoted as `$'...'`, which POSIX has
/// since 2024, and bash, zsh, ksh and BusyBox have had before.
#[must_use]
pub fn quoted_os(word: &OsStr) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    match word.to_str() {
        Some(word) if !word.is_empty() && word.chars().all(plain) => word.to_owned(),
        Some(word) if !word.chars().any(is_hidden) && !word.contains("##") => {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
        _ => format!("$'{}'", escaped_for_shell(word)),
    }
}

/// The word within `$'...'`. Bytes are octal, because some shells read more than two hexadecimal
/// digits.
fn escaped_for_shell(word: &OsStr) -> String {
    let mut out = String::new();
    let push_bytes = |out: &mut String, bytes: &[u8]| {
        out.extend(bytes.iter().map(|byte| format!("\\{byte:03o}")));
    };
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' | '\r' | '\t' | '\'' | '\\' => out.extend(c.escape_default()),
                c if is_hidden(c) || c == '#' => {
                    push_bytes(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes())
                }
                c => out.push(c),
            }
        }
        push_bytes(&mut out, chunk.invalid());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;
    use std::process::Command;

    #[test]
    fn hidden_characters_are_escaped() {
        for (text, expected) in [
            ("a b/é.fut", "a b/é.fut"),
            ("a\nb\r\tc", r"a\nb\r\tc"),
            ("\x1b[31mred\x7f", r"\x1b[31mred\x7f"),
            ("\u{9b}31m \u{85}", r"\u{9b}31m \u{85}"),
            (
                "\u{202e}txt.\u{2066}x\u{2069}",
                r"\u{202e}txt.\u{2066}x\u{2069}",
            ),
            ("a\u{2028}b", r"a\u{2028}b"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn commands_for_ci_systems_are_disabled() {
        for (text, expected) in [
            ("::error::x", r"\::error::x"),
            ("  ::error::x", r"  \::error::x"),
            ("a ::b::c", "a ::b::c"),
            ("a ##[error]x", r"a ##\[error]x"),
            ("###[error]x [y]", r"###\[error]x [y]"),
            (
                "##vso[task.x] ##teamcity[y]",
                r"##vso\[task.x] ##teamcity\[y]",
            ),
            ("## a [b]", "## a [b]"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn texts_of_several_lines_keep_their_lines() {
        let text = "wrong:\r\n\tat \x1b[1m1:2\r3\n  ::error::x\n##[group]y\n";
        let expected = "  wrong:\n  \tat \\x1b[1m1:2\\r3\n    \\::error::x\n  ##\\[group]y\n  ";
        assert_eq!(shown_lines(text, "  "), expected);
        assert_eq!(shown_lines("a\nb", ""), "a\nb");
    }

    #[test]
    fn quoted_words_survive_a_shell() {
        let words: [&[u8]; 13] = [
            b"plain.fut",
            b"",
            b"a b",
            b"it's",
            b"\"$HOME\" `x` \\n !1 *?[a] ~ # ; & | > \x21",
            b"~",
            b"new\nline\n",
            b"\x1b[31m\x7f\t'\\'",
            "\u{202e}é\u{85}7".as_bytes(),
            b"\xff\xfe1",
            b"\x017",
            b"-x",
            b"##[error]x",
        ];
        for word in words {
            let quoted = quoted_os(OsStr::from_bytes(word));
            assert_eq!(shown(&quoted), quoted, "shown as it is");
            let shells = if quoted.starts_with('$') {
                &["bash"][..]
            } else {
                &["bash", "sh"]
            };
            for shell in shells {
                let script = format!("printf %s. {quoted}");
                let output = Command::new(shell).args(["-c", &script]).output().unwrap();
                let (word, got) = (word.escape_ascii(), output.stdout.escape_ascii());
                assert_eq!(got.to_string(), format!("{word}."), "{shell}: {quoted}");
            }
        }
    }
}
