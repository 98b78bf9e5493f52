//! The subcommand `init`: writes a list of expected failures from a run.

use super::config::{Config, Expected};
use super::perform::perform;
use super::setup::{corpus, paths_or_default};
use super::{Ended, Exit, could_not_run, usage};
use crate::cli::InitArgs;
use crate::expect::{self, Expectations, FILE_NAME};
use crate::record::{Outcome, Record};
use crate::report::counted;
use crate::say::{self, outln};
use crate::scratch::replace_file;
use anyhow::{Context as _, anyhow};
use std::path::{Path, PathBuf};

/// Checks programs, and writes their failures as expectations.
pub fn run(args: &InitArgs) -> Result<Exit, Ended> {
    let config = &args.run.config;
    let file = file(config, &paths_or_default(&args.run.paths))?;
    if file.exists() && !args.force {
        return Err(usage(anyhow!(
            "{} exists; replace it with --force, or name another file with --expectations",
            file.display()
        )));
    }
    let config = Config {
        // All failures are to be listed.
        expected: Expected::Nowhere,
        ..config.clone()
    };
    let mut report = perform(&corpus(&args.run)?, &config, &args.run.reports)?;
    let counts = report.counts();
    say::out(format_args!("{report}"));
    let folder = file.parent().unwrap_or(Path::new(""));
    let failures = report.records().iter();
    let failures = failures.filter(|record| record.finding.outcome == Outcome::Fail);
    let failures: Vec<Record> = failures.cloned().collect();
    let (text, entries) = expect::list_of(&failures, folder);
    report.finish().map_err(could_not_run)?;
    if let Some(left_out) = &report.left_out {
        outln!("{left_out}");
    }
    if counts.total() == 0 {
        return Err(could_not_run(anyhow!("nothing was checked")));
    }
    if entries == 0 {
        outln!("nothing failed: {} is not needed", file.display());
        return Ok(Exit::Held);
    }
    let failed = || format!("failed to write {}", file.display());
    // A list that cannot be read would fail every later run.
    let checked = Expectations::parse(&text, folder).map_err(anyhow::Error::msg);
    let written = checked.and_then(|_| Ok(replace_file(&file, text.as_bytes())?));
    written.with_context(failed).map_err(could_not_run)?;
    let entries = match entries {
        1 => "1 entry".to_owned(),
        _ => format!("{entries} entries"),
    };
    outln!(
        "wrote {} with {entries} for {}: edit the reasons",
        file.display(),
        counted(counts.failed, "failure")
    );
    Ok(Exit::Held)
}

/// The file to write: the given one, or the one in the folder of the programs.
fn file(config: &Config, paths: &[PathBuf]) -> Result<PathBuf, Ended> {
    if let Expected::In(file) = &config.expected {
        return Ok(file.clone());
    }
    let [path] = paths else {
        return Err(usage(anyhow!(
            "several paths: name the file to write with --expectations FILE"
        )));
    };
    let folder = match path.is_file() {
        true => path.parent().unwrap_or(path),
        false => path.as_path(),
    };
    Ok(folder.join(FILE_NAME))
}
