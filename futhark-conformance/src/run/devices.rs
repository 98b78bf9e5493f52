//! The subcommand `devices`.

use super::setup::{find_compilers, probe, settings, warn};
use super::{Ended, Exit, usage};
use crate::cli::DevicesArgs;
use crate::devices::{self, Device, Kind};
use crate::report::shown;
use crate::say::outln;
use futhark_manifest::Backend;
use futhark_safe::compile::Toolchain;

/// Prints what this machine can build and run, and what is missing.
pub fn run(args: &DevicesArgs) -> Result<Exit, Ended> {
    for name in Toolchain::VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            outln!("{name}={}", shown(&value.to_string_lossy()));
        }
    }
    let mut settings = settings(&args.work)?;
    let compilers = find_compilers(&args.machine.futhark, &mut settings).inspect_err(|_| {
        outln!("The backends are tried with a Futhark program, so install a compiler first.");
    })?;
    for compiler in &compilers {
        let text = format!("Futhark {} ({})", compiler.version, compiler.path);
        outln!("{}", shown(&text));
    }
    let devices = probe(&args.machine, &compilers, &settings);
    warn(&devices);
    let devices = devices::pick(devices, &args.machine.devices).map_err(usage)?;
    for device in &devices {
        outln!("{}", line(device));
        if let Some(advice) = advice(device) {
            outln!("{:10} {advice}", "");
        }
    }
    let works = |device: &Device| device.usable && device.failure.is_empty();
    match devices.iter().any(works) {
        true => Ok(Exit::Held),
        false => Ok(Exit::CouldNotRun),
    }
}

/// The backend, the device, and whether it works.
fn line(device: &Device) -> String {
    let (name, reason) = (&device.name, device.why());
    let options = device.options.iter();
    let options: String = options.map(|option| format!(" with {option}")).collect();
    let kind = match device.kind {
        Kind::Real if device.known_bad => ", known to compute wrong results",
        Kind::Real => "",
        Kind::Simulated => ", simulated",
        Kind::Emulated => ", emulated",
    };
    let text = match (device.usable, device.kind) {
        _ if !device.failure.is_empty() => format!("fails: {name}"),
        (true, Kind::Emulated) => format!("usable{kind}: {name} (no real one: {reason})"),
        (true, _) => format!("usable{options}{kind}: {name}"),
        (false, _) if device.is_unfit() => format!("not usable: {name}: {reason}"),
        (false, _) => format!("not usable: {reason}"),
    };
    shown(&format!("{:10} {text}", device.backend.as_str())).into_owned()
}

/// What to install, if a real GPU is missing.
fn advice(device: &Device) -> Option<&'static str> {
    if device.kind != Kind::Emulated && device.usable {
        return None;
    }
    match device.backend {
        // Its driver is installed.
        Backend::OpenCl if device.is_unfit() => None,
        Backend::OpenCl => Some(
            "to use it: the OpenCL driver of your card, or PoCL for the processor (Debian: apt-get install \
             opencl-headers pocl-opencl-icd)",
        ),
        Backend::Cuda => Some(
            "to use it: the driver of an NVIDIA card, and CUDA 12 or 13 with NVRTC (Debian 13: apt-get install \
             nvidia-driver nvidia-cuda-toolkit, from non-free; Debian 12: `ci/setup` installs CUDA 12; otherwise set \
             CUDA_HOME)",
        ),
        Backend::Hip => Some(
            "to use it: the driver of an AMD card, and ROCm with hiprtc (Debian: apt-get install libamdhip64-dev; \
             otherwise set ROCM_PATH)",
        ),
        // The reason says what to install.
        _ => None,
    }
}
