//! The source files of a program, and the hashes of their contents.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::facts;
use super::hash::Hash;
use super::imports;
use super::lexer;
use super::paths::{canonical, folder_of, relative};

/// More files are left to the compiler: links can make paths endless.
const MOST: usize = 5_000;

/// The main file of a program and the files that it imports, sorted by name.
///
/// There may be more files than the compiler reads: see [`imports`].
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
    /// Finds the files that `source` consists of; `None` if only the compiler can tell.
    ///
    /// # Errors
    ///
    /// The source does not exist, or cannot be read.
    pub(super) fn scan(source: &Path) -> Result<Option<Files>, Error> {
        if !source.is_file() {
            return Err(Error::no_source(source));
        }
        let home = folder_of(source);
        let mut seen = BTreeSet::from([(canonical(source)?, name_of(source, home))]);
        let mut open = vec![(PathBuf::new(), source.to_owned())];
        let mut files = Vec::new();
        while let Some((name, importer)) = open.pop() {
            let is_main = files.is_empty();
            let (file, text) = match File::read(name, importer.clone()) {
                Ok(read) => read,
                Err(error) if is_main => return Err(error),
                // It may be another file than the compiler reads.
                Err(_) => return Ok(None),
            };
            files.push(file);
            let Some(text) = text.filter(|_| files.len() < MOST) else {
                return Ok(None);
            };
            for import in imports::names(&text) {
                let Some(import) = import else {
                    return Ok(None);
                };
                for path in imports::candidates(&importer, import) {
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
        Ok(Some(Files::sorted(files)))
    }

    /// The files in a list, one of which is `source`.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub(super) fn listed(source: &Path, paths: &[PathBuf]) -> Result<Files, Error> {
        let home = folder_of(source);
        let own = canonical(source)?;
        let mut files = Vec::new();
        for path in paths {
            let name = match canonical(path)? == own {
                true => PathBuf::new(),
                false => name_of(path, home),
            };
            files.push(File::read(name, path.clone())?.0);
        }
        Ok(Files::sorted(files))
    }

    fn sorted(mut files: Vec<File>) -> Files {
        files.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        Files(files)
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

    /// A hash of all texts.
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
    /// Reads a file; the text is `None` if it is not UTF-8.
    fn read(name: PathBuf, path: PathBuf) -> Result<(File, Option<String>), Error> {
        // Before the text: a file that is written in between gets another stamp.
        let stamp = facts::exact(&path);
        let bytes = std::fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
        let hash = |bytes: &[u8]| Hash::new().with(bytes).hex();
        let text = String::from_utf8(bytes);
        let (text_hash, code) = match &text {
            Ok(text) => (hash(text.as_bytes()), hash(&lexer::normalized(text))),
            Err(error) => (hash(error.as_bytes()), hash(error.as_bytes())),
        };
        let file = File {
            name,
            path,
            text: text_hash,
            code,
            stamp,
        };
        Ok((file, text.ok()))
    }
}

/// The path relative to the folder of the program, where the text of the path tells it.
fn name_of(path: &Path, home: &Path) -> PathBuf {
    let (path, home) = (imports::normal(path), imports::normal(home));
    match path.is_absolute() == home.is_absolute() {
        true => relative(&path, &home),
        false => path,
    }
}
