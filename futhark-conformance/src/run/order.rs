//! The order of jobs, and their division into parts.

use crate::jobs::Job;
use crate::shard::Shard;
use std::collections::HashMap;
use std::hash::Hash;

/// The numbers of the jobs, the longest first, so that the workers end at about the same time.
pub fn longest_first(estimates: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..estimates.len()).collect();
    order.sort_by(|&a, &b| estimates[b].total_cmp(&estimates[a]));
    order
}

/// The group of each job: its program and compiler. The jobs of a group use the same build for
/// comparison, and those on two devices of a backend the same library.
pub fn groups(jobs: &[Job]) -> Vec<usize> {
    numbers(jobs, |job| (&*job.place.program, &*job.place.compiler))
}

/// Whether each job belongs to the part: groups of jobs such that the parts take about the same time.
/// Depends on nothing but the jobs and the estimates.
pub fn part(jobs: &[Job], estimates: &[f64], shard: Shard) -> Vec<bool> {
    let mut groups = groups(jobs);
    let count = groups.iter().max().map_or(0, |last| last + 1);
    if count < GROUPS_PER_PART * shard.count {
        groups = (0..jobs.len()).collect();
    }
    let mut sums: Vec<f64> = vec![0.0; groups.iter().max().map_or(0, |last| last + 1)];
    for (group, estimate) in groups.iter().zip(estimates) {
        sums[*group] += estimate;
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

/// The number of each job's property, in the order of first occurrence.
fn numbers<'j, T: Eq + Hash>(jobs: &'j [Job], property: impl Fn(&'j Job) -> T) -> Vec<usize> {
    let mut known = HashMap::new();
    let number = |job| {
        let next = known.len();
        *known.entry(property(job)).or_insert(next)
    };
    jobs.iter().map(number).collect()
}

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
                    });
                }
            }
        }
        jobs
    }

    #[test]
    fn the_longest_jobs_come_first() {
        assert_eq!(longest_first(&[1.0, 2.0, 1.0, 9.0]), [3, 1, 0, 2]);
    }

    #[test]
    fn jobs_of_a_program_and_a_compiler_are_a_group() {
        assert_eq!(groups(&jobs(2)), [0, 1, 0, 1, 2, 3, 2, 3]);
    }

    #[test]
    fn parts_have_every_job_once_and_take_about_the_same_time() {
        let jobs = jobs(20);
        let estimates: Vec<f64> = (0..jobs.len()).map(|job| 1.0 + job as f64).collect();
        let parts: Vec<Vec<bool>> = (1..=3)
            .map(|index| part(&jobs, &estimates, Shard { index, count: 3 }))
            .collect();
        let mut loads = Vec::new();
        for mine in &parts {
            let mine = mine.iter().zip(&estimates).filter(|(mine, _)| **mine);
            loads.push(mine.map(|(_, estimate)| estimate).sum::<f64>());
        }
        for job in 0..jobs.len() {
            assert_eq!(parts.iter().filter(|part| part[job]).count(), 1);
        }
        let mean = estimates.iter().sum::<f64>() / 3.0;
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
        let mine = part(&jobs(1), &[4.0, 1.0, 1.0, 1.0], "1/2".parse().unwrap());
        assert_eq!(mine, [true, false, false, false]);
        let mine = part(&jobs(1), &[1.0; 4], "1/2".parse().unwrap());
        assert_eq!(mine, [true, false, true, false]);
    }
}
