//! The differences as one HTML page.

use super::{Change, Comparison, Difference};
use askama::Template;
use std::io::{self, Write};

/// The data of the page. The template escapes every text.
#[derive(Template)]
#[template(path = "difference.html")]
struct Page<'c> {
    comparisons: &'c [Comparison],
}

struct Changed<'c> {
    change: Change,
    class: &'static str,
    list: Vec<&'c Difference>,
}

/// Writes the page.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(out: &mut dyn Write, comparisons: &[Comparison]) -> io::Result<()> {
    Page { comparisons }.write_into(out)?;
    writeln!(out)
}

fn changes(comparison: &Comparison) -> impl Iterator<Item = Changed<'_>> {
    Change::ALL.into_iter().map(|change| Changed {
        change,
        class: match change {
            Change::Broken => "fail",
            Change::Lost | Change::Known | Change::Unexpected => "expected",
            Change::Fixed | Change::Gained => "pass",
        },
        list: comparison.of(change).collect(),
    })
}
