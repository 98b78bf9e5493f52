//! Estimates of the times of jobs, from the seconds in the results of an earlier run. With the same
//! results and the same jobs, they are the same on every machine.

use crate::checks;
use crate::devices;
use crate::jobs::Job;
use crate::record::{Place, Record};
use crate::report::Report;
use std::collections::HashMap;

/// The seconds of each check in an earlier run.
#[derive(Debug, Default)]
pub struct Times {
    jobs: HashMap<(Place, String), f64>,
}

impl Times {
    /// The times in the results of a run.
    #[must_use]
    pub fn of(results: &Report) -> Times {
        let mut times = Times::default();
        for Record { place, finding } in results.records() {
            let check = (on_any_machine(place), finding.check.clone());
            *times.jobs.entry(check).or_default() += finding.seconds;
        }
        times
    }

    /// The estimated seconds of a job: of each selected check those of the earlier run, otherwise a guess by
    /// the kind of the device.
    #[must_use]
    pub fn estimate(&self, job: &Job) -> f64 {
        let place = on_any_machine(&job.place);
        let slowness = f64::from(job.device.slowness());
        let is_selected = |check: &&checks::Check| {
            job.checks.is_empty() || job.checks.iter().any(|it| it.concerns(check.name))
        };
        let of_check = |check: &checks::Check| {
            let known = self.jobs.get(&(place.clone(), check.name.to_owned()));
            known.copied().unwrap_or(match check.name {
                "compile" => COMPILE,
                _ => CHECK * slowness,
            })
        };
        let checks = checks::ALL.iter().filter(is_selected);
        REST * slowness + checks.map(of_check).sum::<f64>()
    }
}

/// The guessed seconds of the compilers, which do not depend on the device. This and the others are means of
/// all jobs of `programs/`.
const COMPILE: f64 = 0.65;

/// The guessed seconds of a check on the host.
const CHECK: f64 = 0.015;

/// The guessed seconds between the checks of a job on the host.
const REST: f64 = 0.05;

/// The place with only the platform of the device, whose full name can contain that of the machine's
/// processor.
fn on_any_machine(place: &Place) -> Place {
    let label = devices::column_label(&place.device);
    Place {
        device: label.unwrap_or(devices::parts(&place.device).0).to_owned(),
        ..place.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::Device;
    use crate::pattern::CheckPattern;
    use crate::record::CompilerInfo;
    use futhark_manifest::Backend;
    use std::fs;

    fn job(program: &str, checks: &[&str]) -> Job {
        let device = Device::host(Backend::C);
        Job {
            program: program.into(),
            place: Place::new(&device, program.to_owned(), "1".to_owned()),
            device,
            compiler: CompilerInfo::new("1", "futhark"),
            seconds: 0.0,
            checks: (checks.iter().map(|c| CheckPattern::from((*c).to_owned()))).collect(),
        }
    }

    #[test]
    fn estimates_are_the_times_of_the_selected_checks_in_the_earlier_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("last.jsonl");
        let of = |check: &str, seconds: f64| {
            format!(
                r#"{{"program":"a.fut","backend":"c","device":"cpu","compiler":"1","check":"{check}","case":"","outcome":"pass","cause":null,"message":"","seconds":{seconds}}}"#
            )
        };
        let header = r#"{"schema":3,"generator":"g","seed":1,"compilers":[],"devices":[]}"#;
        let checks = checks::ALL.iter().map(|check| of(check.name, 0.5));
        // With a further case of a check.
        let lines: Vec<String> = [header.to_owned(), of("blocks", 2.0)]
            .into_iter()
            .chain(checks)
            .collect();
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        let times = Times::of(&Report::read([&file]).unwrap());
        let is = |job: &Job, expected: f64| (times.estimate(job) - expected - REST).abs() < 0.001;
        let whole = 0.5 * checks::ALL.len() as f64 + 2.0;
        assert!(is(&job("a.fut", &[]), whole));
        assert!(is(&job("a.fut", &["compile", "blocks:f *"]), 3.0));
        let guess = Times::default().estimate(&job("b.fut", &["compile"]));
        assert!((guess - COMPILE - REST).abs() < 0.001);
    }
}
