//! Finds the sources in a folder and its subfolders.

use super::{Program, reason_to_skip};
use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// The folders and sources that a run already has, by their canonical paths: a path that names one
/// of them again, for example by a link, adds nothing.
#[derive(Debug, Default)]
pub(super) struct Seen(HashSet<PathBuf>);

impl Seen {
    /// Whether the path is a new one. A path that cannot be resolved is.
    pub(super) fn is_new(&mut self, path: &Path) -> bool {
        path.canonicalize().map_or(true, |path| self.0.insert(path))
    }
}

/// The sources in a folder and its subfolders, sorted; `None` if it has none, seen or not. Skips
/// hidden files and folders.
///
/// Links are followed after everything else, so that a file that is also in the folder itself has
/// its own name. Loops of links end, because each folder is read once.
pub(super) fn below(root: &Path, seen: &mut Seen) -> Option<Vec<Program>> {
    let mut walk = Walk {
        seen,
        found: Vec::new(),
        links: VecDeque::new(),
        has_seen: false,
    };
    walk.folder(root);
    while let Some(link) = walk.links.pop_front() {
        walk.link(link);
    }
    walk.found.sort_by(|a, b| a.path.cmp(&b.path));
    (walk.has_seen || !walk.found.is_empty()).then_some(walk.found)
}

struct Walk<'s> {
    seen: &'s mut Seen,
    found: Vec<Program>,
    links: VecDeque<PathBuf>,
    /// Whether a folder or source was omitted because it was seen before.
    has_seen: bool,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path) {
        let mut entries = WalkDir::new(folder).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    self.add(&path, Err(error.into()));
                    continue;
                }
            };
            // The first entry is the folder itself, possibly a link.
            let is_folder = entry.depth() == 0 || entry.file_type().is_dir();
            if is_folder && (is_hidden(&entry) || !self.is_new(entry.path())) {
                entries.skip_current_dir();
            } else if !is_folder && !is_hidden(&entry) {
                match entry.file_type().is_symlink() {
                    true => self.links.push_back(entry.into_path()),
                    false => self.file(entry.path(), entry.file_type().is_file()),
                }
            }
        }
    }

    fn link(&mut self, link: PathBuf) {
        match std::fs::metadata(&link) {
            Ok(target) if target.is_dir() => self.folder(&link),
            Ok(target) => self.file(&link, target.is_file()),
            Err(error) if is_source(&link) => {
                self.add(&link, Ok(Some(format!("a broken link: {error}"))));
            }
            // The link may have nothing to do with Futhark.
            Err(_) => {}
        }
    }

    fn file(&mut self, path: &Path, is_regular: bool) {
        if !is_source(path) {
        } else if !is_regular {
            self.add(path, Ok(Some(NOT_REGULAR.to_owned())));
        } else if self.is_new(path) {
            self.add(path, reason_to_skip(path));
        }
    }

    fn is_new(&mut self, path: &Path) -> bool {
        let is_new = self.seen.is_new(path);
        self.has_seen |= !is_new;
        is_new
    }

    /// Adds a file, and why it cannot be checked or read.
    fn add(&mut self, path: &Path, skip: io::Result<Option<String>>) {
        self.found.push(Program {
            path: path.to_owned(),
            unreadable: skip.is_err(),
            skip: skip.unwrap_or_else(|error| Some(format!("failed to read: {error}"))),
        });
    }
}

/// Why a FIFO, a socket or a device is never opened: reading it may block.
pub(super) const NOT_REGULAR: &str = "not a regular file";

fn is_hidden(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Whether the name of a file is that of a program.
pub(crate) fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "fut")
}
