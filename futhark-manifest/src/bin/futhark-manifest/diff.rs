//! `futhark-manifest diff`: compares two manifests as APIs.

use std::io::Write;

use clap::ValueEnum;
use futhark_manifest::Printable;
use futhark_manifest::diff::{self, Diff, Impact, Item};
use serde_json::json;

use crate::io::{DIM, Failure, File, GREEN, RED, Text, YELLOW, json_line};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The manifest of the version that users have.
    old: File,
    /// The manifest of the new version.
    new: File,
    /// The lowest impact for which the exit code is 1.
    #[arg(long, value_enum, default_value_t = FailOn::Breaking, value_name = "IMPACT")]
    fail_on: FailOn,
    /// Print changes as JSON, one object per line, and a summary.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Compatible,
    Breaking,
    Never,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
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
        json_line(out, &line)?;
    }
    let verdict = diff.verdict().map(Impact::as_str);
    json_line(
        out,
        &json!({"verdict": verdict, "affected": diff.affected()}),
    )?;
    Ok(out.flush()?)
}
