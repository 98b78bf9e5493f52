//! Finding devices: those of this machine, PoCL of the toolchain, and the emulated device for cuda
//! and hip, if no GPU can be used or with `--emulate always`.

use super::{Device, Environment, Kind, emulated_name};
use crate::emulated::{Emulated, SETTINGS};
use crate::parallel::{self, panic_text};
use clap::ValueEnum;
use futhark_manifest::Backend;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// When to run cuda and hip on the emulated device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emulate {
    /// Only if no GPU can be used
    Auto,
    /// Even if a GPU can be used
    Always,
    /// Never: without a GPU, programs are only compiled
    Never,
}

/// Which devices to search for, and how to try one.
pub struct Search<'a> {
    pub backends: &'a [Backend],
    pub emulate: Emulate,
    pub build_dir: &'a Path,
    /// The memory limit of a process in MiB; 0 for no limit.
    pub memory: u64,
    /// Runs a small program on a candidate, and returns it as usable, or with the reason or the failure.
    pub probe: &'a (dyn Fn(&Device) -> Device + Sync),
}

impl Search<'_> {
    /// Probes a candidate. A panic is a bug of futhark-conformance, and says nothing about
    /// other devices.
    fn probe_device(&self, candidate: &Device) -> Device {
        let probe = AssertUnwindSafe(|| (self.probe)(candidate));
        catch_unwind(probe).unwrap_or_else(|panic| Device {
            failure: format!("the probe itself panicked: {}", panic_text(&*panic)),
            ..candidate.clone()
        })
    }
}

/// The largest number of devices of a backend.
const MOST: usize = 16;

/// Messages of the generated code for a device number that does not exist.
const NO_MORE: [&str; 2] = ["Could not find acceptable", "No suitable"];

/// Finds the devices of each backend by running a small program.
///
/// The result has the devices of each backend up to the first that fails, at most `MOST`. Devices with equal names
/// count once.
/// Every backend is in the result: without a usable device, with the reason.
#[must_use]
pub fn find(search: &Search<'_>) -> Vec<Device> {
    let (backends, emulate) = (search.backends, search.emulate);
    let real = backends
        .iter()
        .filter(|&&backend| emulate != Emulate::Always || !can_be_emulated(backend));
    let mut candidates: Vec<Device> = real.map(|&backend| Device::unknown(backend)).collect();
    if backends.contains(&Backend::OpenCl) {
        candidates.extend(pocl(search));
    }
    let lists = parallel::map(&candidates, candidates.len(), |first| {
        probe_all(first, search)
    });
    let mut devices: Vec<Device> = Vec::new();
    for device in lists.into_iter().flatten() {
        // Reports could not distinguish devices with one name.
        let key = |one: &Device| (one.backend, one.name.clone(), one.fails());
        let is_same = |other: &Device| key(other) == key(&device);
        if !(device.usable || device.fails()) || !devices.iter().any(is_same) {
            devices.push(device);
        }
    }

    let missing: Vec<Backend> = backends
        .iter()
        .copied()
        .filter(|&backend| can_be_emulated(backend) && emulate != Emulate::Never)
        .filter(|&backend| !devices.iter().any(|d| d.usable && d.backend == backend))
        .collect();
    if !missing.is_empty() {
        for mut device in emulated(&missing, search) {
            // The emulated device replaces the real one, and says why the real one is not used, unless only the real
            // one fails. There is only one, since `probe_all` ends after the first device that fails.
            let (backend, fails) = (device.backend, device.fails());
            let is_replaced =
                |other: &mut Device| other.backend == backend && (fails || !other.fails());
            if let Some(real) = devices.extract_if(.., is_replaced).next() {
                device.reason = match device.usable {
                    true => real.reason,
                    false => format!("{}; {}", real.reason, device.reason),
                };
            }
            devices.push(device);
        }
    }
    devices.sort_by_key(|device| backends.iter().position(|&b| b == device.backend));
    devices
}

fn can_be_emulated(backend: Backend) -> bool {
    matches!(backend, Backend::Cuda | Backend::Hip)
}

/// Probes device 0, 1, … of a backend, or of the platform that the environment of `first` selects; `first` is device 0.
/// Ends after the last device, or after the first one that fails, because the following devices may fail with the same
/// error.
fn probe_all(first: &Device, search: &Search<'_>) -> Vec<Device> {
    let mut devices = vec![probe_candidate(first, search)];
    for number in 1..MOST {
        if !devices
            .last()
            .is_some_and(|one| one.usable && one.backend.is_gpu())
        {
            break;
        }
        let candidate = Device {
            choice: Some(format!("#{number}")),
            environment: first.environment.clone(),
            ..Device::unknown(first.backend)
        };
        let device = probe_candidate(&candidate, search);
        if NO_MORE.iter().any(|words| device.reason.contains(words)) {
            break;
        }
        devices.push(device);
    }
    devices
}

/// The emulated device for each of the backends, or the reason why it is not usable.
fn emulated(backends: &[Backend], search: &Search<'_>) -> Vec<Device> {
    let settings = std::env::var(SETTINGS).unwrap_or_default();
    let built = Emulated::build(search.build_dir);
    parallel::map(backends, backends.len(), |&backend| {
        let mut unknown = Device {
            kind: Kind::Emulated,
            ..Device::unknown(backend)
        };
        match &built {
            Ok(emulated) => {
                unknown.environment = emulated.environment(&settings);
                let probed = search.probe_device(&unknown);
                Device {
                    // It needs no hardware. If it does not work, its jobs must fail.
                    usable: true,
                    // At most one of them is not empty: see `probe_device`.
                    failure: probed.failure + &probed.reason,
                    reason: String::new(),
                    // Reports use this name instead of the one that the driver returns.
                    name: emulated_name(&settings),
                    ..probed
                }
            }
            Err(error) => Device {
                reason: format!("{error:#}"),
                ..unknown
            },
        }
    })
}

/// Probes a candidate, and finds the kind of the device.
fn probe_candidate(candidate: &Device, search: &Search<'_>) -> Device {
    let mut device = search.probe_device(candidate);
    let is_host = matches!(device.backend, Backend::C | Backend::Multicore);
    if !device.usable && is_host {
        // The processor is always there. If the program does not work on it, its jobs must fail.
        return Device {
            failure: device.problem().to_owned(),
            ..Device::host(device.backend)
        };
    }
    if device.usable && device.backend.is_gpu() {
        device.kind = Kind::from_name(&device.name);
    }
    device
}

/// The PoCL that `ci/setup` installed; `None` if it is not installed. PoCL is an OpenCL platform, tested beside
/// Oclgrind, that compiles kernels for the host CPU and runs them asynchronously. The caller must probe it.
fn pocl(search: &Search<'_>) -> Option<Device> {
    let root = PathBuf::from(std::env::var_os("FUTHARK_TOOLCHAIN")?);
    let library = root.join("pocl/lib/host/libpocl.so");
    if !library.is_file() {
        return None;
    }
    let mut environment: Environment = vec![("OCL_ICD_VENDORS".into(), library.into())];
    // Use the toolchain's loader: others may accept only a folder of .icd files in OCL_ICD_VENDORS.
    let loader = root.join("opencl/lib/libOpenCL.so.1");
    if loader.is_file() {
        environment.push(("FUTHARK_LIBOPENCL".into(), loader.into()));
    }
    let unset = |name: &str| std::env::var_os(name).is_none();
    // By default PoCL caches kernels in the user's home folder.
    if unset("POCL_CACHE_DIR") {
        let kernels = search.build_dir.join("pocl-kernels");
        let kernels = std::path::absolute(&kernels).unwrap_or(kernels);
        environment.push(("POCL_CACHE_DIR".into(), kernels.into()));
    }
    // Limit PoCL's memory, which is host memory; GiB, rounded up from MiB.
    if search.memory > 0 && unset("POCL_MEMORY_LIMIT") {
        let gibibytes = search.memory.div_ceil(1024).to_string();
        environment.push(("POCL_MEMORY_LIMIT".into(), gibibytes.into()));
    }
    Some(Device {
        environment,
        ..Device::unknown(Backend::OpenCl)
    })
}

/// Whether the platform in a device's name is PoCL's, installed by `ci/setup` or not.
pub(super) fn is_pocl(name: &str) -> bool {
    name.starts_with("Portable Computing Language")
}

/// For PoCL, which `name` tells: the device with options for programs that PoCL 3.1 refuses as OpenCL C 3.0, as those
/// of Futhark 0.27.1. `None` for another device. `device` has no name before it was probed.
pub(crate) fn for_newer_compilers(device: &Device, name: &str) -> Option<Device> {
    is_pocl(name).then(|| Device {
        options: vec!["-cl-std=CL1.2".to_owned()],
        ..device.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_probe_is_a_failure_of_its_device() {
        let search = Search {
            backends: &[Backend::C, Backend::Multicore, Backend::OpenCl],
            emulate: Emulate::Never,
            build_dir: Path::new("."),
            memory: 0,
            probe: &|candidate| match candidate.backend {
                Backend::C => Device::host(Backend::C),
                backend => panic!("no {backend}"),
            },
        };
        let devices = find(&search);
        assert!(devices[0].usable && devices[0].failure.is_empty());
        assert!(devices[1].usable);
        assert_eq!(
            devices[1].failure,
            "the probe itself panicked: no multicore"
        );
        assert!(!devices[2].usable);
        assert_eq!(devices[2].failure, "the probe itself panicked: no opencl");
    }
}
