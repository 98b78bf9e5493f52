//! Programs that are named themselves, not only found in a folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The programs that are named themselves, which are checked whole.
pub struct Named(HashSet<PathBuf>);

impl Named {
    /// The files among the paths.
    pub fn of(paths: &[PathBuf]) -> Named {
        let files = paths.iter().filter(|path| path.is_file());
        Named(files.filter_map(|file| file.canonicalize().ok()).collect())
    }

    /// Whether one of them is this program, by any path.
    pub fn has(&self, program: &Path) -> bool {
        let is_one = |path: PathBuf| self.0.contains(&path);
        !self.0.is_empty() && program.canonicalize().is_ok_and(is_one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_by_any_path() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("a.fut");
        std::fs::write(&program, "").unwrap();
        let named = Named::of(&[folder.path().to_owned(), program.clone()]);
        assert!(named.has(&program) && named.has(&folder.path().join("./a.fut")));
        assert!(!named.has(&folder.path().join("b.fut")));
        assert!(!Named::of(&[folder.path().to_owned()]).has(&program));
    }
}
