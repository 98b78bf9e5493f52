//! Tries a device: runs a small program on it in a child process.

use super::process::Death;
use super::{Settings, start_child};
use crate::devices::{self, Device};
use crate::protocol::{Earlier, Event, JobSpec};
use crate::record::{Cause, CompilerInfo, Outcome};
use futhark_manifest::Version;
use std::time::Duration;

/// The least time limit of a probe. A device that is slow to start must still be found.
const PROBE: Duration = Duration::from_secs(60);

/// Runs a small program on a device with the newest compiler. Where it fails, the older ones tell whether the
/// machine lacks the device or the compiler does not work with it.
#[must_use]
pub fn probe_device(candidate: &Device, compilers: &[CompilerInfo], settings: &Settings) -> Device {
    let mut compilers: Vec<&CompilerInfo> = compilers.iter().collect();
    compilers.sort_by_key(|compiler| Version::new(&compiler.version));
    let Some((newest, older)) = compilers.split_last() else {
        return candidate.clone();
    };
    let probed = probe_with(candidate, newest, settings);
    if probed.usable {
        return probed;
    }
    if let Some(with_options) = devices::for_newer_compilers(candidate, &probed.name) {
        let again = probe_with(&with_options, newest, settings);
        if again.usable {
            return again;
        }
    }
    // A device after the first need not exist.
    let older = older.iter().rev().filter(|_| candidate.choice.is_none());
    let mut again = older.map(|one| (one, probe_with(candidate, one, settings)));
    match again.find(|(_, device)| device.usable) {
        None => probed,
        Some((compiler, device)) => Device {
            failure: format!(
                "works with Futhark {}, fails with {}: {}",
                compiler.version,
                newest.version,
                probed.problem()
            ),
            ..device
        },
    }
}

/// Compiles and runs a small program on a device. Returns it as usable, or with the reason or the failure in the words
/// of the tool that failed.
fn probe_with(device: &Device, compiler: &CompilerInfo, settings: &Settings) -> Device {
    let spec = JobSpec {
        program: None,
        device: device.clone(),
        compiler: compiler.clone(),
        checks: Vec::new(),
        earlier: Earlier::default(),
        run: settings.run.clone(),
    };
    let limit = settings.timeout.max(PROBE);
    let mut probed = Device {
        failure: "the probe sent no result".to_owned(),
        ..device.clone()
    };
    let death = match start_child(settings, &spec, limit) {
        Ok(mut process) => process.listen(&mut |event| {
            match event {
                Event::Device { name, known_bad } => {
                    (probed.name, probed.known_bad) = (name, known_bad);
                }
                Event::End(result) => {
                    probed.failure.clear();
                    match result.outcome {
                        Outcome::Pass => probed.usable = true,
                        Outcome::Skip => probed.reason = result.message,
                        _ => probed.failure = result.message,
                    }
                }
                _ => {}
            }
            limit
        }),
        Err(error) => Some(Death {
            cause: Cause::Error,
            message: error.to_string(),
        }),
    };
    match death {
        None => probed,
        Some(death) => Device {
            failure: death.message,
            ..device.clone()
        },
    }
}
