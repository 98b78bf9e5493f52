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

/// A section of the generated C, in the form `backends/c.h`.
pub(super) struct Section<'a> {
    file: &'a str,
    pub place: Range<usize>,
}

/// A text of a section that a version of the compiler writes.
struct Known {
    file: &'static str,
    hash: &'static str,
    lines: &'static str,
    versions: &'static str,
}

fn known() -> impl Iterator<Item = Known> {
    let rows = include_str!("runtime/sections.tsv").lines();
    rows.filter_map(|row| {
        let [file, hash, lines, versions] = *row.split('\t').collect::<Vec<_>>() else {
            return None;
        };
        Some(Known {
            file,
            hash,
            lines,
            versions,
        })
    })
}

/// A change of a section.
struct Edit {
    file: &'static str,
    /// How often its texts are met together.
    count: usize,
    /// What holds because of it.
    promise: &'static str,
    /// Texts, and what replaces each.
    texts: Vec<[String; 2]>,
}

fn edits() -> impl Iterator<Item = Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut before = "";
    for line in include_str!("runtime/edits.txt").lines() {
        let (mark, rest) = line.split_at_checked(1).unwrap_or_default();
        let side = usize::from(mark == "+");
        match (mark, edits.last_mut()) {
            ("@", _) => {
                let mut words = rest.trim_start().splitn(3, ' ');
                let mut word = || words.next().unwrap_or_default();
                edits.push(Edit {
                    file: word(),
                    count: word().parse().unwrap_or_default(),
                    promise: word(),
                    texts: Vec::new(),
                });
            }
            ("-" | "+", Some(edit)) => {
                if mark == "-" && before != "-" {
                    edit.texts.push(Default::default());
                }
                if let Some(texts) = edit.texts.last_mut() {
                    if before == mark {
                        texts[side].push('\n');
                    }
                    texts[side] += rest;
                }
            }
            _ => {}
        }
        before = mark;
    }
    edits.into_iter()
}

pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (before, _) in text.match_indices("\n// ") {
        let line = text[before + 1..].lines().next().unwrap_or_default();
        let file = line.trim_end_matches('.');
        let mark = |start| file.strip_prefix(start).filter(|file| file.ends_with(".h"));
        if let Some(file) = mark("// Start of ").or_else(|| mark("// start of ")) {
            // A section without an end ends at the next one.
            let place = before + 1..text.len();
            if let Some(last) = sections.last_mut() {
                last.place.end = last.place.end.min(place.start);
            }
            sections.push(Section { file, place });
        } else if let Some(last) = sections.last_mut()
            && mark("// End of ").is_some_and(|end| end.trim_start_matches("of ") == last.file)
        {
            last.place.end = last.place.end.min(before + 1 + line.len() + 1);
        }
    }
    sections
}

/// Whether the code of a backend has this section.
fn is_in(file: &str, backend: Backend) -> bool {
    match file.strip_prefix("backends/") {
        Some("multicore.h") => backend.has_threads(),
        Some(own) => own.strip_suffix(".h") == Some(backend.as_str()),
        None if file.starts_with("gpu") => backend.is_gpu(),
        None => file != "scheduler.h" || backend.has_threads(),
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
    let mut versions: Option<BTreeSet<&str>> = None;
    for section in &sections {
        let (file, text) = (section.file, &text[section.place.clone()]);
        let hash = hmac_sha256::Hash::hash(text.as_bytes());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        match known().find(|known| (known.file, known.hash) == (file, &*hash)) {
            None => unknown.push(unknown_section(file, text.lines().count(), &hash)),
            Some(known) => {
                let own: BTreeSet<&str> = known.versions.split(' ').collect();
                versions = Some(versions.map_or_else(|| own.clone(), |all| &all & &own));
            }
        }
    }
    for file in known().map(|known| known.file).collect::<BTreeSet<_>>() {
        let is_there = sections.iter().any(|section| section.file == file);
        if is_in(file, program.backend) && !is_there {
            unknown.push(unknown_section(file, 0, "none"));
        }
    }
    for edit in edits().filter(|edit| is_in(edit.file, program.backend)) {
        let places = edit.places(text, &sections);
        match places.len() == edit.count {
            true => changes.extend(places),
            false => unknown.push(format!(
                "{}: not ensured that {}: {} places of this change are found, expected {}",
                edit.file,
                edit.promise,
                places.len(),
                edit.count
            )),
        }
    }
    match allowed {
        Some(list) => list.append(&mut unknown),
        None if unknown.is_empty() => {}
        None => {
            let versions = Vec::from_iter(versions.unwrap_or_default()).join(" ");
            let why = format!(
                "the text of the runtime is not known\n- {}\nThe versions that have all other sections: {versions}",
                unknown.join("\n- ")
            );
            let file = unknown[0].split(':').next().unwrap_or_default();
            return Err(Error::unsupported(&program.version, file, &why));
        }
    }
    changes.extend(outlined(text));
    Ok(changes)
}

impl Edit {
    fn places(&self, text: &str, sections: &[Section<'_>]) -> Vec<Replacement> {
        let mut places = Vec::new();
        for section in sections.iter().filter(|section| section.file == self.file) {
            for [from, to] in &self.texts {
                let found = text[section.place.clone()].match_indices(from);
                places.extend(found.map(|(at, _)| {
                    let start = section.place.start + at;
                    (start..start + from.len(), to.clone())
                }));
            }
        }
        places
    }
}

/// Describes a section whose text is not known; one without lines is missing.
fn unknown_section(file: &str, lines: usize, hash: &str) -> String {
    let known = known().filter(|known| known.file == file);
    let known = known.map(|known| {
        let versions: Vec<_> = known.versions.split(' ').collect();
        format!(
            "{} lines in {} to {}",
            known.lines,
            versions[0],
            versions[versions.len() - 1]
        )
    });
    let known: Vec<_> = known.collect();
    format!(
        "{file}: {lines} lines that are not known (SHA-256 {hash}); known are {}",
        match known.is_empty() {
            true => "no texts of it".to_owned(),
            false => known.join(", "),
        }
    )
}

/// Functions that the compiler writes outside of sections and that gcc inlines in all places that call them, which takes a part of
/// the time of a build.
fn outlined(text: &str) -> impl Iterator<Item = Replacement> {
    let heads = ["\nint memblock_unref(", "\nint memblock_set("];
    let places = heads.into_iter().flat_map(|head| text.match_indices(head));
    places.map(|(at, _)| (at + 1..at + 1, "__attribute__((noinline)) ".to_owned()))
}

/// `name.c` with our changes of the runtime: see [`changes`].
pub(in crate::compile) fn checked(
    text: &str,
    program: &Program,
    allowed: Option<&mut Vec<String>>,
) -> Result<String, Error> {
    Ok(changed(text, changes(text, program, allowed)?))
}

/// Makes changes, whose places do not overlap.
fn changed(text: &str, mut changes: Vec<Replacement>) -> String {
    changes.sort_by_key(|(place, _)| place.start);
    let mut changed = String::with_capacity(text.len() + text.len() / 8);
    let mut end = 0;
    for (place, new) in changes {
        changed += &text[end..place.start];
        changed += &new;
        end = place.end;
    }
    changed + &text[end..]
}
