//! The runtime in the generated C: sections, from `// Start of copy.h` to `// End of copy.h`, which are files of the compiler and
//! the same in all programs.
//!
//! A hardened build accepts only texts that are known (`runtime/sections.tsv`), and makes exactly the changes in
//! `runtime/edits.txt`. What our C file needs of the runtime is known by that, too: which functions it defines and calls, and that
//! no other division has a divisor 0 or -1 (`docs/arithmetic.md`).

use std::collections::BTreeSet;
use std::ops::Range;

use futhark_manifest::{Backend, Program};

use crate::compile::error::Error;

/// A change of a text: the place, and what replaces it.
pub(in crate::compile) type Replacement = (Range<usize>, String);

/// A section of the generated C: its file, such as `backends/c.h`, and its place.
pub(super) type Section<'a> = (&'a str, Range<usize>);

/// The known texts: file, hash, number of lines, versions.
fn known() -> impl Iterator<Item = [&'static str; 4]> {
    let rows = include_str!("runtime/sections.tsv").lines();
    rows.filter_map(|row| row.split('\t').collect::<Vec<_>>().try_into().ok())
}

/// A change of a section.
struct Edit<'a> {
    file: &'a str,
    /// How often its texts are met together.
    count: usize,
    /// What holds because of it.
    promise: &'a str,
    /// Texts, and what replaces each.
    texts: Vec<(&'a str, &'a str)>,
}

impl Edit<'_> {
    fn read(text: &str) -> Option<Edit<'_>> {
        let (head, rest) = text.split_once('\n')?;
        let mut words = head.splitn(3, ' ');
        let texts = rest.split("<<<\n").skip(1);
        Some(Edit {
            file: words.next()?,
            count: words.next()?.parse().ok()?,
            promise: words.next()?,
            texts: texts
                .map(|text| text.split_once("\n>>>")?.0.split_once("\n===\n"))
                .collect::<Option<_>>()?,
        })
    }

    fn places(&self, text: &str, sections: &[Section<'_>]) -> Vec<Replacement> {
        let mut places = Vec::new();
        for (_, section) in sections.iter().filter(|(file, _)| *file == self.file) {
            for (from, to) in &self.texts {
                let found = text[section.clone()].match_indices(from);
                let starts = found.map(|(at, _)| section.start + at);
                places.extend(starts.map(|at| (at..at + from.len(), (*to).to_owned())));
            }
        }
        places
    }
}

pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (before, _) in text.match_indices("\n// ") {
        let start = before + 1;
        let line = text[start..].lines().next().unwrap_or_default();
        let mark = line.trim_end_matches('.').rsplit_once(" of ");
        let Some((kind, file)) = mark.filter(|(_, file)| file.ends_with(".h")) else {
            continue;
        };
        let is_start = kind.eq_ignore_ascii_case("// start");
        if let Some((last, place)) = sections.last_mut() {
            // One without an end ends at the next one.
            if is_start {
                place.end = place.end.min(start);
            } else if kind.starts_with("// End") && file == *last {
                place.end = place.end.min(start + line.len() + 1);
            }
        }
        if is_start {
            sections.push((file, start..text.len()));
        }
    }
    sections
}

/// Whether the code of a backend has this section.
fn is_in(file: &str, backend: Backend) -> bool {
    match file.strip_prefix("backends/").unwrap_or(file) {
        "scheduler.h" | "multicore.h" => backend.has_threads(),
        "gpu.h" | "gpu_prototypes.h" => backend.is_gpu(),
        own => own == file || own.strip_suffix(".h") == Some(backend.as_str()),
    }
}

/// Our changes of the runtime in `name.c`.
///
/// A runtime that is not known is an error. If it is `allowed`, everything is changed whose place is found, and what is not known,
/// and each change that is missing, is added to the list.
pub(in crate::compile) fn changes(
    text: &str,
    program: &Program,
    allowed: Option<&mut Vec<String>>,
) -> Result<Vec<Replacement>, Error> {
    let sections = sections(text);
    let (mut changes, mut unknown) = (Vec::new(), Vec::new());
    let mut versions: BTreeSet<&str> = known().flat_map(|[.., own]| own.split(' ')).collect();
    for (file, place) in &sections {
        let text = &text[place.clone()];
        let digest = hmac_sha256::Hash::hash(text.as_bytes());
        let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        match known().find(|known| known[..2] == [*file, &*hash]) {
            None => unknown.push(unknown_section(file, text.lines().count(), &hash)),
            Some([.., own]) => versions.retain(|version| own.split(' ').any(|one| one == *version)),
        }
    }
    let expected: BTreeSet<_> = known().map(|[file, ..]| file).collect();
    for file in expected {
        let is_missing = || sections.iter().all(|(section, _)| *section != file);
        if is_in(file, program.backend) && is_missing() {
            unknown.push(unknown_section(file, 0, "none"));
        }
    }
    let edits = include_str!("runtime/edits.txt").replace("\r\n", "\n");
    for edit in edits.split("\n@ ").filter_map(Edit::read) {
        let places = edit.places(text, &sections);
        let (file, promise, found, count) = (edit.file, edit.promise, places.len(), edit.count);
        if found != count && is_in(file, program.backend) {
            unknown.push(format!(
                "{file}: not ensured that {promise}: {found} places of this change are found, expected {count}"
            ));
        }
        // One that is found more often can be in another place.
        if found <= count {
            changes.extend(places);
        }
    }
    if let Some(list) = allowed {
        list.append(&mut unknown);
    } else if let Some(first) = unknown.first() {
        let file = first.split(':').next().unwrap_or_default();
        let why = format!(
            "the text of the runtime is not known\n- {}\nThe versions that have all other sections: {}",
            unknown.join("\n- "),
            Vec::from_iter(versions).join(" ")
        );
        return Err(Error::unsupported(&program.version, file, &why));
    }
    // The compiler writes these outside of sections. gcc would inline them everywhere, which takes a part of the time of a build.
    for head in ["\nint memblock_unref(", "\nint memblock_set("] {
        let starts = text.match_indices(head).map(|(at, _)| at + 1);
        changes.extend(starts.map(|at| (at..at, "__attribute__((noinline)) ".to_owned())));
    }
    Ok(changes)
}

/// Describes a section whose text is not known; one without lines is missing.
fn unknown_section(file: &str, lines: usize, hash: &str) -> String {
    let known = known().filter(|known| known[0] == file);
    let known = known.map(|[.., lines, versions]| {
        let mut versions = versions.split(' ');
        let first = versions.next().unwrap_or_default();
        let last = versions.next_back().unwrap_or(first);
        format!(" {lines} lines in {first} to {last}")
    });
    let known = known.collect::<Vec<_>>().join(",");
    format!("{file}: {lines} lines that are not known (SHA-256 {hash}); known are{known}")
}

/// Makes changes, whose places do not overlap. Those at one place keep their order.
pub(in crate::compile) fn changed(text: &str, mut changes: Vec<Replacement>) -> String {
    changes.sort_by_key(|(place, _)| place.start);
    let mut changed = String::with_capacity(text.len() + text.len() / 8);
    let mut end = 0;
    for (place, new) in changes {
        debug_assert!(end <= place.start, "changes overlap");
        changed += &text[end..place.start];
        changed += &new;
        end = place.end;
    }
    changed + &text[end..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_read_and_is_one_of_a_known_section() {
        let text = include_str!("runtime/edits.txt").replace("\r\n", "\n");
        let edits: Vec<_> = text.split("\n@ ").filter_map(Edit::read).collect();
        assert_eq!(edits.len(), text.matches("\n@ ").count());
        let texts: usize = edits.iter().map(|edit| edit.texts.len()).sum();
        assert_eq!(texts, text.matches("<<<\n").count());
        for edit in &edits {
            assert!(known().any(|[file, ..]| file == edit.file), "{}", edit.file);
            assert!(edit.count > 0 && !edit.promise.is_empty());
        }
        let rows = include_str!("runtime/sections.tsv").lines();
        assert_eq!(
            known().count(),
            rows.filter(|row| !row.starts_with('#')).count()
        );
        let hashes: BTreeSet<_> = known().map(|[_, hash, ..]| hash).collect();
        assert_eq!(hashes.len(), known().count());
    }

    #[test]
    fn sections_are_found_by_their_marks() {
        const TEXT: &str = "int x;\n// Start of a.h.\n1\n// End of a.h.\n// start of backends/b.h\n2\n\
            // End of GPU options.\n// End of of backends/b.h\n3\n// Start of c.h\n4\n// Start of d.h\n5\n// End of e.h\n";
        let found = sections(TEXT);
        let found = found
            .iter()
            .map(|(file, place)| (*file, &TEXT[place.clone()]));
        let expected = [
            ("a.h", "// Start of a.h.\n1\n// End of a.h.\n"),
            (
                "backends/b.h",
                "// start of backends/b.h\n2\n// End of GPU options.\n// End of of backends/b.h\n",
            ),
            ("c.h", "// Start of c.h\n4\n"),
            ("d.h", "// Start of d.h\n5\n// End of e.h\n"),
        ];
        assert_eq!(Vec::from_iter(found), expected);
    }
}
