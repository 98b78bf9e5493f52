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
mod scan;

use regex::Regex;
use std::fmt;
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
}

/// One call of an entry point, and how it must end.
#[derive(Clone, Debug)]
pub struct Case {
    /// The entry point.
    pub entry: String,
    /// The name given in the block, or `#n`; unique for its entry point.
    pub name: String,
    /// The line that the case begins in, counted from 1.
    pub line: usize,
    /// Words such as `compiled` or `nobench` before `input`.
    pub tags: Vec<String>,
    /// The arguments.
    pub input: Source,
    /// How the call must end.
    pub expected: Expected,
}

/// Where values come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// From the text between the braces.
    Text(Arc<str>),
    /// From a file next to the program.
    File(PathBuf),
    /// Generated, of the types between the braces.
    Random(Arc<str>),
    /// From a FutharkScript expression.
    Script(Arc<str>),
    /// From a file that holds a FutharkScript expression.
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
pub struct ErrorPattern(Option<Regex>);

impl ErrorPattern {
    /// Whether the message is as expected.
    #[must_use]
    pub fn matches(&self, message: &str) -> bool {
        self.0.as_ref().is_none_or(|regex| regex.is_match(message))
    }
}

impl fmt::Display for ErrorPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(regex) => write!(f, "a message that matches {:?}", regex.as_str()),
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
