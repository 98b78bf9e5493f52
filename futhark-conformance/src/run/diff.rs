//! The subcommand `diff`.

use super::{Ended, Exit, could_not_run, usage};
use crate::cli::DiffArgs;
use crate::record::Record;
use crate::report::difference::{self, Change, Comparison};
use crate::report::merge::{Merged, merge};
use anyhow::{Context as _, anyhow};
use futhark_manifest::Version;
use std::path::Path;

/// Compares two reports, or the compilers of one.
pub fn run(args: &DiffArgs) -> Result<Exit, Ended> {
    let read = |path: &Path| merge(&[path.to_owned()]).map_err(usage);
    let old = read(&args.old)?;
    let comparisons = match &args.new {
        Some(path) => of_two(&old, &args.old, &read(path)?, path),
        None => difference::of_report(versions(&old), &old.records),
    };
    if comparisons.is_empty() {
        return Err(could_not_run(anyhow!(
            "nothing to compare: the reports have no compiler in common, or the only report has one compiler"
        )));
    }
    for comparison in &comparisons {
        print!("{comparison}");
    }
    if let Some(path) = &args.html {
        let file = std::fs::File::create(path)
            .with_context(|| format!("failed to create {}", path.display()))
            .map_err(usage)?;
        let mut out = std::io::BufWriter::new(file);
        difference::write_html(&mut out, &comparisons)
            .with_context(|| format!("failed to write {}", path.display()))
            .map_err(could_not_run)?;
    }
    let broken = comparisons.iter().any(|one| one.count(Change::Broken) > 0);
    Ok(if broken { Exit::Failed } else { Exit::Held })
}

/// The versions of the compilers of a report, oldest first.
fn versions(report: &Merged) -> Vec<&str> {
    let compilers = report.header.compilers.iter();
    let mut versions: Vec<&str> = compilers.map(|c| c.version.as_str()).collect();
    versions.sort_by_key(|version| Version::new(version));
    versions.dedup();
    versions
}

fn with<'r>(report: &'r Merged, version: &str) -> Vec<&'r Record> {
    let records = report.records.iter();
    records.filter(|r| r.place.compiler == version).collect()
}

/// The only compilers of two reports, or each compiler that both have.
fn of_two(old: &Merged, old_path: &Path, new: &Merged, new_path: &Path) -> Vec<Comparison> {
    let pairs = match (versions(old).as_slice(), versions(new).as_slice()) {
        ([one], [other]) => vec![(*one, *other)],
        (olds, news) => {
            let both = olds.iter().filter(|version| news.contains(version));
            both.map(|version| (*version, *version)).collect()
        }
    };
    let pairs = pairs.into_iter().map(|(before, after)| {
        let names = [(old_path, before), (new_path, after)]
            .map(|(path, version)| format!("{} (Futhark {version})", path.display()));
        difference::compare(names, &with(old, before), &with(new, after))
    });
    pairs.collect()
}
