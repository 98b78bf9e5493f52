//! The subcommand `diff`.

use super::{Ended, Exit, could_not_run, usage};
use crate::cli::DiffArgs;
use crate::report::Report;
use crate::report::difference::{self, Change};
use crate::report::files::{Target, failed};
use crate::say;
use anyhow::anyhow;
use std::collections::BTreeSet;
use std::path::Path;

/// Compares two reports, or the compilers of one.
pub fn run(args: &DiffArgs) -> Result<Exit, Ended> {
    let read = |path: &Path| Report::read([path]).map_err(usage);
    let old = read(&args.old)?;
    let new = args.new.as_deref().map(read).transpose()?;
    let comparisons = match &new {
        Some(new) => difference::of_runs(&old, new),
        None => difference::of_compilers(&old, &BTreeSet::new()),
    };
    if comparisons.is_empty() {
        return Err(could_not_run(anyhow!(
            "nothing to compare: the reports have no compiler in common, or the only report has one compiler"
        )));
    }
    for comparison in &comparisons {
        say::out(format_args!("{comparison}"));
    }
    if let Some(path) = &args.html {
        let target = Target::new(path);
        let write = |target: Target| target.write(|out| difference::write_html(out, &comparisons));
        target
            .and_then(write)
            .map_err(failed(path))
            .map_err(usage)?;
    }
    let broken = comparisons.iter().any(|one| one.count(Change::Broken) > 0);
    Ok(if broken { Exit::Failed } else { Exit::Held })
}
