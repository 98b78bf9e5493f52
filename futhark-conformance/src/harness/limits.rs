//! Limits and measures the memory of this process.

/// Limits the address space, so that a program that asks for everything fails
/// alone; 0 for no limit.
pub fn limit_memory(mebibytes: u64) {
    #[cfg(target_os = "linux")]
    if mebibytes > 0 {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let bytes = mebibytes.saturating_mul(1024 * 1024);
        let maximum = getrlimit(Resource::As).maximum;
        let current = Some(maximum.map_or(bytes, |maximum| maximum.min(bytes)));
        // Where the system refuses, the limit on time remains.
        let _ = setrlimit(Resource::As, Rlimit { current, maximum });
    }
    #[cfg(not(target_os = "linux"))]
    let _ = mebibytes;
}

/// A process with hardly any memory beyond what it uses, until this is dropped.
#[derive(Debug)]
pub struct Squeezed {
    #[cfg(target_os = "linux")]
    before: rustix::process::Rlimit,
}

/// Takes the process's room to grow; `None` where the system does not do so.
#[must_use]
pub fn squeeze() -> Option<Squeezed> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        /// For what is allocated in passing, an error's text above all.
        const ROOM: u64 = 16 << 20;
        let before = getrlimit(Resource::As);
        let limit = Rlimit {
            current: Some(bytes_in("/proc/self/status", "VmSize:")? + ROOM),
            maximum: before.maximum,
        };
        setrlimit(Resource::As, limit).ok()?;
        Some(Squeezed { before })
    }
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(target_os = "linux")]
impl Drop for Squeezed {
    fn drop(&mut self) {
        // What was allowed before is allowed again.
        let _ = rustix::process::setrlimit(rustix::process::Resource::As, self.before);
    }
}

/// The memory of this process that is no file's, in bytes; `None` where the
/// system does not tell.
#[must_use]
pub fn resident() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        // Counted page by page; the numbers in `status` lag behind by a few
        // dozen pages for each processor.
        bytes_in("/proc/self/smaps_rollup", "Anonymous:")
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// A number of bytes in the system's words about this process.
#[cfg(target_os = "linux")]
fn bytes_in(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
