//! Devices of a backend, and what a context uses of its device.

use std::fmt;

use crate::error::counted;

/// A device of a backend, as its driver describes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Device {
    /// The name of the platform: that of the OpenCL driver, `CUDA`, `HIP` or `host`.
    pub platform: String,
    /// The version of the platform.
    pub platform_version: String,
    /// The name of the device. On host backends the architecture and the number of processors, which `c` does
    /// not use.
    pub name: String,
    /// The version of the driver.
    pub driver_version: String,
    /// The size of its memory in bytes. `None` on host backends.
    pub memory: Option<u64>,
}

impl Device {
    /// The processor, for host backends.
    pub(crate) fn host() -> Device {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let architecture = std::env::consts::ARCH;
        Device {
            platform: "host".to_owned(),
            platform_version: std::env::consts::OS.to_owned(),
            name: format!("{architecture}, {}", counted(threads, "processor")),
            driver_version: String::new(),
            memory: None,
        }
    }

    /// The device of a context, from its description; a host backend has none.
    pub(crate) fn of_context(text: Option<String>) -> Device {
        let device = text.and_then(|text| Device::parse(&text).pop());
        device.unwrap_or_else(Device::host)
    }

    /// The devices of a backend, from their descriptions; a host backend has none.
    pub(crate) fn of_backend(text: Option<String>) -> Vec<Device> {
        text.map_or_else(|| vec![Device::host()], |text| Device::parse(&text))
    }

    /// Parses descriptions of five lines each; `futhark_table.h` documents them.
    pub(crate) fn parse(text: &str) -> Vec<Device> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        lines
            .chunks_exact(5)
            .map(|lines| Device {
                platform: lines[0].to_owned(),
                platform_version: lines[1].to_owned(),
                name: lines[2].to_owned(),
                driver_version: lines[3].to_owned(),
                memory: lines[4].parse().ok(),
            })
            .collect()
    }
}

/// `NVIDIA H200 (CUDA 12.4, driver 12.4, 139 GiB)`.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, platform) = (&self.name, &self.platform);
        write!(f, "{name} ({platform} {}", self.platform_version)?;
        if !self.driver_version.is_empty() {
            write!(f, ", driver {}", self.driver_version)?;
        }
        if let Some(memory) = self.memory {
            write!(f, ", {:.1} GiB", memory as f64 / f64::from(1 << 30))?;
        }
        f.write_str(")")
    }
}

/// The memory that a context uses for values and scratch memory, in bytes.
///
/// Blocks that the runtime keeps for later calls are not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// On the host.
    pub host: u64,
    /// The maximum on the host since the context was created or its caches were cleared.
    pub host_peak: u64,
    /// On the device; 0 on host backends.
    pub device: u64,
    /// The maximum on the device since the context was created or its caches were cleared.
    pub device_peak: u64,
}

impl MemoryUse {
    pub(crate) fn of(bytes: [i64; 4]) -> MemoryUse {
        let [host, host_peak, device, device_peak] =
            bytes.map(|bytes| u64::try_from(bytes).unwrap_or(0));
        MemoryUse {
            host,
            // The runtime resets the maximum to 0, also if memory is in use.
            host_peak: host_peak.max(host),
            device,
            device_peak: device_peak.max(device),
        }
    }
}

/// How often a value was copied before it was overwritten, because another value shared its memory: an
/// argument that a call consumes, or an array whose elements are written in place
/// ([`HostArray::to_mut`](crate::HostArray::to_mut)).
///
/// A copy costs as much as a transfer of the value. To avoid it, drop the other owner before the
/// call: an earlier result that is the same array, the record that a field was read from, …
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copies {
    /// The operation: `entry point step`, `set` for elements that were set, `write elements` for
    /// elements that were written in place.
    pub operation: String,
    /// The parameter's name in the program, or its number, counted from 0. For `set` and
    /// `write elements`, the name of the array's type.
    pub argument: String,
    /// The number of copies.
    pub count: u64,
}
