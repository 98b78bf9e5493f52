//! Limits and measures the memory of this process and those that it starts.

use futhark_safe::compile::process;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The least limit of the runner in MiB, which has to write reports.
const RUNNER: u64 = 1024;

/// Limits the memory of the runner and of the processes that it starts, compilers included; 0 for no
/// limit. Crashed processes leave no core files.
///
/// Only written memory counts: the Futhark compiler reserves a terabyte of addresses.
pub fn limit_runner(mebibytes: u64) {
    lower(Resource::Core, 0);
    if mebibytes > 0 {
        lower(Resource::Data, mebibytes.max(RUNNER));
    }
}

/// Limits the memory of the process of a job and of those that it starts, and the size of each file
/// that they write, which includes what a compiler prints; 0 for no limit. A signal ends a process that writes more.
pub fn limit_job(mebibytes: u64) {
    process::limit_output(match mebibytes {
        0 => u64::MAX,
        _ => mebibytes.saturating_mul(1 << 20),
    });
    if mebibytes > 0 {
        lower(Resource::Data, mebibytes);
        lower(Resource::Fsize, mebibytes);
    }
}

/// Lowers a limit to this number of MiB.
fn lower(resource: Resource, mebibytes: u64) {
    let limit = mebibytes.saturating_mul(1024 * 1024);
    let maximum = getrlimit(resource).maximum;
    let current = Some(maximum.map_or(limit, |maximum| maximum.min(limit)));
    // If this fails, the time limit still ends the processes.
    let _ = setrlimit(resource, Rlimit { current, maximum });
}

/// Removes the memory limit of [`limit_job`] from this process, because drivers of real devices can
/// exceed it.
pub fn lift() {
    let maximum = getrlimit(Resource::Data).maximum;
    let current = maximum;
    // Raising a limit to its maximum is always permitted.
    let _ = setrlimit(Resource::Data, Rlimit { current, maximum });
}

/// Limits the address space, so that a program that allocates too much only fails itself; 0 for no
/// limit.
pub fn limit_memory(mebibytes: u64) {
    if cfg!(target_os = "linux") && mebibytes > 0 {
        lower(Resource::As, mebibytes);
    }
}

/// A guard that restores the memory limit of the process when it is dropped.
#[derive(Debug)]
pub struct LimitedMemory {
    before: Rlimit,
}

/// Sets the memory limit just above the current use, so that large allocations fail. `None` where
/// the system does not support it.
#[must_use]
pub fn limit_to_current() -> Option<LimitedMemory> {
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

impl Drop for LimitedMemory {
    fn drop(&mut self) {
        // Lowering and restoring the soft limit is always permitted.
        let _ = setrlimit(Resource::As, self.before);
    }
}

/// The anonymous memory of this process in bytes; `None` where the system does not report it.
#[must_use]
pub fn resident() -> Option<u64> {
    // The kernel counts this file page by page; `status` lags behind by a few dozen pages per
    // processor.
    bytes_in("/proc/self/smaps_rollup", "Anonymous:")
}

/// Reads a number of bytes from a file that only Linux has.
fn bytes_in(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
