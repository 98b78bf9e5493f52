//! The comments of a source file and its declarations: manifests have none for files and types, and none for entry points
//! before 0.26.4.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::lexer::{self, Kind};

#[derive(Default)]
pub(super) struct Docs {
    /// The comment at the start of the source, if an empty line follows.
    pub of_file: Option<String>,
    /// The comments of declarations, by keyword (`entry` or `type`) and name.
    of_declarations: BTreeMap<(&'static str, String), String>,
}

impl Docs {
    /// The comments in the source, then those of types in the other files, which may list the source too.
    /// If several declare one name, the first one counts.
    pub(super) fn of(source: &Path, files: &[PathBuf]) -> Docs {
        // The compiler has read them: without a file, only comments are missing.
        let text = |file: &Path| std::fs::read_to_string(file).unwrap_or_default();
        let mut docs = Docs::default();
        docs.of_file = docs.read(&text(source), &["entry", "type"]);
        for file in files.iter().filter(|file| *file != source) {
            docs.read(&text(file), &["type"]);
        }
        docs
    }

    pub(super) fn comment(&self, keyword: &'static str, name: &str) -> Option<&str> {
        let comment = self.of_declarations.get(&(keyword, name.to_owned()));
        comment.map(String::as_str)
    }

    /// Adds the comments of one file before these keywords, and returns that of the file. Declarations in modules are
    /// ignored.
    fn read(&mut self, source: &str, keywords: &[&'static str]) -> Option<String> {
        let mut of_file = None;
        let mut tokens = lexer::tokens(source);
        let mut pending = None;
        let mut is_at_start = true;
        let mut depth = 0usize;
        while let Some(token) = tokens.next() {
            let is_first = is_at_start && token.kind == Kind::Doc;
            is_at_start &= token.kind == Kind::Comment;
            match token.text {
                _ if token.kind == Kind::Comment => {}
                _ if token.kind == Kind::Doc => {
                    // A comment at the start of the file is that of the file if an empty line follows.
                    let mut after = source[token.at + token.text.len()..].lines().skip(1);
                    let is_of_file =
                        is_first && after.next().is_some_and(|line| line.trim().is_empty());
                    if is_of_file {
                        of_file = Some(content(token.text));
                    }
                    pending = (!is_of_file).then_some(token.text);
                }
                "#[" => drop(tokens.find(|token| token.text == "]")),
                text => {
                    if depth == 0
                        && let Some(&keyword) = keywords.iter().find(|keyword| **keyword == text)
                        && let Some(comment) = pending
                        && let Some(name) = tokens.find(|token| token.kind == Kind::Name)
                    {
                        let name = (keyword, name.text.to_owned());
                        let comments = self.of_declarations.entry(name);
                        comments.or_insert_with(|| content(comment));
                    }
                    pending = None;
                    match text {
                        "{" => depth += 1,
                        "}" => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                }
            }
        }
        of_file
    }
}

/// The text of a comment, up to a test block, which reaches to the end of the comment.
fn content(comment: &str) -> String {
    let (first, rest) = comment.split_once('\n').unwrap_or((comment, ""));
    let mut content = first["-- |".len()..].trim().to_owned();
    for line in rest.lines() {
        let line = &line.trim_start()["--".len()..];
        if line.trim() == "==" {
            break;
        }
        content.push('\n');
        content.push_str(line.strip_prefix(' ').unwrap_or(line));
    }
    content
}

#[cfg(test)]
mod tests {
    use super::Docs;

    fn docs(source: &str) -> Docs {
        let mut docs = Docs::default();
        docs.of_file = docs.read(source, &["entry", "type"]);
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
        assert_eq!(
            docs.comment("entry", "f'"),
            Some("Adds one.\n\n  Indented.")
        );
        assert_eq!(docs.comment("type", "t"), Some("A type."));
        assert_eq!(docs.comment("entry", "g"), None);
        assert_eq!(docs.comment("entry", "h"), None, "the comment belongs to g");
    }

    #[test]
    fn the_comment_of_a_file_is_not_that_of_its_first_declaration() {
        let file = docs("-- | Statistics.\n-- ==\n-- entry: f\n\nentry f = 1\n");
        assert_eq!(file.of_file.as_deref(), Some("Statistics."));
        assert_eq!(file.comment("entry", "f"), None);
        let later = docs("entry e = 1\n-- | Adds.\n\nentry f = 1\n");
        assert_eq!(later.comment("entry", "f"), Some("Adds."));
        let adjacent = docs("-- | The mean.\nentry f = 1\n");
        assert_eq!(adjacent.comment("entry", "f"), Some("The mean."));
        assert_eq!(adjacent.of_file, None);
    }

    #[test]
    fn comments_and_declarations_are_those_of_the_compiler() {
        let docs = docs(
            "\
import \"a\"
-- | Adds.

entry add = 1 -- | Ignores
  -- nothing.
#[a(1, -- ]
  2)]
  entry
    -- Its name.
    sub = 1
module m = {
-- | Inner.
type t = i32
}
-- | Of the module type.
module type u = { type v }
type u = i32
",
        );
        assert_eq!(
            docs.comment("entry", "add"),
            Some("Adds."),
            "an import is before it"
        );
        assert_eq!(docs.comment("entry", "sub"), Some("Ignores\nnothing."));
        assert_eq!(docs.comment("type", "t"), None);
        assert_eq!(docs.comment("type", "u"), None);
    }

    #[test]
    fn the_source_counts_before_its_imports_and_modules_do_not() {
        let folder = std::env::temp_dir().join(format!("futhark-sys-docs-{}", std::process::id()));
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
        assert_eq!(docs.comment("entry", "f"), Some("First."));
        assert_eq!(
            docs.comment("entry", "g"),
            None,
            "entry points of imports are not exported"
        );
        assert_eq!(docs.comment("type", "u"), Some("A type."));
        assert_eq!(docs.comment("type", "t"), None);
    }
}
