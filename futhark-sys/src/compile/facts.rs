//! What compilers report about themselves, kept in the folder of results, so that the next process need
//! not run them.
//!
//! A fact is stored under a hash of everything that determines it, including the exact stamps of the
//! executables. A script can run anything, so a fact about one is kept only if it is known what it runs
//! ([`Toolchain::parts`]).

use std::path::{Path, PathBuf};

use super::cache::temporary;
use super::hash::Hash;
use super::stamp;
use super::toolchain::Toolchain;

/// The facts that are kept in one folder of results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts<'a> {
    results: &'a Path,
}

/// The name of one fact.
pub(super) struct Name(Hash);

impl Name {
    /// A name for a fact that `kind` and `parts` determine, for this version of this crate.
    pub(super) fn new<'a>(kind: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Name {
        let hash = Hash::new().with(env!("FUTHARK_SYS_SOURCES")).with(kind);
        Name(parts.into_iter().fold(hash, Hash::with))
    }

    /// A name for a fact about an executable; `None` if it can change while its files stay the same.
    pub(super) fn of(kind: &str, program: &Path, toolchain: &Toolchain) -> Option<Name> {
        let stamps = stamps(program, toolchain, stamp::exact)?;
        Some(Name::new(kind, [stamps.as_bytes()]))
    }
}

/// The stamps of the files that determine what an executable does, if these are known.
pub(super) fn stamps(
    program: &Path,
    toolchain: &Toolchain,
    stamp: fn(&Path) -> String,
) -> Option<String> {
    let parts = toolchain.parts(program)?;
    let stamps: Vec<String> = parts.iter().map(|part| stamp(part)).collect();
    Some(stamps.join("\t"))
}

impl Toolchain {
    /// The version of an executable, kept in the folder `results`: `ask` is called only if the executable
    /// was replaced since, or is a script, which can run anything. Its text is kept if there is one.
    pub fn kept_version(
        &self,
        program: &Path,
        results: &Path,
        ask: impl FnOnce() -> Option<String>,
    ) -> Option<String> {
        let facts = Facts::of_results(results);
        let name = Name::of("version", program, self);
        let kept = name.as_ref().and_then(|name| facts.get(name));
        kept.or_else(|| {
            let version = ask()?;
            if let Some(name) = name {
                facts.put(&name, &version);
            }
            Some(version)
        })
    }
}

impl Facts<'_> {
    pub(super) fn of_results(results: &Path) -> Facts<'_> {
        Facts { results }
    }

    /// The fact, if it is kept.
    pub(super) fn get(self, name: &Name) -> Option<String> {
        let text = std::fs::read_to_string(self.file(name)).ok()?;
        // After a power failure a file can be empty.
        (!text.is_empty()).then_some(text)
    }

    /// Keeps a fact. Without it the next process only runs the compiler again, so failures are ignored.
    pub(super) fn put(self, name: &Name, text: &str) {
        let file = self.file(name);
        let new = temporary(&file);
        let Some(folder) = file.parent() else { return };
        // Renamed, so that another process reads all of it or nothing.
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&new, text))
            .and_then(|()| std::fs::rename(&new, &file));
        if written.is_err() {
            let _ = std::fs::remove_file(new);
        }
    }

    fn file(self, name: &Name) -> PathBuf {
        let name = &name.0.clone().hex()[..32];
        self.results.join("facts").join(name)
    }
}
