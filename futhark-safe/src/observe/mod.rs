//! What a program can learn about its contexts.
//!
//! ```text
//! device.rs     devices
//! report.rs     profiling reports
//! log_lines.rs  the log as events of the crate tracing
//! ```

mod device;
#[cfg(feature = "tracing")]
mod log_lines;
#[cfg(feature = "report")]
mod report;

pub use device::Device;
#[cfg(feature = "report")]
pub use report::{Event, Report};

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
