//! `futhark-manifest diff`: compares two manifests as APIs.

use std::io::Write;

use futhark_manifest::Printable;
use futhark_manifest::diff::{self, Diff, Impact, Item};
use serde_json::json;

use crate::args::{DiffArgs, FailOn};
use crate::input::{File, Text};
use crate::say::{DIM, GREEN, RED, YELLOW};
use crate::{Failure, say};

pub(crate) fn run(args: &DiffArgs, out: &mut impl Write) -> Result<(), Failure> {
    File::once([&args.old, &args.new])?;
    let old = Text::read(&args.old)?.program()?;
    let new = Text::read(&args.new)?.program()?;
    let diff = diff::compare(&old, &new);
    let printed = if args.json {
        print_json(&diff, out)
    } else {
        print(&diff, out)
    };
    let fails = match args.fail_on {
        FailOn::Breaking => diff.verdict() == Some(Impact::Breaking),
        FailOn::Compatible => diff.verdict().is_some(),
        FailOn::Never => false,
    };
    // The verdict counts even if printing fails.
    if fails { Err(Failure::Found) } else { printed }
}

fn print(diff: &Diff, out: &mut impl Write) -> Result<(), Failure> {
    for change in diff.changes() {
        let style = match change.impact() {
            Impact::Breaking => RED,
            Impact::Compatible => YELLOW,
        };
        let text = change.to_string();
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        writeln!(out, "{style}{first}{style:#}\n{DIM}{rest}{DIM:#}")?;
    }
    match diff.verdict() {
        None => writeln!(out, "{GREEN}no change{GREEN:#}")?,
        Some(Impact::Compatible) => writeln!(out, "{YELLOW}compatible{YELLOW:#}")?,
        Some(Impact::Breaking) => {
            let names = diff
                .affected()
                .iter()
                .map(|name| Printable(name).to_string());
            let names = names.collect::<Vec<_>>().join(", ");
            writeln!(out, "{RED}breaking{RED:#} for callers of: {names}")?;
        }
    }
    Ok(out.flush()?)
}

fn print_json(diff: &Diff, out: &mut impl Write) -> Result<(), Failure> {
    for change in diff.changes() {
        let line = json!({
            "impact": change.impact().as_str(),
            "item": match change.item {
                Item::EntryPoint => "entry_point",
                Item::Type => "type",
            },
            "change": change.what(),
            "name": change.name,
            "pointer": change.pointer(),
            "was": change.was,
            "is": change.is,
        });
        say::json_line(out, &line)?;
    }
    let verdict = diff.verdict().map(Impact::as_str);
    say::json_line(
        out,
        &json!({"verdict": verdict, "affected": diff.affected()}),
    )?;
    Ok(out.flush()?)
}
