//! Regular expressions of test blocks: `futhark test` reads a dialect of extended POSIX
//! expressions. This module translates them for the crate `regex`.
//!
//! Differences from Perl's expressions: a backslash makes every character literal, also in `\d`;
//! inside brackets a backslash is literal; `.` and `[^x]` match line ends; `^` and `$` match at
//! the ends of lines, but in an expression that starts with `^`, it matches only at the start of
//! the text.

use regex::{Regex, RegexBuilder};
use std::iter::Peekable;
use std::str::Chars;

/// Translates an expression, which may match anywhere in a text.
///
/// # Errors
/// A description of the error.
pub(super) fn compile(text: &str) -> Result<Regex, String> {
    let mut translated = Translator {
        rest: text.chars().peekable(),
        out: String::new(),
        depth: 0,
        anchored: text.starts_with('^'),
    };
    translated.expression()?;
    let Translator { out, anchored, .. } = translated;
    let all = if anchored {
        format!(r"\A(?:{out})")
    } else {
        out
    };
    RegexBuilder::new(&all)
        .multi_line(true)
        .dot_matches_new_line(true)
        .build()
        // The lines before the last repeat the expression.
        .map_err(|error| {
            error
                .to_string()
                .lines()
                .last()
                .unwrap_or_default()
                .to_owned()
        })
}

const EMPTY: &str = "an alternative is empty";

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    depth: usize,
    /// Whether every branch so far starts with `^`.
    anchored: bool,
}

impl Translator<'_> {
    fn expression(&mut self) -> Result<(), String> {
        // Whether an atom precedes that can be repeated, and whether this alternative is still
        // empty.
        let (mut atom, mut empty) = (false, true);
        while let Some(c) = self.rest.next() {
            (atom, empty) = match c {
                '*' | '+' | '?' | '{' if !atom => {
                    return Err(format!("nothing to repeat before {c:?}"));
                }
                ')' | '|' if empty && (c == '|' || self.depth > 0) => return Err(EMPTY.to_owned()),
                '*' | '+' | '?' => {
                    self.out.push(c);
                    (false, false)
                }
                '{' if self.rest.peek().is_some_and(char::is_ascii_digit) => {
                    self.bound()?;
                    (false, false)
                }
                '(' if self.rest.next_if_eq(&')').is_some() => {
                    self.out.push_str("()");
                    (true, false)
                }
                '(' => {
                    self.out.push('(');
                    self.depth += 1;
                    (false, true)
                }
                '|' => {
                    self.out.push('|');
                    if self.depth == 0 {
                        self.anchored &= self.rest.peek() == Some(&'^');
                    }
                    (false, true)
                }
                c => {
                    self.atom(c)?;
                    (true, false)
                }
            };
        }
        match (self.depth, empty) {
            (0, false) => Ok(()),
            (0, true) => Err(EMPTY.to_owned()),
            _ => Err("a '(' is not closed".to_owned()),
        }
    }

    fn atom(&mut self, c: char) -> Result<(), String> {
        match c {
            '[' => self.brackets()?,
            '\\' => {
                let c = self.rest.next().ok_or("a backslash at the end")?;
                self.literal(c);
            }
            ')' if self.depth > 0 => {
                self.depth -= 1;
                self.out.push(')');
            }
            '^' | '$' | '.' => self.out.push(c),
            c => self.literal(c),
        }
        Ok(())
    }

    /// `{2}`, `{2,}` and `{2,3}`, after the brace.
    fn bound(&mut self) -> Result<(), String> {
        self.out.push('{');
        for c in self.rest.by_ref() {
            match c {
                '0'..='9' | ',' => self.out.push(c),
                '}' => {
                    self.out.push('}');
                    return Ok(());
                }
                _ => break,
            }
        }
        Err("a '{' is not closed".to_owned())
    }

    /// `[a-z_]`, `[^]]`, `[[:digit:]]`, after the bracket.
    fn brackets(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let c = self.rest.next().ok_or("a '[' is not closed")?;
            match c {
                ']' if !first => break,
                '[' if self.rest.peek() == Some(&':') => self.class()?,
                // A range, if it has two sides.
                '-' if !first && self.rest.peek() != Some(&']') => self.out.push('-'),
                c => self.literal(c),
            }
            first = false;
        }
        self.out.push(']');
        Ok(())
    }

    /// `[:digit:]`, after its bracket.
    fn class(&mut self) -> Result<(), String> {
        let mut name = String::new();
        for c in self.rest.by_ref() {
            name.push(c);
            if name.ends_with(":]") {
                self.out.push('[');
                self.out.push_str(&name);
                return Ok(());
            }
        }
        Err("a '[:' is not closed".to_owned())
    }

    fn literal(&mut self, c: char) {
        self.out
            .push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }
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
