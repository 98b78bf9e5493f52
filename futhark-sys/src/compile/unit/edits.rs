//! Changes of a file by place.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::compile::generated::token::place;

pub(super) struct Edits<'a> {
    file: &'a str,
    list: Vec<(Range<usize>, String)>,
}

impl<'a> Edits<'a> {
    pub(super) fn of(file: &'a str) -> Edits<'a> {
        Edits {
            file,
            list: Vec::new(),
        }
    }

    /// Replaces `text`, a slice of the file.
    pub(super) fn replace(&mut self, text: &'a str, with: String) {
        let start = place(self.file, text);
        self.list.push((start..start + text.len(), with));
    }

    /// Inserts a line in front of the one on which `text` begins, after those inserted there before.
    pub(super) fn before(&mut self, text: &'a str, line: &str) {
        let at = place(self.file, text);
        let line = format!("{line}\n{}", self.indent(text));
        self.list.push((at..at, line));
    }

    /// Inserts a line behind `text`.
    pub(super) fn after(&mut self, text: &'a str, line: &str) {
        let at = place(self.file, text) + text.len();
        let line = format!("\n{}{line}", self.indent(text));
        self.list.push((at..at, line));
    }

    /// Inserts text behind `text`.
    pub(super) fn after_on_line(&mut self, text: &'a str, more: &str) {
        let at = place(self.file, text) + text.len();
        self.list.push((at..at, more.to_owned()));
    }

    /// The first of `texts` in front of which or behind which a line was inserted.
    pub(super) fn first_beside_line(
        &self,
        mut texts: impl Iterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let is_line =
            |(place, with): &&(Range<usize>, String)| place.is_empty() && with.contains('\n');
        let lines = self.list.iter().filter(is_line);
        let places: BTreeSet<_> = lines.map(|(place, _)| place.start).collect();
        texts.find(|text| {
            let start = place(self.file, text);
            places.contains(&start) || places.contains(&(start + text.len()))
        })
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
        let mut text = String::with_capacity(self.file.len() * 5 / 4);
        let mut end = 0;
        for (place, with) in self.list {
            debug_assert!(end <= place.start, "edits overlap");
            text += &self.file[end..place.start];
            text += &with;
            end = place.end;
        }
        text + &self.file[end..]
    }
}
