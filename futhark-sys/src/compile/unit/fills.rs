//! Finds fills with values that need no memory, such as `replicate n ()`, which are loops without a body:
//!
//! ```c
//! for (int64_t nest_i_5624 = 0; nest_i_5624 < n_5524; nest_i_5624++) {
//!     for (int64_t nest_i_5625 = 0; nest_i_5625 < m_5525; nest_i_5625++) { }
//! }
//! ```
//!
//! There is nothing to do for them, but a negative number of values is an error.

use std::collections::BTreeMap;

use crate::compile::generated::expr::Expr;
use crate::compile::generated::lines::{Line, Statement};

/// A fill that has nothing to do.
pub(super) struct OfUnits<'l, 'a> {
    /// The first line after it.
    pub end: usize,
    /// The number of values in each dimension, the innermost first.
    pub counts: Vec<&'l Expr<'a>>,
}

/// The fills, by the number of their first line.
pub(super) fn of_units<'l, 'a>(lines: &'l [Line<'a>]) -> BTreeMap<usize, OfUnits<'l, 'a>> {
    let loops = (0..lines.len()).filter_map(|i| match &lines[i].statement {
        Statement::Loop {
            count: Some(count),
            is_empty: true,
        } => Some((i, count)),
        _ => None,
    });
    let fills = loops.map(|(i, count)| {
        let mut counts = vec![count];
        let (mut begin, mut end) = (i, i + 1);
        // The loops around it that have no other content.
        while let Some(outer) = begin.checked_sub(1)
            && let Statement::Loop {
                count: Some(count),
                is_empty: false,
            } = &lines[outer].statement
            && lines.get(end).is_some_and(|line| line.text.trim() == "}")
        {
            counts.push(count);
            (begin, end) = (outer, end + 1);
        }
        (begin, OfUnits { end, counts })
    });
    fills.collect()
}
