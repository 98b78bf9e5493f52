//! Keeps the constructs of manifests in a file, because compiling a corpus for them takes longer than
//! checking the selected part.
//!
//! ```text
//! {"made_by":"...","constructs":[{"topic":"Array","name":"array of rank 1","scope":"Compiler"},...]}
//! {"program":"arrays/sums.fut","hash":"...","imports":["arrays/sums.fut"],"items":2,"constructs":[0,7]}
//! ```
//!
//! The first line names the compiler and the format of the file; if either differs, the file is made again. A line counts only while the source and its imports have the same text. Paths are relative to the
//! folder of the file.

use super::construct::{Compiled, Construct};
use crate::key::key;
use crate::report::counted;
use crate::say::errln;
use crate::scratch::replace_file;
use anyhow::Context as _;
use futhark_manifest::Version;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

/// The number of the format, in the first line of the file. Increment it when a change of this crate makes
/// existing files wrong: when programs get other constructs (`construct.rs`), when constructs have other
/// names, topics or scopes, or when the lines have other members. Then make `programs/constructs.jsonl` again:
/// CONTRIBUTING.md.
const FORMAT: u32 = 1;

/// Where the constructs of programs come from.
pub struct Sources<'a> {
    /// Files of constructs that are only read.
    pub read: &'a [PathBuf],
    /// The file of constructs that is read, and updated if a program is not in it.
    pub updated: &'a Path,
    /// The number of programs to compile at a time for their constructs.
    pub threads: usize,
    /// When to stop compiling programs; the others count by their sources alone.
    pub until: Option<Instant>,
}

/// The content of the file.
pub struct Kept {
    file: PathBuf,
    folder: PathBuf,
    made_by: String,
    programs: BTreeMap<String, (Stamp, Option<Compiled>)>,
    added: usize,
}

/// A program, and the hash of its source and imports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stamp {
    program: String,
    hash: String,
    imports: Vec<String>,
}

#[derive(Deserialize)]
struct MadeBy {
    made_by: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    made_by: String,
    constructs: Vec<Construct>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    stamp: Stamp,
    /// `null` if the program does not compile.
    items: Option<usize>,
    /// Indices into those of the header.
    constructs: Vec<usize>,
}

impl Kept {
    /// Reads the file; without it, or if another compiler or version of this crate made it, nothing is
    /// kept yet.
    pub fn read(file: &Path, compiler: &Version) -> anyhow::Result<Kept> {
        let failed = || format!("failed to read {}", file.display());
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        fs::create_dir_all(folder).with_context(failed)?;
        let mut kept = Kept {
            file: file.to_owned(),
            folder: folder.canonicalize().with_context(failed)?,
            made_by: format!("Futhark {compiler}, format {FORMAT}"),
            programs: BTreeMap::new(),
            added: 0,
        };
        if file.exists() {
            let text = fs::read_to_string(file).with_context(failed)?;
            let parsed = kept.parse(&text);
            kept.programs =
                parsed.with_context(|| format!("{}; delete it to make it again", failed()))?;
        }
        Ok(kept)
    }

    fn parse(&self, text: &str) -> anyhow::Result<BTreeMap<String, (Stamp, Option<Compiled>)>> {
        let mut programs = BTreeMap::new();
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        // Other versions can have other constructs.
        if serde_json::from_str::<MadeBy>(first)?.made_by != self.made_by {
            return Ok(programs);
        }
        let header: Header = serde_json::from_str(first)?;
        for line in lines {
            let line: Line = serde_json::from_str(line)?;
            let constructs = line.constructs.iter().map(|&number| {
                let construct = header.constructs.get(number).cloned();
                construct.with_context(|| format!("the header has no construct number {number}"))
            });
            let constructs = constructs.collect::<anyhow::Result<_>>()?;
            let compiled = line.items.map(|items| Compiled { constructs, items });
            programs.insert(line.stamp.program.clone(), (line.stamp, compiled));
        }
        Ok(programs)
    }

    /// What is kept of this source, if neither it nor an import has changed; the inner value is nothing
    /// if it does not compile.
    pub fn find(&self, source: &Path) -> Option<Option<&Compiled>> {
        let (stamp, compiled) = self.programs.get(&self.relative(source)?)?;
        let is_current = self.hash(&stamp.imports)? == stamp.hash;
        is_current.then_some(compiled.as_ref())
    }

    /// The stamp of a source that consists of these files; nothing if their paths cannot be written.
    pub fn stamp(&self, source: &Path, files: &[PathBuf]) -> Option<Stamp> {
        let imports = files.iter().map(|file| self.relative(file));
        let imports: Vec<String> = imports.collect::<Option<_>>()?;
        Some(Stamp {
            program: self.relative(source)?,
            hash: self.hash(&imports)?,
            imports,
        })
    }

    /// Adds what the manifest of a program shows.
    pub fn add(&mut self, stamp: Stamp, compiled: Option<Compiled>) {
        self.programs
            .insert(stamp.program.clone(), (stamp, compiled));
        self.added += 1;
    }

    /// Writes the file, without programs that no longer exist, if a program was added.
    pub fn write(&self) -> anyhow::Result<()> {
        if self.added == 0 {
            return Ok(());
        }
        let programs = self.programs.iter();
        let programs = programs.filter(|(name, _)| self.folder.join(name).is_file());
        let programs: Vec<&(Stamp, Option<Compiled>)> = programs.map(|(_, kept)| kept).collect();
        let compiled = programs
            .iter()
            .filter_map(|(_, compiled)| compiled.as_ref());
        let constructs: BTreeSet<&Construct> = compiled.flat_map(|c| &c.constructs).collect();
        let mut text = serde_json::to_string(&Header {
            made_by: self.made_by.clone(),
            constructs: constructs
                .iter()
                .map(|&construct| construct.clone())
                .collect(),
        })?;
        for (stamp, compiled) in programs {
            let is_used = |construct: &Construct| {
                compiled
                    .as_ref()
                    .is_some_and(|c| c.constructs.contains(construct))
            };
            let numbers = constructs.iter().enumerate();
            let numbers = numbers.filter(|(_, construct)| is_used(construct));
            text.push('\n');
            text += &serde_json::to_string(&Line {
                stamp: stamp.clone(),
                items: compiled.as_ref().map(|compiled| compiled.items),
                constructs: numbers.map(|(number, _)| number).collect(),
            })?;
        }
        text.push('\n');
        let failed = || format!("failed to write {}", self.file.display());
        replace_file(&self.file, text.as_bytes()).with_context(failed)?;
        let programs = counted(self.added, "program");
        errln!("compiled {programs} for their constructs, which are kept");
        Ok(())
    }

    /// Relative to the folder of the file; nothing if the file does not exist or its path is not UTF-8.
    fn relative(&self, path: &Path) -> Option<String> {
        let path = path.canonicalize().ok()?;
        let pairs = path.components().zip(self.folder.components());
        let common = pairs.take_while(|(one, other)| one == other).count();
        let up = self
            .folder
            .components()
            .skip(common)
            .map(|_| Component::ParentDir);
        let relative: PathBuf = up.chain(path.components().skip(common)).collect();
        relative.to_str().map(str::to_owned)
    }

    fn hash(&self, files: &[String]) -> Option<String> {
        let texts = files
            .iter()
            .map(|file| fs::read(self.folder.join(file)).ok());
        let texts: Vec<Vec<u8>> = texts.collect::<Option<_>>()?;
        Some(key(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cover::{Scope, Topic};

    fn compiled(name: &str) -> Compiled {
        let construct = Construct {
            topic: Topic::Array,
            name: name.to_owned(),
            scope: Scope::Run,
        };
        Compiled {
            constructs: [construct].into(),
            items: 3,
        }
    }

    fn read(file: &Path, compiler: &str) -> Kept {
        Kept::read(file, &Version::new(compiler)).unwrap()
    }

    #[test]
    fn constructs_are_kept_while_source_imports_and_compiler_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("lib")).unwrap();
        for name in ["a.fut", "b.fut", "wrong.fut", "import.fut"] {
            fs::write(path(name), name).unwrap();
        }
        // A folder beside the programs.
        let file = path("lib").join("constructs.jsonl");
        let mut kept = read(&file, "1");
        assert_eq!(kept.find(&path("a.fut")), None);
        let files = [path("import.fut"), path("a.fut")];
        let stamp = kept.stamp(&path("a.fut"), &files).unwrap();
        kept.add(stamp.clone(), Some(compiled("array")));
        for (name, compiled) in [("b.fut", Some(compiled("other"))), ("wrong.fut", None)] {
            let stamp = kept.stamp(&path(name), &[path(name)]).unwrap();
            kept.add(stamp, compiled);
        }
        kept.write().unwrap();

        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(r#""program":"../a.fut""#), "{text}");
        let kept = read(&file, "1");
        assert_eq!(kept.find(&path("a.fut")), Some(Some(&compiled("array"))));
        assert_eq!(kept.find(&path("b.fut")), Some(Some(&compiled("other"))));
        assert_eq!(kept.find(&path("wrong.fut")), Some(None));
        assert_eq!(read(&file, "2").find(&path("a.fut")), None);
        fs::write(path("import.fut"), "changed").unwrap();
        assert_eq!(kept.find(&path("a.fut")), None);

        // A program that is gone leaves the file when it is written again.
        fs::remove_file(path("b.fut")).unwrap();
        let mut kept = read(&file, "1");
        kept.add(stamp, Some(compiled("array")));
        kept.write().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("b.fut") && !text.contains("other"), "{text}");
    }

    #[test]
    fn a_file_of_another_version_is_made_again_and_a_damaged_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("constructs.jsonl");
        fs::write(
            &file,
            r#"{"made_by":"older","constructs":[{"topic":"Gone"}]}"#,
        )
        .unwrap();
        assert!(read(&file, "1").programs.is_empty());
        for text in ["", "{\n", "<<<<<<< ours"] {
            fs::write(&file, text).unwrap();
            let error = Kept::read(&file, &Version::new("1")).err();
            let error = error.map(|error| format!("{error:#}")).unwrap_or_default();
            for word in ["constructs.jsonl", "delete it"] {
                assert!(error.contains(word), "{text}: {error}");
            }
        }
    }
}
