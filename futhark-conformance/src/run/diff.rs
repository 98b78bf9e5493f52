//! The subcommand `diff`.

use super::{Ended, Exit, could_not_run, usage};
use crate::cli::DiffArgs;
use crate::record::{CompilerInfo, Record};
use crate::report::difference::{self, Change, Comparison};
use crate::report::merge::{Merged, merge};
use crate::report::output::write_at_once;
use crate::say;
use anyhow::anyhow;
use futhark_manifest::Version;
use std::path::Path;

/// Compares two reports, or the compilers of one.
pub fn run(args: &DiffArgs) -> Result<Exit, Ended> {
    let read = |path: &Path| merge(&[path.to_owned()]).map_err(usage);
    let old = read(&args.old)?;
    let comparisons = match &args.new {
        Some(path) => of_two(&old, &args.old, &read(path)?, path),
        None => {
            let labels = compilers(&old).into_iter().map(|one| one.label.as_str());
            difference::of_report(labels, &old.records)
        }
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

/// The compilers of a report, oldest first.
fn compilers(report: &Merged) -> Vec<&CompilerInfo> {
    let mut compilers: Vec<&CompilerInfo> = report.header.compilers.iter().collect();
    compilers.sort_by_key(|compiler| Version::new(&compiler.version));
    compilers
}

fn with<'r>(report: &'r Merged, label: &str) -> Vec<&'r Record> {
    let records = report.records.iter();
    records.filter(|r| r.place.compiler == label).collect()
}

/// The only compilers of two reports, or each compiler that both have.
fn of_two(old: &Merged, old_path: &Path, new: &Merged, new_path: &Path) -> Vec<Comparison> {
    let pairs = match (compilers(old).as_slice(), compilers(new).as_slice()) {
        ([one], [other]) => vec![(*one, *other)],
        (olds, news) => {
            let both = olds
                .iter()
                .filter_map(|one| Some((*one, same(one, olds, news)?)));
            both.collect()
        }
    };
    let selections = [old, new].map(|report| selection(&report.header.selection));
    let pairs = pairs.into_iter().map(|(before, after)| {
        let (before, after) = (before.label.as_str(), after.label.as_str());
        let names = [(old_path, before), (new_path, after)]
            .map(|(path, label)| format!("{} (Futhark {label})", path.display()));
        let mut found = difference::compare(names, &with(old, before), &with(new, after));
        if selections[0] != selections[1] {
            let [old, new] = &selections;
            found.selection = Some(format!(
                "the runs had different options, so coverage differs: {old} -> {new}"
            ));
        }
        found
    });
    pairs.collect()
}

/// The options of a run that select jobs and checks.
fn selection(words: &[String]) -> String {
    let mut options = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--all" => options.push(word.clone()),
            "--exclude" | "--check" | "--budget" | "--architectures" => {
                let value = words.next().map_or("", |value| value);
                options.push(format!("{word} {value}"));
            }
            _ => {}
        }
    }
    match options.is_empty() {
        true => "none".to_owned(),
        false => options.join(" "),
    }
}

/// The compiler of the newer report that is this one of the older report: the one with its label;
/// with its hash, because a label depends on the other compilers of the run; or the only one of its
/// version.
fn same<'r>(
    one: &CompilerInfo,
    olds: &[&CompilerInfo],
    news: &[&'r CompilerInfo],
) -> Option<&'r CompilerInfo> {
    let is_version = |other: &&&CompilerInfo| other.version == one.version;
    let is_only = |all: &[&CompilerInfo]| all.iter().filter(is_version).count() == 1;
    let labelled = news.iter().find(|other| other.label == one.label);
    let equal = |other: &&&CompilerInfo| !one.hash.is_empty() && other.hash == one.hash;
    let found = labelled.or_else(|| news.iter().find(equal));
    let only = || (is_only(olds) && is_only(news)).then(|| news.iter().find(is_version));
    found.or_else(|| only().flatten()).copied()
}
