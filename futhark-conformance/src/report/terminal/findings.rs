//! Failures by cause, and the reasons for skips and expected failures.

use super::fit::{command, keep_end, keep_start, wrap};
use crate::record::Record;
use crate::report::column::Column;
use crate::report::groups::{Group, Reason, Reasons};
use crate::report::matrix::{Matrix, title};
use crate::report::{counted, shown, shown_lines};
use console::Style;
use std::collections::BTreeSet;

/// The maximum number of groups that are shown in full, of lines of the overview, of reasons, of
/// lines of a message, and of programs of a group.
const DETAILS: usize = 30;
const LINES: usize = 60;
const REASONS: usize = 40;
const MESSAGE: usize = 40;
const PROGRAMS: usize = 6;

/// Appends a line per reason.
pub fn reasons(text: &mut String, heading: &str, reasons: &Reasons, width: usize) {
    let sorted = reasons.sorted();
    if sorted.is_empty() {
        return;
    }
    text.push_str(heading);
    text.push('\n');
    for reason in sorted.iter().take(REASONS) {
        let line = format!(
            "{:6}  {}{}",
            reason.count,
            shown(&reason.text),
            spread(reason)
        );
        let line = if console::measure_text_width(&line) <= width {
            line
        } else {
            let spread = spread(reason);
            let room = width - 8 - spread.len().min(30);
            format!(
                "{:6}  {}{spread}",
                reason.count,
                keep_start(&shown(&reason.text), room)
            )
        };
        text.push_str(&format!("{}\n", Style::new().dim().apply_to(line)));
    }
    more(text, sorted.len(), REASONS, "more reason");
    text.push('\n');
}

fn spread(reason: &Reason) -> String {
    match reason.programs.len() {
        0 | 1 => String::new(),
        programs => format!(" ({programs} programs)"),
    }
}

fn more(text: &mut String, all: usize, shown: usize, noun: &str) {
    if all > shown {
        let more = counted(all - shown, noun);
        text.push_str(&format!("        and {more}; see --html or --json\n"));
    }
}

/// Appends each group in full.
pub fn details(
    text: &mut String,
    matrix: &Matrix,
    repeat: &dyn Fn(&Record) -> String,
    width: usize,
) {
    let groups = matrix.failures();
    for (number, group) in groups.iter().enumerate().take(DETAILS) {
        let example = group.record(group.example(), matrix.columns());
        head(text, number, group, &example, matrix.columns(), width);
        let message = shown_lines(example.finding.message.trim_end(), "");
        let lines: Vec<&str> = message.lines().collect();
        wrap(
            text,
            &lines[..lines.len().min(MESSAGE)].join("\n"),
            "    | ",
            width,
        );
        if lines.len() > MESSAGE {
            let more = counted(lines.len() - MESSAGE, "more line");
            text.push_str(&format!("    | and {more}\n"));
        }
        command(text, "    repeat: ", &repeat(&example), width);
        text.push('\n');
    }
}

/// `1) FAIL (crash) PROGRAM [BACKEND, DEVICE, COMPILER] CHECK CASE`, or the counts of a group and
/// its first failure.
fn head(
    text: &mut String,
    number: usize,
    group: &Group,
    example: &Record,
    columns: &[Column],
    width: usize,
) {
    let cause = group
        .cause
        .map_or_else(String::new, |cause| format!(" ({cause})"));
    let new = match group.new_failures() {
        0 => "",
        _ => " new",
    };
    let fail = Style::new()
        .red()
        .bold()
        .apply_to(format!("FAIL{cause}{new}"));
    let mut lines = String::new();
    let title = title(example);
    let programs = group.programs();
    if let [_] = group.members.as_slice() {
        wrap(
            &mut lines,
            &format!("{}) {fail} {}", number + 1, shown(&title)),
            "",
            width,
        );
    } else {
        let sizes = format!(
            "{}) {fail} {}: {}",
            number + 1,
            shown(&group.check),
            sizes(group, columns)
        );
        wrap(&mut lines, &sizes, "", width);
        wrap(
            &mut lines,
            &format!("such as {}", shown(&title)),
            "    ",
            width,
        );
        let several = programs.iter().filter(|_| programs.len() > 1);
        for (program, count) in several.take(PROGRAMS) {
            let line = format!("{count:6} x {}", shown(program));
            lines.push_str(&format!("    {}\n", keep_end(&line, width - 4)));
        }
        if programs.len() > PROGRAMS {
            let more = counted(programs.len() - PROGRAMS, "more program");
            lines.push_str(&format!("           and {more}\n"));
        }
    }
    text.push_str(&lines);
}

/// `36 failures (4 new) in 3 programs on c, opencl with 0.25.27, 0.25.32`
fn sizes(group: &Group, columns: &[Column]) -> String {
    let failures = counted(group.members.len(), "failure");
    let new = match group.new_failures() {
        0 => String::new(),
        new => format!(" ({new} new)"),
    };
    let programs = counted(group.programs().len(), "program");
    let of = |part: fn(&Column) -> &str| {
        let numbers = group.columns().into_iter();
        let names: BTreeSet<&str> = numbers
            .filter_map(|number| columns.get(number))
            .map(part)
            .collect();
        let names: Vec<_> = names.into_iter().map(shown).collect();
        names.join(", ")
    };
    let backends = of(|column| &column.backend);
    let compilers = of(|column| &column.compiler);
    format!("{failures}{new} in {programs} on {backends} with {compilers}")
}

/// Appends a line per group.
pub fn overview(text: &mut String, matrix: &Matrix, width: usize) {
    let groups = matrix.failures();
    if groups.len() < 2 {
        return;
    }
    text.push_str(&format!("failures, by cause ({}):\n", groups.len()));
    for (number, group) in groups.iter().enumerate().take(LINES) {
        let cause = group
            .cause
            .map_or_else(String::new, |cause| cause.to_string());
        let programs = match group.programs().keys().collect::<Vec<_>>().as_slice() {
            [program] => keep_end(&shown(program), 24),
            programs => format!("{} programs", programs.len()),
        };
        let backends: BTreeSet<&str> = group
            .columns()
            .into_iter()
            .filter_map(|number| matrix.columns().get(number))
            .map(|column| column.backend.as_str())
            .collect();
        let backends = match backends.len() {
            0..=2 => backends.into_iter().collect::<Vec<_>>().join(", "),
            several => format!("{several} backends"),
        };
        let new = if group.new_failures() > 0 { "new " } else { "" };
        let line = format!(
            "{:3}) {:5} x {new}{} {cause}, {}, {programs}: {}",
            number + 1,
            group.members.len(),
            shown(&group.check),
            shown(&backends),
            shown(&group.headline())
        );
        text.push_str(&keep_start(&line, width));
        text.push('\n');
    }
    more(text, groups.len(), LINES, "more cause");
    text.push('\n');
}
