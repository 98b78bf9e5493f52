//! Finds the blocks among the comments, and parses them. The grammar of a block:
//!
//! ```text
//! block  = [tags { WORD… }] (error: REGEX | property: WORD… | [entry: WORD…] case… [structure… warning…])
//! case   = ["name"] WORD… (input values | random input { TYPE… } | script input { … }) result
//! values = { VALUE… } | @ FILE
//! result = output values | auto output | error: REGEX | nothing
//! ```

use super::posix;
use super::{BlockError, Case, ErrorPattern, Expected, MOST_CASES, Source, TestBlocks};
use crate::values::{Cursor, TextError, found};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// The text of a block after its `-- ==`.
struct Block {
    /// The offset of the text in the source, in bytes.
    start: usize,
    /// The first line of the text, counted from 1.
    line: usize,
    /// The text. Comment marks are replaced by spaces, so that offsets are those in the source.
    text: String,
}

/// The blocks of a source: a block starts with a line that starts with `-- ==`, and continues
/// while lines start with `--`.
fn blocks(source: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut at = 0;
    for (number, line) in source.split_inclusive('\n').enumerate() {
        match (&mut open, line.strip_prefix("--")) {
            (Some(block), Some(comment)) => {
                block.text.push_str("  ");
                block.text.push_str(comment);
            }
            (Some(_), None) => blocks.extend(open.take()),
            (None, _) => {
                const MARK: &str = "-- ==";
                open = line.strip_prefix(MARK).map(|rest| Block {
                    start: at + MARK.len(),
                    line: number + 1,
                    text: rest.to_owned(),
                });
            }
        }
        at += line.len();
    }
    blocks.extend(open);
    blocks
}

/// Appends the line to equal names of cases of the same entry point, such as the numbers in two
/// blocks.
fn name_uniquely(cases: &mut [Case]) {
    let key = |case: &Case| (Arc::clone(&case.entry), Arc::clone(&case.name));
    let mut seen: HashMap<(Arc<str>, Arc<str>), usize> = HashMap::new();
    for case in cases.iter() {
        *seen.entry(key(case)).or_default() += 1;
    }
    let mut taken = HashSet::new();
    for case in cases.iter_mut() {
        if seen[&key(case)] > 1 {
            case.name = format!("{} (line {})", case.name, case.line).into();
        }
        // The block can give a case the name that another one gets.
        while !taken.insert(key(case)) {
            case.name = format!("{}'", case.name).into();
        }
    }
}

/// The maximum length in bytes of a name, which each result of its test cases repeats.
const LONGEST_NAME: usize = 1_000;

impl TestBlocks {
    /// Parses the blocks of a program's source.
    pub fn parse(source: &str) -> Result<TestBlocks, BlockError> {
        let mut all = TestBlocks::default();
        for (number, block) in blocks(source).iter().enumerate() {
            let line_ends: Vec<usize> = block.text.match_indices('\n').map(|(at, _)| at).collect();
            let line_at = |at: usize| block.line + line_ends.partition_point(|&end| end < at);
            contents(block, &line_at, number == 0, &mut all).map_err(|error| BlockError {
                line: line_at(error.at),
                message: error.message,
            })?;
        }
        name_uniquely(&mut all.cases);
        Ok(all)
    }
}

fn contents(
    block: &Block,
    line_at: &dyn Fn(usize) -> usize,
    first: bool,
    all: &mut TestBlocks,
) -> Result<(), TextError> {
    let mut cursor = Cursor::new(&block.text);
    if all.compile_error.is_some() {
        return Err(cursor.error(
            "the first block says that the program does not compile, so there can be no other",
        ));
    }
    if first && cursor.eat_word("tags") {
        let tags = cursor.braced(Cursor::words)?;
        all.tags = tags.split_whitespace().map(str::to_owned).collect();
    }
    if cursor.eat_next("error:") {
        if !first {
            return Err(
                cursor.error("only the first block can say that the program does not compile")
            );
        }
        all.compile_error = Some(cursor.pattern()?);
        return cursor.end();
    }
    if cursor.eat_next("property:") {
        all.properties
            .extend(cursor.rest_of_line().split_whitespace().map(str::to_owned));
        return cursor.end();
    }
    let entries: Vec<Arc<str>> = if cursor.eat_next("entry:") {
        let names = cursor.rest_of_line().split_whitespace();
        let mut seen = HashSet::new();
        let names = names.filter(|name| seen.insert(*name));
        names.map(Arc::from).collect()
    } else {
        vec!["main".into()]
    };
    let mut cases = Vec::new();
    let mut seen = HashSet::new();
    while let Some(case) = cursor.case(block, line_at, cases.len())? {
        let names = entries.iter().chain([&case.name]);
        let longest = names.max_by_key(|name| name.len());
        if let Some(name) = longest.filter(|name| name.len() > LONGEST_NAME) {
            return Err(cursor.error(format!(
                "expected a name of at most {LONGEST_NAME} bytes, found {} bytes: {}",
                name.len(),
                found(name)
            )));
        }
        // A report could not distinguish two cases of a block with the same name.
        let name = case.data_name();
        if !seen.insert(name.clone()) {
            return Err(TextError {
                at: case.span.start - block.start,
                message: format!(
                    "a second test case of this block is called {}",
                    found(&name)
                ),
            });
        }
        cases.push(case);
        if all.cases.len() + entries.len() * cases.len() > MOST_CASES {
            return Err(cursor.error(format!(
                "more than {MOST_CASES} test cases (each counts once for each of the {} entry points of its block); \
                 divide them among several programs",
                entries.len()
            )));
        }
    }
    for entry in &entries {
        all.cases.extend(cases.iter().map(|case| Case {
            entry: Arc::clone(entry),
            ..case.clone()
        }));
    }
    // Compile errors and warnings belong to one block only.
    if !first {
        return cursor.end();
    }
    while cursor.eat_word("structure") {
        cursor.structure()?;
    }
    while cursor.eat_next("warning:") {
        let pattern = cursor.pattern()?;
        all.warnings.push(pattern);
    }
    cursor.end()
}

impl<'a> Cursor<'a> {
    fn case(
        &mut self,
        block: &Block,
        line_at: &dyn Fn(usize) -> usize,
        number: usize,
    ) -> Result<Option<Case>, TextError> {
        self.skip_space();
        let start = self.at;
        let line = line_at(start);
        let name = match self.peek() {
            Some('"') => Some(self.quoted()?),
            _ => None,
        };
        let mut tags = Vec::new();
        while !self.eat_word("input") {
            match self.word() {
                // These words start the part after the cases.
                Some("structure" | "warning") if tags.is_empty() && name.is_none() => {
                    self.at = start;
                    return Ok(None);
                }
                Some(tag) => tags.push(tag.to_owned()),
                None if self.peek().is_none() && tags.is_empty() && name.is_none() => {
                    return Ok(None);
                }
                None => return Err(self.expected("a test case (input ...)")),
            }
        }
        let has = |tag: &str| tags.iter().any(|t| t == tag);
        let input = if has("random") {
            let text = self.braced(|cursor| cursor.sequence(Cursor::generator).map(drop))?;
            Source::Random(text.into())
        } else if has("script") {
            match self.file() {
                Some(file) => Source::ScriptFile(file),
                None => {
                    let text = self.braced(|cursor| cursor.expression().map(drop))?;
                    Source::Script(text.into())
                }
            }
        } else {
            self.values()?
        };
        let result_at = block.start + self.at;
        let expected = self.result()?;
        Ok(Some(Case {
            entry: "".into(),
            named: name.is_some(),
            name: name.unwrap_or_else(|| format!("#{number}")).into(),
            line,
            span: block.start + start..block.start + self.at,
            result_at,
            tags: tags.into(),
            input,
            expected,
        }))
    }

    fn result(&mut self) -> Result<Expected, TextError> {
        let start = self.at;
        if self.eat_word("auto") {
            if self.eat_word("output") {
                return Ok(Expected::Auto);
            }
            self.at = start;
        }
        if self.eat_word("output") {
            return Ok(Expected::Values(self.values()?));
        }
        if self.eat_next("error:") {
            // As in `futhark test`, an expression may be on the next line. Only at the end of a
            // block is there none.
            self.skip_space();
            return Ok(Expected::Error(self.pattern()?));
        }
        Ok(Expected::Success)
    }

    /// `{ 1 [2,3] }` or `@ file`. The text is validated here, so that errors have a line number,
    /// and parsed again when it is used.
    fn values(&mut self) -> Result<Source, TextError> {
        if let Some(file) = self.file() {
            return Ok(Source::File(file));
        }
        let text = self.braced(|cursor| cursor.sequence(Cursor::value).map(drop))?;
        Ok(Source::Text(text.into()))
    }

    fn file(&mut self) -> Option<Arc<Path>> {
        self.eat_next("@").then(|| {
            self.skip_space();
            Path::new(self.until(char::is_whitespace)).into()
        })
    }

    /// The text between braces, of which `contents` consumes all but white space.
    fn braced(
        &mut self,
        contents: impl FnOnce(&mut Self) -> Result<(), TextError>,
    ) -> Result<&'a str, TextError> {
        if !self.eat_next("{") {
            return Err(self.expected("'{'"));
        }
        let start = self.at;
        let consumed = contents(self);
        if self.peek().is_none() {
            self.at = start;
            return Err(self.error("a '{' is not closed"));
        }
        consumed?;
        let text = &self.text[start..self.at];
        match self.eat_next("}") {
            true => Ok(text),
            false => Err(self.expected("'}'")),
        }
    }

    /// Consumes words up to a closing brace.
    fn words(&mut self) -> Result<(), TextError> {
        self.until(|c| c == '}');
        Ok(())
    }

    fn quoted(&mut self) -> Result<String, TextError> {
        let bytes = self.value()?;
        Ok(String::from_utf8_lossy(bytes.bytes()).into_owned())
    }

    fn pattern(&mut self) -> Result<ErrorPattern, TextError> {
        let at = self.at;
        let text = self.rest_of_line().trim();
        if text.is_empty() {
            return Ok(ErrorPattern(None));
        }
        match posix::compile(text) {
            Ok(_) => Ok(ErrorPattern(Some(text.into()))),
            Err(error) => Err(TextError {
                at,
                message: format!("invalid regular expression {}: {error}", found(text)),
            }),
        }
    }

    /// Skips counts of the compiler's own constructs, which are not part of the C API.
    fn structure(&mut self) -> Result<(), TextError> {
        self.skip_space();
        if self.peek() != Some('{') && self.word().is_none() {
            return Err(self.expected("'{'"));
        }
        self.braced(Cursor::words).map(drop)
    }

    fn end(&mut self) -> Result<(), TextError> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the block")),
        }
    }

    fn eat_word(&mut self, expected: &str) -> bool {
        let start = self.at;
        let found = self.word() == Some(expected);
        self.at = if found { self.at } else { start };
        found
    }

    fn word(&mut self) -> Option<&'a str> {
        self.skip_space();
        let word = self.until(|c| !(c.is_alphanumeric() || c == '_' || c == '-'));
        (!word.is_empty()).then_some(word)
    }

    fn rest_of_line(&mut self) -> &'a str {
        self.until(|c| c == '\n')
    }
}
