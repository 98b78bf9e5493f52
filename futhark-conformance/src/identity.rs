//! The identity of a compiler: two compilers can report one version, for example a released one and
//! one with a patch.

use crate::key::key;
use crate::record::CompilerInfo;
use anyhow::{Context as _, bail};
use hmac_sha256::Hash;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The file in a recording with the hash of the recorded compiler.
const RECORDED: &str = "compiler.sha256";

/// The SHA-256 hash of an executable, in hexadecimal digits. For a recording: that of the compiler
/// that made it.
///
/// # Errors
/// If the file cannot be read, for example because it can only be executed, or the recording was
/// made by an older version of this program, which did not write the hash.
pub fn hash_of(program: &Path) -> io::Result<String> {
    if program.is_dir() {
        let text = std::fs::read_to_string(program.join(RECORDED))?;
        return Ok(text.trim().to_owned());
    }
    let mut file = File::open(program)?;
    let mut hash = Hash::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            length => hash.update(&buffer[..length]),
        }
    }
    let digits = hash.finalize();
    Ok(digits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes the compiler's hash to its recording.
///
/// # Errors
/// If the recording is one of another compiler, or cannot be written.
pub fn record(compiler: &CompilerInfo, recording: &Path) -> anyhow::Result<()> {
    let file = recording.join(RECORDED);
    let failed = || format!("failed to write {}", file.display());
    match std::fs::read_to_string(&file) {
        Ok(text) if text.trim() == compiler.hash => Ok(()),
        Ok(_) => bail!(
            "{} is a recording of another compiler of version {}; record into another folder",
            recording.display(),
            compiler.version
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::fs::create_dir_all(recording).with_context(failed)?;
            std::fs::write(&file, format!("{}\n", compiler.hash)).with_context(failed)
        }
        Err(error) => Err(error).with_context(failed),
    }
}

/// Gives each compiler a label that no other one has: its version, or the version and the first
/// digits of its hash, which are the same in every run.
pub fn label(compilers: &mut [&mut CompilerInfo]) {
    for number in 0..compilers.len() {
        let version = compilers[number].version.clone();
        let same = compilers.iter().filter(|other| other.version == version);
        let same: Vec<&CompilerInfo> = same.map(|other| &**other).collect();
        let ids: Vec<String> = same.iter().map(|one| id(one, &same)).collect();
        let own = id(compilers[number], &same);
        compilers[number].label = match ids.len() {
            1 => version,
            _ => format!("{version}-{}", &own[..distinct(&ids).min(own.len())]),
        };
    }
}

/// The hash; or one with the path, if the executable could not be read or is a script with the text
/// of another one.
fn id(compiler: &CompilerInfo, all: &[&CompilerInfo]) -> String {
    let CompilerInfo { hash, path, .. } = compiler;
    let count = all.iter().filter(|other| other.hash == *hash).count();
    match hash.is_empty() || count > 1 {
        true => key(&[hash.as_bytes(), path.as_bytes()]),
        false => hash.clone(),
    }
}

/// Whether two paths name one compiler: they are equal, or their files are. Equal scripts in two
/// folders can run different programs, which they find by their own path.
#[must_use]
pub fn is_same(one: &CompilerInfo, other: &CompilerInfo) -> bool {
    let folder = |compiler: &CompilerInfo| Path::new(&compiler.path).parent().map(Path::to_owned);
    let is_script = || {
        let mut start = [0; 2];
        let file = File::open(&other.path);
        file.and_then(|mut file| file.read_exact(&mut start))
            .is_ok()
            && start == *b"#!"
    };
    one.path == other.path
        || !one.hash.is_empty()
            && one.hash == other.hash
            && (folder(one) == folder(other) || !is_script())
}

/// The number of digits, at least [`DIGITS`], that distinguishes these identities.
fn distinct(ids: &[String]) -> usize {
    let are_distinct = |&digits: &usize| {
        let short: HashSet<&str> = ids
            .iter()
            .map(|id| id.get(..digits).unwrap_or(id))
            .collect();
        short.len() == ids.len()
    };
    (DIGITS..64).find(are_distinct).unwrap_or(64)
}

/// The least number of digits in a label.
const DIGITS: usize = 6;

/// The version in the label of a compiler.
#[must_use]
pub fn version_of(label: &str) -> &str {
    match label.rsplit_once('-') {
        Some((version, digits))
            if digits.len() >= DIGITS
                && digits.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')) =>
        {
            version
        }
        _ => label,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(compilers: &[(&str, &str, &str)]) -> Vec<String> {
        let info = |&(version, path, hash): &(&str, &str, &str)| CompilerInfo {
            hash: hash.to_owned(),
            ..CompilerInfo::new(version, path)
        };
        let mut all: Vec<CompilerInfo> = compilers.iter().map(info).collect();
        label(&mut all.iter_mut().collect::<Vec<_>>());
        all.into_iter().map(|compiler| compiler.label).collect()
    }

    #[test]
    fn only_compilers_of_one_version_have_digits() {
        let found = labels(&[
            ("0.25.32", "/a", "3fa9c1d0aa"),
            ("0.25.27", "/b", "3fa9c1d0bb"),
            ("0.25.32", "/c", "770000aaaa"),
        ]);
        assert_eq!(found, ["0.25.32-3fa9c1", "0.25.27", "0.25.32-770000"]);
        // Digits are added until they differ.
        let found = labels(&[("1", "/a", "3fa9c1d0aa"), ("1", "/b", "3fa9c1d1aa")]);
        assert_eq!(found, ["1-3fa9c1d0", "1-3fa9c1d1"]);
        // Without different hashes, the path decides.
        for hash in ["", "3fa9c1d0aa"] {
            let found = labels(&[("1", "/a", hash), ("1", "/b", hash)]);
            assert_ne!(found[0], found[1]);
        }
    }

    #[test]
    fn labels_contain_the_version() {
        for (label, version) in [
            ("0.25.32", "0.25.32"),
            ("0.25.32-3fa9c1", "0.25.32"),
            ("0.26.0-rc1-3fa9c1d0", "0.26.0-rc1"),
            ("0.26.0-rc1", "0.26.0-rc1"),
            ("-", "-"),
        ] {
            assert_eq!(version_of(label), version);
        }
    }

    #[test]
    fn equal_files_are_one_compiler_and_equal_scripts_in_two_folders_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            CompilerInfo {
                hash: hash_of(&path).unwrap(),
                ..CompilerInfo::new("1", path.to_str().unwrap())
            }
        };
        let (program, copy) = (file("a/futhark", "ELF"), file("b/futhark", "ELF"));
        assert!(is_same(&program, &copy));
        let script = file("a/script", "#!/bin/sh");
        assert!(is_same(&script, &file("a/again", "#!/bin/sh")));
        assert!(!is_same(&script, &file("b/script", "#!/bin/sh")));
        assert!(!is_same(&script, &program));
        // Without a hash, only equal paths are known to be one compiler.
        let unread = |path| CompilerInfo::new("1", path);
        assert!(is_same(&unread("/a"), &unread("/a")));
        assert!(!is_same(&unread("/a"), &unread("/b")));
    }

    #[test]
    fn the_hash_is_that_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("futhark");
        std::fs::write(&file, "abc").unwrap();
        let hash = hash_of(&file).unwrap();
        // The example of FIPS 180.
        assert!(
            hash.starts_with("ba7816bf8f01cfea") && hash.len() == 64,
            "{hash}"
        );
        assert!(hash_of(&folder.path().join("nowhere")).is_err());

        let recording = folder.path().join("recording");
        let mut compiler = CompilerInfo {
            hash,
            ..CompilerInfo::new("1", "futhark")
        };
        assert!(hash_of(folder.path()).is_err(), "no recording");
        record(&compiler, &recording).unwrap();
        record(&compiler, &recording).unwrap();
        assert_eq!(hash_of(&recording).unwrap(), compiler.hash);
        compiler.hash = "other".to_owned();
        let error = record(&compiler, &recording).unwrap_err().to_string();
        assert!(error.contains("recording of another compiler"), "{error}");
    }
}
