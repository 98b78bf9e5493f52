//! Whether a program turns off checks with `#[unsafe]`.
//!
//! Then an index out of bounds is undefined behaviour for which the program is responsible, so
//! failures with generated inputs are possible, and no findings.

use futhark_safe::compile::imports::{candidates, names};
use futhark_safe::compile::lexer::{self, Token};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// The first `#[unsafe]` in a program and its imports: the file and the line.
///
/// # Errors
/// If the source of the program cannot be read.
pub fn find(source: &Path) -> io::Result<Option<String>> {
    let mut seen = BTreeSet::from([source.to_owned()]);
    let mut files = vec![(source.to_owned(), std::fs::read_to_string(source)?)];
    while let Some((path, text)) = files.pop() {
        let is_unsafe = |pair: &[Token<'_>; 2]| pair.map(|token| token.text) == ["#[", "unsafe"];
        if let Some([attribute, _]) = lexer::pairs(&text).find(is_unsafe) {
            let line = text[..attribute.at].matches('\n').count() + 1;
            return Ok(Some(format!("{}:{line}", path.display())));
        }
        for import in names(&text)
            .flatten()
            .flat_map(|name| candidates(&path, name))
        {
            // The compiler's own modules have no file.
            if let Ok(text) = std::fs::read_to_string(&import)
                && seen.insert(import.clone())
            {
                files.push((import, text));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attribute_is_found_in_imports_and_not_in_comments() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("lib")).unwrap();
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
        assert!(find(&path("none.fut")).is_err());
    }
}
