//! Documentation comments of a program's source, which compilers before 0.26.4 leave out of manifests,
//! and all known ones for types.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The comments of entry points and types, by name.
#[derive(Default)]
pub(super) struct Docs {
    entries: BTreeMap<String, String>,
    types: BTreeMap<String, String>,
}

impl Docs {
    /// The comments in these files. If several declare one name, the first one counts.
    pub(super) fn of(files: &[PathBuf]) -> Docs {
        let mut docs = Docs::default();
        for file in files {
            // The compiler has read it: without this file, only comments are missing.
            docs.read(&std::fs::read_to_string(file).unwrap_or_default());
        }
        docs
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
        for line in source.lines() {
            if let Some(first) = line.strip_prefix("-- |") {
                pending = Some(Comment::new(first));
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
            }
        }
    }
}

/// A comment that a declaration may follow.
struct Comment {
    text: String,
    /// Whether a test block has begun, which reaches to the end of the comment.
    in_tests: bool,
}

impl Comment {
    fn new(first: &str) -> Comment {
        Comment {
            text: first.trim().to_owned(),
            in_tests: false,
        }
    }

    fn add(&mut self, line: &str) {
        self.in_tests |= line.trim() == "==";
        if !self.in_tests {
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
-- | Adds one.
--
--   Indented.
-- ==
-- entry: f
-- input { 1 } output { 2 }

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
    fn the_first_file_counts_and_modules_do_not() {
        let mut docs = docs("-- | First.\nentry f = 1\n");
        docs.read("-- | Second.\nentry f = 2\nmodule m = {\n  -- | Inner.\n  type t = i32\n}\n");
        assert_eq!(docs.entry("f"), Some("First."));
        assert_eq!(docs.ty("t"), None);
    }
}
