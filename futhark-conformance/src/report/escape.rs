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
use std::fmt::{self, Write};

/// The text for a part of one line: control characters, line ends included, are shown as escapes
/// such as `\n` and `\x1b`, and a command for a CI system gets a backslash that disables it.
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    without_commands(visible(text, ""))
}

/// The text of several lines, each after `indent`. Line ends and tabs stay; every line is otherwise
/// as by [`shown`].
#[must_use]
pub fn shown_lines(text: &str, indent: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        format!("{indent}{}", without_commands(visible(line, "\t")))
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

/// Texts in a template of HTML, also in attributes, and in a `<pre>` in Markdown. They keep their lines.
#[derive(Clone, Copy, Debug)]
pub struct Html;

impl Escaper for Html {
    fn write_escaped_str<W: Write>(&self, dest: W, text: &str) -> fmt::Result {
        askama::filters::Html.write_escaped_str(dest, &visible(text, "\n\t"))
    }
}

/// Quotes a word for a shell, so that it is one line of visible characters. A word with hidden
/// characters or `##` is quoted as `$'...'`, which is in POSIX 2024 and in older bash,
/// zsh and BusyBox.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if !word.chars().any(is_hidden) && !word.contains("##") {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        let bytes = word.as_bytes().escape_ascii().to_string();
        format!("$'{}'", bytes.replace('#', r"\x23"))
    }
}

/// The text with escapes for hidden characters, except for `kept`.
#[must_use]
pub fn visible<'t>(text: &'t str, kept: &str) -> Cow<'t, str> {
    let is_shown = |c: char| !is_hidden(c) || kept.contains(c);
    if text.chars().all(is_shown) {
        return Cow::Borrowed(text);
    }
    let shown = text.chars().map(|c| match is_shown(c) {
        true => c.to_string(),
        false => escape(c),
    });
    Cow::Owned(shown.collect())
}

/// The line with a backslash in each command for a CI system.
fn without_commands(mut line: Cow<'_, str>) -> Cow<'_, str> {
    for command in ["##[", "##vso[", "##teamcity["] {
        if line.contains(command) {
            let disabled = command.replace('[', "\\[");
            line = Cow::Owned(line.replace(command, &disabled));
        }
    }
    if line.trim_start().starts_with("::") {
        let start = line.len() - line.trim_start().len();
        line.to_mut().insert(start, '\\');
    }
    line
}

/// Whether a terminal or a page does not show a character as itself: control characters, line and
/// paragraph separators, bidirectional controls, and what XML and HTML do not allow.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
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

#[cfg(test)]
mod tests {
    use super::*;
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
        let words = [
            "plain.fut",
            "",
            "a ",
            "it's",
            "\"$HOME\" `x` \\n !1 *?[a] ~ # ; & | > \x21",
            "~",
            "new\nline\n",
            "\x1b[31m\x7f\t'\\'\"",
            "\u{202e}é\u{85}7",
            "\x017",
            "-x",
            "##[error]x",
        ];
        for word in words {
            let quoted = quoted(word);
            assert_eq!(shown(&quoted), quoted, "shown as it is");
            let shells = if quoted.starts_with('$') {
                &["bash"][..]
            } else {
                &["bash", "sh"]
            };
            for shell in shells {
                let script = format!("printf %s. {quoted}");
                let output = Command::new(shell).args(["-c", &script]).output().unwrap();
                let got = String::from_utf8_lossy(&output.stdout);
                assert_eq!(got, format!("{word}."), "{shell}: {quoted}");
            }
        }
    }
}
