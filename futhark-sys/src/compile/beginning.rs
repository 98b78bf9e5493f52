//! The beginning of our C file, which programs share: system headers and hooks. In builds without
//! optimisation, gcc reads it from a precompiled header.
//!
//! The second build with a beginning precompiles it: a single program would lose more time than it gains.
//! The result of a build does not depend on the precompiled header, which gcc ignores unless it fits the
//! text and all options.

use std::path::{Path, PathBuf};

use super::cache::{Temporary, is_complete};
use super::cc::{CCompiler, Options};
use super::error::Error;
use super::hash::Hash;
use super::recording::write;
use super::stamp;

/// The file with the text.
pub(super) const FILE: &str = "fut_begin.h";

/// The folder with the precompiled header, which contains no text: gcc falls back to [`FILE`].
const COMPILED: &str = "compiled";

/// The stamps of all headers that the precompiled header contains.
const STAMPS: &str = "stamps";

/// Folders in which the C compiler finds [`FILE`].
pub(super) struct Beginning {
    folder: PathBuf,
    compiled: Option<PathBuf>,
}

impl Beginning {
    /// The beginning `text` below the folder of results. `headers` has our fixed headers.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub(super) fn prepare(
        text: &str,
        results: &Path,
        headers: &Path,
        cc: &CCompiler,
        options: &Options<'_>,
    ) -> Result<Beginning, Error> {
        let mut hash = Hash::new()
            .with(env!("FUTHARK_SYS_SOURCES"))
            .with(text)
            .with(stamp::exact(cc.programs()[0]));
        for word in cc.command_line() {
            hash = hash.with(word.as_encoded_bytes());
        }
        for argument in options.arguments() {
            hash = hash.with(argument);
        }
        let folder = results.join(format!("begin-{}", &hash.hex()[..16]));
        if !is_complete(&folder) {
            let new = Temporary::beside(&folder)?;
            write(&new.path().join(FILE), text)?;
            new.complete(&folder)?;
            return Ok(Beginning {
                folder,
                compiled: None,
            });
        }
        let compiled = folder.join(COMPILED);
        let is_usable = is_current(&compiled) || precompile(&folder, headers, cc, options);
        Ok(Beginning {
            folder,
            compiled: is_usable.then_some(compiled),
        })
    }

    /// The folders, the first of which contains the precompiled header if there is one.
    pub(super) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.compiled.iter().chain([&self.folder]).map(|f| &**f)
    }

    /// The same text without the precompiled header; `None` if this is it.
    pub(super) fn as_text(&self) -> Option<Beginning> {
        self.compiled.as_ref().map(|_| Beginning {
            folder: self.folder.clone(),
            compiled: None,
        })
    }
}

/// Whether the folder has a precompiled header, all of whose headers are unchanged.
fn is_current(compiled: &Path) -> bool {
    if !is_complete(compiled) {
        return false;
    }
    let Ok(stamps) = std::fs::read_to_string(compiled.join(STAMPS)) else {
        return false;
    };
    let mut lines = stamps.lines();
    while let Some(file) = lines.next() {
        if lines.next() != Some(stamp::exact(Path::new(file)).as_str()) {
            return false;
        }
    }
    true
}

/// Whether the text in `folder` could be precompiled. A failure has no consequence but time: the compiler
/// reports an error again when it compiles the program.
fn precompile(folder: &Path, headers: &Path, cc: &CCompiler, options: &Options<'_>) -> bool {
    let compiled = folder.join(COMPILED);
    let Ok(new) = Temporary::beside(&compiled) else {
        return false;
    };
    let result = new.path().join(format!("{FILE}.gch"));
    let rule = new.path().join("rule");
    let is_compiled = cc.precompile(&folder.join(FILE), &result, &rule, headers, options);
    let stamps = std::fs::read_to_string(&rule)
        .ok()
        .and_then(|rule| stamps_of(&rule));
    let Some(stamps) = stamps.filter(|_| is_compiled) else {
        return false;
    };
    if std::fs::write(new.path().join(STAMPS), stamps).is_err() {
        return false;
    }
    // A process that opened an outdated header keeps its file, and any other one reads the text.
    if !is_current(&compiled) {
        let _ = std::fs::remove_dir_all(&compiled);
    }
    new.complete(&compiled).is_ok()
}

/// The prerequisites of a rule for make, each followed by its stamp on a line; `None` if one does not
/// exist, because its name was misunderstood.
fn stamps_of(rule: &str) -> Option<String> {
    let (_, files) = rule.split_once(": ")?;
    let files = files.replace("\\\n", " ").replace("\\ ", "\0");
    let mut stamps = String::new();
    for file in files.split_ascii_whitespace() {
        let file = file.replace('\0', " ").replace("$$", "$");
        let file = Path::new(&file);
        if !file.is_file() {
            return None;
        }
        // Builds run in different folders.
        let file = file.canonicalize().ok()?;
        let name = file.to_str().filter(|name| !name.contains('\n'))?;
        stamps += &format!("{name}\n{}\n", stamp::exact(&file));
    }
    (!stamps.is_empty()).then_some(stamps)
}

#[cfg(test)]
mod tests {
    use super::super::cache::list_files;
    use super::*;

    #[test]
    fn a_changed_or_missing_header_invalidates_its_precompiled_form() {
        let folder = std::env::temp_dir().join(format!("fut-begin-{}", std::process::id()));
        let compiled = folder.join(COMPILED);
        std::fs::create_dir_all(&compiled).unwrap();
        let [one, two] = ["one.h", "a b$.h"].map(|name| folder.join(name));
        std::fs::write(&one, "int x;").unwrap();
        std::fs::write(&two, "int y;").unwrap();
        assert!(!is_current(&compiled), "no stamps");
        let dir = folder.display();
        let rule = format!("out.gch: {dir}/one.h \\\n {dir}/a\\ b$$.h\n");
        let stamps = stamps_of(&rule).unwrap();
        assert_eq!(stamps.lines().count(), 4);
        std::fs::write(compiled.join(STAMPS), &stamps).unwrap();
        list_files(&compiled).unwrap();
        assert!(is_current(&compiled));
        std::fs::write(&two, "long y;").unwrap();
        assert!(!is_current(&compiled), "another size");
        std::fs::write(compiled.join(STAMPS), stamps_of(&rule).unwrap()).unwrap();
        assert!(!is_current(&compiled), "damaged");
        std::fs::remove_file(compiled.join("done")).unwrap();
        list_files(&compiled).unwrap();
        assert!(is_current(&compiled));
        std::fs::remove_file(&one).unwrap();
        assert!(!is_current(&compiled), "missing");
        assert_eq!(stamps_of(&rule), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
