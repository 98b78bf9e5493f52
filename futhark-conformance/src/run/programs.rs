//! The subcommand `run`: checks programs, prints the results, and writes reports.

use super::config::Config;
use super::perform::perform;
use super::setup::corpus;
use super::{Ended, Exit, could_not_run, options, verdict};
use crate::cli::RunArgs;
use crate::report::shown;
use crate::say::{self, outln};

/// Checks programs, and prints and writes reports.
pub fn run(args: &RunArgs) -> Result<Exit, Ended> {
    options::check(args)?;
    let corpus = corpus(args)?;
    let mut report = perform(&corpus, &Config::from(args), &args.reports)?;
    say::out(format_args!("{report}"));
    for comparison in report.comparisons() {
        say::out(format_args!("\n{comparison}"));
    }
    for entry in &report.unmatched {
        let entry = entry.to_string();
        outln!("an expectation that nothing matched: {}", shown(&entry));
    }
    if let Some(left_out) = &report.left_out {
        outln!("{left_out}");
    }
    report.finish().map_err(could_not_run)?;
    verdict(report.counts())
}
