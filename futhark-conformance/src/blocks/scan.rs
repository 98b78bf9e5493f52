//! Finding the blocks among the other comments.

use super::Case;
use std::collections::HashMap;

/// The text of one block behind its `-- ==` line, comment marks taken off.
pub(super) struct Block {
    /// The line of the source that the text begins in, counted from 1.
    pub(super) line: usize,
    pub(super) text: String,
}

/// The blocks of a source: each begins with a line `-- ==` and lasts as long
/// as the lines begin with `--`.
pub(super) fn blocks(source: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in source.lines().enumerate() {
        match line.strip_prefix("--") {
            Some(comment) => match &mut open {
                Some(block) => {
                    block.text.push_str(comment);
                    block.text.push('\n');
                }
                None if comment.trim() == "==" => {
                    open = Some(Block {
                        line: number + 2,
                        text: String::new(),
                    });
                }
                None => {}
            },
            None => blocks.extend(open.take()),
        }
    }
    blocks.extend(open);
    blocks
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
