//! Reads documentation comments from the source: manifests have none for types, and none for entry
//! points before 0.26.4.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The comments of entry points and types, by name.
#[derive(Default)]
pub(super) struct Docs {
    entries: BTreeMap<String, String>,
    types: BTreeMap<String, String>,
}

impl Docs {
    /// The comments in the source, then those of types in the other files, which may list the source too.
    /// If several declare one name, the first one counts.
    pub(super) fn of(source: &Path, files: &[PathBuf]) -> Docs {
        // The compiler has read them: without a file, only comments are missing.
        let text = |file: &Path| std::fs::read_to_string(file).unwrap_or_default();
        let mut docs = Docs::default();
        docs.read(&text(source));
        let entries = std::mem::take(&mut docs.entries);
        for file in files.iter().filter(|file| *file != source) {
            docs.read(&text(file));
        }
        Docs { entries, ..docs }
    }

    pub(super) fn entry(&self, name: &str) -> Option<&str> {
        self.entries.get(name).map(String::as_str)
    }

    pub(super) fn ty(&self, name: &str) -> Option<&str> {
        self.types.get(name).map(String::as_str)
    }

    /// Adds the comments of one file. Declarations in modules, which are indented, are ignored.
    fn read(&mut self, source: &str) {
        let mut pending = None;
        let mut comments = 0;
        for line in source.lines() {
            if let Some(first) = line.strip_prefix("-- |") {
                pending = Some(Comment::new(first));
                comments += 1;
            } else if line.trim().is_empty() && comments == 1 && pending.is_some() {
                // The first comment is that of the file.
                pending = None;
            } else if let Some(next) = line.strip_prefix("--") {
                if let Some(comment) = &mut pending {
                    comment.add(next);
                }
            } else if let Some((kind, name)) = declaration(line) {
                let comments = match kind {
                    "entry" => &mut self.entries,
                    _ => &mut self.types,
                };
                if let Some(comment) = pending.take() {
                    comments.entry(name.to_owned()).or_insert(comment.text);
                }
            } else if !is_transparent(line) {
                pending = None;
            } else if let Some(comment) = &mut pending {
                comment.is_complete = true;
            }
        }
    }
}

/// A comment that a declaration may follow.
struct Comment {
    text: String,
    /// Whether its text has ended: at a test block, which reaches to the end of the comment, or at the
    /// first line that does not begin with `--`.
    is_complete: bool,
}

impl Comment {
    fn new(first: &str) -> Comment {
        Comment {
            text: first.trim().to_owned(),
            is_complete: false,
        }
    }

    fn add(&mut self, line: &str) {
        self.is_complete |= line.trim() == "==";
        if !self.is_complete {
            self.text.push('\n');
            self.text.push_str(line.strip_prefix(' ').unwrap_or(line));
        }
    }
}

/// The keyword and the name, if the line begins the declaration of an entry point or type.
fn declaration(line: &str) -> Option<(&str, &str)> {
    let line = without_attributes(line)?;
    let (keyword, rest) = line.split_once(' ')?;
    let kind = match keyword {
        "entry" => "entry",
        "type" | "type^" | "type~" => "type",
        _ => return None,
    };
    let rest = rest.trim_start();
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
    (end > 0).then(|| (kind, &rest[..end]))
}

/// The line after its attributes; nothing if an attribute continues on the next line.
fn without_attributes(mut line: &str) -> Option<&str> {
    while let Some(attribute) = line.strip_prefix("#[") {
        line = attribute.split_once(']')?.1.trim_start();
    }
    Some(line)
}

/// Whether a comment also belongs to a declaration after this line: it is empty, or has attributes only.
fn is_transparent(line: &str) -> bool {
    without_attributes(line).is_some_and(|rest| rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::Docs;

    fn docs(source: &str) -> Docs {
        let mut docs = Docs::default();
        docs.read(source);
        docs
    }

    #[test]
    fn comments_before_declarations_are_found() {
        let docs = docs(
            "\
-- Not a comment of a declaration.
-- | Statistics.

-- | Adds one.
--
--   Indented.
-- ==
-- entry: f
-- input { 1 } output { 2 }

-- To do.
#[cheap] #[cost(linear,2)]
#[inline] entry f' [n] (x: [n]i32) = x

-- | A type.
type^ t = {x: i32}

-- | A function.
def g = 1
entry h = 2
",
        );
        assert_eq!(docs.entry("f'"), Some("Adds one.\n\n  Indented."));
        assert_eq!(docs.ty("t"), Some("A type."));
        assert_eq!(docs.entry("g"), None);
        assert_eq!(docs.entry("h"), None, "the comment belongs to g");
    }

    #[test]
    fn the_comment_of_a_file_is_not_that_of_its_first_declaration() {
        assert_eq!(docs("-- | Statistics.\n\nentry f = 1\n").entry("f"), None);
        let adjacent = docs("-- | The mean.\nentry f = 1\n");
        assert_eq!(adjacent.entry("f"), Some("The mean."));
    }

    #[test]
    fn the_source_counts_before_its_imports_and_modules_do_not() {
        let folder = std::env::temp_dir().join(format!("futhark-safe-docs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let source = file("source.fut", "-- | First.\nentry f = 1\n");
        let import = "-- | Second.\nentry f = 2\n-- | Third.\nentry g = 2\n-- | A type.\ntype u = i32\n\
             module m = {\n  -- | Inner.\n  type t = i32\n}\n";
        let import = file("import.fut", import);
        let docs = Docs::of(&source, &[import, source.clone()]);
        std::fs::remove_dir_all(folder).unwrap();
        assert_eq!(docs.entry("f"), Some("First."));
        assert_eq!(
            docs.entry("g"),
            None,
            "entry points of imports are not exported"
        );
        assert_eq!(docs.ty("u"), Some("A type."));
        assert_eq!(docs.ty("t"), None);
    }
}
