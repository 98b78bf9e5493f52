//! Finds the sources in a folder and its subfolders.

use super::{Program, reason_to_skip};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, Error, WalkDir};

/// The folders or sources that a run already has, by their canonical paths: a path that names one
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
/// its own name. Loops of links end, because each folder is then read once.
pub(super) fn below(root: &Path, seen: &mut Seen) -> Option<Vec<Program>> {
    let walk = || WalkDir::new(root).sort_by_file_name();
    let own = walk().into_iter().filter_entry(|entry| !is_hidden(entry));
    let own = own.filter(|entry| entry.as_ref().is_ok_and(|one| one.file_type().is_file()));
    let mut folders = Seen::default();
    let all = walk().follow_links(true).into_iter();
    let all = all.filter_entry(|entry| {
        !is_hidden(entry) && (!entry.file_type().is_dir() || folders.is_new(entry.path()))
    });
    let mut found = Vec::new();
    let mut has_seen = false;
    for entry in own.chain(all) {
        let (path, skip) = match entry {
            Ok(entry) if !is_source(entry.path()) || entry.file_type().is_dir() => continue,
            Ok(entry) if !seen.is_new(entry.path()) => {
                has_seen = true;
                continue;
            }
            Ok(entry) if !entry.file_type().is_file() => {
                (entry.into_path(), Ok(Some(NOT_REGULAR.to_owned())))
            }
            Ok(entry) => (entry.path().to_owned(), reason_to_skip(entry.path())),
            Err(error) => match unread(root, error) {
                Some(unread) => unread,
                None => continue,
            },
        };
        found.push(Program {
            path,
            unreadable: skip.is_err(),
            skip: skip.unwrap_or_else(|error| Some(format!("failed to read: {error}"))),
        });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    (has_seen || !found.is_empty()).then_some(found)
}

/// What an error of the walk is about, and why that cannot be checked or read. `None` for a loop of links, and
/// for a broken link, which may have nothing to do with Futhark.
fn unread(root: &Path, error: Error) -> Option<(PathBuf, io::Result<Option<String>>)> {
    let path = error.path().unwrap_or(root).to_owned();
    let is_broken = path.is_symlink() && !path.exists();
    match is_source(&path) {
        _ if error.loop_ancestor().is_some() => None,
        _ if !is_broken => Some((path, Err(error.into()))),
        true => Some((path, Ok(Some("a broken link".to_owned())))),
        false => None,
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
