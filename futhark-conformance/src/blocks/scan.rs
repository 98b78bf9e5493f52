//! Finds the blocks among the comments.

use super::Case;
use std::collections::HashMap;
use std::sync::Arc;

/// The text of a block after its `-- ==`.
pub(super) struct Block {
    /// The offset of the text in the source, in bytes.
    pub(super) start: usize,
    /// The first line of the text, counted from 1.
    pub(super) line: usize,
    /// The text. Comment marks are replaced by spaces, so that offsets are those in the source.
    pub(super) text: String,
}

/// The blocks of a source: a block starts with a line that starts with `-- ==`, and continues
/// while lines start with `--`.
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

/// Appends the line to equal names of cases of the same entry point, such as the numbers in two
/// blocks.
pub(super) fn name_uniquely(cases: &mut [Case]) {
    let key = |case: &Case| (Arc::clone(&case.entry), Arc::clone(&case.name));
    let mut seen: HashMap<(Arc<str>, Arc<str>), usize> = HashMap::new();
    for case in cases.iter() {
        *seen.entry(key(case)).or_default() += 1;
    }
    for case in cases.iter_mut() {
        if seen[&key(case)] > 1 {
            case.name = format!("{} (line {})", case.name, case.line).into();
        }
    }
}
