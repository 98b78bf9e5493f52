//! Chooses the jobs of a quick run: a selection that covers what the whole corpus covers.
//!
//! A *construct* is a property of a program that checks depend on: a type in its manifest, a consumed parameter, a kind
//! of test case, an operator in its source. Each has a topic, and the list of checks names the topics of each check.
//! The file `constructs.jsonl` of a corpus lists the constructs of its programs; a test of this module writes it. The
//! selection contains every combination of check and construct, at least once per unit of the construct's [`Scope`].
//!
//! The choice is greedy: always the job with the most new combinations per cost.

use crate::checks::Check;
use crate::expect::Expectations;
use crate::files::key;
use crate::jobs::Job;
use crate::pattern::CheckPattern;
use crate::record::JobId;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the list of constructs, in or above a folder of programs.
const LIST: &str = "constructs.jsonl";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Topic {
    Program,
    /// Identifiers.
    Name,
    /// Parameters and results of entry points.
    Entry,
    Array,
    Opaque,
    Consumption,
    Tuning,
    Case,
    /// Calls that must fail.
    Failure,
    Operator,
}

/// Where a construct must be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    /// On each device of each backend, by any compiler.
    Device,
    /// By each compiler for each backend, on any device.
    Compiler,
    /// For one of the backends that share the compiler's parallel code, such as opencl, cuda and hip.
    Family,
    /// Anywhere.
    Run,
}

/// A property of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Construct {
    pub topic: Topic,
    /// The name, unique within the topic.
    pub name: String,
    pub scope: Scope,
}

/// A line of the list, except the first, which has the constructs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ListedProgram {
    /// The path, relative to the folder of the list.
    program: String,
    /// A hash of the source.
    source: String,
    /// Whether it compiles; otherwise only the check `compile` runs.
    compiles: bool,
    /// The tags of its first test block.
    tags: Vec<String>,
    /// Indices: in the file, of constructs in the first line; in [`Constructs`], of [`Constructs::all`].
    constructs: Vec<usize>,
}

/// The programs of the lists, and their constructs.
#[derive(Debug, Default)]
pub struct Constructs {
    all: Vec<Construct>,
    /// By their absolute paths.
    programs: HashMap<PathBuf, ListedProgram>,
}

impl Constructs {
    /// Reads the list in or above each path. Programs that have changed since are not listed.
    pub fn read_for(paths: &[PathBuf]) -> anyhow::Result<Constructs> {
        let mut constructs = Constructs::default();
        let mut read = BTreeSet::new();
        for path in paths.iter().filter_map(|path| path.canonicalize().ok()) {
            let folder = path.ancestors().find(|folder| folder.join(LIST).is_file());
            if let Some(folder) = folder
                && read.insert(folder.to_owned())
            {
                let failed = || format!("failed to read {}", folder.join(LIST).display());
                constructs.add(folder).with_context(failed)?;
            }
        }
        Ok(constructs)
    }

    fn add(&mut self, folder: &Path) -> anyhow::Result<()> {
        let text = fs::read_to_string(folder.join(LIST))?;
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let before = self.all.len();
        self.all
            .extend(serde_json::from_str::<Vec<Construct>>(first)?);
        for line in lines {
            let mut line: ListedProgram = serde_json::from_str(line)?;
            let path = folder.join(&line.program);
            if !fs::read(&path).is_ok_and(|text| key(&[&text]) == line.source) {
                continue;
            }
            for number in &mut line.constructs {
                *number += before;
                let known = self.all.get(*number);
                known.with_context(|| {
                    format!("the first line has no construct {}", *number - before)
                })?;
            }
            self.programs.insert(path, line);
        }
        Ok(())
    }

    pub fn has(&self, program: &Path) -> bool {
        self.listed(program).is_some()
    }

    fn listed(&self, program: &Path) -> Option<&ListedProgram> {
        self.programs.get(&program.canonicalize().ok()?)
    }
}

/// Jobs that cover everything that all jobs cover.
pub struct Selection {
    /// The jobs by their indices, and the checks that each must run, in the order of choice.
    pub jobs: Vec<(usize, Vec<CheckPattern>)>,
    /// The number of constructs that are covered.
    pub constructs: usize,
    /// The number of checks that ask about any of them.
    pub checks: usize,
}

/// Something to cover: a check, a construct, and a unit of the construct's scope.
type Combination<'a> = (&'static str, &'a Construct, [&'a str; 2]);

/// Chooses jobs, and checks of each, that together cover every construct of listed programs with these
/// checks, except where a check is expected to fail.
pub fn choose(
    jobs: &[Job],
    checks: &[&'static Check],
    constructs: &Constructs,
    expectations: &Expectations,
    cost: impl Fn(&Job) -> u64,
) -> Selection {
    let mut numbers: BTreeMap<Combination<'_>, usize> = BTreeMap::new();
    // Each job with its cost, the combinations that it adds, by number and with their checks, and the checks
    // that are expected to fail.
    let mut candidates = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let Some(listed) = constructs.listed(&job.program) else {
            continue;
        };
        let (mut covers, mut failing) = (Vec::new(), Vec::new());
        let known: Vec<&CheckPattern> = expectations.failing_checks(&job.id).collect();
        let fails = |check: &str| known.iter().any(|pattern| pattern.may_match(check));
        let compiles = listed.compiles && !fails("compile");
        for check in checks.iter().filter(|one| runs(one, listed, &job.id)) {
            if fails(check.name) {
                failing.push(check.name);
            } else if compiles || check.name == "compile" {
                let all = listed.constructs.iter();
                let all = all.map(|&number| &constructs.all[number]);
                for construct in all.filter(|one| check.topics.contains(&one.topic)) {
                    let next = numbers.len();
                    let unit = unit(construct.scope, &job.id);
                    let number = numbers.entry((check.name, construct, unit));
                    covers.push((*number.or_insert(next), check.name));
                }
            }
        }
        candidates.push((index, cost(job).max(1), covers, failing));
    }
    let mut chosen = Vec::new();
    let mut is_covered = vec![false; numbers.len()];
    loop {
        let gains = candidates.iter().map(|(job, cost, covers, failing)| {
            let gain = covers.len() as u64 * PRECISION / cost;
            (gain, Reverse(*job), covers, failing)
        });
        let Some((1.., Reverse(job), covers, failing)) = gains.max() else {
            break;
        };
        // What is expected to fail covers nothing, but must still fail.
        let mut names: BTreeSet<&str> = failing.iter().copied().collect();
        for &(number, check) in covers {
            is_covered[number] = true;
            names.insert(check);
        }
        let names = names.into_iter();
        let checks = names.flat_map(|name| narrowed(&jobs[job].checks, name));
        chosen.push((job, checks.collect()));
        for (_, _, covers, _) in &mut candidates {
            covers.retain(|(number, _)| !is_covered[*number]);
        }
    }
    let constructs: BTreeSet<&Construct> =
        numbers.keys().map(|(_, construct, _)| *construct).collect();
    let checks: BTreeSet<&str> = numbers.keys().map(|(check, ..)| *check).collect();
    Selection {
        jobs: chosen,
        constructs: constructs.len(),
        checks: checks.len(),
    }
}

/// Gains per cost are integers, scaled by this.
const PRECISION: u64 = 1 << 32;

/// Whether the job runs the check at all.
fn runs(check: &Check, program: &ListedProgram, job: &JobId) -> bool {
    if check.name == "plain" && job.backend != "c" {
        return false;
    }
    let excluded = format!("no_{}", job.backend);
    check.function.is_none() || !program.tags.contains(&excluded)
}

/// The unit of a scope that a job belongs to, such as its backend and device.
fn unit(scope: Scope, job: &JobId) -> [&str; 2] {
    let backend = job.backend.as_str();
    match scope {
        Scope::Device => [backend, &job.device],
        Scope::Compiler => [backend, &job.compiler],
        Scope::Family => match backend {
            // The compiler generates the same parallel code.
            "opencl" | "cuda" | "hip" => ["gpu", ""],
            other => [other, ""],
        },
        Scope::Run => ["", ""],
    }
}

/// The patterns for this check only; the whole check if none is given.
fn narrowed(patterns: &[CheckPattern], check: &str) -> Vec<CheckPattern> {
    if patterns.is_empty() {
        return vec![CheckPattern::from(check.to_owned())];
    }
    let concerned = patterns.iter().filter(|pattern| pattern.may_match(check));
    concerned.map(|pattern| pattern.only(check)).collect()
}

#[cfg(test)]
mod tests;
