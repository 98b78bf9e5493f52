//! Choosing the devices of a run, and its columns in reports.

use super::{Device, Emulate};
use crate::pattern::Pattern;
use futhark_manifest::Backend;
use std::fmt;

/// Patterns that match none of the devices.
#[derive(Debug)]
pub struct NoSuchDevice {
    pattern: Pattern,
    names: Vec<String>,
}

impl fmt::Display for NoSuchDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no device is called \"{}\"; ", self.pattern)?;
        match self.names.as_slice() {
            [] => write!(f, "the requested backends have no devices"),
            names => write!(f, "there are:\n  {}", names.join("\n  ")),
        }
    }
}

impl std::error::Error for NoSuchDevice {}

/// The devices that match a pattern; all, if there is no pattern.
///
/// # Errors
/// If a pattern matches no device.
pub fn pick(devices: Vec<Device>, patterns: &[Pattern]) -> Result<Vec<Device>, NoSuchDevice> {
    if patterns.is_empty() {
        return Ok(devices);
    }
    let described = |device: &Device, pattern: &Pattern| {
        !device.name.is_empty() && pattern.matches(&device.name)
    };
    for pattern in patterns {
        if !devices.iter().any(|device| described(device, pattern)) {
            let named = devices.iter().filter(|device| !device.name.is_empty());
            let mut names: Vec<String> = named.map(|device| device.name.clone()).collect();
            names.dedup();
            return Err(NoSuchDevice {
                pattern: pattern.clone(),
                names,
            });
        }
    }
    let picked = devices.into_iter();
    let picked = picked.filter(|device| patterns.iter().any(|p| described(device, p)));
    Ok(picked.collect())
}

/// Verifies that the emulated device is usable, if it was requested with `always`.
///
/// # Errors
/// If it is not.
pub fn insist(emulate: Emulate, devices: &[Device]) -> Result<(), NoEmulation> {
    let mut missing = devices.iter().filter(|device| !device.usable);
    match missing.find(|device| emulate == Emulate::Always && device.is_emulated()) {
        Some(device) => Err(NoEmulation {
            backend: device.backend,
            reason: device.reason.clone(),
        }),
        None => Ok(()),
    }
}

/// An unusable emulated device.
#[derive(Debug)]
pub struct NoEmulation {
    backend: Backend,
    reason: String,
}

impl fmt::Display for NoEmulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoEmulation { backend, reason } = self;
        write!(
            f,
            "the emulated device cannot be used for {backend}: {reason}"
        )
    }
}

impl std::error::Error for NoEmulation {}

/// The columns of a run: all usable devices. For a requested backend without one, programs are
/// only compiled.
///
/// # Errors
/// If there are neither devices nor requested backends.
pub fn columns(devices: &[Device], asked: &[Backend]) -> Result<Vec<Device>, NothingUsable> {
    let mut columns: Vec<Device> = Vec::new();
    for device in devices {
        let backend = device.backend;
        let has_one = |devices: &[Device]| devices.iter().any(|other| other.backend == backend);
        let usable = devices.iter().any(|d| d.usable && d.backend == backend);
        if device.usable || asked.contains(&backend) && !usable && !has_one(&columns) {
            columns.push(device.clone());
        }
    }
    if columns.is_empty() {
        let reasons = devices.iter();
        let reasons = reasons.map(|device| format!("{}: {}", device.backend, device.reason));
        return Err(NothingUsable {
            reasons: reasons.collect(),
        });
    }
    Ok(columns)
}

/// No backend has a usable device.
#[derive(Debug)]
pub struct NothingUsable {
    reasons: Vec<String>,
}

impl fmt::Display for NothingUsable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = self.reasons.join("\n");
        write!(f, "no backend can be used on this machine:\n{reasons}")
    }
}

impl std::error::Error for NothingUsable {}

/// The backends that every process of a run can use, for checks that compare backends: the host
/// backends, requested or not, and the devices that need no further environment.
#[must_use]
pub fn at_hand(devices: &[Device]) -> Vec<Backend> {
    let mut backends = vec![Backend::C, Backend::Multicore];
    let found = devices.iter();
    let found = found.filter(|device| device.usable && device.environment.is_empty());
    backends.extend(found.map(|device| device.backend));
    backends.sort();
    backends.dedup();
    backends
}

#[cfg(test)]
mod tests {
    use super::*;
    use futhark_manifest::Backend;

    fn devices() -> Vec<Device> {
        let opencl = |name: &str| Device {
            name: name.to_owned(),
            ..Device::host(Backend::OpenCl)
        };
        vec![
            Device::host(Backend::C),
            opencl("A: first"),
            opencl("B: second"),
            Device::unknown(Backend::Cuda),
        ]
    }

    fn picked(patterns: &[&str]) -> Result<Vec<String>, String> {
        let patterns: Vec<Pattern> = patterns.iter().map(|p| Pattern::from(*p)).collect();
        let picked = pick(devices(), &patterns).map_err(|error| error.to_string())?;
        Ok(picked.into_iter().map(|device| device.name).collect())
    }

    #[test]
    fn devices_are_picked_by_name() {
        assert_eq!(picked(&[]).unwrap().len(), 4);
        assert_eq!(picked(&["B*"]).unwrap(), ["B: second"]);
        assert_eq!(picked(&["B*", "cpu"]).unwrap(), ["cpu", "B: second"]);
        // A missing device has no name, so no pattern can match it.
        assert_eq!(picked(&["*"]).unwrap().len(), 3);
    }

    #[test]
    fn a_pattern_without_a_match_is_an_error() {
        let error = picked(&["A*", "C*"]).unwrap_err();
        assert_eq!(
            error,
            "no device is called \"C*\"; there are:\n  cpu\n  A: first\n  B: second"
        );
    }

    #[test]
    fn only_requested_backends_get_a_column_without_a_device() {
        let names = |devices: &[Device], asked: &[Backend]| -> Vec<String> {
            let columns = columns(devices, asked).unwrap_or_default();
            columns.into_iter().map(|device| device.name).collect()
        };
        assert_eq!(names(&devices(), &[]), ["cpu", "A: first", "B: second"]);
        let asked = [Backend::OpenCl, Backend::Cuda];
        assert_eq!(
            names(&devices()[1..], &asked),
            ["A: first", "B: second", ""]
        );
        // A backend has its usable devices as columns, or one column without a device.
        let broken = Device::unknown(Backend::OpenCl);
        let mut with_broken = vec![broken.clone()];
        with_broken.extend(devices());
        assert_eq!(names(&with_broken, &[Backend::OpenCl]).len(), 3);
        assert_eq!(
            names(&[broken.clone(), broken.clone()], &[Backend::OpenCl]),
            [""]
        );
        assert!(columns(&[broken], &[]).is_err());
    }

    #[test]
    fn devices_with_an_environment_are_not_at_hand() {
        let mut devices = devices();
        let with_opencl = [Backend::C, Backend::Multicore, Backend::OpenCl];
        assert_eq!(at_hand(&devices).len(), with_opencl.len());
        for device in &mut devices {
            device.environment.push(("NAME".into(), "value".into()));
        }
        assert_eq!(at_hand(&devices).len(), 2);
    }
}
