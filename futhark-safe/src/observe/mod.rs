//! What a program can learn about its contexts.
//!
//! ```text
//! device.rs     devices
//! usage.rs      memory in use, and copies before values were overwritten
//! report.rs     profiling reports
//! log_lines.rs  the log as events of the crate tracing
//! ```

mod device;
#[cfg(feature = "tracing")]
mod log_lines;
#[cfg(feature = "report")]
mod report;
mod usage;

pub use device::Device;
#[cfg(feature = "report")]
pub use report::{Event, Report};
pub use usage::{Copies, MemoryUse};
