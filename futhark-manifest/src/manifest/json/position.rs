//! Finds the positions of JSON pointers in a text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use super::escape;

/// A position in a text. Lines and columns are counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// The byte offset.
    pub offset: usize,
}

impl Position {
    /// Finds the position of a JSON pointer in a text, or of the innermost existing value around it.
    /// For many pointers into one text, use a [`Locator`].
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
        let scanner = Scanner { text, at: 0 };
        Position::of_byte(text, scanner.nearest(pointer))
    }

    /// The position of a byte.
    fn of_byte(text: &str, offset: usize) -> Position {
        let start = Position {
            line: 1,
            column: 1,
            offset: 0,
        };
        start.after(&text.as_bytes()[..offset.min(text.len())])
    }

    /// The position of a serde_json error, whose columns count bytes from one, and are zero at the end
    /// of a line.
    pub(crate) fn of_error(text: &[u8], error: &serde_json::Error) -> Position {
        let mut lines = text.split_inclusive(|&b| b == b'\n');
        let before: usize = lines
            .by_ref()
            .take(error.line().max(1) - 1)
            .map(<[u8]>::len)
            .sum();
        let line = lines.next().unwrap_or_default();
        let before_in_line = error.column().saturating_sub(1).min(line.len());
        Position {
            line: error.line().max(1),
            column: 1 + characters(&line[..before_in_line]),
            offset: before + before_in_line,
        }
    }

    /// The position after these bytes, which begin here.
    fn after(self, bytes: &[u8]) -> Position {
        let offset = self.offset + bytes.len();
        match bytes.iter().rposition(|&b| b == b'\n') {
            None => Position {
                column: self.column + characters(bytes),
                offset,
                ..self
            },
            Some(last) => Position {
                line: self.line + bytes.iter().filter(|&&b| b == b'\n').count(),
                column: 1 + characters(&bytes[last + 1..]),
                offset,
            },
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Finds the positions of many JSON pointers (RFC 6901) in one text.
///
/// A manifest with thousands of errors can be a single line of several megabytes. The locator indexes
/// types and entry points once, so that each lookup is fast.
pub struct Locator<'t> {
    text: &'t str,
    /// The offsets of types and entry points, by pointer.
    starts: HashMap<String, usize>,
    /// The position at every [`STRIDE`] bytes.
    marks: Vec<Position>,
}

/// Bytes between two marks.
const STRIDE: usize = 4096;

impl<'t> Locator<'t> {
    /// Scans the text.
    #[must_use]
    pub fn new(text: &'t str) -> Locator<'t> {
        let mut starts = HashMap::new();
        let top = Scanner { text, at: 0 };
        for (outer, at) in top.members() {
            for (inner, at) in (Scanner { text, at }).members() {
                starts.insert(format!("/{}/{}", escape(&outer), escape(&inner)), at);
            }
        }
        let mut here = Position::of_byte(text, 0);
        let marks = text.as_bytes().chunks(STRIDE).map(|chunk| {
            let mark = here;
            here = here.after(chunk);
            mark
        });
        let marks = marks.collect();
        Locator {
            text,
            starts,
            marks,
        }
    }

    /// Finds the start of the value that a pointer names. If there is none, returns the start of the
    /// innermost existing value around it; for a missing member, that of its object. If the text is not
    /// JSON, the result is unspecified.
    #[must_use]
    pub fn nearest(&self, pointer: &str) -> Position {
        // The first two segments are indexed.
        let third = pointer.match_indices('/').nth(2);
        let (head, tail) = pointer.split_at(third.map_or(pointer.len(), |(at, _)| at));
        let (at, rest) = match self.starts.get(head) {
            Some(&at) => (at, tail),
            None => (0, pointer),
        };
        let text = self.text;
        self.position(Scanner { text, at }.nearest(rest))
    }

    fn position(&self, offset: usize) -> Position {
        let Some(mark) = self.marks.get(offset / STRIDE) else {
            return Position::of_byte(self.text, offset);
        };
        mark.after(&self.text.as_bytes()[mark.offset..offset])
    }
}

/// The number of UTF-8 characters that start in these bytes.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b & 0xc0 != 0x80).count()
}

/// Unescapes a segment of a JSON pointer.
fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

/// Scans JSON without recursion, so that deeply nested text cannot overflow the stack.
#[derive(Clone, Copy)]
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    /// The start of the value that a pointer names, relative to the value at the scanner; if it
    /// does not exist, that of the innermost existing value around it.
    fn nearest(mut self, pointer: &str) -> usize {
        self.space();
        let mut found = self.at;
        for segment in pointer.split('/').skip(1) {
            if !self.enter(&unescape(segment)) {
                break;
            }
            found = self.at;
        }
        found
    }

    /// The members of the object at the scanner, each with the start of its value.
    fn members(mut self) -> Vec<(String, usize)> {
        let mut members = Vec::new();
        self.space();
        if self.next() == Some(b'{') {
            while let Some(key) = self.key() {
                members.extend(key.map(|key| (key, self.at)));
                if !self.past_comma() {
                    break;
                }
            }
        }
        members
    }

    /// Moves from the start of a value to that of its member or item. Returns false if there is
    /// none; the position of the scanner is then unspecified.
    fn enter(&mut self, segment: &str) -> bool {
        match self.next() {
            Some(b'{') => self.enter_object(segment),
            Some(b'[') => segment.parse().is_ok_and(|index| self.enter_array(index)),
            _ => false,
        }
    }

    fn enter_object(&mut self, name: &str) -> bool {
        while let Some(key) = self.key() {
            if key.as_deref() == Some(name) {
                return true;
            }
            if !self.past_comma() {
                return false;
            }
        }
        false
    }

    /// Moves past a name and its colon, to the start of the member's value. The inner `None` means
    /// that the name is not valid JSON.
    fn key(&mut self) -> Option<Option<String>> {
        self.space();
        let start = self.at;
        if self.peek() != Some(b'"') {
            return None;
        }
        self.value();
        let key = serde_json::from_str(&self.text[start..self.at]).ok();
        self.space();
        (self.next() == Some(b':')).then_some(())?;
        self.space();
        Some(key)
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

    /// Skips a value and the comma after it.
    fn past_comma(&mut self) -> bool {
        self.value();
        self.space();
        self.next() == Some(b',')
    }

    /// Skips a value.
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

    /// The position by both functions, which must agree.
    fn at(text: &str, pointer: &str) -> (usize, usize) {
        let position = Position::nearest(text, pointer);
        assert_eq!(Locator::new(text).nearest(pointer), position, "{pointer}");
        (position.line, position.column)
    }

    #[test]
    fn positions_in_long_lines_are_found() {
        let members: String = (0..2000)
            .map(|n| format!("\"é{n}\": [{n}, {n}],\n\t"))
            .collect();
        let text = format!("{{\"types\": {{{}\"z\": 0}}}}", members.replace("\n\t", ""));
        let locator = Locator::new(&text);
        for n in [0, 1, 500, 1999] {
            let position = locator.nearest(&format!("/types/é{n}/1"));
            assert_eq!(position.line, 1);
            assert!(text[position.offset..].starts_with(&format!("{n}],")));
            assert_eq!(
                position,
                Position::nearest(&text, &format!("/types/é{n}/1"))
            );
        }
    }

    #[test]
    fn positions_of_values_are_found() {
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
    fn a_missing_value_has_the_position_of_the_value_around_it() {
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
    fn any_text_has_a_position() {
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
