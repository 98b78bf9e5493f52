//! Regular expressions of test blocks: `futhark test` reads a dialect of extended POSIX
//! expressions. This module translates them for the crate `regex`.
//!
//! Differences from Perl's expressions: a backslash makes every character literal, also in `\d`;
//! inside brackets a backslash is literal; `.` and `[^x]` match line ends; `^` and `$` match at
//! beginnings and ends of lines, but if every alternative starts with `^`, it matches only at the
//! start of the text.

use regex::{Regex, RegexBuilder};
use std::iter::Peekable;
use std::str::Chars;

const EMPTY: &str = "an alternative is empty";

/// Translates an expression, which may match anywhere in a text.
pub(super) fn compile(text: &str) -> Result<Regex, String> {
    let mut rest = text.chars().peekable();
    let mut out = String::new();
    let mut depth = 0;
    // An alternative begins.
    let mut before = '|';
    while let Some(c) = rest.next() {
        match c {
            '*' | '+' | '?' | '{' if "*+?(|".contains(before) => {
                return Err(format!("nothing to repeat before {c:?}"));
            }
            '|' | ')' if before == '|' || (before, c) == ('(', '|') => return Err(EMPTY.to_owned()),
            ')' if depth == 0 => literal(c, &mut out),
            ')' => {
                depth -= 1;
                out.push(c);
            }
            '(' => {
                depth += 1;
                out.push(c);
            }
            '[' => brackets(&mut rest, &mut out)?,
            '\\' => literal(rest.next().ok_or("a backslash at the end")?, &mut out),
            '{' if !rest.peek().is_some_and(char::is_ascii_digit) => literal(c, &mut out),
            '*' | '+' | '?' | '{' | '}' | '|' | '^' | '$' | '.' => out.push(c),
            c => literal(c, &mut out),
        }
        before = c;
    }
    if before == '|' {
        return Err(EMPTY.to_owned());
    }
    // Only if each alternative starts with `^`.
    if text.starts_with('^') && text.split('|').all(|part| part.starts_with('^')) {
        out = format!(r"\A(?:{out})");
    }
    RegexBuilder::new(&out)
        .multi_line(true)
        .dot_matches_new_line(true)
        .size_limit(1 << 20)
        .build()
        // The lines before the last repeat the expression.
        .map_err(|error| {
            let error = error.to_string();
            error.lines().last().unwrap_or_default().to_owned()
        })
}

/// `[a-z_]`, `[^]]`, `[[:digit:]]`, after the bracket.
fn brackets(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), String> {
    out.push('[');
    out.extend(rest.next_if_eq(&'^'));
    let mut is_first = true;
    loop {
        match rest.next().ok_or("a '[' is not closed")? {
            ']' if !is_first => break,
            '[' if rest.peek() == Some(&':') => {
                out.push('[');
                out.extend(rest.by_ref().take_while(|&c| c != ']'));
                out.push(']');
            }
            // A range, if it has two sides.
            '-' if !is_first && rest.peek() != Some(&']') => out.push('-'),
            c => literal(c, out),
        }
        is_first = false;
    }
    out.push(']');
    Ok(())
}

fn literal(c: char, out: &mut String) {
    out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of the generated code.
    const MESSAGE: &str = "Error: Index [1] out of bounds for array of shape [1].\n\nBacktrace:\n-> #0  a.fut:4:20-29\n\n";

    /// Each was tried with `futhark test` (0.25.32) on the same message.
    #[test]
    fn expressions_match_as_in_futhark_test() {
        let found = [
            r"\.$",
            "29$",
            "$",
            "[^a]Backtrace",
            r"\.[^a]*$",
            r"\Error",
            "()",
            "r{2}",
            "r{1,}or",
            "[[:alpha:]]rr",
            r"\[1",
            r"[1-3]\]",
            "bounds.*#0",
            "29.$",
            "29..$",
            r"\d",
            r"\x",
            "rro(r|q)",
            ".",
            "]",
            "^Error",
            "(zzz|^Back)",
            "Backtrace:$",
            r"\]\.$",
            "[.]$",
        ];
        for text in found {
            assert!(compile(text).unwrap().is_match(MESSAGE), "{text}");
        }
        let not_found = [
            "Q$",
            "array$",
            "^Array",
            "^Back",
            "^-> #0",
            "a^b",
            r"\bError",
            r"\`Error",
            "(zzz)*Z",
            "a{2}",
            "[]x]1",
            r"[\]1]x",
            r"x[a\]1",
            r"of \[1\]",
            "29...$",
            r"\(Err",
            r"\{",
            "a{x",
            r"\w",
            r"\nBack",
            r"\/",
            "}",
            "shape$",
        ];
        for text in not_found {
            assert!(!compile(text).unwrap().is_match(MESSAGE), "{text}");
        }
        for text in [
            "a|b|",
            "Z**",
            "Z+?",
            "+",
            "{",
            "E(?:rror)",
            "(?i)error",
            "(",
            "[a",
            r"a\",
            "a{2",
        ] {
            assert!(compile(text).is_err(), "{text}");
        }
    }
}
