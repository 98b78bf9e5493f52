//! The source files of a program, found without the compiler, and the hashes of their contents.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::error::{Error, ErrorKind};
use super::facts;
use super::hash::Hash;
use super::lexer::{self, Kind};
use super::paths::{canonical, folder_of, plain_lines, relative};

/// All files that the program `source` consists of, the main file first.
///
/// There may be more than the compiler reads: all that an import can mean.
///
/// # Errors
/// * [`ErrorKind::NoSource`]: `source` does not exist.
/// * [`ErrorKind::Program`]: the name of an import contains an escape, or ends with `/`, `.` or `..`.
/// * [`ErrorKind::Io`]: a file cannot be read.
pub fn sources(source: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(Files::of(source)?.paths())
}

/// Links can give one file arbitrarily many names.
const MOST: usize = 5000;

/// The main file of a program and the files that it imports, sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Files(Vec<File>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    /// The path relative to the folder of the program; empty for the main file.
    name: PathBuf,
    path: PathBuf,
    /// The hash of the text.
    text: String,
    /// The hash of the text without comments and layout.
    code: String,
    /// Differs if the file was written in between.
    stamp: String,
}

impl Files {
    /// Reads the files that `source` consists of: see [`sources`].
    pub(super) fn of(source: &Path) -> Result<Files, Error> {
        if !source.is_file() {
            return Err(Error::no_source(source));
        }
        let home = folder_of(source);
        let mut seen = BTreeSet::from([(canonical(source)?, name_of(source, home))]);
        let mut open = vec![(PathBuf::new(), source.to_owned())];
        let mut files = Vec::new();
        while let Some((name, importer)) = open.pop() {
            let (file, text) = File::read(name, &importer)?;
            files.push(file);
            if files.len() > MOST {
                let message = format!("{} has more than {MOST} imports", source.display());
                return Err(Error::new(ErrorKind::Program, message));
            }
            for import in imports(&text) {
                must_be_plain(import, &importer)?;
                for path in candidates(&importer, import) {
                    // The modules of the compiler have no files.
                    if !path.is_file() {
                        continue;
                    }
                    let name = name_of(&path, home);
                    if seen.insert((canonical(&path)?, name.clone())) {
                        open.push((name, path));
                    }
                }
            }
        }
        files.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        Ok(Files(files))
    }

    /// The paths, the main file first.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.0.iter().map(|file| file.path.clone()).collect()
    }

    /// Each file: its path relative to the folder of the main file, which itself has none, and the hash of
    /// its text.
    pub(super) fn hashes(&self) -> impl Iterator<Item = (Option<&Path>, &str)> {
        let name = |file: &File| !file.name.as_os_str().is_empty();
        self.0
            .iter()
            .map(move |file| (name(file).then_some(&*file.name), &*file.text))
    }

    /// A hash of the program: of its code, and of the names by which it imports files. The name of the
    /// main file, comments, and the place of the files do not matter.
    pub(super) fn program(&self) -> String {
        self.hash(|file| &file.code)
    }

    pub(super) fn texts(&self) -> String {
        self.hash(|file| &file.text)
    }

    fn hash(&self, of: impl Fn(&File) -> &str) -> String {
        let mut hash = Hash::new();
        for file in &self.0 {
            hash = hash.with(file.name.as_os_str().as_encoded_bytes());
            hash = hash.with(of(file));
        }
        hash.hex()
    }
}

impl File {
    fn read(name: PathBuf, path: &Path) -> Result<(File, String), Error> {
        // Before the text: a file that is written in between gets another stamp.
        let stamp = facts::exact(path);
        let bytes = std::fs::read(path).map_err(|error| Error::io("read", path, error))?;
        // The compiler rejects other text than UTF-8.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let file = File {
            name,
            path: path.to_owned(),
            text: Hash::new().with(plain_lines(bytes)).hex(),
            code: Hash::new().with(lexer::normalized(&text)).hex(),
            stamp,
        };
        Ok((file, text))
    }
}

/// The path relative to the folder of the program, where the text of the path tells it.
fn name_of(path: &Path, home: &Path) -> PathBuf {
    let (path, home) = (normal(path), normal(home));
    match path.is_absolute() == home.is_absolute() {
        true => relative(&path, &home),
        false => path,
    }
}

/// The names in `import "NAME"`.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    let imports = lexer::pairs(text)
        .filter(|[before, token]| before.text == "import" && token.kind == Kind::String);
    imports.map(|[_, token]| &token.text[1..token.text.len() - 1])
}

/// Fails for the name of an import that only the compiler can resolve.
fn must_be_plain(name: &str, importer: &Path) -> Result<(), Error> {
    let last = name.rsplit('/').next().unwrap_or_default();
    if !name.contains('\\') && !matches!(last, "" | "." | "..") {
        return Ok(());
    }
    let message = format!(
        "{} imports \"{name}\": write the name of the file, without escapes, and not ending in `/`, `.` or `..`",
        importer.display()
    );
    Err(Error::new(ErrorKind::Program, message))
}

/// The files that an import can mean, in the file `importer`; most of them do not exist.
///
/// The compiler resolves `..` in the text of the path, and the system in the file system. These differ
/// behind links.
fn candidates(importer: &Path, name: &str) -> Vec<PathBuf> {
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
fn normal(path: &Path) -> PathBuf {
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
        let found: Vec<_> = imports(text).collect();
        assert_eq!(found, ["a", "lib/b", "../c", "d", "e"]);
        assert_eq!(imports("import").count(), 0);
    }

    #[test]
    fn imports_with_unusual_names_are_refused() {
        let refused = |name: &str| must_be_plain(name, Path::new("p/a.fut"));
        for name in ["\\97", "a/", ".", "a/..", ""] {
            let error = refused(name).unwrap_err();
            let text = format!("p/a.fut imports \"{name}\": write the name of the file");
            assert!(error.to_string().starts_with(&text), "{error}");
        }
        assert!(refused("../a.b/..c").is_ok());
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

    #[test]
    fn the_hash_of_a_program_is_that_of_its_code() {
        let place = std::env::temp_dir().join(format!("futhark-sys-files-{}", std::process::id()));
        let hash = |file: &str, main: &str, one: &str| {
            let main_file = place.join(file);
            std::fs::create_dir_all(main_file.parent().unwrap().join("lib")).unwrap();
            std::fs::write(&main_file, main).unwrap();
            std::fs::write(main_file.with_file_name("lib/one.fut"), one).unwrap();
            Files::of(&main_file).unwrap().program()
        };
        let main = "import \"lib/one\"\nentry f (x: i32) : i32 = one x\n";
        let one = "def one (x: i32) = x\n";
        let first = hash("main.fut", main, one);
        let documented = format!("-- | Doc.\n\n{main}");
        let laid_out = "def one  (x: i32) =\n  x -- y";
        assert_eq!(first, hash("main.fut", &documented, laid_out));
        assert_eq!(first, hash("elsewhere/renamed.fut", main, one));
        assert_ne!(first, hash("main.fut", main, "def one (x: i32) = x + 0\n"));
        assert_ne!(first, hash("main.fut", &main.replace('x', "y"), one));
        std::fs::remove_dir_all(&place).unwrap();
    }
}
