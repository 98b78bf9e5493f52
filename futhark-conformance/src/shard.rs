//! Parts of a run, `I/N`, and their jobs.

use crate::jobs::{Job, groups};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Part `index` of `count` parts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// The number of this part, counted from 1.
    pub index: usize,
    /// The number of parts.
    pub count: usize,
}

/// The most parts. Reports list those that are missing.
const MOST: usize = 10_000;

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text
            .split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((index, count)) if count <= MOST && (1..=count).contains(&index) => {
                Ok(Shard { index, count })
            }
            _ => Err(format!(
                "expected I/N with I from 1 to N, such as 1/4, and N up to {MOST}"
            )),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Shard, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// Whether each job belongs to the part: groups of jobs such that the parts take about the same time.
/// Depends on nothing but the jobs and their estimated times.
pub fn part(jobs: &[Job], shard: Shard) -> Vec<bool> {
    let mut groups = groups(jobs);
    let count = groups.iter().max().map_or(0, |last| last + 1);
    if count < GROUPS_PER_PART * shard.count {
        groups = (0..jobs.len()).collect();
    }
    let mut sums: Vec<f64> = vec![0.0; groups.iter().max().map_or(0, |last| last + 1)];
    for (group, job) in groups.iter().zip(jobs) {
        sums[*group] += job.seconds;
    }
    let mut order: Vec<usize> = (0..sums.len()).collect();
    order.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]).then(a.cmp(&b)));
    let mut loads: Vec<f64> = vec![0.0; shard.count];
    let mut part_of = vec![0; sums.len()];
    for group in order {
        let least = (0..loads.len()).min_by(|&a, &b| loads[a].total_cmp(&loads[b]));
        let least = least.unwrap_or_default();
        loads[least] += sums[group];
        part_of[group] = least;
    }
    let parts = groups.iter().map(|&group| part_of[group]);
    parts.map(|part| part == shard.index - 1).collect()
}

/// The least number of groups per part for parts of about the same time.
const GROUPS_PER_PART: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::Device;
    use crate::record::{CompilerInfo, Place};
    use futhark_manifest::Backend;

    /// Each program on two backends with two compilers.
    fn jobs(programs: usize) -> Vec<Job> {
        let mut jobs = Vec::new();
        for program in 0..programs {
            for backend in [Backend::C, Backend::Multicore] {
                for compiler in ["1", "2"] {
                    let device = Device::host(backend);
                    let name = format!("{program}.fut");
                    jobs.push(Job {
                        program: name.clone().into(),
                        place: Place::new(&device, name, compiler.to_owned()),
                        device,
                        compiler: CompilerInfo::new(compiler, "futhark"),
                        checks: Vec::new(),
                        seconds: 1.0,
                    });
                }
            }
        }
        jobs
    }

    #[test]
    fn jobs_of_a_program_and_a_compiler_are_a_group() {
        assert_eq!(groups(&jobs(2)), [0, 1, 0, 1, 2, 3, 2, 3]);
    }

    #[test]
    fn parts_have_every_job_once_and_take_about_the_same_time() {
        let mut jobs = jobs(20);
        for (number, job) in jobs.iter_mut().enumerate() {
            job.seconds += number as f64;
        }
        let parts: Vec<Vec<bool>> = (1..=3)
            .map(|index| part(&jobs, Shard { index, count: 3 }))
            .collect();
        let mut loads = Vec::new();
        for mine in &parts {
            let mine = mine.iter().zip(&jobs).filter(|(mine, _)| **mine);
            loads.push(mine.map(|(_, job)| job.seconds).sum::<f64>());
        }
        for job in 0..jobs.len() {
            assert_eq!(parts.iter().filter(|part| part[job]).count(), 1);
        }
        let mean = jobs.iter().map(|job| job.seconds).sum::<f64>() / 3.0;
        assert!(
            loads.iter().all(|load| (load / mean - 1.0).abs() < 0.05),
            "{loads:?}"
        );
        // Jobs that share a build are in one part.
        let first = parts.iter().find(|part| part[0]).unwrap();
        assert!(first[2]);
    }

    #[test]
    fn few_jobs_are_divided_one_by_one() {
        let mut jobs = jobs(1);
        let mine = part(&jobs, "1/2".parse().unwrap());
        assert_eq!(mine, [true, false, true, false]);
        jobs[0].seconds = 4.0;
        let mine = part(&jobs, "1/2".parse().unwrap());
        assert_eq!(mine, [true, false, false, false]);
    }

    #[test]
    fn only_parts_of_a_run_are_read() {
        let shard: Shard = "2/3".parse().unwrap();
        assert_eq!((shard.index, shard.count), (2, 3));
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", "", "1/4000000000"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong:?}");
        }
    }
}
