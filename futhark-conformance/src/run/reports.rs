//! The subcommands `report` and `diff`, and the exit code for results.

use super::{Ended, Exit, could_not_run, usage};
use crate::cli::{DiffArgs, ReportArgs};
use crate::report::difference::{self, Change};
use crate::report::{Counts, Report};
use crate::say;
use anyhow::anyhow;
use std::path::Path;

/// The exit code for the results of a run.
pub fn verdict(total: Counts) -> Result<Exit, Ended> {
    if total.failed > 0 {
        Ok(Exit::Failed)
    } else if total.passed + total.expected == 0 {
        Err(could_not_run(anyhow!(
            "nothing was checked: every program or check was skipped or filtered out"
        )))
    } else {
        Ok(Exit::Held)
    }
}

/// Shows and writes the results of earlier runs.
pub fn report(args: &ReportArgs) -> Result<Exit, Ended> {
    let targets = args.reports.targets(args.json.as_deref()).map_err(usage)?;
    let mut report = Report::read(&args.files).map_err(usage)?;
    if let Some(file) = &args.baseline {
        report.baseline = Some(Box::new(Report::read([file]).map_err(usage)?));
    }
    report.targets = targets;
    say::out(format_args!("{report}"));
    report.finish().map_err(could_not_run)?;
    let total = report.counts();
    let is_complete = report.missing.is_empty();
    if total.failed == 0 && !is_complete {
        return Err(could_not_run(anyhow!(
            "the report is incomplete; missing: {}",
            report.missing.join(", ")
        )));
    }
    verdict(total)
}

/// Compares two reports, or the compilers of one.
pub fn diff(args: &DiffArgs) -> Result<Exit, Ended> {
    let read = |path: &Path| Report::read([path]).map_err(usage);
    let old = read(&args.old)?;
    let new = args.new.as_deref().map(read).transpose()?;
    let comparisons = match &new {
        Some(new) => difference::of_runs(&old, new),
        None => difference::of_compilers(&old),
    };
    if comparisons.is_empty() {
        return Err(could_not_run(anyhow!(
            "nothing to compare: the reports have no compiler in common, or the only report has one compiler"
        )));
    }
    for comparison in &comparisons {
        say::out(format_args!("{comparison}"));
    }
    let broken = comparisons.iter().any(|one| one.count(Change::Broken) > 0);
    Ok(if broken { Exit::Failed } else { Exit::Held })
}
