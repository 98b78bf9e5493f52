//! Hashes source files. The build script uses this module; the hash is a part of every cache key.

use std::io;
use std::path::{Path, PathBuf};

use super::hash::Hash;

/// The folders that determine the result of a build, for the package in `package`.
///
/// futhark-manifest determines the C code as well. In a repository, and in a folder of vendored
/// crates, its sources are in a sibling folder and can change. Elsewhere, as in the registry's
/// cache, the sources of one version never change, and the version is a part of every cache key.
pub(super) fn folders(package: &Path) -> Vec<PathBuf> {
    let mut folders = vec![package.join("src"), package.join("c")];
    folders.push(package.join("../futhark-manifest/src"));
    folders.retain(|folder| folder.is_dir());
    folders
}

/// A hash of the names and contents of all files below `folders`.
pub(super) fn hash(folders: &[PathBuf]) -> io::Result<String> {
    let mut hash = Hash::new();
    for folder in folders {
        hash = add_folder(hash, folder)?;
    }
    Ok(hash.hex())
}

fn add_folder(mut hash: Hash, folder: &Path) -> io::Result<Hash> {
    let mut entries: Vec<_> = std::fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    hash = hash.with(entries.len().to_le_bytes());
    for entry in entries {
        let path = entry.path();
        hash = hash.with(entry.file_name().as_encoded_bytes());
        hash = match path.is_dir() {
            true => add_folder(hash, &path)?,
            false => hash.with(std::fs::read(&path)?),
        };
    }
    Ok(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_the_sources_covers_every_file() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = folders(here);
        assert_eq!(hash(&folders).unwrap(), env!("FUTHARK_SYS_SOURCES"));
        // In the repository, futhark-manifest is included.
        let is_repository = here.join("../futhark-conformance").is_dir();
        assert!(!is_repository || folders.len() == 3, "{folders:?}");

        let folder = std::env::temp_dir().join(format!("futhark-sys-hash-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        let mut seen = Vec::new();
        for (file, text) in [("a/b/x", ""), ("a/b/x", "1"), ("a/y", "1"), ("a/b/y", "")] {
            std::fs::write(folder.join(file), text).unwrap();
            seen.push(hash(std::slice::from_ref(&folder)).unwrap());
        }
        std::fs::rename(folder.join("a/y"), folder.join("a/z")).unwrap();
        seen.push(hash(std::slice::from_ref(&folder)).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 5, "each change has another hash");
    }
}
