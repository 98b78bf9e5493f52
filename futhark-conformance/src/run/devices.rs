//! The subcommand `devices`.

use super::setup::{find_compilers, probe, settings};
use super::{Ended, Exit, usage};
use crate::cli::DevicesArgs;
use crate::devices::{self, Device, Kind};

/// Prints the compilers and devices of this machine.
pub fn run(args: &DevicesArgs) -> Result<Exit, Ended> {
    let compilers = find_compilers(&args.machine.futhark)?;
    let settings = settings(&args.work)?;
    for compiler in &compilers {
        println!("compiler {} ({})", compiler.version, compiler.path);
    }
    let devices = probe(&args.machine, &compilers, &settings);
    let devices = devices::pick(devices, &args.machine.devices).map_err(usage)?;
    for device in &devices {
        let backend = device.backend.as_str();
        let reason = device.why();
        if !device.failure.is_empty() {
            println!("{backend:10} fails: {}", device.name);
            continue;
        }
        match (device.usable, device.kind) {
            (true, Kind::Real) => println!("{backend:10} usable: {}", device.name),
            (true, Kind::Simulated) => println!("{backend:10} usable, simulated: {}", device.name),
            (true, Kind::Emulated) => println!(
                "{backend:10} usable, emulated: {} (no real one: {reason})",
                device.name
            ),
            (false, _) => println!("{backend:10} not usable: {reason}"),
        }
    }
    let works = |device: &Device| device.usable && device.failure.is_empty();
    if devices.iter().any(works) {
        Ok(Exit::Held)
    } else {
        Ok(Exit::CouldNotRun)
    }
}
