//! Where in a text a JSON pointer leads.

use std::borrow::Cow;
use std::fmt;

/// A place in a text. Both numbers count from one; a column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// Where the value begins that a JSON pointer (RFC 6901) names; or, if there
    /// is no such value, the innermost one around it that is there. So what is
    /// missing from an object leads to that object.
    ///
    /// Scans the text once and allocates next to nothing. Where the text is not
    /// JSON the place is of no use, but there is one.
    ///
    /// ```
    /// use futhark_manifest::Position;
    ///
    /// let text = "{\n  \"types\": {\"[]i32\": {\"rank\": \"two\"}}\n}";
    /// let at = |pointer| Position::nearest(text, pointer).to_string();
    /// assert_eq!(at("/types/[]i32/rank"), "line 2, column 31");
    /// assert_eq!(at("/types/[]i32/ops/free"), "line 2, column 22");
    /// assert_eq!(at(""), "line 1, column 1");
    /// ```
    #[must_use]
    pub fn nearest(text: &str, pointer: &str) -> Position {
        let mut scanner = Scanner { text, at: 0 };
        scanner.space();
        let mut found = scanner.at;
        for segment in pointer.split('/').skip(1) {
            if !scanner.enter(&unescape(segment)) {
                break;
            }
            found = scanner.at;
        }
        Position::of_byte(text, found)
    }

    /// The place of a byte.
    pub(crate) fn of_byte(text: &str, byte: usize) -> Position {
        let before = &text.as_bytes()[..byte.min(text.len())];
        let line_start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |i| i + 1);
        Position {
            line: 1 + before.iter().filter(|&&b| b == b'\n').count(),
            column: 1 + characters(&before[line_start..]),
        }
    }

    /// The place that serde_json gives: its columns count bytes, from one, and
    /// it says nought at the end of a line.
    pub(crate) fn of_error(text: &[u8], error: &serde_json::Error) -> Position {
        let line = text.split(|&b| b == b'\n').nth(error.line().max(1) - 1);
        let line = line.unwrap_or_default();
        let before = error.column().saturating_sub(1).min(line.len());
        Position {
            line: error.line().max(1),
            column: 1 + characters(&line[..before]),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Bytes that begin a character of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b & 0xc0 != 0x80).count()
}

/// A segment of a JSON pointer as it was before it was escaped.
fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

/// Goes over JSON without a stack, so that no text is nested too deep for it.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    /// From the start of a value to that of the member or item; false, with the
    /// scanner anywhere, if there is none.
    fn enter(&mut self, segment: &str) -> bool {
        match self.next() {
            Some(b'{') => self.enter_object(segment),
            Some(b'[') => segment.parse().is_ok_and(|index| self.enter_array(index)),
            _ => false,
        }
    }

    fn enter_object(&mut self, name: &str) -> bool {
        loop {
            self.space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return false;
            }
            self.value();
            let key: Option<String> = serde_json::from_str(&self.text[start..self.at]).ok();
            self.space();
            if self.next() != Some(b':') {
                return false;
            }
            self.space();
            if key.as_deref() == Some(name) {
                return true;
            }
            if !self.past_comma() {
                return false;
            }
        }
    }

    fn enter_array(&mut self, index: usize) -> bool {
        for _ in 0..index {
            self.space();
            if !self.past_comma() {
                return false;
            }
        }
        self.space();
        self.peek() != Some(b']')
    }

    /// Over a value and the comma behind it.
    fn past_comma(&mut self) -> bool {
        self.value();
        self.space();
        self.next() == Some(b',')
    }

    /// Over a value, whatever is in it.
    fn value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' if depth == 0 => return,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.next() {
            match byte {
                b'"' => return,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        self.at = self.text.len();
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.at += usize::from(byte.is_some());
        byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, pointer: &str) -> (usize, usize) {
        let position = Position::nearest(text, pointer);
        (position.line, position.column)
    }

    #[test]
    fn values_are_found() {
        let text = "\n{\"a\": [1, [2, \"x\\\"]\"], {\"b/c~\": true}],\n \"é\": 3, \"\\u0041\": 4,\n\"\":5}";
        for (pointer, position) in [
            ("", (2, 1)),
            ("/a", (2, 7)),
            ("/a/0", (2, 8)),
            ("/a/1", (2, 11)),
            ("/a/1/1", (2, 15)),
            ("/a/2", (2, 24)),
            ("/a/2/b~1c~0", (2, 33)),
            ("/é", (3, 7)),
            ("/A", (3, 20)),
            ("/", (4, 4)),
        ] {
            assert_eq!(at(text, pointer), position, "{pointer}");
        }
    }

    #[test]
    fn what_is_not_there_leads_to_what_is_around_it() {
        let text = r#"{"a": [10, {"b": []}], "c": {}}"#;
        for (pointer, position) in [
            ("/z", (1, 1)),
            ("/a/2", (1, 7)),
            ("/a/1/x/y", (1, 12)),
            ("/a/1/b/0", (1, 18)),
            ("/a/0/b", (1, 8)),
            ("/c/d", (1, 29)),
            ("/a/x", (1, 7)),
        ] {
            assert_eq!(at(text, pointer), position, "{pointer}");
        }
    }

    #[test]
    fn any_text_has_a_place() {
        for text in [
            "",
            "{",
            "[",
            "{\"a",
            "{\"a\"",
            "{\"a\":",
            "[1",
            "\"\\",
            "é",
            "{\"a\":[[[[",
        ] {
            for pointer in ["", "/a", "/0", "/a/0/0", "a", "/a/~"] {
                let _ = at(text, pointer);
            }
        }
        let deep = "[".repeat(200_000);
        assert_eq!(at(&deep, "/0/0"), (1, 3));
        assert_eq!(at(&deep, "/1"), (1, 1));
    }
}
