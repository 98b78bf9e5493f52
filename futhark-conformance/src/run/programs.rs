//! The subcommand `run`: checks programs, prints the results, and writes reports.

use super::config::Config;
use super::perform::perform;
use super::setup::corpus;
use super::{Ended, Exit, could_not_run, usage, verdict};
use crate::cli::RunArgs;
use crate::say::{self, outln};
use anyhow::anyhow;

/// Checks programs, and prints and writes reports.
pub fn run(args: &RunArgs) -> Result<Exit, Ended> {
    check_options(&args.config)?;
    let corpus = corpus(args)?;
    let mut report = perform(&corpus, &args.config, &args.reports)?;
    say::out(format_args!("{report}"));
    if let Some(left_out) = &report.left_out {
        outln!("{left_out}");
    }
    report.finish().map_err(could_not_run)?;
    verdict(report.counts())
}

/// Refuses options that would have no effect, or name files that cannot be used.
fn check_options(config: &Config) -> Result<(), Ended> {
    if let Some(path) = &config.inputs.input {
        let failed = |why: &str| usage(anyhow!("failed to read --input {}: {why}", path.display()));
        let data = std::fs::metadata(path).map_err(|error| failed(&error.to_string()))?;
        if !data.is_file() {
            return Err(failed("not a regular file"));
        }
    }
    if let Some(folder) = &config.work.build_dir
        && folder.exists()
        && !folder.is_dir()
    {
        let folder = folder.display();
        return Err(usage(anyhow!("--build-dir {folder} is not a folder")));
    }
    Ok(())
}
