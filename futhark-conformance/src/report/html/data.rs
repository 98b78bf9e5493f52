//! The data of the table, as JSON for the script of the page.
//!
//! Most cells of a corpus are equal: the backends of a program pass the same checks. So each
//! distinct tally (check, passed, failed, expected, skipped and reason) is written once; each
//! distinct cell once, as the numbers of its tallies; and programs have the numbers of their cells.

use super::failures::LINES;
use super::printable;
use crate::report::Counts;
use crate::report::groups::Group;
use crate::report::matrix::{Matrix, Tally};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

#[derive(Serialize)]
struct Data<'m> {
    /// Backend, device, compiler, and what distinguishes the device.
    columns: Vec<[String; 4]>,
    checks: Vec<String>,
    reasons: Vec<String>,
    tallies: Vec<[i64; 6]>,
    cells: Vec<Vec<i64>>,
    /// The path, and the number of a cell per column; -1 for an empty one.
    programs: Vec<(String, Vec<i64>)>,
    groups: Vec<Failures>,
    baseline: bool,
    #[serde(skip)]
    matrix: &'m Matrix,
}

#[derive(Serialize)]
struct Failures {
    check: usize,
    columns: Vec<i64>,
    count: usize,
    new: usize,
    /// The numbers of program and column.
    places: BTreeSet<(usize, usize)>,
}

/// The data, which can be in a `script` element.
pub fn json(matrix: &Matrix, groups: &[&Group], baseline: bool) -> String {
    let mut data = Data {
        columns: columns(matrix),
        checks: Vec::new(),
        reasons: Vec::new(),
        tallies: Vec::new(),
        cells: Vec::new(),
        programs: Vec::new(),
        groups: Vec::new(),
        baseline,
        matrix,
    };
    let order = matrix.checks_in_order();
    let mut ranks = vec![0; order.len()];
    for (rank, number) in order.iter().enumerate() {
        ranks[*number] = rank;
        data.checks.push(printable(&matrix.checks()[*number]));
    }
    data.add_programs(&ranks);
    data.add_groups(groups);
    // `<` occurs only in texts, where it can be written as an escape: `</script>` would end the
    // element.
    let json = serde_json::to_string(&data).unwrap_or_else(|_| "{}".to_owned());
    json.replace('<', "\\u003c")
}

fn columns(matrix: &Matrix) -> Vec<[String; 4]> {
    let columns = matrix.columns().iter().map(|column| {
        let note = column.device_note(matrix.columns());
        [&column.backend, &column.device, &column.compiler, note].map(printable)
    });
    columns.collect()
}

impl Data<'_> {
    fn add_programs(&mut self, ranks: &[usize]) {
        let (mut tallies, mut cells) = (Numbers::default(), Numbers::default());
        let mut reasons = Numbers::default();
        let matrix = self.matrix;
        for (program, row) in matrix.cells() {
            let mut numbers = Vec::with_capacity(row.len());
            for cell in row {
                if cell.is_empty() {
                    numbers.push(-1);
                    continue;
                }
                let tally = |tally: &Tally| {
                    let counts = tally.counts;
                    let reason = match matrix.reason(tally) {
                        "" => -1,
                        reason => reasons.of(printable(reason)),
                    };
                    let Counts {
                        passed,
                        failed,
                        expected,
                        skipped,
                    } = counts;
                    let check = ranks[tally.check];
                    let [check, passed, failed, expected, skipped] =
                        [check, passed, failed, expected, skipped].map(|number| number as i64);
                    tallies.of([check, passed, failed, expected, skipped, reason])
                };
                let mut cell: Vec<&Tally> = cell.iter().collect();
                cell.sort_by_key(|tally| ranks[tally.check]);
                numbers.push(cells.of(cell.into_iter().map(tally).collect()));
            }
            self.programs.push((printable(program), numbers));
        }
        self.tallies = tallies.list;
        self.cells = cells.list;
        self.reasons = reasons.list;
    }

    fn add_groups(&mut self, groups: &[&Group]) {
        let programs = self.matrix.cells().map(|(program, _)| program);
        let programs: HashMap<&str, usize> = programs.zip(0..).collect();
        for group in groups.iter().take(LINES) {
            let check = printable(&group.check);
            let check = self.checks.iter().position(|name| *name == check);
            let columns = group.members.iter().map(|member| match member.column {
                Some(column) => column as i64,
                None => -1,
            });
            let places = group
                .members
                .iter()
                .filter_map(|member| Some((*programs.get(&*member.program)?, member.column?)));
            self.groups.push(Failures {
                check: check.unwrap_or(0),
                columns: columns.collect::<BTreeSet<i64>>().into_iter().collect(),
                count: group.members.len(),
                new: group.new_failures(),
                places: places.collect(),
            });
        }
    }
}

/// Distinct values, each with its number.
struct Numbers<T> {
    list: Vec<T>,
    index: HashMap<T, i64>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Numbers<T> {
        Numbers {
            list: Vec::new(),
            index: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    fn of(&mut self, value: T) -> i64 {
        if let Some(number) = self.index.get(&value) {
            return *number;
        }
        let number = self.list.len() as i64;
        self.list.push(value.clone());
        self.index.insert(value, number);
        number
    }
}
