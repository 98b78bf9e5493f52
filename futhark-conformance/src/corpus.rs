//! The programs of a run: those in the given paths, in a fixed order.

use crate::blocks::TestBlocks;
use crate::pattern::Pattern;
use anyhow::{Context as _, bail};
use futhark_safe::compile::lexer;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// A Futhark source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The path as given, or as found in a given folder.
    pub path: PathBuf,
    /// Why the program cannot be checked.
    pub skip: Option<String>,
    /// Whether the reason is a failure of the run: a file or a whole folder cannot be read.
    pub unreadable: bool,
}

impl Program {
    /// The name in reports: the path, without parts that are `.`.
    #[must_use]
    pub fn name(&self) -> String {
        let parts = self.path.iter().filter(|part| *part != ".");
        PathBuf::from_iter(parts).to_string_lossy().into_owned()
    }
}

/// Futhark programs to check.
///
/// ```standalone_crate
/// use futhark_conformance::Corpus;
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir(folder.path().join("slow"))?;
/// # for name in ["a.fut", "slow/b.fut"] {
/// #     std::fs::write(folder.path().join(name), "entry main = 1i32")?;
/// # }
/// # std::fs::write(folder.path().join("lib.fut"), "def f = 1i32")?;
/// # std::env::set_current_dir(&folder)?;
/// let mut corpus = Corpus::find(["."])?;
/// assert_eq!(corpus.programs().count(), 2);
/// assert_eq!(corpus.exclude("slow/*"), 1);
/// for program in corpus.programs() {
///     assert_eq!(program.name(), "a.fut");
/// }
/// for (file, reason) in corpus.skipped() {
///     println!("{} is skipped: {reason}", file.name());
/// }
/// # assert_eq!(corpus.skipped().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Corpus {
    paths: Vec<PathBuf>,
    programs: Vec<Program>,
    excluded: Vec<Pattern>,
}

impl Corpus {
    /// Finds programs: given files, and every `.fut` file in given folders and their subfolders,
    /// sorted. Skips hidden folders, and follows links. A program that several paths name is found once.
    ///
    /// Skips files that cannot be checked alone: libraries without entry points, and files that are not text. A
    /// file or folder below a given folder that cannot be read is unreadable, and fails a run.
    ///
    /// Reads every source once.
    ///
    /// # Errors
    /// If a given path does not exist, cannot be read, is a file of another kind, or has no programs.
    pub fn find<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> anyhow::Result<Corpus> {
        let paths: Vec<PathBuf> = paths.into_iter().map(Into::into).collect();
        Ok(Corpus {
            programs: find(&paths)?,
            paths,
            excluded: Vec::new(),
        })
    }

    /// Leaves out the programs whose path matches, as found or relative to a given folder. `*` matches
    /// any text. Returns how many files that are.
    pub fn exclude(&mut self, pattern: impl Into<Pattern>) -> usize {
        let pattern = pattern.into();
        let before = self.programs.len();
        let paths = &self.paths;
        self.programs.retain(|program| {
            let in_folders = paths.iter();
            let mut in_folders = in_folders.filter_map(|path| program.path.strip_prefix(path).ok());
            !pattern.matches(&program.name())
                && !in_folders.any(|path| pattern.matches(&path.to_string_lossy()))
        });
        self.excluded.push(pattern);
        before - self.programs.len()
    }

    /// The programs to check.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.files().iter().filter(|file| file.skip.is_none())
    }

    /// The files that are not checked, each with the reason.
    pub fn skipped(&self) -> impl Iterator<Item = (&Program, &str)> {
        let files = self.files().iter();
        files.filter_map(|file| Some((file, file.skip.as_deref()?)))
    }

    /// The programs to check and the skipped files, in the order of the paths.
    #[must_use]
    pub fn files(&self) -> &[Program] {
        &self.programs
    }

    /// The given paths.
    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The patterns of excluded programs.
    #[must_use]
    pub fn excluded(&self) -> &[Pattern] {
        &self.excluded
    }

    /// Verifies that every file and folder could be read.
    ///
    /// # Errors
    /// If one could not.
    pub fn must_be_readable(&self) -> anyhow::Result<()> {
        match self.programs.iter().find(|program| program.unreadable) {
            Some(Program { path, skip, .. }) => {
                let reason = skip.as_deref().unwrap_or_default();
                bail!("read {}: {reason}", path.display())
            }
            None => Ok(()),
        }
    }
}

fn find(paths: &[PathBuf]) -> anyhow::Result<Vec<Program>> {
    let mut programs: Vec<Program> = Vec::new();
    let mut seen = Seen::default();
    for path in paths {
        let shown = path.display();
        let unreadable = || format!("read {shown}");
        let metadata = std::fs::metadata(path).with_context(unreadable)?;
        if metadata.is_dir() {
            std::fs::read_dir(path).with_context(unreadable)?;
            let found = programs_below(path, &mut seen);
            let found = found.with_context(|| format!("find a .fut file in {shown}"))?;
            programs.extend(found);
        } else if !is_source(path) {
            bail!("use {shown}: its name does not end in .fut");
        } else if !metadata.is_file() {
            bail!("use {shown}: {NOT_REGULAR}");
        } else if seen.is_new(path) {
            let skip = reason_to_skip(path).with_context(unreadable)?;
            programs.push(Program {
                path: path.clone(),
                skip,
                unreadable: false,
            });
        }
    }
    Ok(programs)
}

/// The folders or sources that a run already has, by their canonical paths: a path that names one
/// of them again, for example by a link, adds nothing.
#[derive(Debug, Default)]
struct Seen(HashSet<PathBuf>);

impl Seen {
    /// Whether the path is a new one. A path that cannot be resolved is.
    fn is_new(&mut self, path: &Path) -> bool {
        path.canonicalize().map_or(true, |path| self.0.insert(path))
    }
}

/// The sources in a folder and its subfolders, sorted; `None` if it has none, seen or not. Skips
/// hidden files and folders.
///
/// Links are followed after everything else, so that a file that is also in the folder itself has
/// its own name. Loops of links end, because each folder is then read once.
fn programs_below(root: &Path, seen: &mut Seen) -> Option<Vec<Program>> {
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
fn unread(root: &Path, error: walkdir::Error) -> Option<(PathBuf, io::Result<Option<String>>)> {
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
const NOT_REGULAR: &str = "not a regular file";

fn is_hidden(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Whether the name of a file is that of a program.
pub(crate) fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "fut")
}

/// The maximum size of a source file in bytes. Larger files are skipped without being read.
const LARGEST: u64 = 64 << 20;

/// Why a file is skipped: a file without entry points is a library for others, which does not use
/// the C API; and a tag may exclude it.
fn reason_to_skip(path: &Path) -> io::Result<Option<String>> {
    if path.to_str().is_none() {
        // Child processes get it as JSON.
        return Ok(Some("the path is not UTF-8".to_owned()));
    }
    if std::fs::metadata(path)?.len() > LARGEST {
        return Ok(Some(format!("larger than {} MiB", LARGEST >> 20)));
    }
    let source = std::fs::read(path)?;
    let Ok(source) = String::from_utf8(source) else {
        return Ok(Some("the file is not UTF-8".to_owned()));
    };
    // Errors in test blocks are reported when the program is checked.
    let blocks = TestBlocks::parse(&source).unwrap_or_default();
    if let Some(reason) = blocks.disabled_by_tag() {
        return Ok(Some(reason));
    }
    // `main` is always an entry point.
    let has_entry = lexer::pairs(&source).any(|[before, token]| {
        token.text == "entry" || matches!(before.text, "def" | "let") && token.text == "main"
    });
    // A program that must not compile needs no entry point.
    let library = !has_entry && blocks.compile_error.is_none();
    Ok(library.then(|| "no entry point: a library for other programs".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn names(root: &Path, programs: &[Program]) -> Vec<String> {
        let relative = |p: &Program| {
            let path = p.path.strip_prefix(root).unwrap();
            path.display().to_string()
        };
        programs.iter().map(relative).collect()
    }

    #[test]
    fn programs_below_a_folder_are_found_in_order_and_once() {
        use std::os::unix::fs::symlink;
        let text = "entry f = 1i32";
        let other = folder(&[("sub/w.fut", text)]);
        let files = ["a/x.fut", "a/x.txt", ".git/y.fut", "b/y.fut", "c/z.fut"];
        let folder = folder(&files.map(|name| (name, text)));
        let at = |name: &str| folder.path().join(name);
        // Loops; and links that come before the linked files.
        symlink(folder.path(), at("b/up")).unwrap();
        symlink(at("c"), at("aa")).unwrap();
        symlink(at("b/y.fut"), at("a/y.fut")).unwrap();
        symlink(other.path(), at("c/other")).unwrap();
        let whole = find(&[folder.path().to_owned()]).unwrap();
        assert_eq!(
            names(folder.path(), &whole),
            ["a/x.fut", "aa/other/sub/w.fut", "b/y.fut", "c/z.fut"]
        );
        let paths = ["aa", "b/up/c", "a/x.fut", "a", "b/up/b", "."].map(at);
        let found = find(&paths).unwrap();
        let expected = ["aa/other/sub/w.fut", "aa/z.fut", "a/x.fut", "a/y.fut"];
        assert_eq!(
            names(folder.path(), &found),
            expected,
            "the first path names it"
        );
    }

    #[test]
    fn files_of_other_kinds_are_named_and_never_opened() {
        let folder = folder(&[("x.fut", "entry f = 1i32"), ("big.fut", "")]);
        let at = |name: &str| folder.path().join(name);
        let _socket = std::os::unix::net::UnixListener::bind(at("socket.fut")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("device.fut")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("broken.fut")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("other")).unwrap();
        let fifo = std::process::Command::new("mkfifo")
            .arg(at("fifo.fut"))
            .status();
        assert!(fifo.unwrap().success());
        let big = fs::File::options().write(true).open(at("big.fut")).unwrap();
        big.set_len(LARGEST + 1).unwrap();

        let found = find(&[folder.path().to_owned()]).unwrap();
        let reasons: Vec<_> = found
            .iter()
            .filter_map(|program| program.skip.as_deref())
            .collect();
        assert_eq!(names(folder.path(), &found).len(), 6);
        assert_eq!(reasons[0], "larger than 64 MiB");
        assert_eq!(reasons[1], "a broken link");
        assert_eq!(reasons[2..], [NOT_REGULAR; 3]);
        assert!(found.iter().all(|program| !program.unreadable));
        for name in ["fifo.fut", "socket.fut", "device.fut"] {
            let error = find(&[at(name)]).unwrap_err();
            assert!(error.to_string().ends_with(NOT_REGULAR), "{error}");
        }
    }

    #[test]
    fn libraries_are_skipped() {
        let folder = folder(&[
            ("lib.fut", "def f = 1i32\n-- entry g\n"),
            ("line.fut", "def f = 1i32 entry g = f"),
            ("main.fut", "def -- it\n  main = 1i32"),
            ("marked.fut", "#[attr(x)]\nentry f = 1i32"),
            ("wrong.fut", "-- ==\n-- error: scope\n"),
            ("disabled.fut", "-- ==\n-- tags { disable }\nentry f = 1i32"),
            ("bytes.fut", ""),
        ]);
        fs::write(folder.path().join("bytes.fut"), [0xff, 0xfe]).unwrap();
        let mut skipped = find(&[folder.path().to_owned()]).unwrap();
        skipped.retain(|program| program.skip.is_some());
        assert_eq!(
            names(folder.path(), &skipped),
            ["bytes.fut", "disabled.fut", "lib.fut"]
        );
    }
}
