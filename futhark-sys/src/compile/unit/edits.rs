//! Changes of a file by place.

use std::ops::Range;

use crate::compile::generated::runtime::changed;
use crate::compile::generated::token::place;

pub(super) struct Edits<'a> {
    file: &'a str,
    list: Vec<(Range<usize>, String)>,
    /// The texts beside which a line was inserted.
    pub beside_lines: Vec<&'a str>,
}

impl<'a> Edits<'a> {
    pub(super) fn of(file: &'a str) -> Edits<'a> {
        Edits {
            file,
            list: Vec::new(),
            beside_lines: Vec::new(),
        }
    }

    /// Replaces `text`, a slice of the file.
    pub(super) fn replace(&mut self, text: &'a str, with: String) {
        let start = place(self.file, text);
        self.list.push((start..start + text.len(), with));
    }

    /// Inserts a line in front of the one on which `text` begins, after those inserted there before.
    pub(super) fn before(&mut self, text: &'a str, line: &str) {
        self.beside_lines.push(text);
        self.replace(&text[..0], format!("{line}\n{}", self.indent(text)));
    }

    /// Inserts a line behind `text`.
    pub(super) fn after(&mut self, text: &'a str, line: &str) {
        let line = format!("\n{}{line}", self.indent(text));
        self.beside_lines.push(text);
        self.after_on_line(text, &line);
    }

    /// Inserts text behind `text`.
    pub(super) fn after_on_line(&mut self, text: &'a str, more: &str) {
        self.replace(&text[text.len()..], more.to_owned());
    }

    fn indent(&self, text: &'a str) -> &'a str {
        let before = &self.file[..place(self.file, text)];
        let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        &line[..line.len() - line.trim_start().len()]
    }

    /// The changed file. Edits do not overlap.
    pub(super) fn apply(mut self) -> String {
        // At one place, what belongs to the text in front of it comes first.
        self.list
            .sort_by_key(|(place, with)| (place.start, !with.starts_with('\n'), place.end));
        changed(self.file, self.list)
    }
}
