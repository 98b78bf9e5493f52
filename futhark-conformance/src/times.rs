//! Past times of jobs, kept in a file, from which a run estimates the times of its jobs.
//!
//! ```text
//! {"program":"a.fut","backend":"c","device":"cpu","compiler":"0.25.32","rest":0.1,"checks":{"compile":0.9,"blocks":0.2}}
//! ```
//!
//! A line has the seconds of each check of a job when it last ran, and of the job's processes between
//! them. A run with the same file and the same jobs gets the same estimates on every machine. The file
//! is replaced at once, and lines that cannot be read are ignored: it only serves to estimate.
//!
//! The runs of the parts of a whole must agree on the file, so a part does not change the one of
//! `--times`; `report --times` adds the times of all parts to it.

use crate::checks;
use crate::cover;
use crate::devices;
use crate::jobs::Job;
use crate::record::Place;
use crate::scratch::replace_file;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// The name of the file in the build folder.
pub const FILE_NAME: &str = "times.jsonl";

/// The past times of jobs.
#[derive(Debug, Default)]
pub struct Times {
    file: PathBuf,
    jobs: HashMap<Key, Seconds>,
    /// The mean of the jobs of each backend and device.
    columns: HashMap<[String; 2], Mean>,
    /// Those of this run.
    new: BTreeMap<Key, Seconds>,
}

/// A job, without properties that differ between machines of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Key {
    program: String,
    backend: String,
    device: String,
    compiler: String,
}

/// The seconds of one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Between the checks.
    rest: f32,
    /// Of the checks that ran, by their numbers in the catalog.
    checks: Vec<(u8, f32)>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    key: Key,
    rest: f32,
    checks: BTreeMap<String, f32>,
}

/// Sums over jobs.
#[derive(Clone, Debug, Default)]
struct Mean {
    rest: (f64, u32),
    checks: [(f64, u32); checks::ALL.len()],
}

impl Times {
    /// Reads the file; without it, no times are known.
    ///
    /// # Errors
    /// If the file exists and cannot be read.
    pub fn read(file: &Path) -> anyhow::Result<Times> {
        let mut times = Times {
            file: file.to_owned(),
            ..Times::default()
        };
        times.jobs = times.stored()?;
        for (key, seconds) in &times.jobs {
            let column = [key.backend.clone(), key.device.clone()];
            times.columns.entry(column).or_default().add(seconds);
        }
        Ok(times)
    }

    fn stored(&self) -> anyhow::Result<HashMap<Key, Seconds>> {
        let mut jobs = HashMap::new();
        let failed = || format!("failed to read the times in {}", self.file.display());
        let file = match fs::File::open(&self.file) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(jobs),
            Err(error) => return Err(error).with_context(failed),
        };
        for line in BufReader::new(file).split(b'\n') {
            let line = line.with_context(failed)?;
            if let Ok(Line { key, rest, checks }) = serde_json::from_slice(&line) {
                let checks = checks.iter();
                let checks = checks.filter_map(|(name, &s)| Some((number_of(name)?, s)));
                let checks = checks.collect();
                jobs.insert(key, Seconds { rest, checks });
            }
        }
        Ok(jobs)
    }

    /// Whether the times of none of these jobs are known.
    pub fn know_none_of<'j>(&self, mut jobs: impl Iterator<Item = &'j Job>) -> bool {
        self.jobs.is_empty() || jobs.all(|job| !self.jobs.contains_key(&key(&job.place)))
    }

    /// The estimated seconds of a job: its past times, otherwise the mean of its backend and device,
    /// otherwise a guess by the kind of the device.
    #[must_use]
    pub fn estimate(&self, job: &Job) -> f64 {
        let key = key(&job.place);
        let mean = self.columns.get(&[key.backend.clone(), key.device.clone()]);
        let known = self.jobs.get(&key);
        let slowness = f64::from(u32::try_from(cover::slowness(&job.device)).unwrap_or(u32::MAX));
        let rest = known
            .map(|known| f64::from(known.rest))
            .or_else(|| mean.and_then(|mean| of_mean(mean.rest)))
            .unwrap_or(REST * slowness);
        let is_selected = |name: &str| {
            job.checks.is_empty() || job.checks.iter().any(|pattern| pattern.concerns(name))
        };
        let of_check = |(number, check): (usize, &checks::Check)| {
            if !is_selected(check.name) {
                return 0.0;
            }
            let past = known.and_then(|known| known.of(number));
            past.or_else(|| mean.and_then(|mean| of_mean(mean.checks[number])))
                .unwrap_or(match check.name {
                    "compile" => COMPILE,
                    _ => CHECK * slowness,
                })
        };
        let checks: f64 = checks::ALL.iter().enumerate().map(of_check).sum();
        rest + checks
    }

    /// Notes the times of a job of this run.
    pub fn add(&mut self, job: &Place, seconds: Seconds) {
        self.new.insert(key(job), seconds);
    }

    /// Writes the file, with the times that other runs have written to it in the meantime.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn write(&self) -> anyhow::Result<()> {
        if self.new.is_empty() {
            return Ok(());
        }
        let failed = || format!("failed to write the times to {}", self.file.display());
        let mut all: BTreeMap<Key, Seconds> = self.stored()?.into_iter().collect();
        for (key, new) in &self.new {
            all.entry(key.clone()).or_default().update(new);
        }
        let mut text = Vec::new();
        for (key, Seconds { rest, checks }) in all {
            let checks = checks.iter();
            let checks = checks.map(|&(n, s)| (checks::ALL[usize::from(n)].name.to_owned(), s));
            let checks = checks.collect();
            serde_json::to_writer(&mut text, &Line { key, rest, checks })?;
            text.push(b'\n');
        }
        replace_file(&self.file, &text).with_context(failed)
    }
}

/// The guessed seconds of the compilers, which do not depend on the device. This and the others are means of
/// all jobs of `programs/`.
const COMPILE: f64 = 0.65;

/// The guessed seconds of a check on the host.
const CHECK: f64 = 0.015;

/// The guessed seconds between the checks of a job on the host.
const REST: f64 = 0.05;

fn of_mean((sum, count): (f64, u32)) -> Option<f64> {
    (count > 0).then(|| sum / f64::from(count))
}

impl Mean {
    fn add(&mut self, seconds: &Seconds) {
        let add = |(sum, count): &mut (f64, u32), seconds: f32| {
            *sum += f64::from(seconds);
            *count += 1;
        };
        add(&mut self.rest, seconds.rest);
        for &(check, seconds) in &seconds.checks {
            add(&mut self.checks[usize::from(check)], seconds);
        }
    }
}

impl Seconds {
    /// Adds the time of one case of a check.
    pub fn add(&mut self, check: &str, seconds: f64) {
        let Some(check) = number_of(check) else {
            return;
        };
        match self.checks.iter_mut().find(|(other, _)| *other == check) {
            Some((_, sum)) => *sum += seconds as f32,
            None => self.checks.push((check, seconds as f32)),
        }
    }

    /// Ends the job, which took this time in total.
    pub fn end(&mut self, total: f64) {
        let checks: f32 = self.checks.iter().map(|(_, seconds)| seconds).sum();
        self.rest = (total as f32 - checks).max(0.0);
    }

    fn of(&self, check: usize) -> Option<f64> {
        let found = self.checks.iter().find(|(n, _)| usize::from(*n) == check);
        found.map(|(_, seconds)| f64::from(*seconds))
    }

    /// Replaces the times of the checks that ran again.
    fn update(&mut self, new: &Seconds) {
        self.rest = new.rest;
        let again = |check: u8| new.checks.iter().any(|(other, _)| *other == check);
        self.checks.retain(|(check, _)| !again(*check));
        self.checks.extend(&new.checks);
        self.checks.sort_by_key(|(check, _)| *check);
    }
}

fn number_of(check: &str) -> Option<u8> {
    let number = checks::ALL.iter().position(|known| known.name == check)?;
    u8::try_from(number).ok()
}

fn key(place: &Place) -> Key {
    Key {
        program: place.program.clone(),
        backend: place.backend.clone(),
        device: platform(&place.device),
        compiler: place.compiler.clone(),
    }
}

/// The platform of the device, whose full name can contain that of the machine's processor.
fn platform(device: &str) -> String {
    let label = devices::column_label(device);
    label.unwrap_or(devices::parts(device).0).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::Device;
    use crate::pattern::CheckPattern;
    use crate::record::CompilerInfo;
    use futhark_manifest::Backend;

    fn job(program: &str, checks: &[&str]) -> Job {
        let device = Device::host(Backend::C);
        Job {
            program: program.into(),
            place: Place::new(&device, program.to_owned(), "1".to_owned()),
            device,
            compiler: CompilerInfo::new("1", "futhark"),
            checks: (checks.iter().map(|c| CheckPattern::from((*c).to_owned()))).collect(),
        }
    }

    fn seconds(checks: &[(&str, f64)], total: f64) -> Seconds {
        let mut seconds = Seconds::default();
        for (check, time) in checks {
            seconds.add(check, *time);
        }
        seconds.end(total);
        seconds
    }

    fn is_about(seconds: f64, expected: f64) -> bool {
        (seconds - expected).abs() < 0.001
    }

    #[test]
    fn estimates_are_the_times_of_the_selected_checks() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("times.jsonl");
        let mut times = Times::read(&file).unwrap();
        let whole = job("a.fut", &[]);
        assert!(times.know_none_of([&whole].into_iter()));
        let all: Vec<(&str, f64)> = checks::ALL.iter().map(|check| (check.name, 0.5)).collect();
        times.add(&whole.place, seconds(&all, 20.0));
        times.write().unwrap();

        let mut times = Times::read(&file).unwrap();
        assert!(!times.know_none_of([&whole].into_iter()));
        assert!(is_about(times.estimate(&whole), 20.0));
        let rest = 20.0 - 0.5 * all.len() as f64;
        let part = job("a.fut", &["compile", "blocks:f *"]);
        assert!(is_about(times.estimate(&part), rest + 1.0));
        // A job that has not run is as slow as the others of its backend.
        assert!(is_about(times.estimate(&job("b.fut", &[])), 20.0));
        // The part replaces the times of its checks only.
        times.add(
            &part.place,
            seconds(&[("compile", 1.0), ("blocks", 2.0)], 3.0 + rest),
        );
        times.write().unwrap();
        let times = Times::read(&file).unwrap();
        assert!(is_about(times.estimate(&whole), 22.0));
    }

    #[test]
    fn damaged_lines_are_ignored_and_other_runs_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("times.jsonl");
        let mut one = Times::read(&file).unwrap();
        let mut other = Times::read(&file).unwrap();
        one.add(&job("a.fut", &[]).place, seconds(&[("compile", 1.0)], 2.0));
        one.write().unwrap();
        other.add(&job("b.fut", &[]).place, seconds(&[("compile", 4.0)], 5.0));
        other.write().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{{\n{text}{{\"program\":")).unwrap();
        let times = Times::read(&file).unwrap();
        assert!(is_about(times.estimate(&job("a.fut", &["compile"])), 2.0));
        assert!(is_about(times.estimate(&job("b.fut", &["compile"])), 5.0));
    }
}
