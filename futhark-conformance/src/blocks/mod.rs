//! Test blocks: the comments of a Futhark program that say what its entry
//! points answer, as `futhark test` reads them.
//!
//! ```text
//! -- Adds one.
//! -- ==
//! -- entry: inc
//! -- input { 1 } output { 2 }
//! ```

mod grammar;
mod posix;
mod scan;
pub mod script;

use futhark_manifest::Backend;
use regex::Regex;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Everything that the test blocks of one program say.
#[derive(Clone, Debug, Default)]
pub struct TestBlocks {
    /// The tags of the program, from its first block.
    pub tags: Vec<String>,
    /// If present, the program must not compile, with this message.
    pub compile_error: Option<ErrorPattern>,
    /// The test cases, one per entry point that they are for.
    pub cases: Vec<Case>,
    /// Warnings that the compiler must give.
    pub warnings: Vec<ErrorPattern>,
    /// Entry points that are properties of generated values.
    pub properties: Vec<String>,
}

impl TestBlocks {
    /// Reads the blocks of a program's source.
    ///
    /// # Errors
    /// At the first thing in a block that is not understood.
    pub fn parse(source: &str) -> Result<TestBlocks, BlockError> {
        let mut all = TestBlocks::default();
        for (number, block) in scan::blocks(source).iter().enumerate() {
            if all.compile_error.is_some() {
                return Err(BlockError {
                    line: block.line,
                    message: "the first block says that the program does not compile, so there can be no other".to_owned(),
                });
            }
            grammar::parse(block, number == 0, &mut all)?;
        }
        scan::name_uniquely(&mut all.cases);
        Ok(all)
    }

    /// Why the program is not to be tested on any backend, if a tag of it says so.
    #[must_use]
    pub fn set_aside(&self) -> Option<String> {
        let tag = self
            .tags
            .iter()
            .find(|tag| SET_ASIDE.contains(&tag.as_str()))?;
        Some(format!("tagged {tag}"))
    }
}

/// One call of an entry point, and how it must end.
#[derive(Clone, Debug)]
pub struct Case {
    /// The entry point.
    pub entry: String,
    /// The name given in the block, or `#n`; unique for its entry point.
    pub name: String,
    /// Whether the block gives the name.
    pub named: bool,
    /// The line that the case begins in, counted from 1.
    pub line: usize,
    /// The bytes of the source that the case stands in.
    pub span: Range<usize>,
    /// The byte behind its arguments, where it begins to say what must come of them.
    pub result_at: usize,
    /// Words such as `compiled` or `nobench` before `input`.
    pub tags: Vec<String>,
    /// The arguments.
    pub input: Source,
    /// How the call must end.
    pub expected: Expected,
}

impl Case {
    /// What `futhark test` calls the case, but for the values that it adds to a number.
    #[must_use]
    pub fn data_name(&self) -> String {
        if self.named {
            return self.name.clone();
        }
        match &self.input {
            Source::Text(_) => self.name.clone(),
            Source::File(path) if path.extension().is_some_and(|extension| extension == "gz") => {
                path.with_extension("").display().to_string()
            }
            Source::File(path) | Source::ScriptFile(path) => path.display().to_string(),
            Source::Random(text) | Source::Script(text) => {
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The name of the case in reports: `ENTRY NAME`.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} {}", self.entry, self.name)
    }

    /// Why the case is not to be run, if one of its tags says so.
    #[must_use]
    pub fn excluded(&self, backend: Backend) -> Option<String> {
        excluded(&self.tags, backend)
    }
}

/// Why something with these tags is not to be run on a backend, if so.
fn excluded(tags: &[String], backend: Backend) -> Option<String> {
    let no_backend = format!("no_{backend}");
    let says_so = |tag: &&String| **tag == no_backend || SET_ASIDE.contains(&tag.as_str());
    tags.iter().find(says_so).map(|tag| format!("tagged {tag}"))
}

/// Tags of what is not to be tested anywhere.
const SET_ASIDE: [&str; 2] = ["disable", "notest"];

/// Where values come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// From the text between the braces.
    Text(Arc<str>),
    /// From a file next to the program.
    File(PathBuf),
    /// Generated, of the types between the braces.
    Random(Arc<str>),
    /// From a script, an expression that calls entry points.
    Script(Arc<str>),
    /// From a file that holds a script.
    ScriptFile(PathBuf),
}

/// How a call must end.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Without an error; whatever the values.
    Success,
    /// With these values.
    Values(Source),
    /// With the values that the sequential backend gives.
    Auto,
    /// With an error.
    Error(ErrorPattern),
}

/// A regular expression that a message must contain; none means any message.
#[derive(Clone, Debug)]
pub struct ErrorPattern(Option<(String, Regex)>);

impl ErrorPattern {
    /// Whether the message is as expected.
    #[must_use]
    pub fn matches(&self, message: &str) -> bool {
        let pattern = self.0.as_ref();
        pattern.is_none_or(|(_, regex)| regex.is_match(message))
    }
}

impl fmt::Display for ErrorPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some((text, _)) => write!(f, "a message that matches {text:?}"),
            None => f.write_str("any message"),
        }
    }
}

/// Something in a test block that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockError {
    /// The line of the source, counted from 1.
    pub line: usize,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for BlockError {}

#[cfg(test)]
mod tests;
