//! The report for the terminal: a table of programs by backends and compilers, then each failure in
//! full.

use super::column::Column;
use super::{Counts, shown, shown_lines};
use crate::record::{Outcome, Record};
use console::{Alignment, Style, measure_text_width, pad_str};
use std::collections::{BTreeMap, BTreeSet};

/// Counts per program and column, and the failures, expected failures and skips.
///
/// Passes are only counted, so that memory does not grow with their number.
#[derive(Debug, Default)]
pub struct Matrix {
    columns: Vec<Column>,
    rows: BTreeMap<String, Vec<Counts>>,
    failures: Vec<Record>,
    expected: Vec<Record>,
    skips: BTreeMap<String, usize>,
    total: Counts,
}

impl Matrix {
    /// A matrix with these columns.
    #[must_use]
    pub fn new(columns: Vec<Column>) -> Matrix {
        Matrix {
            columns,
            ..Matrix::default()
        }
    }

    /// A matrix with a column for each place of these records, in the order of backends and then of
    /// compilers. It does not count the records.
    #[must_use]
    pub fn of(records: &[Record]) -> Matrix {
        let places = records.iter().map(|record| &record.place);
        let columns: BTreeSet<Column> = places.filter_map(Column::of).collect();
        Matrix::new(columns.into_iter().collect())
    }

    /// Counts a record.
    pub fn add(&mut self, record: &Record) {
        let outcome = record.finding.outcome;
        self.total.add(outcome);
        match outcome {
            Outcome::Fail => self.failures.push(record.clone()),
            Outcome::ExpectedFail => self.expected.push(record.clone()),
            Outcome::Skip => {
                // Further lines are details.
                let reason = record.finding.message.lines().next().unwrap_or_default();
                *self.skips.entry(reason.to_owned()).or_default() += 1
            }
            Outcome::Pass => {}
        }
        let place = &record.place;
        let column = Column::of(place);
        let column = column.and_then(|column| self.columns.iter().position(|c| *c == column));
        let Some(column) = column else { return };
        let row = self
            .rows
            .entry(place.program.clone())
            .or_insert_with(|| vec![Counts::default(); self.columns.len()]);
        row[column].add(outcome);
    }

    /// The counts of all records.
    #[must_use]
    pub fn total(&self) -> Counts {
        self.total
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Each program with its counts per column.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &[Counts])> {
        let rows = self.rows.iter();
        rows.map(|(program, counts)| (program.as_str(), counts.as_slice()))
    }

    /// The failures, in the order in which they were found.
    #[must_use]
    pub fn failures(&self) -> &[Record] {
        &self.failures
    }

    /// The expected failures.
    #[must_use]
    pub fn expected(&self) -> &[Record] {
        &self.expected
    }

    /// The reasons for skips with their numbers, the most frequent first.
    #[must_use]
    pub fn skips(&self) -> Vec<(&str, usize)> {
        let skips = self.skips.iter();
        let mut skips: Vec<_> = skips.map(|(why, count)| (why.as_str(), *count)).collect();
        skips.sort_by_key(|(why, count)| (std::cmp::Reverse(*count), *why));
        skips
    }

    /// The report as text: the table with its legend, the reasons for skips, one line per expected
    /// failure, and each failure in full with the command that `repeat` returns.
    #[must_use]
    pub fn render(&self, repeat: impl Fn(&Record) -> String) -> String {
        let mut text = String::new();
        if !self.rows.is_empty() {
            self.table(&mut text);
        }
        self.skipped(&mut text);
        for record in &self.expected {
            let reason = record.finding.message.lines().next().unwrap_or_default();
            let line = format!("expected: {}: {reason}", title(record));
            let line = shown(&line);
            text.push_str(&format!("{}\n", Style::new().dim().apply_to(line)));
        }
        if !self.expected.is_empty() {
            text.push('\n');
        }
        for record in &self.failures {
            let finding = &record.finding;
            let cause = finding
                .cause
                .map_or_else(String::new, |cause| format!(" ({cause})"));
            let head = Style::new().red().bold().apply_to(format!("FAIL{cause}"));
            text.push_str(&format!("{head} {}\n", shown(&title(record))));
            if !finding.message.is_empty() {
                let message = shown_lines(finding.message.trim_end_matches('\n'), "    ");
                text.push_str(&format!("{message}\n"));
            }
            text.push_str(&format!("    repeat: {}\n\n", repeat(record)));
        }
        text.push_str(&self.sum());
        text
    }

    fn table(&self, text: &mut String) {
        let style = |counts: &Counts| match counts {
            Counts { failed: 1.., .. } => Style::new().red().bold(),
            Counts { expected: 1.., .. } => Style::new().yellow(),
            Counts { passed: 0, .. } => Style::new().dim(),
            _ => Style::new().green(),
        };
        let heading = |first: &str, of: &dyn Fn(&Column) -> String| -> Vec<String> {
            let columns = self.columns.iter().map(of);
            std::iter::once(first.to_owned()).chain(columns).collect()
        };
        let mut lines = vec![heading("", &|column| column.backend.clone())];
        let note = |column: &Column| shortened(&shown(column.device_note(&self.columns)));
        if self.columns.iter().any(|column| !note(column).is_empty()) {
            lines.push(heading("", &note));
        }
        lines.push(heading("program", &|column| {
            shown(&column.compiler).into_owned()
        }));
        let last_heading = lines.len() - 1;
        for (program, cells) in &self.rows {
            let cells = cells
                .iter()
                .map(|counts| style(counts).apply_to(cell(counts)).to_string());
            lines.push(
                std::iter::once(shown(program).into_owned())
                    .chain(cells)
                    .collect::<Vec<_>>(),
            );
        }
        let widths: Vec<usize> = (0..=self.columns.len())
            .map(|i| {
                lines
                    .iter()
                    .map(|line| measure_text_width(&line[i]))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        text.push('\n');
        for (number, line) in lines.iter().enumerate() {
            let padded: Vec<_> = line
                .iter()
                .zip(&widths)
                .map(|(cell, &width)| pad_str(cell, width, Alignment::Left, None))
                .collect();
            text.push_str(padded.join("  ").trim_end());
            text.push('\n');
            if number == last_heading {
                text.push_str(&"-".repeat(widths.iter().sum::<usize>() + 2 * self.columns.len()));
                text.push('\n');
            }
        }
        text.push_str("\n12 passed   3! failed   2~ failed as expected   1- skipped   . nothing was checked\n\n");
    }

    fn skipped(&self, text: &mut String) {
        if self.skips.is_empty() {
            return;
        }
        text.push_str("skipped, by reason:\n");
        for (reason, count) in self.skips() {
            let first = shown(reason.lines().next().unwrap_or_default());
            text.push_str(&format!("{count:6}  {first}\n"));
        }
        text.push('\n');
    }

    fn sum(&self) -> String {
        let Counts {
            passed,
            failed,
            expected,
            skipped,
        } = self.total;
        let mut text = format!(
            "{} checks: {passed} passed, {failed} failed",
            self.total.total()
        );
        for (count, what) in [(expected, "failed as expected"), (skipped, "skipped")] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text.push('\n');
        text
    }
}

/// A name for the head of a narrow column.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 16;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", name[..end].trim_end()),
        None => name.to_owned(),
    }
}

/// The counts of a cell, each with its mark.
pub(super) fn cell(counts: &Counts) -> String {
    let marked = [
        (counts.passed, ""),
        (counts.failed, "!"),
        (counts.expected, "~"),
        (counts.skipped, "-"),
    ];
    let parts: Vec<String> = marked
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, mark)| format!("{count}{mark}"))
        .collect();
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join(" ")
    }
}

/// The place, check and case of a record in one line.
pub(super) fn title(record: &Record) -> String {
    let place = &record.place;
    let finding = &record.finding;
    let case = if finding.case.is_empty() {
        String::new()
    } else {
        format!(" {}", finding.case)
    };
    format!(
        "{} [{}, {}, {}] {}{case}",
        place.program, place.backend, place.device, place.compiler, finding.check
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::record;

    fn matrix(records: &[Record]) -> Matrix {
        let columns = ["c", "opencl"].map(|backend| Column {
            backend: backend.into(),
            device: "cpu".into(),
            compiler: "1".into(),
        });
        let mut matrix = Matrix::new(columns.into());
        records.iter().for_each(|record| matrix.add(record));
        matrix
    }

    #[test]
    fn cells_show_counts_with_marks() {
        let counts = Counts {
            passed: 12,
            failed: 3,
            expected: 0,
            skipped: 1,
        };
        assert_eq!(cell(&counts), "12 3! 1-");
        assert_eq!(cell(&Counts::default()), ".");
    }

    #[test]
    fn the_table_has_a_row_for_each_program() {
        console::set_colors_enabled(false);
        let matrix = matrix(&[
            record("b.fut", "c", Outcome::Pass),
            record("a.fut", "opencl", Outcome::Fail),
            record("a.fut", "c", Outcome::Skip),
            record("lib.fut", "-", Outcome::Skip),
        ]);
        let text = matrix.render(|_| "again".into());
        let rows: Vec<_> = text.lines().filter(|line| line.contains(".fut ")).collect();
        assert!(rows[0].starts_with("a.fut    1-  1!"), "{text}");
        assert!(rows[1].starts_with("b.fut    1   ."), "{text}");
        assert!(!rows.iter().any(|row| row.starts_with("lib.fut")));
        assert!(text.contains("     2  first line"), "{text}");
        assert!(
            text.ends_with("4 checks: 1 passed, 1 failed, 2 skipped\n"),
            "{text}"
        );
    }

    #[test]
    fn columns_come_in_the_order_of_backends_and_versions() {
        let records = [("opencl", "0.9"), ("c", "0.10"), ("c", "0.9"), ("-", "-")].map(
            |(backend, compiler)| {
                let mut record = record("a.fut", backend, Outcome::Pass);
                record.place.compiler = compiler.into();
                record
            },
        );
        let columns = Matrix::of(&records).columns().to_vec();
        let columns: Vec<_> = columns
            .iter()
            .map(|column| (column.backend.as_str(), column.compiler.as_str()))
            .collect();
        assert_eq!(columns, [("c", "0.9"), ("c", "0.10"), ("opencl", "0.9")]);
    }

    #[test]
    fn emulated_devices_are_marked() {
        let mut found = record("a.fut", "cuda", Outcome::Pass);
        found.place.device = "emulated: delayed".into();
        let mut matrix = Matrix::of(std::slice::from_ref(&found));
        matrix.add(&found);
        let text = matrix.render(|_| String::new());
        assert!(text.contains("cuda\n         emulated\nprogram"), "{text}");
    }

    #[test]
    fn devices_of_one_backend_have_columns_of_their_own() {
        console::set_colors_enabled(false);
        let on = |device: &str, outcome| {
            let mut found = record("a.fut", "opencl", outcome);
            found.place.device = device.into();
            found
        };
        let head = |records: &[Record]| {
            let mut matrix = Matrix::of(records);
            records.iter().for_each(|record| matrix.add(record));
            let text = matrix.render(|_| String::new());
            let lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
            (lines[1].trim().to_owned(), lines[4].to_owned())
        };
        let (notes, cells) = head(&[
            on("Oclgrind: Oclgrind Simulator", Outcome::Pass),
            on("Portable Computing Language: pthread-x", Outcome::Fail),
        ]);
        assert_eq!(notes, "Oclgrind  Portable Computi...");
        assert_eq!(cells, "a.fut    1         1!");
        // Devices of one platform are distinguished by their own names.
        let two = [on("P: one", Outcome::Pass), on("P: two", Outcome::Pass)];
        assert_eq!(head(&two).0, "one     two");
    }

    #[test]
    fn failures_are_shown_in_full_with_a_command() {
        console::set_colors_enabled(false);
        let text = matrix(&[record("a.fut", "c", Outcome::Fail)]).render(|_| "again".into());
        assert!(text.contains("FAIL (mismatch) a.fut [c, cpu, 1] blocks main #0\n    first line\n    second line\n    repeat: again\n"), "{text}");
    }
}
