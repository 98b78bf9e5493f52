//! What a program can learn about its contexts.
//!
//! ```text
//! device.rs  devices, their memory in use, and copies of values
//! report.rs  profiling reports
//! ```

mod device;
#[cfg(feature = "report")]
mod report;

pub use device::{Copies, Device, MemoryUse};
#[cfg(feature = "report")]
pub use report::{Event, Report};
