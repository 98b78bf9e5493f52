//! Chooses the jobs of `run --cover` and the programs of `judge --cover`.

use super::construct::Features;
use super::plan::{Column, Plan};
use super::scan::scan;
use crate::checks::Check;
use crate::corpus::{Program, name};
use crate::devices::{Device, HOST, Kind};
use crate::expect::Expectations;
use crate::jobs::Job;
use crate::pattern::CheckPattern;
use anyhow::Context as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Keeps the jobs, and of each the checks, that together cover every construct of their programs
/// with these checks, except where a check is expected to fail. The file `constructs` caches those of
/// the manifests.
///
/// # Errors
/// If a file cannot be read or written, or the newest compiler is a recording, which cannot
/// generate manifests.
pub fn of_jobs(
    jobs: &mut Vec<Job>,
    checks: &[&Check],
    expectations: &Expectations,
    constructs: &Path,
    threads: usize,
) -> anyhow::Result<Plan> {
    let mut sources: Vec<PathBuf> = Vec::new();
    let mut columns: Vec<Column> = Vec::new();
    let mut places = Vec::new();
    let mut by_numbers = BTreeMap::new();
    for job in jobs.iter() {
        let program = position(&mut sources, job.program.clone());
        let numbers = (program, position(&mut columns, column(job)));
        places.push(numbers);
        by_numbers.insert(numbers, &job.place);
    }
    let paths: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    // The newest compiler accepts the most programs.
    let features = match jobs.last() {
        Some(job) => scan(&paths, job.compiler.path.as_ref(), constructs, threads)?,
        None => Vec::new(),
    };
    let is_known_failure = |program, column, check: &str| {
        let place = by_numbers.get(&(program, column));
        place.is_some_and(|place| expectations.expects_failure(place, check))
    };
    let programs = named(&paths, features);
    let plan = Plan::new(&programs, &columns, checks, is_known_failure);
    let mut places = places.into_iter();
    jobs.retain_mut(|job| {
        let Some((program, column)) = places.next() else {
            return false;
        };
        let checks = plan.checks(program, column);
        job.checks = checks
            .flat_map(|name| narrowed(&job.checks, name))
            .collect();
        plan.takes(program, column)
    });
    Ok(plan)
}

/// The patterns for this check only; the whole check if none is given.
fn narrowed(patterns: &[CheckPattern], check: &str) -> Vec<CheckPattern> {
    if patterns.is_empty() {
        return vec![CheckPattern::from(check.to_owned())];
    }
    let concerned = patterns.iter().filter(|pattern| pattern.concerns(check));
    concerned.map(|pattern| pattern.only(check)).collect()
}

/// Keeps the programs that together have every construct of test blocks. Programs with one of
/// the tags `exclude` are not judged, so they cover nothing.
///
/// # Errors
/// If a source cannot be read.
pub fn of_test_blocks(programs: &mut Vec<Program>, exclude: &[String]) -> anyhow::Result<Plan> {
    let features: anyhow::Result<Vec<Features>> = programs
        .iter()
        .map(|program| {
            let text = std::fs::read_to_string(&program.path)
                .with_context(|| format!("failed to read {}", program.path.display()))?;
            let mut features = Features::of_test_blocks(&text);
            if features.tags.iter().any(|tag| exclude.contains(tag)) {
                features.constructs.clear();
            }
            Ok(features)
        })
        .collect();
    let column = Column {
        backend: "c".to_owned(),
        device: HOST.to_owned(),
        compiler: "each compiler".to_owned(),
        slowness: 1,
    };
    let checks: Vec<&Check> = Check::named("blocks").into_iter().collect();
    let paths: Vec<&Path> = programs
        .iter()
        .map(|program| program.path.as_path())
        .collect();
    let plan = Plan::new(&named(&paths, features?), &[column], &checks, |_, _, _| {
        false
    });
    let mut numbers = 0..;
    programs.retain(|_| {
        numbers
            .next()
            .is_some_and(|number| plan.takes_program(number))
    });
    Ok(plan)
}

fn named(sources: &[&Path], features: Vec<Features>) -> Vec<(String, Features)> {
    let names = sources.iter().map(|source| name::of(source));
    names.zip(features).collect()
}

fn column(job: &Job) -> Column {
    Column {
        backend: job.place.backend.clone(),
        device: job.place.device.clone(),
        compiler: job.place.compiler.clone(),
        slowness: slowness(&job.device),
    }
}

/// An estimate of the time of a job, in multiples of the time on the host.
fn slowness(device: &Device) -> u64 {
    match device.kind {
        Kind::Simulated => 4,
        Kind::Emulated => 2,
        // A device that compiles each kernel for the CPU.
        Kind::Real if device.has_costly_contexts() => 8,
        Kind::Real => 1,
    }
}

/// The position of a value, which is appended if the list does not have it.
fn position<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter()
        .position(|other| *other == value)
        .unwrap_or_else(|| {
            list.push(value);
            list.len() - 1
        })
}
