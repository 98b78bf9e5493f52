//! Fits text into the width of a terminal.

use console::measure_text_width;

/// The text with its end replaced by `...` if it is wider than `width`.
#[must_use]
pub fn keep_start(text: &str, width: usize) -> String {
    console::truncate_str(text, width, "...").into_owned()
}

/// The text with its start replaced by `...` if it is wider than `width`: the end of a path
/// distinguishes it best.
#[must_use]
pub fn keep_end(text: &str, width: usize) -> String {
    if measure_text_width(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(3);
    let starts = text.char_indices().map(|(start, _)| &text[start..]);
    let mut fitting = starts.filter(|end| measure_text_width(end) <= room);
    format!("...{}", fitting.next().unwrap_or_default())
}

/// Appends the text in lines that begin with `indent`. Lines are broken at blanks, or within a word
/// that is wider than a line. A break does not make a command for a CI system of text after `::`.
pub fn wrap(out: &mut String, text: &str, indent: &str, width: usize) {
    let room = width.saturating_sub(measure_text_width(indent)).max(10);
    for line in text.lines() {
        let mut rest = line.trim_end();
        let mut is_broken = false;
        loop {
            let is_command = is_broken && rest.starts_with("::");
            let escape = if is_command { "\\" } else { "" };
            let (part, after) = split(rest, room - escape.len());
            out.push_str(format!("{indent}{escape}{part}").trim_end());
            is_broken = true;
            out.push('\n');
            if after.is_empty() {
                break;
            }
            rest = after;
        }
    }
}

/// The start of a line that fits, and the rest.
fn split(line: &str, room: usize) -> (&str, &str) {
    if measure_text_width(line) <= room {
        return (line, "");
    }
    let mut width = 0;
    let mut end = line.len();
    for (start, c) in line.char_indices() {
        width += measure_text_width(c.encode_utf8(&mut [0; 4]));
        if width > room {
            end = start;
            break;
        }
    }
    // A character wider than the line must not end the loop.
    let end = if end == 0 { line.len() } else { end };
    let indent = line.len() - line.trim_start().len();
    match line[..end].rfind(' ') {
        Some(blank) if blank > indent && line[end..].trim_start() != "" => {
            let at = if line[end..].starts_with(' ') {
                end
            } else {
                blank
            };
            (&line[..at], line[at..].trim_start())
        }
        _ => line.split_at(end),
    }
}

/// Appends a shell command in lines that end with `\`, so that it can be copied. A word is never
/// broken, and an option stays with its value if both fit.
pub fn command(out: &mut String, first: &str, command: &str, width: usize) {
    let indent = " ".repeat(first.len());
    let mut line = first.to_owned();
    let mut is_empty = true;
    let words = words(command);
    for (number, word) in words.iter().enumerate() {
        let value = words
            .get(number + 1)
            .filter(|value| !value.starts_with('-'));
        let value = match value {
            Some(value) if word.starts_with("--") => 1 + measure_text_width(value),
            _ => 0,
        };
        let is_option_too_wide = indent.len() + 4 + measure_text_width(word) + value > width;
        let value = if is_option_too_wide { 0 } else { value };
        let wide = measure_text_width(&line) + measure_text_width(word) + value + 3 > width;
        if wide && !is_empty {
            out.push_str(&format!("{line} \\\n"));
            line = format!("{indent}  ");
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    out.push_str(&format!("{line}\n"));
}

/// The words of a command as [`quoted`](crate::report::quoted) wrote them, with their quotes.
fn words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut is_quoted, mut has_escapes) = (0, false, false);
    let mut chars = command.char_indices();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if !is_quoted || has_escapes => {
                chars.next();
            }
            '\'' => {
                is_quoted = !is_quoted;
                has_escapes = is_quoted && before == '$';
            }
            ' ' if !is_quoted => {
                words.push(&command[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    words.push(&command[start..]);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, width: usize) -> String {
        let mut out = String::new();
        wrap(&mut out, text, "| ", width);
        out
    }

    #[test]
    fn names_keep_their_more_specific_end() {
        assert_eq!(keep_end("programs/sums/a.fut", 12), "...ums/a.fut");
        assert_eq!(keep_end("a.fut", 12), "a.fut");
        assert_eq!(keep_start("expected 7, got 0", 11), "expected...");
    }

    #[test]
    fn lines_are_broken_at_blanks() {
        assert_eq!(
            wrapped("one two three\n\nx", 12),
            "| one two\n| three\n|\n| x\n"
        );
        assert_eq!(
            wrapped("  abcdefghijklmnop", 14),
            "|   abcdefghij\n| klmnop\n"
        );
        assert_eq!(
            wrapped("a note ::error::x", 10),
            "| a note\n| \\::error::\n| x\n"
        );
        assert_eq!(wrapped("日本語日本語日本", 12), "| 日本語日本\n| 語日本\n");
    }

    #[test]
    fn a_folded_command_has_the_same_words() {
        let text = r"run 'programs/a b.fut' --check 'blocks:f'\'' #0' $'x\' y' --seed 7";
        let mut out = String::new();
        command(&mut out, "repeat: ", text, 30);
        assert!(out.lines().count() > 2, "{out}");
        let lines: Vec<&str> = out
            .lines()
            .map(|line| line.trim_end_matches('\\').trim())
            .collect();
        assert_eq!(lines.join(" "), format!("repeat: {text}"));
        assert!(out.contains("'programs/a b.fut'"), "{out}");
        assert!(out.contains(r"$'x\' y'"), "{out}");
    }
}
