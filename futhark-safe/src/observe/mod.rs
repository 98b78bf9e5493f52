//! What a program can learn about its contexts.

mod device;
#[cfg(feature = "report")]
mod report;

pub use device::{Copies, Device, MemoryUse};
#[cfg(feature = "report")]
pub use report::{Event, Report};
