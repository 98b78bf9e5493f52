//! The programs of a run: those in the given paths, in a fixed order.

use crate::blocks::TestBlocks;
use regex::Regex;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use walkdir::WalkDir;

/// A Futhark source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The path as given, or as found in a given folder.
    pub path: PathBuf,
    /// Why the program cannot be checked.
    pub skip: Option<String>,
}

impl Program {
    /// The name in reports: the path, with `/` between its parts.
    #[must_use]
    pub fn name(&self) -> String {
        let parts = self.path.iter().map(|part| part.to_string_lossy());
        let parts: Vec<_> = parts.filter(|part| part != ".").collect();
        // A root is a part of its own, and is already a slash.
        parts.join("/").replace("//", "/")
    }
}

/// Why no programs were found.
#[derive(Debug)]
#[non_exhaustive]
pub enum CorpusError {
    /// A path does not exist, or cannot be read.
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A given file that is not a Futhark source.
    NotFuthark(PathBuf),
    /// A folder without a Futhark source.
    Nothing(PathBuf),
}

impl fmt::Display for CorpusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CorpusError::Unreadable { path, .. } => write!(f, "read {}", path.display()),
            CorpusError::NotFuthark(path) => {
                write!(f, "use {}: its name does not end in .fut", path.display())
            }
            CorpusError::Nothing(path) => write!(f, "find a .fut file in {}", path.display()),
        }
    }
}

impl std::error::Error for CorpusError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CorpusError::Unreadable { source, .. } => Some(source),
            CorpusError::NotFuthark(_) | CorpusError::Nothing(_) => None,
        }
    }
}

/// Finds the programs: given files, and every `.fut` file in given folders and their subfolders,
/// sorted. Skips hidden folders.
///
/// # Errors
/// If a path does not exist, cannot be read, or has no programs.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Program>, CorpusError> {
    let mut programs: Vec<Program> = Vec::new();
    for path in paths {
        let unreadable = |source| CorpusError::Unreadable {
            path: path.clone(),
            source,
        };
        let metadata = std::fs::metadata(path).map_err(unreadable)?;
        let files = if metadata.is_dir() {
            let files = below(path)?;
            if files.is_empty() {
                return Err(CorpusError::Nothing(path.clone()));
            }
            files
        } else if is_source(path) {
            vec![path.clone()]
        } else {
            return Err(CorpusError::NotFuthark(path.clone()));
        };
        for file in files {
            if programs.iter().all(|program| program.path != file) {
                let skip = reason_to_skip(&file)?;
                programs.push(Program { path: file, skip });
            }
        }
    }
    Ok(programs)
}

fn below(folder: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let visible = |entry: &walkdir::DirEntry| {
        entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
    };
    let mut files = Vec::new();
    for entry in WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(visible)
    {
        let entry = entry.map_err(|error| CorpusError::Unreadable {
            path: error.path().unwrap_or(folder).to_owned(),
            source: error.into(),
        })?;
        if entry.file_type().is_file() && is_source(entry.path()) {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "fut")
}

/// Why a file is skipped: a file without entry points is a library for others, which does not use
/// the C API; and a tag may exclude it.
fn reason_to_skip(path: &Path) -> Result<Option<String>, CorpusError> {
    static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
        // `main` is always an entry point.
        Regex::new(r"(?m)^\s*(#\[[^\]]*\]\s*)*(entry\b|(def|let)\s+main\b)")
            .expect("a valid expression")
    });
    let unreadable = |source| CorpusError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let source = std::fs::read(path).map_err(unreadable)?;
    let Ok(source) = String::from_utf8(source) else {
        return Ok(Some("the file is not UTF-8".to_owned()));
    };
    // Errors in test blocks are reported when the program is checked.
    let blocks = TestBlocks::parse(&source).unwrap_or_default();
    if let Some(reason) = blocks.set_aside() {
        return Ok(Some(reason));
    }
    // A program that must not compile needs no entry point.
    let library = !ENTRY.is_match(&source) && blocks.compile_error.is_none();
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
            p.path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .into_owned()
        };
        programs.iter().map(relative).collect()
    }

    #[test]
    fn sources_are_found_below_a_folder_in_order() {
        let folder = folder(&[
            ("b.fut", "entry f = 1i32"),
            ("a/x.fut", "entry f = 1i32"),
            ("a/x.txt", ""),
            (".git/y.fut", "entry f = 1i32"),
        ]);
        let programs = find(&[folder.path().to_owned(), folder.path().join("b.fut")]).unwrap();
        assert_eq!(
            names(folder.path(), &programs),
            ["a/x.fut", "b.fut"],
            "each once"
        );
        assert!(programs.iter().all(|program| program.skip.is_none()));
    }

    #[test]
    fn libraries_are_skipped() {
        let folder = folder(&[
            ("lib.fut", "def f = 1i32\n-- entry g\n"),
            ("main.fut", "def main = 1i32"),
            ("marked.fut", "#[attr(x)]\nentry f = 1i32"),
            ("wrong.fut", "-- ==\n-- error: scope\n"),
            (
                "set_aside.fut",
                "-- ==\n-- tags { disable }\nentry f = 1i32",
            ),
            ("bytes.fut", ""),
        ]);
        fs::write(folder.path().join("bytes.fut"), [0xff, 0xfe]).unwrap();
        let programs = find(&[folder.path().to_owned()]).unwrap();
        let skipped: Vec<_> = programs
            .into_iter()
            .filter(|program| program.skip.is_some())
            .collect();
        assert_eq!(
            names(folder.path(), &skipped),
            ["bytes.fut", "lib.fut", "set_aside.fut"]
        );
    }

    #[test]
    fn unusable_paths_are_errors() {
        let folder = folder(&[("readme.md", "")]);
        let missing = find(&[folder.path().join("nowhere")]).unwrap_err();
        assert!(matches!(missing, CorpusError::Unreadable { .. }));
        assert!(matches!(
            find(&[folder.path().to_owned()]),
            Err(CorpusError::Nothing(_))
        ));
        assert!(matches!(
            find(&[folder.path().join("readme.md")]),
            Err(CorpusError::NotFuthark(_))
        ));
    }
}
