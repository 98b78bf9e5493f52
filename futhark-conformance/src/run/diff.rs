//! The subcommand `diff`.

use super::{Ended, Exit, could_not_run, usage};
use crate::cli::DiffArgs;
use crate::report::difference::{self, Change};
use crate::report::merge::Merged;
use crate::report::output::write_at_once;
use crate::say;
use anyhow::anyhow;
use std::collections::BTreeSet;
use std::path::Path;

/// Compares two reports, or the compilers of one.
pub fn run(args: &DiffArgs) -> Result<Exit, Ended> {
    let read = |path: &Path| Merged::read(&[path.to_owned()]).map_err(usage);
    let old = read(&args.old)?;
    let comparisons = match &args.new {
        Some(path) => difference::of_runs(&old, &read(path)?),
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
        write_at_once(path, |out| difference::write_html(out, &comparisons)).map_err(usage)?;
    }
    let broken = comparisons.iter().any(|one| one.count(Change::Broken) > 0);
    Ok(if broken { Exit::Failed } else { Exit::Held })
}
