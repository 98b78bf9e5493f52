//! Whether a program turns off checks with `#[unsafe]`.
//!
//! Then an index out of bounds is undefined behaviour for which the program is responsible, so
//! failures with generated inputs are possible, and no findings.

use futhark_safe::compile::lexer::{self, Token};
use std::io;
use std::path::PathBuf;

/// The first `#[unsafe]` in the files of a program: the file and the line.
///
/// # Errors
/// If a file cannot be read.
pub fn find(sources: &[PathBuf]) -> io::Result<Option<String>> {
    for path in sources {
        let text = std::fs::read_to_string(path)?;
        let is_unsafe = |pair: &[Token<'_>; 2]| pair.map(|token| token.text) == ["#[", "unsafe"];
        if let Some([attribute, _]) = lexer::pairs(&text).find(is_unsafe) {
            let line = text[..attribute.at].matches('\n').count() + 1;
            return Ok(Some(format!("{}:{line}", path.display())));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futhark_safe::compile::sources;
    use std::path::Path;

    #[test]
    fn the_attribute_is_found_in_imports_and_not_in_comments() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("lib")).unwrap();
        let find = |source: &Path| find(&sources(source).unwrap());
        let main = "-- #[unsafe]\nimport \"lib/a\"\nentry f (x: i32) = x -- #[unsafe]\n";
        std::fs::write(path("main.fut"), main).unwrap();
        std::fs::write(path("lib/a.fut"), "import \"/prelude/x\"\nimport \"b\"\n").unwrap();
        let b = |text: &str| std::fs::write(path("lib/b.fut"), text).unwrap();
        b("import \"a\"\ndef s = \"--\" def f = 1\n");
        assert_eq!(find(&path("main.fut")).unwrap(), None);
        b("def s = \"--\"\ndef f (xs: []i32) i = #[unsafe] xs[i]\n");
        let found = find(&path("main.fut")).unwrap().unwrap();
        assert_eq!(found, format!("{}:2", path("lib/b.fut").display()));
        b("def (+--) x y = x +-- y #[ -- why\n  unsafe ] y\n");
        let found = find(&path("main.fut")).unwrap().unwrap();
        assert_eq!(found, format!("{}:1", path("lib/b.fut").display()));
        std::fs::write(path("lib/a.fut"), "def s = \"#[unsafe]\" open import\"c\"").unwrap();
        assert_eq!(find(&path("main.fut")).unwrap(), None);
        std::fs::write(path("lib/c.fut"), "def f x = #[unsafe] x").unwrap();
        let found = find(&path("main.fut")).unwrap().unwrap();
        assert_eq!(found, format!("{}:1", path("lib/c.fut").display()));
        assert!(super::find(&[path("none.fut")]).is_err());
    }
}
