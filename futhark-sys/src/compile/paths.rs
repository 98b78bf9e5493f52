//! Paths relative to a program, and files read and written with errors that name them.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::{Error, ErrorKind};
use super::hash::Hash;

pub(super) fn folder_of(source: &Path) -> &Path {
    match source.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

pub(super) fn canonical(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize()
        .map_err(|error| Error::io("find", path, error))
}

/// `path` relative to the folder `home`, both without links.
pub(super) fn relative(path: &Path, home: &Path) -> PathBuf {
    let common = home.ancestors().find(|folder| path.starts_with(folder));
    let Some((up, rest)) = common.and_then(|folder| {
        let up = home.strip_prefix(folder).ok()?.components().count();
        Some((up, path.strip_prefix(folder).ok()?))
    }) else {
        return path.to_owned();
    };
    let mut relative: PathBuf = std::iter::repeat_n("..", up).collect();
    relative.push(rest);
    relative
}

/// The hash of a file; of a text, the hash with the ends of lines that the compiler writes.
pub(super) fn hash_of(file: &Path) -> Result<String, Error> {
    let bytes = fs::read(file).map_err(|error| Error::io("read", file, error))?;
    Ok(Hash::new().with(plain_lines(bytes)).hex())
}

/// The text without the CR before each LF, which git adds in some checkouts. Other files, which contain NUL, stay as they are.
pub(super) fn plain_lines(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.contains(&b'\r') && !bytes.contains(&0) {
        let is_end = |index| bytes[index..].starts_with(b"\r\n");
        bytes = (0..bytes.len())
            .filter(|&i| !is_end(i))
            .map(|i| bytes[i])
            .collect();
    }
    bytes
}

/// Fails for a link, a folder, a FIFO or a device, which could block.
pub(super) fn must_be_regular(path: &Path) -> Result<(), Error> {
    let about = fs::symlink_metadata(path).map_err(|error| Error::io("read", path, error))?;
    if about.is_file() {
        return Ok(());
    }
    let message = format!("{} is not a regular file", path.display());
    Err(Error::new(ErrorKind::Io, message))
}

pub(super) fn read(path: &Path) -> Result<String, Error> {
    must_be_regular(path)?;
    fs::read_to_string(path).map_err(|error| Error::io("read", path, error))
}

pub(super) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Error> {
    fs::write(path, contents).map_err(|error| Error::io("write", path, error))
}

pub(super) fn create_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|error| Error::io("create the folder", path, error))
}

/// The paths of the files and folders in a folder, sorted.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::io("read the folder", folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_folder_of_the_source() {
        let seen = |path: &str, home: &str| relative(Path::new(path), Path::new(home));
        assert_eq!(seen("/a/b/c.fut", "/a/b"), Path::new("c.fut"));
        assert_eq!(seen("/a/c.fut", "/a/b/d"), Path::new("../../c.fut"));
        assert_eq!(seen("/x/c.fut", "/a"), Path::new("../x/c.fut"));
    }
}
