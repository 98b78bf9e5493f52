//! Whether a program turns off checks with `#[unsafe]`.
//!
//! Then an index out of bounds is undefined behaviour for which the program is responsible, so
//! failures with generated inputs are possible, and no findings.

use regex::Regex;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The first `#[unsafe]` in a program and its imports: the file and the line.
///
/// # Errors
/// If the source of the program cannot be read.
pub fn find(source: &Path) -> io::Result<Option<String>> {
    let mut seen = BTreeSet::from([source.to_owned()]);
    let mut files = vec![(source.to_owned(), std::fs::read_to_string(source)?)];
    while let Some((path, text)) = files.pop() {
        let code = without_comments(&text);
        if let Some(line) = attribute(&code) {
            return Ok(Some(format!("{}:{line}", path.display())));
        }
        for import in imports(&path, &code) {
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

fn without_comments(text: &str) -> String {
    // A string can contain what looks like a comment.
    static SKIPPED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"("(?:[^"\\\n]|\\.)*")|--[^\n]*"#).expect("it is valid"));
    SKIPPED.replace_all(text, "${1}").into_owned()
}

fn attribute(code: &str) -> Option<usize> {
    static ATTRIBUTE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"#\[\s*unsafe\s*\]").expect("it is valid"));
    let found = ATTRIBUTE.find(code)?;
    Some(code[..found.start()].matches('\n').count() + 1)
}

fn imports(file: &Path, code: &str) -> Vec<PathBuf> {
    static IMPORT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"\bimport\s+"([^"]+)""#).expect("it is valid"));
    let folder = file.parent().unwrap_or(Path::new(""));
    let names = IMPORT.captures_iter(code);
    names
        .map(|found| folder.join(format!("{}.fut", &found[1])))
        .collect()
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
        assert!(find(&path("none.fut")).is_err());
    }
}
