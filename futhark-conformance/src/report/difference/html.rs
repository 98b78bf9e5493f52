//! The differences as one HTML page.

use super::{Change, Comparison, Difference};
use crate::report::html::printable;
use askama::Template;
use std::io::{self, Write};

/// The data of the page. The template escapes every text.
#[derive(Template)]
#[template(path = "difference.html")]
struct Page {
    comparisons: Vec<One>,
}

struct One {
    names: [String; 2],
    common: usize,
    selection: String,
    lists: Vec<List>,
}

struct List {
    change: Change,
    class: &'static str,
    /// Whether the list is shown at first.
    open: bool,
    rows: Vec<Difference>,
}

/// Writes the page.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(out: &mut dyn Write, comparisons: &[Comparison]) -> io::Result<()> {
    let page = Page {
        comparisons: comparisons.iter().map(one).collect(),
    };
    page.write_into(out)?;
    writeln!(out)
}

fn one(comparison: &Comparison) -> One {
    let list = |change: Change| List {
        change,
        class: match change {
            Change::Broken => "fail",
            Change::Lost | Change::Known | Change::Unexpected => "expected",
            Change::Fixed | Change::Gained => "pass",
        },
        open: matches!(change, Change::Broken | Change::Lost | Change::Unexpected),
        rows: comparison
            .of(change)
            .map(|one| Difference {
                change,
                program: printable(&one.program),
                target: printable(&one.target),
                case: printable(&one.case),
                message: printable(&one.message),
            })
            .collect(),
    };
    One {
        names: comparison.names.each_ref().map(|name| printable(name)),
        common: comparison.common,
        selection: printable(comparison.selection.as_deref().unwrap_or_default()),
        lists: Change::ALL.into_iter().map(list).collect(),
    }
}
