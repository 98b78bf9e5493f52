//! Test blocks: comments in a Futhark program with the expected results of its entry points, in
//! the format of `futhark test`.
//!
//! ```text
//! -- Adds one.
//! -- ==
//! -- entry: inc
//! -- input { 1 } output { 2 }
//! ```

mod grammar;
mod posix;
pub mod script;

use futhark_manifest::Backend;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The test blocks of one program.
#[derive(Clone, Debug, Default)]
pub struct TestBlocks {
    /// The tags of the program, from its first block.
    pub tags: Vec<String>,
    /// If present, the program must not compile, and the error must match.
    pub compile_error: Option<ErrorPattern>,
    /// The test cases, one per entry point.
    pub cases: Vec<Case>,
    /// Warnings that must occur.
    pub warnings: Vec<ErrorPattern>,
    /// Entry points that are properties of generated values.
    pub properties: Vec<String>,
}

impl TestBlocks {
    /// The files with values or scripts, relative to the folder of the program.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let sources = self.cases.iter().flat_map(|case| {
            let expected = match &case.expected {
                Expected::Values(source) => Some(source),
                _ => None,
            };
            [Some(&case.input), expected]
        });
        sources.flatten().filter_map(|source| match source {
            Source::File(path) | Source::ScriptFile(path) => Some(&**path),
            _ => None,
        })
    }

    /// Why the program is excluded on all backends, if a tag excludes it.
    #[must_use]
    pub fn disabled_by_tag(&self) -> Option<String> {
        let tag = self
            .tags
            .iter()
            .find(|tag| DISABLING_TAGS.contains(&tag.as_str()))?;
        Some(format!("tagged {tag}"))
    }
}

/// A call of an entry point, and its expected outcome. Clones share their texts, because a case of
/// several entry points is one case for each of them.
#[derive(Clone, Debug)]
pub struct Case {
    /// The entry point.
    pub entry: Arc<str>,
    /// The name in the block, or `#n`; unique for its entry point.
    pub name: Arc<str>,
    /// Whether the name is from the block.
    pub named: bool,
    /// The first line of the case, counted from 1.
    pub line: usize,
    /// The byte range of the case in the source.
    pub span: Range<usize>,
    /// The offset after its arguments, where the expected outcome starts.
    pub result_at: usize,
    /// Words such as `compiled` or `nobench` before `input`.
    pub tags: Arc<[String]>,
    /// The arguments.
    pub input: Source,
    /// The expected outcome.
    pub expected: Expected,
}

impl Case {
    /// The pattern of the error that the call must report, if it must fail.
    #[must_use]
    pub fn expected_error(&self) -> Option<&ErrorPattern> {
        match &self.expected {
            Expected::Error(pattern) => Some(pattern),
            _ => None,
        }
    }

    /// The name of the case in `futhark test`, without the values that it adds to a number.
    #[must_use]
    pub fn data_name(&self) -> String {
        if self.named {
            return self.name.to_string();
        }
        match &self.input {
            Source::Text(_) => self.name.to_string(),
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

    /// Why the case is excluded, if a tag excludes it.
    #[must_use]
    pub fn excluded(&self, backend: Backend) -> Option<String> {
        let no_backend = format!("no_{backend}");
        let excludes =
            |tag: &&String| **tag == no_backend || DISABLING_TAGS.contains(&tag.as_str());
        let tag = self.tags.iter().find(excludes)?;
        Some(format!("tagged {tag}"))
    }
}

/// The maximum number of test cases of a program, each counted for each of its entry points. The
/// largest programs that people write have some hundreds; a short text can have millions.
pub const MOST_CASES: usize = 10_000;

/// Tags that exclude on all backends.
const DISABLING_TAGS: [&str; 2] = ["disable", "notest"];

/// The source of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The text between the braces.
    Text(Arc<str>),
    /// A file next to the program.
    File(Arc<Path>),
    /// Generated values of the types between the braces.
    Random(Arc<str>),
    /// A script: an expression that calls entry points.
    Script(Arc<str>),
    /// A file with a script.
    ScriptFile(Arc<Path>),
}

/// The expected outcome of a call.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Success, with any values.
    Success,
    /// These values.
    Values(Source),
    /// The values that the sequential backend returns.
    Auto,
    /// An error.
    Error(ErrorPattern),
}

/// A regular expression that must match part of a message; none matches any message.
#[derive(Clone, Debug)]
pub struct ErrorPattern(Option<Arc<str>>);

impl ErrorPattern {
    /// Whether the message matches.
    #[must_use]
    pub fn matches(&self, message: &str) -> bool {
        // Compiled for each use: a short text can have thousands of patterns that need a megabyte each.
        let matches = |text| posix::compile(text).is_ok_and(|regex| regex.is_match(message));
        self.0.as_deref().is_none_or(matches)
    }
}

impl fmt::Display for ErrorPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(text) => write!(f, "a message that matches {text:?}"),
            None => f.write_str("any message"),
        }
    }
}

/// A syntax error in a test block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockError {
    /// The line of the source, counted from 1.
    pub line: usize,
    /// The expected and the actual text.
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
