//! Chooses the jobs of a quick run.

use super::construct::Features;
use super::kept::Sources;
use super::plan::{Column, Cost, Plan};
use super::scan::scan;
use crate::checks::Check;
use crate::corpus::name;
use crate::devices::{Device, Kind};
use crate::expect::Expectations;
use crate::jobs::Job;
use crate::pattern::CheckPattern;
use std::collections::HashMap;
use std::path::Path;

/// A part of the jobs that covers everything.
pub struct Part {
    /// What it covers.
    pub plan: Plan,
    /// The jobs by their indices, and the checks that each must run, in the order of choice: the most
    /// new combinations of check and construct per cost first.
    pub jobs: Vec<(usize, Vec<CheckPattern>)>,
}

/// Chooses jobs, and checks of each, that together cover every construct of the programs with these
/// checks, except where a check is expected to fail. `seconds` estimates the time of a job; without
/// it, the choice depends only on the programs, the compilers and the devices.
///
/// # Errors
/// If a source or a file of constructs cannot be read.
pub fn of_jobs(
    jobs: &[Job],
    checks: &[&Check],
    expectations: &Expectations,
    constructs: &Sources<'_>,
    seconds: Option<&dyn Fn(&Job) -> f64>,
) -> anyhow::Result<Part> {
    let mut programs = Numbers::default();
    let mut columns = Numbers::default();
    let mut by_numbers = HashMap::new();
    for (index, job) in jobs.iter().enumerate() {
        let program = programs.of(job.program.as_path(), index);
        let place = &job.place;
        let column = (&*place.backend, &*place.device, &*place.compiler);
        by_numbers.insert((program, columns.of(column, index)), index);
    }
    let sources: Vec<&Path> = programs.first.iter().map(|&n| &*jobs[n].program).collect();
    // The newest compiler accepts the most programs.
    let features = match jobs.last() {
        Some(job) => scan(&sources, job.compiler.path.as_ref(), constructs)?,
        None => Vec::new(),
    };
    let known: Vec<Vec<&CheckPattern>> = jobs
        .iter()
        .map(|job| expectations.failing_checks(&job.place).collect())
        .collect();
    let is_known_failure = |program, column, check: &str| {
        let job = by_numbers.get(&(program, column));
        job.is_some_and(|&job| known[job].iter().any(|pattern| pattern.concerns(check)))
    };
    let programs = named(&sources, features);
    let cost = |program: usize, column| {
        let features: &Features = &programs[program].1;
        match (seconds, by_numbers.get(&(program, column))) {
            (Some(seconds), Some(&job)) => Cost {
                own: (seconds(&jobs[job]) * 1000.0) as u64,
                shared: BUILD_FOR_COMPARISON,
            },
            _ => Cost {
                own: features.cost * slowness(&jobs[columns.first[column]].device),
                shared: features.cost,
            },
        }
    };
    let places: Vec<Column> = columns.first.iter().map(|&n| column(&jobs[n])).collect();
    let plan = Plan::new(&programs, &places, checks, is_known_failure, cost);
    let jobs = plan.order().iter().filter_map(|&(program, column)| {
        let index = *by_numbers.get(&(program, column))?;
        let checks = plan.checks(program, column);
        let checks = checks.flat_map(|name| narrowed(&jobs[index].checks, name));
        Some((index, checks.collect()))
    });
    let jobs = jobs.collect();
    Ok(Part { plan, jobs })
}

/// The milliseconds of the build for backend c, with which all backends are compared.
const BUILD_FOR_COMPARISON: u64 = 500;

/// Numbers values in the order of their first occurrence.
struct Numbers<T> {
    numbers: HashMap<T, usize>,
    /// Where each value occurred first.
    first: Vec<usize>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Numbers<T> {
        Numbers {
            numbers: HashMap::new(),
            first: Vec::new(),
        }
    }
}

impl<T: Eq + std::hash::Hash> Numbers<T> {
    fn of(&mut self, value: T, index: usize) -> usize {
        *self.numbers.entry(value).or_insert_with(|| {
            self.first.push(index);
            self.first.len() - 1
        })
    }
}

/// The patterns for this check only; the whole check if none is given.
fn narrowed(patterns: &[CheckPattern], check: &str) -> Vec<CheckPattern> {
    if patterns.is_empty() {
        return vec![CheckPattern::from(check.to_owned())];
    }
    let concerned = patterns.iter().filter(|pattern| pattern.concerns(check));
    concerned.map(|pattern| pattern.only(check)).collect()
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
    }
}

/// An estimate of the time of a job, in multiples of the time on the host.
pub(crate) fn slowness(device: &Device) -> u64 {
    match device.kind {
        Kind::Simulated => 4,
        Kind::Emulated => 2,
        // A device that compiles each kernel for the CPU.
        Kind::Real if device.has_costly_contexts() => 8,
        Kind::Real => 1,
    }
}
