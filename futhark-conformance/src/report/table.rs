//! The table of programs by columns, for terminals: many programs are summed up by folder, and many
//! columns by backend.

use super::shown;
use super::summary::{Cell, Counts, Summary};
use console::{Alignment, Style, measure_text_width, pad_str, truncate_str};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The maximum number of rows.
const ROWS: usize = 40;
/// Letters, because numbers would look like the counts of the run.
const MARKS: &str = "N passed  N! failed  N~ failed as expected  N- skipped  . nothing checked";

/// The three lines of a head, and the numbers of the columns of the summary below it.
type Head = ([String; 3], Vec<usize>);

/// The name of a row, and the cells of its programs.
type Row<'s, 'r> = (String, Vec<&'s [Cell<'r>]>);

/// The table with its legend; empty without programs.
pub(super) fn table(summary: &Summary<'_>, width: usize) -> String {
    if summary.programs.is_empty() {
        return String::new();
    }
    let columns = &summary.columns;
    let heads = columns.iter().enumerate().map(|(number, column)| {
        let note = truncate_str(column.device_note(columns), 19, "...");
        let lines = [column.backend, &note, column.compiler];
        (lines.map(|line| shown(line).into_owned()), vec![number])
    });
    let mut rows = rows(summary);
    let mut text = aligned(&heads.collect::<Vec<Head>>(), &rows, marked);
    if text.lines().any(|line| measure_text_width(line) > width) {
        let mut backends: Vec<Head> = Vec::new();
        for (number, column) in columns.iter().enumerate() {
            let name = shown(column.backend).into_owned();
            match backends.last_mut() {
                Some((lines, numbers)) if lines[2] == name => numbers.push(number),
                _ => backends.push(([String::new(), String::new(), name], vec![number])),
            }
        }
        let cells = backends.iter().map(|(lines, _)| lines[2].len().max(6) + 2);
        let room = width.saturating_sub(cells.sum()).max(8);
        for (name, _) in &mut rows {
            *name = keep_end(name, room);
        }
        text = aligned(&backends, &rows, worst);
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

/// The lines of the heads without those that are empty, and the rows.
fn aligned(heads: &[Head], rows: &[Row<'_, '_>], cell: fn(&Counts) -> String) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    for (number, first) in ["", "", "program"].into_iter().enumerate() {
        let words = heads.iter().map(|(lines, _)| lines[number].clone());
        lines.push([first.to_owned()].into_iter().chain(words).collect());
    }
    lines.retain(|line| line.iter().any(|word| !word.is_empty()));
    let end = lines.len();
    for (name, programs) in rows {
        let cells = heads.iter().map(|(_, numbers)| {
            let cells = programs
                .iter()
                .flat_map(|row| numbers.iter().map(|&number| &row[number]));
            let counts = Counts::of(cells.flat_map(Cell::values).flatten().copied());
            let style = match counts {
                Counts { failed: 1.., .. } => Style::new().red().bold(),
                Counts { expected: 1.., .. } => Style::new().yellow(),
                Counts { passed: 0, .. } => Style::new().dim(),
                _ => Style::new().green(),
            };
            style.apply_to(cell(&counts)).to_string()
        });
        lines.push([name.clone()].into_iter().chain(cells).collect());
    }
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

/// The counts that are not zero, each with its mark.
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
    match parts.is_empty() {
        true => ".".to_owned(),
        false => parts.join(" "),
    }
}

/// The worst outcome of a cell, with its count.
fn worst(counts: &Counts) -> String {
    match counts {
        Counts { failed: 1.., .. } => format!("{}!", counts.failed),
        Counts { expected: 1.., .. } => format!("{}~", counts.expected),
        Counts { passed: 1.., .. } => counts.passed.to_string(),
        _ => marked(counts),
    }
}

/// A row per program; or, if these are too many, per folder; or, if even these are too many, a row for each
/// of the folders with the most failures, and one for the others.
fn rows<'s, 'r>(summary: &'s Summary<'r>) -> Vec<Row<'s, 'r>> {
    let by_folder = summary.programs.len() > ROWS;
    let mut rows: BTreeMap<&str, Vec<&[Cell<'r>]>> = BTreeMap::new();
    for (program, cells) in &summary.programs {
        let folder = program.rfind('/').map_or("./", |end| &program[..=end]);
        let row = rows.entry(if by_folder { folder } else { program });
        row.or_default().push(cells);
    }
    let mut rows: Vec<(&str, Vec<&[Cell<'r>]>)> = rows.into_iter().collect();
    if rows.len() > ROWS {
        rows.sort_by_cached_key(|(_, programs)| {
            let cells = programs.iter().copied().flatten();
            Reverse(Counts::of(cells.flat_map(Cell::values).flatten().copied()).failed)
        });
        let others = rows.split_off(ROWS - 1);
        rows.sort_by_key(|(folder, _)| *folder);
        let others = others.into_iter().flat_map(|(_, programs)| programs);
        rows.push(("other folders", others.collect()));
    }
    let named = rows.into_iter().map(|(name, programs)| match by_folder {
        true => (format!("{} ({})", shown(name), programs.len()), programs),
        false => (shown(name).into_owned(), programs),
    });
    named.collect()
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
        let counts = Counts {
            passed: 12,
            failed: 3,
            expected: 0,
            skipped: 1,
        };
        assert_eq!(
            (marked(&counts), worst(&counts)),
            ("12 3! 1-".to_owned(), "3!".to_owned())
        );
        assert_eq!(marked(&Counts::default()), ".");
    }
}
