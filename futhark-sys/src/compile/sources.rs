//! Hashes source files. The build script uses this module; the hash is a part of every cache key.

use std::io;
use std::path::Path;

use super::hash::Hash;

/// A hash of the names and contents of all files below `folders`.
pub(super) fn of_folders(folders: &[&Path]) -> io::Result<String> {
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

    /// Those of futhark-manifest, too.
    #[test]
    fn the_hash_of_the_sources_covers_every_file() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let sources = ["src", "c", "../futhark-manifest/src"].map(|folder| here.join(folder));
        let all = of_folders(&[&sources[0], &sources[1], &sources[2]]).unwrap();
        assert_eq!(all, env!("FUTHARK_SYS_SOURCES"));

        let folder = std::env::temp_dir().join(format!("futhark-sys-hash-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        let mut seen = Vec::new();
        for (file, text) in [("a/b/x", ""), ("a/b/x", "1"), ("a/y", "1"), ("a/b/y", "")] {
            std::fs::write(folder.join(file), text).unwrap();
            seen.push(of_folders(&[&folder]).unwrap());
        }
        std::fs::rename(folder.join("a/y"), folder.join("a/z")).unwrap();
        seen.push(of_folders(&[&folder]).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 5, "each change has another hash");
    }
}
