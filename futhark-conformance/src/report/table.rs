//! The table of results for terminals: programs by columns, or the sum of each column if that has too many
//! rows or does not fit.

use super::shown;
use super::summary::{Cell, Counts, Summary};
use console::{Alignment, Style, measure_text_width, pad_str, truncate_str};

/// The maximum number of rows.
const ROWS: usize = 40;
/// Letters, because numbers would look like the counts of the run.
const MARKS: &str = "N passed  N! failed  N~ failed as expected  N- skipped  . nothing checked";

/// The table with its legend; empty without programs.
pub(super) fn table(summary: &Summary<'_>, width: usize) -> String {
    if summary.programs.is_empty() {
        return String::new();
    }
    let columns = &summary.columns;
    let titles = columns.iter().map(|column| {
        let note = truncate_str(column.device_note(columns), 19, "...");
        [column.backend, &note, column.compiler].map(|part| shown(part).into_owned())
    });
    let titles: Vec<[String; 3]> = titles.collect();
    let parts = ["", "", "program"].into_iter().enumerate();
    let parts = parts.map(|(number, first)| {
        let parts = titles.iter().map(|title| title[number].clone());
        [first.to_owned()].into_iter().chain(parts).collect()
    });
    let mut heads: Vec<Vec<String>> = parts.collect();
    heads.retain(|line| line.iter().any(|word| !word.is_empty()));
    let rows = summary.programs.iter().take(ROWS).map(|(program, cells)| {
        let counts = |cell: &Cell<'_>| Counts::of(cell.values().flatten().copied());
        let cells = cells.iter().map(|cell| marked(&counts(cell)));
        [shown(program).into_owned()]
            .into_iter()
            .chain(cells)
            .collect()
    });
    let mut text = aligned(heads, rows.collect());
    let is_wide = |line: &str| measure_text_width(line) > width;
    if summary.programs.len() > ROWS || text.lines().any(is_wide) {
        let sums = summary.sums().into_iter().zip(titles);
        let sums = sums.map(|((_, counts, _), title)| {
            Vec::from_iter(title.into_iter().chain([marked(&counts)]))
        });
        let head = ["backend", "device", "compiler", "checks"].map(str::to_owned);
        text = aligned(vec![head.to_vec()], sums.collect());
    }
    format!("\n{text}\n{MARKS}\n")
}

/// The text with its start replaced by `...` if it is wider than `width`: the end of a path
/// distinguishes it best.
pub(super) fn keep_end(text: &str, width: usize) -> String {
    if measure_text_width(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(3);
    let starts = text.char_indices().map(|(start, _)| &text[start..]);
    let mut fitting = starts.filter(|end| measure_text_width(end) <= room);
    format!("...{}", fitting.next().unwrap_or_default())
}

/// The lines of the head, a rule, and the rows.
fn aligned(mut lines: Vec<Vec<String>>, rows: Vec<Vec<String>>) -> String {
    let end = lines.len();
    lines.extend(rows);
    let widths = (0..lines[0].len()).map(|column| {
        let widths = lines.iter().map(|line| measure_text_width(&line[column]));
        widths.max().unwrap_or(0)
    });
    let widths: Vec<usize> = widths.collect();
    let padded = lines.iter().map(|line| {
        let cells = line.iter().zip(&widths);
        let cells = cells.map(|(cell, &width)| pad_str(cell, width, Alignment::Left, None));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    });
    let mut padded: Vec<String> = padded.collect();
    let width = widths.iter().map(|width| width + 2).sum::<usize>() - 2;
    padded.insert(end, format!("{}\n", "-".repeat(width)));
    padded.concat()
}

/// The counts that are not zero, each with its mark, in the colour of the worst outcome.
fn marked(counts: &Counts) -> String {
    let marked = [
        (counts.passed, ""),
        (counts.failed, "!"),
        (counts.expected, "~"),
        (counts.skipped, "-"),
    ];
    let parts = marked.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, mark)| format!("{count}{mark}"))
        .collect();
    let style = match counts {
        Counts { failed: 1.., .. } => Style::new().red().bold(),
        Counts { expected: 1.., .. } => Style::new().yellow(),
        Counts { passed: 0, .. } => Style::new().dim(),
        _ => Style::new().green(),
    };
    let text = match parts.is_empty() {
        true => ".".to_owned(),
        false => parts.join(" "),
    };
    style.apply_to(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_more_specific_end() {
        assert_eq!(keep_end("programs/sums/a.fut", 12), "...ums/a.fut");
        assert_eq!(keep_end("a.fut", 12), "a.fut");
    }

    #[test]
    fn cells_show_counts_with_marks() {
        console::set_colors_enabled(false);
        let counts = Counts {
            passed: 12,
            failed: 3,
            expected: 0,
            skipped: 1,
        };
        assert_eq!(marked(&counts), "12 3! 1-");
        assert_eq!(marked(&Counts::default()), ".");
    }
}
