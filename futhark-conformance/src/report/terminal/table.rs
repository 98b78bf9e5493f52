//! The table of programs by columns. If it is too wide, columns get letters, which a legend
//! explains, and cells show only their worst outcome; many programs are summed up by folder.

use super::fit::{keep_end, keep_start, wrap};
use crate::report::column::Column;
use crate::report::matrix::{Matrix, marked};
use crate::report::{Counts, shown};
use console::{Alignment, Style, measure_text_width, pad_str};
use std::collections::BTreeMap;

/// The maximum number of rows.
const ROWS: usize = 40;
/// A number of rows that says little about many programs.
const FEW: usize = 8;
/// The least width of the column of programs.
const NAMES: usize = 20;
/// The name of a row for several folders.
const OTHERS: &str = "other folders";
/// The widths between columns: wide, and narrow if they do not fit otherwise.
const GAPS: [usize; 2] = [2, 1];

/// A row of the table.
struct Row {
    name: String,
    cells: Vec<Counts>,
}

/// Appends the table.
pub fn append(text: &mut String, matrix: &Matrix, width: usize) {
    let rows = rows(matrix);
    if rows.is_empty() {
        return;
    }
    let columns = matrix.columns();
    let lines = full(&rows, columns);
    let needed = widths(&lines);
    text.push('\n');
    if needed.iter().sum::<usize>() + 2 * columns.len() <= width {
        let heads = lines.len() - rows.len();
        aligned(text, &lines, heads, &needed, GAPS[0]);
    } else {
        legend(text, columns, width);
        let numbers: Vec<usize> = (0..columns.len()).collect();
        let all = numbers.len();
        let gap = GAPS
            .into_iter()
            .find(|gap| fitting(&rows, width, *gap) >= all);
        let gap = gap.unwrap_or(GAPS[1]);
        for numbers in numbers.chunks(fitting(&rows, width, gap)) {
            text.push('\n');
            let lines = brief(&rows, numbers, width, gap);
            let needed = widths(&lines);
            aligned(text, &lines, 1, &needed, gap);
        }
    }
    // Letters, because numbers would look like the counts of the run.
    let marks = "N passed  N! failed  N~ failed as expected  N- skipped  . nothing checked";
    text.push('\n');
    wrap(text, marks, "", width);
    text.push('\n');
}

/// Headings in words, and cells with all counts.
fn full(rows: &[Row], columns: &[Column]) -> Vec<Vec<String>> {
    let heading = |first: &str, of: &dyn Fn(&Column) -> String| -> Vec<String> {
        let columns = columns.iter().map(of);
        std::iter::once(first.to_owned()).chain(columns).collect()
    };
    let mut lines = vec![heading("", &|column| shown(&column.backend).into_owned())];
    let note = |column: &Column| keep_start(&shown(column.device_note(columns)), 19);
    if columns.iter().any(|column| !note(column).is_empty()) {
        lines.push(heading("", &note));
    }
    lines.push(heading("program", &|column| {
        shown(&column.compiler).into_owned()
    }));
    lines.extend(rows.iter().map(|row| {
        let cells = row
            .cells
            .iter()
            .map(|counts| coloured(counts, marked(counts)));
        std::iter::once(row.name.clone()).chain(cells).collect()
    }));
    lines
}

/// Letters as headings, and cells with their worst outcome.
fn brief(rows: &[Row], numbers: &[usize], width: usize, gap: usize) -> Vec<Vec<String>> {
    let letters = numbers.iter().map(|&number| letter(number));
    let mut lines = vec![
        std::iter::once("program".to_owned())
            .chain(letters)
            .collect::<Vec<_>>(),
    ];
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let cells = numbers.iter().map(|&number| &row.cells[number]);
            cells
                .map(|counts| coloured(counts, worst(counts)))
                .collect()
        })
        .collect();
    let widest = |number: usize| {
        let cells = cells.iter().map(|row| measure_text_width(&row[number]));
        cells.max().unwrap_or(0).max(letter(numbers[number]).len()) + gap
    };
    let room = width - (0..numbers.len()).map(widest).sum::<usize>();
    for (row, cells) in rows.iter().zip(cells) {
        let name = keep_end(&row.name, room.max(NAMES));
        lines.push(std::iter::once(name).chain(cells).collect());
    }
    lines
}

/// The number of columns that fit beside the names.
fn fitting(rows: &[Row], width: usize, gap: usize) -> usize {
    let cells = rows.iter().flat_map(|row| &row.cells);
    let widest = cells.map(|counts| worst(counts).len()).max().unwrap_or(1);
    (width.saturating_sub(NAMES) / (widest.max(2) + gap)).max(1)
}

fn legend(text: &mut String, columns: &[Column], width: usize) {
    let of = |column: &Column| -> [String; 3] {
        let device = match column.device.as_str() {
            "" | crate::devices::HOST => "",
            device => device,
        };
        [&column.backend, &column.compiler, device].map(|word| shown(word).into_owned())
    };
    let parts: Vec<[String; 3]> = columns.iter().map(of).collect();
    let wide = |part: usize| {
        let parts = parts.iter().map(|parts| measure_text_width(&parts[part]));
        parts.max().unwrap_or(0)
    };
    let (backends, compilers) = (wide(0), wide(1));
    for (number, [backend, compiler, device]) in parts.iter().enumerate() {
        let backend = pad_str(backend, backends, Alignment::Left, None);
        let compiler = pad_str(compiler, compilers, Alignment::Left, None);
        let line = format!("{:2}  {backend}  {compiler}  {device}", letter(number));
        text.push_str(keep_start(line.trim_end(), width).as_str());
        text.push('\n');
    }
}

/// The letters of a column: A to Z, then AA.
fn letter(number: usize) -> String {
    const LETTERS: [u8; 26] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let last = char::from(LETTERS[number % 26]);
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

fn coloured(counts: &Counts, text: String) -> String {
    let style = match counts {
        Counts { failed: 1.., .. } => Style::new().red().bold(),
        Counts { expected: 1.., .. } => Style::new().yellow(),
        Counts { passed: 0, .. } => Style::new().dim(),
        _ => Style::new().green(),
    };
    style.apply_to(text).to_string()
}

/// A row per program; or, if these are too many, per folder.
fn rows(matrix: &Matrix) -> Vec<Row> {
    let programs = matrix.rows();
    if matrix.programs() <= ROWS {
        let rows = programs.map(|(program, cells)| Row {
            name: shown(program).into_owned(),
            cells,
        });
        return rows.collect();
    }
    let folder = |program: &str, depth: usize| -> String {
        let parts: Vec<&str> = program.split('/').collect();
        let folders = &parts[..parts.len() - 1];
        folders[..folders.len().min(depth)].join("/")
    };
    let deepest = matrix
        .cells()
        .map(|(program, _)| program.matches('/').count());
    let deepest = deepest.max().unwrap_or(0);
    let count = |depth: usize| {
        let folders = matrix.cells().map(|(program, _)| folder(program, depth));
        folders.collect::<std::collections::BTreeSet<_>>().len()
    };
    let depth = (1..=deepest).rev().find(|&depth| count(depth) <= ROWS);
    let depth = depth.unwrap_or(1);
    // Better some folders and a sum of the others than a sum of almost everything.
    let depth = if depth < deepest && count(depth) < FEW {
        depth + 1
    } else {
        depth
    };
    let mut sums: BTreeMap<String, (usize, Vec<Counts>)> = BTreeMap::new();
    for (program, cells) in programs {
        let none = || (0, vec![Counts::default(); cells.len()]);
        let sum = sums.entry(folder(program, depth)).or_insert_with(none);
        add(sum, 1, &cells);
    }
    let mut folders: Vec<(String, (usize, Vec<Counts>))> = sums.into_iter().collect();
    if folders.len() > ROWS {
        folders = most_important(folders);
    }
    let rows = folders.into_iter().map(|(folder, (count, cells))| Row {
        name: match folder.as_str() {
            OTHERS => format!("{OTHERS} ({count})"),
            folder => format!("{}/ ({count})", shown(folder)),
        },
        cells,
    });
    rows.collect()
}

/// The folders with the most failures, in their order, and a sum of the others.
fn most_important(
    folders: Vec<(String, (usize, Vec<Counts>))>,
) -> Vec<(String, (usize, Vec<Counts>))> {
    let failed = |cells: &[Counts]| cells.iter().map(|counts| counts.failed).sum::<usize>();
    let mut order: Vec<usize> = (0..folders.len()).collect();
    order.sort_by_key(|&number| std::cmp::Reverse(failed(&folders[number].1.1)));
    let shown: Vec<usize> = order[..ROWS - 1].to_vec();
    let mut kept = Vec::new();
    let mut others = (0, Vec::new());
    for (number, (folder, (count, cells))) in folders.into_iter().enumerate() {
        if shown.contains(&number) {
            kept.push((folder, (count, cells)));
        } else {
            others.1.resize(cells.len(), Counts::default());
            add(&mut others, count, &cells);
        }
    }
    kept.push((OTHERS.to_owned(), others));
    kept
}

fn add(sum: &mut (usize, Vec<Counts>), programs: usize, cells: &[Counts]) {
    sum.0 += programs;
    for (into, counts) in sum.1.iter_mut().zip(cells) {
        into.include(*counts);
    }
}

fn widths(lines: &[Vec<String>]) -> Vec<usize> {
    let columns = lines.first().map_or(0, Vec::len);
    let widest = |column: usize| {
        let cells = lines.iter().map(|line| measure_text_width(&line[column]));
        cells.max().unwrap_or(0)
    };
    (0..columns).map(widest).collect()
}

fn aligned(
    text: &mut String,
    lines: &[Vec<String>],
    headings: usize,
    widths: &[usize],
    gap: usize,
) {
    for (number, line) in lines.iter().enumerate() {
        let padded: Vec<_> = line
            .iter()
            .zip(widths)
            .map(|(cell, &width)| pad_str(cell, width, Alignment::Left, None))
            .collect();
        text.push_str(padded.join(&" ".repeat(gap)).trim_end());
        text.push('\n');
        if number + 1 == headings {
            let line = "-".repeat(widths.iter().sum::<usize>() + gap * (widths.len() - 1));
            text.push_str(&line);
            text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_letters() {
        assert_eq!([0, 25, 26, 701].map(letter), ["A", "Z", "AA", "ZZ"]);
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
