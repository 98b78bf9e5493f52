//! The features of programs, kept in a file, because to compile a corpus for them takes longer than to
//! check the part that is chosen.
//!
//! ```text
//! {"made_by":"...","constructs":[["Array","array of rank 1","Compiler"],...]}
//! {"program":"arrays/sums.fut","hash":"...","imports":["arrays/sums.fut"],"constructs":[0,7],...}
//! ```
//!
//! The first line names the compiler and the code that made the file; with others it is made again. A line
//! counts only while the source and its imports have the same text. Paths are relative to the folder of the file.

use super::construct::{Construct, Features};
use crate::key::key;
use anyhow::Context as _;
use futhark_manifest::Version;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a program: its source and the imports.
pub type Files = Vec<PathBuf>;

/// The content of the file.
pub struct Kept {
    file: PathBuf,
    folder: PathBuf,
    made_by: String,
    programs: BTreeMap<PathBuf, Program>,
    added: usize,
}

struct Program {
    hash: String,
    imports: Files,
    features: Features,
}

#[derive(Serialize, Deserialize)]
struct Header {
    made_by: String,
    constructs: Vec<Construct>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    program: PathBuf,
    hash: String,
    imports: Files,
    compiles: bool,
    cost: u64,
    tags: Vec<String>,
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
        let code = key(&[include_bytes!("construct.rs")]);
        let mut kept = Kept {
            file: file.to_owned(),
            folder: folder.canonicalize().with_context(failed)?,
            made_by: format!("Futhark {compiler}, construct.rs {code}"),
            programs: BTreeMap::new(),
            added: 0,
        };
        if file.exists() {
            let text = fs::read_to_string(file).with_context(failed)?;
            kept.programs = kept.parse(&text).with_context(failed)?;
        }
        Ok(kept)
    }

    fn parse(&self, text: &str) -> anyhow::Result<BTreeMap<PathBuf, Program>> {
        let mut lines = text.lines();
        let header: Header = serde_json::from_str(lines.next().unwrap_or_default())?;
        let mut programs = BTreeMap::new();
        if header.made_by != self.made_by {
            return Ok(programs);
        }
        for line in lines {
            let line: Line = serde_json::from_str(line)?;
            let constructs = line.constructs.iter().map(|&number| {
                let construct = header.constructs.get(number).cloned();
                construct.with_context(|| format!("there is no construct {number}"))
            });
            let features = Features {
                constructs: constructs.collect::<anyhow::Result<_>>()?,
                compiles: line.compiles,
                tags: line.tags,
                cost: line.cost,
            };
            let program = Program {
                hash: line.hash,
                imports: line.imports,
                features,
            };
            programs.insert(line.program, program);
        }
        Ok(programs)
    }

    /// The features of this source, if neither it nor an import has changed.
    pub fn find(&self, source: &Path) -> Option<Features> {
        let program = self.programs.get(&self.relative(source).ok()?)?;
        let is_current = self.hash(&program.imports).ok()? == program.hash;
        is_current.then(|| program.features.clone())
    }

    /// Adds the features of a source that depend on these files.
    pub fn add(&mut self, source: &Path, files: &Files, features: Features) -> anyhow::Result<()> {
        let imports = files.iter().map(|file| self.relative(file));
        let imports: Files = imports.collect::<anyhow::Result<_>>()?;
        let program = Program {
            hash: self.hash(&imports)?,
            imports,
            features,
        };
        self.programs.insert(self.relative(source)?, program);
        self.added += 1;
        Ok(())
    }

    /// Writes the file, without programs that no longer exist, if a program was added.
    pub fn write(&self) -> anyhow::Result<()> {
        if self.added == 0 {
            return Ok(());
        }
        let exists = |program: &&PathBuf| self.folder.join(program).is_file();
        let programs: Vec<&PathBuf> = self.programs.keys().filter(exists).collect();
        let all = programs
            .iter()
            .flat_map(|name| &self.programs[*name].features.constructs);
        let constructs: BTreeSet<&Construct> = all.collect();
        let mut text = serde_json::to_string(&Header {
            made_by: self.made_by.clone(),
            constructs: constructs
                .iter()
                .map(|&construct| construct.clone())
                .collect(),
        })?;
        for name in programs {
            let program = &self.programs[name];
            let features = &program.features;
            let numbers = constructs.iter().enumerate();
            let numbers = numbers.filter(|(_, construct)| features.constructs.contains(construct));
            text.push('\n');
            text += &serde_json::to_string(&Line {
                program: name.clone(),
                hash: program.hash.clone(),
                imports: program.imports.clone(),
                compiles: features.compiles,
                cost: features.cost,
                tags: features.tags.clone(),
                constructs: numbers.map(|(number, _)| number).collect(),
            })?;
        }
        // A rename, so that an interrupted run leaves no incomplete file.
        let failed = || format!("failed to write {}", self.file.display());
        let new = self.file.with_extension("new");
        fs::write(&new, text + "\n").with_context(failed)?;
        fs::rename(new, &self.file).with_context(failed)?;
        eprintln!(
            "wrote the constructs of {} programs to {}",
            self.added,
            self.file.display()
        );
        Ok(())
    }

    /// Relative to the folder of the file, if it is in there.
    fn relative(&self, path: &Path) -> anyhow::Result<PathBuf> {
        let path = path.canonicalize()?;
        let inside = path.strip_prefix(&self.folder).map(Path::to_owned);
        Ok(inside.unwrap_or(path))
    }

    fn hash(&self, files: &Files) -> anyhow::Result<String> {
        let texts = files.iter().map(|file| fs::read(self.folder.join(file)));
        let texts: Vec<Vec<u8>> = texts.collect::<Result<_, _>>()?;
        Ok(key(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cover::{Scope, Topic};

    fn features(name: &str) -> Features {
        let construct = Construct {
            topic: Topic::Array,
            name: name.to_owned(),
            scope: Scope::Run,
        };
        Features {
            constructs: [construct].into(),
            compiles: true,
            tags: vec!["tag".to_owned()],
            cost: 3,
        }
    }

    #[test]
    fn features_are_kept_while_source_imports_and_compiler_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["a.fut", "b.fut", "import.fut"] {
            fs::write(path(name), name).unwrap();
        }
        let file = path("constructs.jsonl");
        let mut kept = Kept::read(&file, &Version::new("1")).unwrap();
        assert_eq!(kept.find(&path("a.fut")), None);
        let files = vec![path("import.fut"), path("a.fut")];
        kept.add(&path("a.fut"), &files, features("array")).unwrap();
        kept.add(&path("b.fut"), &vec![path("b.fut")], features("other"))
            .unwrap();
        kept.write().unwrap();

        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(r#""program":"a.fut""#), "{text}");
        let find = |compiler: &str, name: &str| {
            Kept::read(&file, &Version::new(compiler))
                .unwrap()
                .find(&path(name))
        };
        assert_eq!(find("1", "a.fut"), Some(features("array")));
        assert_eq!(find("1", "b.fut"), Some(features("other")));
        assert_eq!(find("2", "a.fut"), None);
        fs::write(path("import.fut"), "changed").unwrap();
        assert_eq!(find("1", "a.fut"), None);

        // A program that is gone leaves the file when it is written again.
        fs::remove_file(path("b.fut")).unwrap();
        let mut kept = Kept::read(&file, &Version::new("1")).unwrap();
        kept.add(&path("a.fut"), &files, features("array")).unwrap();
        kept.write().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("b.fut") && !text.contains("other"), "{text}");
    }

    #[test]
    fn a_damaged_file_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("constructs.jsonl");
        for text in ["", "{\n", "{\"made_by\":\"\",\"constructs\":[]"] {
            fs::write(&file, text).unwrap();
            let error = Kept::read(&file, &Version::new("1"))
                .err()
                .map(|error| format!("{error:#}"));
            assert!(error.unwrap().contains("constructs.jsonl"), "{text}");
        }
    }
}
