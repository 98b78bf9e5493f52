//! Packages in a corpus: copies of one library, and packages that are not installed.
//!
//! The package manager of Futhark puts packages into the folder `lib` beside `futhark.pkg`, below
//! the host that they come from, as in `lib/github.com/diku-dk/sorts/radix_sort.fut`. A corpus of many
//! packages contains many copies of the same libraries, or none of them.

use super::Program;
use crate::key::key;
use futhark_safe::compile::imports::{candidates, names};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The reason to skip all copies of a file except the first, in a run.
const COPY: &str = "a copy of a file of the same package, which runs once";

/// Excludes programs that import packages that are not installed, and all copies of a package's
/// file except the first. Programs with the same cause have the same reason, so that reports count
/// them in one line.
pub(super) fn set_aside(programs: &mut [Program]) {
    let mut imports = Imports::default();
    for program in programs.iter_mut().filter(|program| program.skip.is_none()) {
        program.skip = imports
            .missing_package(&program.path)
            .map(|missing| not_installed(&missing));
    }
    let mut seen = BTreeSet::new();
    for program in programs.iter_mut().filter(|program| program.skip.is_none()) {
        let Some((_, file)) = in_package(&program.path) else {
            continue;
        };
        let Ok(text) = std::fs::read(&program.path) else {
            continue;
        };
        if !seen.insert((file, key(&[&text]))) {
            program.skip = Some(COPY.to_owned());
        }
    }
}

/// The folder that has the folder `lib`, and the path below `lib`, of a file of a package.
fn in_package(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let parts: Vec<Component<'_>> = parts.collect();
    let lib = parts.windows(2).rposition(|pair| {
        let host = pair[1].as_os_str().to_string_lossy();
        pair[0].as_os_str() == "lib" && host.contains('.') && host != ".."
    })?;
    let (folder, file) = (&parts[..lib], &parts[lib + 1..]);
    // A file directly in `lib`, like `lib/a.fut`, is the project's own.
    (file.len() > 1).then(|| (folder.iter().collect(), file.iter().collect()))
}

/// The reason for programs that import a file of a package that does not exist.
fn not_installed(missing: &Path) -> String {
    let folder = in_package(missing)
        .map(|(folder, _)| folder)
        .unwrap_or_default();
    let shown = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => &folder,
    };
    match folder.join("futhark.pkg").is_file() {
        true => format!(
            "the packages of {0}/futhark.pkg are not installed: run `futhark pkg sync` in {0}",
            shown.display()
        ),
        false => format!(
            "imports from {}/lib, which lacks the package and has no futhark.pkg that names it",
            shown.display()
        ),
    }
}

/// Finds missing packages, and looks at each file once.
#[derive(Default)]
struct Imports {
    /// The first missing file of a package that a file imports, also through other files.
    missing: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl Imports {
    fn missing_package(&mut self, source: &Path) -> Option<PathBuf> {
        if let Some(known) = self.missing.get(source) {
            return known.clone();
        }
        // Files that import each other are an error that the compiler reports.
        self.missing.insert(source.to_owned(), None);
        let text = std::fs::read_to_string(source).unwrap_or_default();
        let missing = names(&text).flatten().find_map(|name| {
            let files = candidates(source, name);
            if let Some(file) = files.iter().find(|file| file.is_file()) {
                return self.missing_package(file);
            }
            // Another missing file is an error of the program.
            files.into_iter().find(|file| in_package(file).is_some())
        });
        self.missing.insert(source.to_owned(), missing.clone());
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;
    use std::fs;

    const SORTS: &str = "lib/github.com/diku-dk/sorts";

    fn reasons(files: &[(String, &str)]) -> Vec<Option<String>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let programs = find(&[folder.path().to_owned()]).unwrap();
        let root = format!("{}/", folder.path().display());
        let reasons = programs.into_iter().map(|program| program.skip);
        reasons
            .map(|reason| reason.map(|reason| reason.replace(&root, "")))
            .collect()
    }

    #[test]
    fn copies_of_a_file_of_a_package_run_once() {
        let entry = "entry f = 1i32";
        let found = reasons(&[
            (format!("a/{SORTS}/x.fut"), entry),
            (format!("b/{SORTS}/x.fut"), entry),
            (format!("c/{SORTS}/x.fut"), "entry f = 2i32"),
            (format!("d/{SORTS}/y.fut"), entry),
            ("e/lib/x.fut".to_owned(), entry),
            ("f/lib/x.fut".to_owned(), entry),
        ]);
        let copy = Some(COPY.to_owned());
        assert_eq!(found, [None, copy, None, None, None, None]);
    }

    #[test]
    fn programs_without_their_packages_have_one_reason() {
        let main = "import \"lib/github.com/diku-dk/sorts/radix_sort\"\nentry f = 1i32";
        let found = reasons(&[
            ("a/futhark.pkg".to_owned(), "require {}"),
            ("a/main.fut".to_owned(), main),
            (
                "a/sub/test.fut".to_owned(),
                "open import \"../main\"\nentry g = 1i32",
            ),
            ("b/main.fut".to_owned(), main),
            ("c/main.fut".to_owned(), main),
            (format!("c/{SORTS}/radix_sort.fut"), "def x = 1i32"),
            (
                "d/main.fut".to_owned(),
                "-- import \"lib/github.com/a/b\"\nentry f = 1i32",
            ),
            ("e/main.fut".to_owned(), "import \"typo\"\nentry f = 1i32"),
            (
                "f/main.fut".to_owned(),
                "def s = \"import \\\"lib/github.com/a/b\\\"\"\nentry f = 1i32",
            ),
            (
                "g/main.fut".to_owned(),
                "def f = 1 +-- 2 import\"lib/github.com/a/b\"\nentry f = 1i32",
            ),
        ]);
        let sync = "the packages of a/futhark.pkg are not installed: run `futhark pkg sync` in a";
        assert_eq!(found[0].as_deref(), Some(sync));
        assert_eq!(found[0], found[1]);
        let lacks =
            "imports from b/lib, which lacks the package and has no futhark.pkg that names it";
        assert_eq!(found[2].as_deref(), Some(lacks));
        // The library of c has no entry point.
        assert!(found[3].as_deref().unwrap().contains("library"));
        assert_eq!(found[4..8], [None, None, None, None]);
        assert_eq!(found[8], Some(lacks.replace("b/lib", "g/lib")));
    }
}
