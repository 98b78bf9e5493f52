//! `futhark-manifest diff`

use std::io::Write;

use futhark_manifest::diff::{self, Change, Severity};
use serde_json::json;

use crate::Failure;
use crate::args::Diff;
use crate::input::Text;
use crate::say::{DIM, GREEN, RED, YELLOW};

pub(crate) fn run(args: &Diff, out: &mut impl Write) -> Result<(), Failure> {
    let old = Text::read(&args.old)?.program()?;
    let new = Text::read(&args.new)?.program()?;
    let diff = diff::compare(&old, &new);
    let least = args.least.severity();
    for change in diff.changes().iter().filter(|c| c.severity() >= least) {
        if args.json {
            writeln!(out, "{}", as_json(change))?;
        } else {
            let style = style(change.severity());
            let text = format!("{change:#}");
            let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
            writeln!(out, "{style}{first}{style:#}")?;
            if !rest.is_empty() {
                writeln!(out, "{DIM}{rest}{DIM:#}")?;
            }
        }
    }
    let verdict = diff.verdict();
    if !args.json {
        let count = |severity| diff.of(severity).count();
        let style = verdict.map_or(GREEN, style);
        let word = verdict.map_or("no change", Severity::as_str);
        writeln!(
            out,
            "{style}{word}{style:#}: {} breaking, {} compatible, {} cosmetic",
            count(Severity::Breaking),
            count(Severity::Compatible),
            count(Severity::Cosmetic),
        )?;
    }
    if args.fail_on.fails(verdict) {
        return Err(Failure::Found);
    }
    Ok(())
}

fn style(severity: Severity) -> anstyle::Style {
    match severity {
        Severity::Breaking => RED,
        Severity::Compatible => YELLOW,
        Severity::Cosmetic => GREEN,
    }
}

fn as_json(change: &Change) -> serde_json::Value {
    json!({
        "severity": change.severity().as_str(),
        "code": change.code(),
        "pointer": change.place.pointer(),
        "place": change.place.to_string(),
        "was": change.was,
        "is": change.is,
        "used_by": change.used_by.entries,
        "reason": change.reason(),
    })
}
