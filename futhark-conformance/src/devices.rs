//! Which devices the backends of a run use: what this machine has, and the emulated one
//! for cuda and hip where it has none.

use crate::emulated::Emulated;
use crate::jobs::{self, Settings};
use crate::record::{CompilerInfo, DeviceInfo};
use clap::ValueEnum;
use futhark_manifest::Backend;
use std::ffi::OsString;

/// Variables that a child process gets beside those of this one.
pub type Environment = Vec<(OsString, OsString)>;

/// When cuda and hip run on the emulated device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emulate {
    /// Where no card can be used
    Auto,
    /// Also where there is one
    Always,
    /// Never: without a card, programs are only compiled
    Never,
}

/// A device, and how a child process finds it.
#[derive(Clone, Debug)]
pub struct Device {
    /// What the reports say.
    pub info: DeviceInfo,
    /// What its processes need to know.
    pub environment: Environment,
}

/// Finds out, with a small program for each, on which devices the backends run here.
#[must_use]
pub fn find(
    backends: &[Backend],
    compiler: &CompilerInfo,
    settings: &Settings,
    emulate: Emulate,
    emulated_settings: &str,
) -> Vec<Device> {
    let real = backends
        .iter()
        .map(|&backend| (backend, Environment::new()))
        .filter(|(backend, _)| emulate != Emulate::Always || !can_be_emulated(*backend));
    let mut devices = try_all(real.collect(), compiler, settings, None);

    let missing: Vec<Backend> = backends
        .iter()
        .copied()
        .filter(|&backend| can_be_emulated(backend) && emulate != Emulate::Never)
        .filter(|backend| !devices.iter().any(|d| d.info.usable && d.is_for(*backend)))
        .collect();
    if !missing.is_empty() {
        for device in emulated(&missing, compiler, settings, emulated_settings) {
            take_the_place(&mut devices, device);
        }
    }
    devices.sort_by_key(|device| backends.iter().position(|&backend| device.is_for(backend)));
    devices
}

impl Device {
    fn is_for(&self, backend: Backend) -> bool {
        self.info.backend == backend.as_str()
    }
}

fn can_be_emulated(backend: Backend) -> bool {
    matches!(backend, Backend::Cuda | Backend::Hip)
}

/// The emulated device for each of the backends, or why there is none.
fn emulated(
    backends: &[Backend],
    compiler: &CompilerInfo,
    settings: &Settings,
    emulated_settings: &str,
) -> Vec<Device> {
    match Emulated::build(&settings.build_dir) {
        Ok(emulated) => {
            let environment = emulated.environment(emulated_settings);
            let candidates = backends.iter().map(|&b| (b, environment.clone()));
            try_all(
                candidates.collect(),
                compiler,
                settings,
                Some(&emulated_name(emulated_settings)),
            )
        }
        Err(error) => backends
            .iter()
            .map(|backend| Device {
                info: DeviceInfo {
                    backend: backend.to_string(),
                    device: String::new(),
                    usable: false,
                    emulated: true,
                    reason: format!("{error:#}"),
                },
                environment: Environment::new(),
            })
            .collect(),
    }
}

/// What was said of the real device stays the reason.
fn take_the_place(devices: &mut Vec<Device>, mut device: Device) {
    let Some(real) = devices
        .iter_mut()
        .find(|other| other.info.backend == device.info.backend)
    else {
        devices.push(device);
        return;
    };
    device.info.reason = match device.info.usable {
        true => real.info.reason.clone(),
        false => format!("{}; {}", real.info.reason, device.info.reason),
    };
    *real = device;
}

/// What reports call the device: never anything but emulated.
fn emulated_name(settings: &str) -> String {
    match settings {
        "" => "emulated".to_owned(),
        _ => format!("emulated: {settings}"),
    }
}

/// `emulated`: the name of an emulated device, which goes by no other.
fn try_all(
    candidates: Vec<(Backend, Environment)>,
    compiler: &CompilerInfo,
    settings: &Settings,
    emulated: Option<&str>,
) -> Vec<Device> {
    let answers = jobs::probe(&candidates, compiler, settings);
    candidates
        .into_iter()
        .zip(answers)
        .map(|((backend, environment), answer)| {
            let (device, usable, reason) = match answer {
                Ok(device) => (emulated.map_or(device, str::to_owned), true, String::new()),
                Err(reason) => (String::new(), false, reason),
            };
            let info = DeviceInfo {
                backend: backend.to_string(),
                device,
                usable,
                emulated: emulated.is_some(),
                reason,
            };
            Device { info, environment }
        })
        .collect()
}
