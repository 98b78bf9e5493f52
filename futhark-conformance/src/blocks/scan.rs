//! Finding the blocks among the other comments.

use super::{BlockError, Case};
use std::collections::{HashMap, HashSet};

/// The text of one block behind its `-- ==`.
pub(super) struct Block {
    /// Where the text begins in the source, in bytes.
    pub(super) start: usize,
    /// The line of the source that the text begins in, counted from 1.
    pub(super) line: usize,
    /// The text. The comment marks are spaces, so that a place in it is a place in the source.
    pub(super) text: String,
}

/// The blocks of a source: each begins with a line that begins with `-- ==`, and lasts as long as
/// the lines begin with `--`.
pub(super) fn blocks(source: &str) -> Vec<Block> {
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

/// Refuses two cases of one block that have one name: whoever reads a report could not tell them
/// apart.
pub(super) fn refuse_duplicates(cases: &[Case]) -> Result<(), BlockError> {
    let mut seen = HashSet::new();
    for case in cases {
        if !seen.insert(case.data_name()) {
            return Err(BlockError {
                line: case.line,
                message: format!(
                    "a second test case of this block is called {:?}",
                    case.data_name()
                ),
            });
        }
    }
    Ok(())
}

/// Tells cases of the same entry point apart whose names are the same, as the
/// numbers of two blocks are, by their lines.
pub(super) fn name_uniquely(cases: &mut [Case]) {
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    for case in cases.iter() {
        *seen
            .entry((case.entry.clone(), case.name.clone()))
            .or_default() += 1;
    }
    for case in cases.iter_mut() {
        if seen[&(case.entry.clone(), case.name.clone())] > 1 {
            case.name = format!("{} (line {})", case.name, case.line);
        }
    }
}
