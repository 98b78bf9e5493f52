//! Limits and measures the memory of this process.

/// Limits the address space, so that a program that allocates too much only fails itself; 0 for no
/// limit.
pub fn limit_memory(mebibytes: u64) {
    #[cfg(target_os = "linux")]
    if mebibytes > 0 {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let bytes = mebibytes.saturating_mul(1024 * 1024);
        let maximum = getrlimit(Resource::As).maximum;
        let current = Some(maximum.map_or(bytes, |maximum| maximum.min(bytes)));
        // If this fails, the time limit still ends the process.
        let _ = setrlimit(Resource::As, Rlimit { current, maximum });
    }
    #[cfg(not(target_os = "linux"))]
    let _ = mebibytes;
}

/// A guard that restores the memory limit of the process when it is dropped.
#[derive(Debug)]
pub struct LimitedMemory {
    #[cfg(target_os = "linux")]
    before: rustix::process::Rlimit,
}

/// Sets the memory limit just above the current use, so that large allocations fail. `None` where
/// the system does not support it.
#[must_use]
pub fn limit_to_current() -> Option<LimitedMemory> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        /// Small allocations, such as the text of an error, must still succeed.
        const HEADROOM: u64 = 16 << 20;
        let before = getrlimit(Resource::As);
        let limit = Rlimit {
            current: Some(bytes_in("/proc/self/status", "VmSize:")? + HEADROOM),
            maximum: before.maximum,
        };
        setrlimit(Resource::As, limit).ok()?;
        Some(LimitedMemory { before })
    }
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(target_os = "linux")]
impl Drop for LimitedMemory {
    fn drop(&mut self) {
        // Lowering and restoring the soft limit is always permitted.
        let _ = rustix::process::setrlimit(rustix::process::Resource::As, self.before);
    }
}

/// The anonymous memory of this process in bytes; `None` where the system does not report it.
#[must_use]
pub fn resident() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        // The kernel counts this file page by page; `status` lags behind by a few dozen pages per
        // processor.
        bytes_in("/proc/self/smaps_rollup", "Anonymous:")
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Reads a number of bytes from a file in `/proc/self`.
#[cfg(target_os = "linux")]
fn bytes_in(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
