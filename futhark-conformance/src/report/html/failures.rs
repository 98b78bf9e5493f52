//! The failures of the page, by cause.

use super::printable;
use crate::record::Record;
use crate::report::counted;
use crate::report::excerpt::excerpt;
use crate::report::groups::Group;
use crate::report::matrix::{Matrix, title};
use std::collections::BTreeSet;

/// The number of causes that have a line; that are shown in full; that are unfolded.
pub const LINES: usize = 1000;
const DETAILS: usize = 300;
const OPEN: usize = 3;
/// The number of further failures of a cause that have a command.
const MEMBERS: usize = 20;

pub struct Failure {
    pub check: String,
    pub cause: String,
    pub headline: String,
    pub sizes: String,
    pub new: usize,
    pub open: bool,
    pub detail: Option<Detail>,
}

/// One failure of the cause in full.
pub struct Detail {
    pub title: String,
    pub message: String,
    pub repeat: String,
    /// The name of the program with the lines in `source`.
    pub file: String,
    pub source: Vec<Line>,
    /// The heading of `members`.
    pub others: String,
    pub members: Vec<Other>,
}

pub struct Line {
    pub number: String,
    pub text: String,
    pub is_at: bool,
}

/// A further failure.
pub struct Other {
    pub title: String,
    pub repeat: String,
}

/// The causes that the page shows.
pub fn shown(
    groups: &[&Group],
    matrix: &Matrix,
    repeat: &dyn Fn(&Record) -> String,
) -> Vec<Failure> {
    let groups = groups.iter().take(LINES).enumerate();
    let shown = groups.map(|(number, group)| Failure {
        check: printable(&group.check),
        cause: group
            .cause
            .map(|cause| cause.to_string())
            .unwrap_or_default(),
        headline: printable(&group.headline()),
        sizes: sizes(group, matrix),
        new: group.new_failures(),
        open: number < OPEN,
        detail: (number < DETAILS).then(|| detail(group, matrix, repeat)),
    });
    shown.collect()
}

fn sizes(group: &Group, matrix: &Matrix) -> String {
    let columns = matrix.columns();
    let names: BTreeSet<String> = group
        .columns()
        .into_iter()
        .filter_map(|number| columns.get(number))
        .map(|column| format!("{} {}", column.backend, column.compiler))
        .collect();
    let names: Vec<String> = names.into_iter().collect();
    let programs = group.programs();
    let which = match programs.keys().take(3).copied().collect::<Vec<_>>() {
        names if programs.len() > 3 => format!("{}, ...", names.join(", ")),
        names => names.join(", "),
    };
    printable(&format!(
        "{} in {} ({which}) on {}",
        counted(group.members.len(), "failure"),
        counted(programs.len(), "program"),
        names.join(", ")
    ))
}

fn detail(group: &Group, matrix: &Matrix, repeat: &dyn Fn(&Record) -> String) -> Detail {
    let columns = matrix.columns();
    let record = group.record(group.example(), columns);
    let (file, source) = source(&record);
    let others = group
        .members
        .iter()
        .filter(|member| !std::ptr::eq(*member, group.example()));
    let members: Vec<Other> = others
        .take(MEMBERS)
        .map(|member| {
            let record = group.record(member, columns);
            Other {
                title: printable(&title(&record)),
                repeat: repeat(&record),
            }
        })
        .collect();
    let others = group.members.len() - 1;
    Detail {
        title: printable(&title(&record)),
        message: printable(record.finding.message.trim_end()),
        repeat: repeat(&record),
        file,
        source,
        others: match others - members.len() {
            0 => counted(others, "other failure"),
            _ => format!("{others} other failures ({MEMBERS} shown)"),
        },
        members,
    }
}

fn source(record: &Record) -> (String, Vec<Line>) {
    let Some(excerpt) = excerpt(record) else {
        return (String::new(), Vec::new());
    };
    let width = (excerpt.first + excerpt.lines.len()).to_string().len();
    let lines = excerpt.lines.iter().zip(excerpt.first..);
    let lines = lines.map(|(text, number)| Line {
        number: format!("{number:width$}"),
        text: printable(text),
        is_at: number == excerpt.line,
    });
    (printable(&record.place.program), lines.collect())
}
