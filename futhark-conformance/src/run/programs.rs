//! The subcommand `run`: checks programs, prints the results, and writes reports.

use super::config::Config;
use super::perform::{self, Results};
use super::{Ended, Exit, could_not_run, options, verdict};
use crate::cli::RunArgs;
use crate::report::shown;
use crate::say::{self, outln};

/// Checks programs, and prints and writes reports.
pub fn run(args: &RunArgs) -> Result<Exit, Ended> {
    options::check(args)?;
    show(perform::run(&Config::from(args))?)
}

/// Prints the results, and writes the reports.
fn show(results: Results) -> Result<Exit, Ended> {
    let Results {
        output,
        comparisons,
        unmatched,
        left_out,
    } = results;
    say::out(format_args!("{}", output.render()));
    for comparison in comparisons {
        say::out(format_args!("\n{comparison}"));
    }
    for entry in unmatched {
        let entry = entry.to_string();
        outln!("an expectation that nothing matched: {}", shown(&entry));
    }
    if let Some(left_out) = left_out {
        outln!("{left_out}");
    }
    let total = output.matrix.total();
    output.finish(true).map_err(could_not_run)?;
    verdict(total)
}
