//! The subcommand `devices`.

use super::setup::{find_compilers, probe, settings, warn};
use super::{Ended, Exit, usage};
use crate::cli::DevicesArgs;
use crate::devices::{self, Device, Kind};
use crate::report::shown;
use crate::say::outln;

/// Prints the compilers and devices of this machine.
pub fn run(args: &DevicesArgs) -> Result<Exit, Ended> {
    let mut settings = settings(&args.work)?;
    let compilers = find_compilers(&args.machine.futhark, &mut settings)?;
    for compiler in &compilers {
        let text = format!("{} ({})", compiler.label, compiler.path);
        outln!("compiler {}", shown(&text));
    }
    let devices = probe(&args.machine, &compilers, &settings);
    warn(&devices);
    let devices = devices::pick(devices, &args.machine.devices).map_err(usage)?;
    for device in &devices {
        outln!("{}", line(device));
    }
    Ok(exit(&devices))
}

/// The backend, the device, and whether it works.
pub fn line(device: &Device) -> String {
    let (backend, name, reason) = (device.backend.as_str(), &device.name, device.why());
    if !device.failure.is_empty() {
        return shown(&format!("{backend:10} fails: {name}")).into_owned();
    }
    let options = device.options.iter();
    let options: String = options.map(|option| format!(" with {option}")).collect();
    let text = match (device.usable, device.kind) {
        (true, Kind::Real) if device.known_bad => {
            format!("{backend:10} usable{options}, known to compute wrong results: {name}")
        }
        (true, Kind::Real) => format!("{backend:10} usable{options}: {name}"),
        (true, Kind::Simulated) => format!("{backend:10} usable, simulated: {name}"),
        (true, Kind::Emulated) => {
            format!("{backend:10} usable, emulated: {name} (no real one: {reason})")
        }
        (false, _) if device.is_unfit() => format!("{backend:10} not usable: {name}: {reason}"),
        (false, _) => format!("{backend:10} not usable: {reason}"),
    };
    shown(&text).into_owned()
}

/// Success if a device works.
pub fn exit(devices: &[Device]) -> Exit {
    let works = |device: &Device| device.usable && device.failure.is_empty();
    match devices.iter().any(works) {
        true => Exit::Held,
        false => Exit::CouldNotRun,
    }
}
