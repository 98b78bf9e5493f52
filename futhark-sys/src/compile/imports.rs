//! The imports in the text of a Futhark file, found without the compiler.

use super::lexer::{self, Kind};
use std::path::{Component, Path, PathBuf};

/// The names in `import "NAME"`; `None` for each that only the compiler can tell, and for a string that
/// does not end on its line.
pub fn names(text: &str) -> impl Iterator<Item = Option<&str>> {
    lexer::pairs(text).filter_map(|[before, token]| {
        if token.text == "\"" {
            return Some(None);
        }
        if before.text != "import" || token.kind != Kind::String {
            return None;
        }
        let name = &token.text[1..token.text.len() - 1];
        let last = name.rsplit('/').next().unwrap_or_default();
        let is_unusual = name.contains('\\') || matches!(last, "" | "." | "..");
        Some((!is_unusual).then_some(name))
    })
}

/// The files that an import can mean, in the file `importer`; most of them do not exist.
///
/// The compiler resolves `..` in the text of the path, and the system in the file system. These differ
/// behind links.
pub fn candidates(importer: &Path, name: &str) -> Vec<PathBuf> {
    let file = format!("{name}.fut");
    if let Some(relative) = file.strip_prefix('/') {
        // Some versions resolve it in the folder of the process.
        return vec![PathBuf::from(&file), PathBuf::from(relative)];
    }
    let folder = importer.parent().unwrap_or(Path::new(""));
    let whole = folder.join(&file);
    let mut all = vec![without_parts(folder, &file)];
    if file.contains("..") {
        all.extend([normal(&whole), whole]);
    }
    all.dedup();
    all
}

/// The path without `.`, and without `..` where a folder precedes it.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut parts = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => drop(parts.pop()),
            (Component::ParentDir, Some(Component::RootDir)) => {}
            _ => parts.push(part),
        }
    }
    parts.into_iter().collect()
}

/// As the compiler resolves `..` at the beginning: each removes a part of the folder, which can be a `..`.
fn without_parts(folder: &Path, file: &str) -> PathBuf {
    let mut folder: PathBuf = folder.components().collect();
    let mut rest = file;
    while let Some(after) = rest.strip_prefix("../") {
        if !folder.pop() {
            break;
        }
        rest = after;
    }
    folder.join(rest).components().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_in_code() {
        let text = "import\"a\"\nopen import \"lib/b\" local import -- \"no\"\n\n  -- more\n\t\"../c\"\n\
                    module d=import \"d\" def imports = \"e\" -- import \"f\"\n\
                    #[a(\"import\")] def x = 1 +-- import \"e\"";
        let found: Vec<_> = names(text).flatten().collect();
        assert_eq!(found, ["a", "lib/b", "../c", "d", "e"]);
        assert_eq!(names("import").count(), 0);
    }

    #[test]
    fn the_compiler_is_asked_about_unusual_names() {
        for name in ["\\97", "a\nb", "a/", ".", "a/..", "", "a"] {
            let text = format!("import \"b\" import \"{name}\" \"");
            assert!(names(&text).any(|name| name.is_none()), "{name:?}");
        }
    }

    #[test]
    fn parent_folders_are_resolved_in_the_text_and_in_the_file_system() {
        let seen = |importer: &str, name: &str| candidates(Path::new(importer), name);
        assert_eq!(seen("p/main.fut", "lib/a"), [Path::new("p/lib/a.fut")]);
        assert_eq!(seen("p/lib/a.fut", "./b"), [Path::new("p/lib/b.fut")]);
        assert_eq!(seen("a.fut", "/x/b")[0], Path::new("/x/b.fut"));
        let all = seen("p/q/../lib/a.fut", "../../b");
        for path in ["p/q/b.fut", "b.fut", "p/q/../lib/../../b.fut"] {
            assert!(all.contains(&path.into()), "{path}: {all:?}");
        }
        for path in ["b.fut", "../../b.fut"] {
            assert!(seen("../a.fut", "../b").contains(&path.into()), "{path}");
        }
        assert_eq!(seen("a.fut", "../b")[0], Path::new("../b.fut"));
    }
}
