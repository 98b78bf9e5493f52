//! Plots of times, as bars.

use super::printable;
use crate::report::duration;
use crate::report::matrix::{Matrix, sum};
use crate::report::terminal::fit::keep_end;

/// The number of characters of a label that are shown.
const LABEL: usize = 24;
/// The number of programs that are shown.
const PROGRAMS: usize = 12;

pub struct Plot {
    pub title: String,
    pub bars: Vec<Bar>,
}

pub struct Bar {
    pub label: String,
    /// The end of the label.
    pub short: String,
    /// The length, as a percentage of the longest.
    pub percent: String,
    pub time: String,
}

/// Times per column, per check, and of the slowest programs.
pub fn all(matrix: &Matrix) -> Vec<Plot> {
    let columns = matrix.columns();
    let label = |number: usize| {
        let column = &columns[number];
        let words = [
            &column.backend,
            column.device_note(columns),
            &column.compiler,
        ];
        let words = words.into_iter().filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    };
    let by_column = matrix.by_column();
    let by_column = by_column
        .iter()
        .enumerate()
        .map(|(number, (_, seconds))| (label(number), *seconds));
    let total: f64 = matrix.by_column().iter().map(|(_, seconds)| seconds).sum();
    let by_check = matrix.by_check();
    let mut checks: Vec<(String, f64)> = by_check
        .iter()
        .zip(matrix.checks())
        .map(|((_, seconds), check)| (check.clone(), *seconds))
        .collect();
    checks.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut programs: Vec<(&str, f64)> = matrix
        .cells()
        .map(|(program, cells)| (program, cells.iter().map(|cell| sum(cell).1).sum()))
        .collect();
    programs.sort_by(|a, b| b.1.total_cmp(&a.1));
    programs.truncate(PROGRAMS);
    let programs = programs
        .into_iter()
        .map(|(program, seconds)| (program.to_owned(), seconds));
    vec![
        plot(
            format!("By backend, {} in all", duration(total)),
            by_column.collect(),
        ),
        plot("By check".to_owned(), checks),
        plot(
            "The slowest programs, in all columns".to_owned(),
            programs.collect(),
        ),
    ]
}

fn plot(title: String, rows: Vec<(String, f64)>) -> Plot {
    let longest = rows.iter().map(|(_, seconds)| *seconds).fold(0.0, f64::max);
    let bars = rows.into_iter().map(|(label, seconds)| Bar {
        short: keep_end(&printable(&label), LABEL),
        label: printable(&label),
        percent: format!(
            "{:.1}",
            if longest > 0.0 {
                seconds / longest * 100.0
            } else {
                0.0
            }
        ),
        time: duration(seconds),
    });
    Plot {
        title,
        bars: bars.collect(),
    }
}
