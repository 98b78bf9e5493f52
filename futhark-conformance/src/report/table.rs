//! The table of programs by columns, for terminals. If it is too wide, columns get letters, which a
//! legend explains, and cells show only their worst outcome; many programs are summed up by folder.
//!
//! A library for tables could only align the cells, in less code than it takes to call one: it knows
//! neither which end of a path distinguishes it nor how to replace headings by letters, and needs
//! further crates to measure coloured text.

use super::shown;
use super::summary::{Column, Counts, Summary, sum};
use console::{Alignment, Style, measure_text_width, pad_str, truncate_str};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of rows.
const ROWS: usize = 40;
/// The least width of the column of programs.
const NAMES: usize = 20;
/// Letters, because numbers would look like the counts of the run.
const MARKS: &str = "N passed  N! failed  N~ failed as expected  N- skipped  . nothing checked";

/// The name and the cells of a row.
type Row = (String, Vec<Counts>);

/// The table with its legend; empty without programs.
#[must_use]
pub fn table(summary: &Summary, width: usize) -> String {
    let rows = rows(summary);
    if rows.is_empty() {
        return String::new();
    }
    let columns = summary.columns();
    let all: Vec<usize> = (0..columns.len()).collect();
    let words = |of: &dyn Fn(&Column) -> &str| -> Vec<String> {
        let words = columns.iter().map(|column| shown(of(column)).into_owned());
        words.collect()
    };
    let mut heads = vec![words(&|column| &column.backend)];
    let notes = words(&|column| column.device_note(columns));
    if notes.iter().any(|note| !note.is_empty()) {
        let short = notes
            .iter()
            .map(|note| truncate_str(note, 19, "...").into_owned());
        heads.push(short.collect());
    }
    heads.push(words(&|column| &column.compiler));
    let (mut text, widest) = aligned(&heads, &rows, &all, Counts::marked, 2);
    if widest > width {
        let letters = [(0..columns.len()).map(letter).collect()];
        let cells = rows.iter().flat_map(|(_, cells)| cells);
        let cell = cells
            .map(|counts| worst(counts).len())
            .max()
            .unwrap_or(1)
            .max(2);
        let fitting = |gap: usize| ((width - NAMES) / (cell + gap)).max(1);
        let gap = if fitting(2) >= columns.len() { 2 } else { 1 };
        text = legend(columns, width);
        for some in all.chunks(fitting(gap)) {
            let room = width - some.len() * (cell + gap);
            let names = rows
                .iter()
                .map(|(name, cells)| (keep_end(name, room), cells.clone()));
            let rows: Vec<Row> = names.collect();
            text += "\n";
            text += &aligned(&letters, &rows, some, worst, gap).0;
        }
    }
    format!("\n{text}\n{MARKS}\n")
}

/// The text with its start replaced by `...` if it is wider than `width`: the end of a path
/// distinguishes it best.
#[must_use]
pub fn keep_end(text: &str, width: usize) -> String {
    if measure_text_width(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(3);
    let starts = text.char_indices().map(|(start, _)| &text[start..]);
    let mut fitting = starts.filter(|end| measure_text_width(end) <= room);
    format!("...{}", fitting.next().unwrap_or_default())
}

/// The heads and rows of the columns with these numbers, and their width.
fn aligned(
    heads: &[Vec<String>],
    rows: &[Row],
    numbers: &[usize],
    cell: fn(&Counts) -> String,
    gap: usize,
) -> (String, usize) {
    let of = |name: &str, cells: &dyn Fn(usize) -> String| -> Vec<String> {
        let cells = numbers.iter().map(|&number| cells(number));
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let first = |line: usize| {
        if line + 1 == heads.len() {
            "program"
        } else {
            ""
        }
    };
    let heads = heads.iter().enumerate();
    let heads = heads.map(|(line, head)| of(first(line), &|number| head[number].clone()));
    let heads: Vec<Vec<String>> = heads.collect();
    let coloured = |counts: &Counts| {
        let style = match counts {
            Counts { failed: 1.., .. } => Style::new().red().bold(),
            Counts { expected: 1.., .. } => Style::new().yellow(),
            Counts { passed: 0, .. } => Style::new().dim(),
            _ => Style::new().green(),
        };
        style.apply_to(cell(counts)).to_string()
    };
    let rows = rows.iter();
    let rows = rows.map(|(name, cells)| of(name, &|number| coloured(&cells[number])));
    let rows: Vec<Vec<String>> = rows.collect();
    let widths = (0..=numbers.len()).map(|column| {
        let cells = heads.iter().chain(&rows);
        let widths = cells.map(|line| measure_text_width(&line[column]));
        widths.max().unwrap_or(0)
    });
    let widths: Vec<usize> = widths.collect();
    let line = |cells: &Vec<String>| {
        let cells = cells.iter().zip(&widths);
        let padded = cells.map(|(cell, &width)| pad_str(cell, width, Alignment::Left, None));
        let line = padded.collect::<Vec<_>>().join(&" ".repeat(gap));
        format!("{}\n", line.trim_end())
    };
    let width = widths.iter().sum::<usize>() + gap * numbers.len();
    let heads: String = heads.iter().map(line).collect();
    let rows: String = rows.iter().map(line).collect();
    (format!("{heads}{}\n{rows}", "-".repeat(width)), width)
}

fn legend(columns: &[Column], width: usize) -> String {
    let wide = |of: fn(&Column) -> &str| {
        let words = columns
            .iter()
            .map(|column| measure_text_width(&shown(of(column))));
        words.max().unwrap_or(0)
    };
    let backends = wide(|column| &column.backend);
    let compilers = wide(|column| &column.compiler);
    let lines = columns.iter().enumerate().map(|(number, column)| {
        let backend = shown(&column.backend);
        let backend = pad_str(&backend, backends, Alignment::Left, None);
        let compiler = shown(&column.compiler);
        let compiler = pad_str(&compiler, compilers, Alignment::Left, None);
        let device = shown(column.named_device());
        let line = format!("{:2}  {backend}  {compiler}  {device}", letter(number));
        format!("{}\n", truncate_str(line.trim_end(), width, "..."))
    });
    lines.collect()
}

/// The letters of a column: A to Z, then AA.
fn letter(number: usize) -> String {
    let last = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => last.to_string(),
        more => format!("{}{last}", letter(more - 1)),
    }
}

/// The worst outcome of a cell, with its count.
fn worst(counts: &Counts) -> String {
    let (count, mark) = match counts {
        Counts { failed: 1.., .. } => (counts.failed, "!"),
        Counts { expected: 1.., .. } => (counts.expected, "~"),
        Counts { passed: 1.., .. } => (counts.passed, ""),
        Counts { skipped: 1.., .. } => (counts.skipped, "-"),
        _ => return ".".to_owned(),
    };
    match count {
        0..1000 => format!("{count}{mark}"),
        1000..1_000_000 => format!("{}k{mark}", count / 1000),
        _ => format!("{}M{mark}", count / 1_000_000),
    }
}

/// A row per program; or, if these are too many, per folder of the depth that gives the most rows that
/// fit. If even these are too many, the folders with the most failures have rows, and the others one.
fn rows(summary: &Summary) -> Vec<Row> {
    let programs: Vec<(&str, Vec<Counts>)> = summary
        .cells()
        .map(|(program, cells)| (program, cells.iter().map(|cell| sum(cell).0).collect()))
        .collect();
    if programs.len() <= ROWS {
        let rows = programs.into_iter();
        return rows
            .map(|(program, cells)| (shown(program).into_owned(), cells))
            .collect();
    }
    let folder = |program: &'_ str, depth: usize| -> String {
        let ends = program.match_indices('/').map(|(end, _)| end);
        let end = ends.take(depth).last().unwrap_or(0);
        program[..end].to_owned()
    };
    let count = |depth: usize| {
        let folders = programs.iter().map(|(program, _)| folder(program, depth));
        folders.collect::<BTreeSet<String>>().len()
    };
    let depths = programs
        .iter()
        .map(|(program, _)| program.matches('/').count());
    let deepest = depths.max().unwrap_or(0);
    let depth = (1..=deepest).rev().find(|&depth| count(depth) <= ROWS);
    let depth = depth.unwrap_or(1);
    // Better some folders and a sum of the others than a sum of almost everything.
    const FEW: usize = 8;
    let depth = if depth < deepest && count(depth) < FEW {
        depth + 1
    } else {
        depth
    };
    let mut sums: BTreeMap<String, (usize, Vec<Counts>)> = BTreeMap::new();
    let add = |sum: &mut (usize, Vec<Counts>), programs: usize, cells: &[Counts]| {
        sum.0 += programs;
        sum.1.resize(cells.len(), Counts::default());
        for (into, counts) in sum.1.iter_mut().zip(cells) {
            into.include(*counts);
        }
    };
    for (program, cells) in &programs {
        add(sums.entry(folder(program, depth)).or_default(), 1, cells);
    }
    let mut folders: Vec<(String, (usize, Vec<Counts>))> = sums.into_iter().collect();
    let mut others = (0, Vec::new());
    if folders.len() > ROWS {
        let failed = |cells: &[Counts]| cells.iter().map(|counts| counts.failed).sum::<usize>();
        folders.sort_by_key(|(_, (_, cells))| Reverse(failed(cells)));
        for (_, (programs, cells)) in folders.split_off(ROWS - 1) {
            add(&mut others, programs, &cells);
        }
        folders.sort_by(|a, b| a.0.cmp(&b.0));
    }
    let rows = folders.into_iter();
    let rows =
        rows.map(|(folder, (count, cells))| (format!("{}/ ({count})", shown(&folder)), cells));
    let mut rows: Vec<Row> = rows.collect();
    if others.0 > 0 {
        rows.push((format!("other folders ({})", others.0), others.1));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_letters() {
        assert_eq!([0, 25, 26, 701].map(letter), ["A", "Z", "AA", "ZZ"]);
    }

    #[test]
    fn names_keep_their_more_specific_end() {
        assert_eq!(keep_end("programs/sums/a.fut", 12), "...ums/a.fut");
        assert_eq!(keep_end("a.fut", 12), "a.fut");
    }

    #[test]
    fn a_brief_cell_shows_its_worst_outcome() {
        let counts = |passed, failed, expected, skipped| Counts {
            passed,
            failed,
            expected,
            skipped,
        };
        assert_eq!(worst(&counts(5, 1, 2, 3)), "1!");
        assert_eq!(worst(&counts(5, 0, 2, 3)), "2~");
        assert_eq!(worst(&counts(12_345, 0, 0, 3)), "12k");
        assert_eq!(worst(&counts(0, 0, 0, 3)), "3-");
        assert_eq!(worst(&Counts::default()), ".");
    }
}
