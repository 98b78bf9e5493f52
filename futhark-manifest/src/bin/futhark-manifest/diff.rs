//! `futhark-manifest diff`: compares two manifests as APIs.

use std::io::Write;

use futhark_manifest::diff::{self, Change, Impact};
use serde_json::json;

use crate::args::DiffArgs;
use crate::input::{File, Text};
use crate::say::{DIM, GREEN, RED, YELLOW};
use crate::{Failure, say};

pub(crate) fn run(args: &DiffArgs, out: &mut impl Write) -> Result<(), Failure> {
    File::once([&args.old, &args.new])?;
    let old = Text::read(&args.old)?.program()?;
    let new = Text::read(&args.new)?.program()?;
    let diff = diff::compare(&old, &new);
    // The verdict counts even if printing fails.
    let verdict = diff.verdict();
    let printed = print(&diff, args, out);
    if args.fail_on.fails(verdict) {
        return Err(Failure::Found);
    }
    printed
}

fn print(diff: &diff::Diff, args: &DiffArgs, out: &mut impl Write) -> Result<(), Failure> {
    let least = args.least.impact();
    let verdict = diff.verdict();
    for change in diff.changes().iter().filter(|c| c.impact() >= least) {
        if args.json {
            say::json_line(out, &as_json(change))?;
        } else {
            let style = style(change.impact());
            let text = format!("{change:#}");
            let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
            writeln!(out, "{style}{first}{style:#}")?;
            if !rest.is_empty() {
                writeln!(out, "{DIM}{rest}{DIM:#}")?;
            }
        }
    }
    if !args.json {
        let count = |impact| diff.of(impact).count();
        let style = verdict.map_or(GREEN, style);
        let word = verdict.map_or("no change", Impact::as_str);
        writeln!(
            out,
            "{style}{word}{style:#}: {} breaking, {} compatible, {} cosmetic",
            count(Impact::Breaking),
            count(Impact::Compatible),
            count(Impact::Cosmetic),
        )?;
    }
    Ok(out.flush()?)
}

fn style(impact: Impact) -> anstyle::Style {
    match impact {
        Impact::Breaking => RED,
        Impact::Compatible => YELLOW,
        Impact::Cosmetic => GREEN,
    }
}

fn as_json(change: &Change) -> serde_json::Value {
    json!({
        "impact": change.impact().as_str(),
        "code": change.code.as_str(),
        "pointer": change.place.pointer(),
        "place": change.place.to_string(),
        "was": change.was,
        "is": change.is,
        "used_by": change.used_by.entries,
        "used_by_more": change.used_by.more,
        "reason": change.reason(),
    })
}
