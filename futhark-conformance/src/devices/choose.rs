//! Choosing the devices of a run, and its columns in reports.

use super::{Device, Emulate};
use crate::pattern::Pattern;
use anyhow::bail;
use futhark_manifest::Backend;

/// The devices that match a pattern; all, if there is no pattern.
///
/// # Errors
/// If a pattern matches no device.
pub fn pick(mut devices: Vec<Device>, patterns: &[Pattern]) -> anyhow::Result<Vec<Device>> {
    if patterns.is_empty() {
        return Ok(devices);
    }
    let matches = |device: &Device, pattern: &Pattern| {
        !device.name.is_empty() && pattern.matches(&device.name)
    };
    for pattern in patterns {
        if !devices.iter().any(|device| matches(device, pattern)) {
            let mut names: Vec<&str> = devices.iter().map(|device| &*device.name).collect();
            names.retain(|name| !name.is_empty());
            names.dedup();
            let names = names.join("\n  ");
            bail!("no device is called \"{pattern}\"; there are:\n  {names}");
        }
    }
    devices.retain(|device| patterns.iter().any(|pattern| matches(device, pattern)));
    Ok(devices)
}

/// Verifies that the emulated device is usable, if it was requested with `always`.
///
/// # Errors
/// If it is not.
pub fn insist(emulate: Emulate, devices: &[Device]) -> anyhow::Result<()> {
    let mut missing = devices.iter().filter(|device| !device.usable);
    if let Some(device) = missing.find(|one| emulate == Emulate::Always && one.is_emulated()) {
        let Device {
            backend, reason, ..
        } = device;
        bail!("the emulated device cannot be used for {backend}: {reason}");
    }
    Ok(())
}

/// The columns of a run: all usable devices. For a requested backend without one, programs are
/// only compiled.
///
/// # Errors
/// If there are neither devices nor requested backends.
pub fn columns(devices: &[Device], asked: &[Backend]) -> anyhow::Result<Vec<Device>> {
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
        let reasons = reasons.map(|device| format!("\n{}: {}", device.backend, device.reason));
        let reasons: String = reasons.collect();
        bail!("no backend can be used on this machine:{reasons}");
    }
    Ok(columns)
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
}
