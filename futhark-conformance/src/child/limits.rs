//! What a child process may use, and for how long it may live.

use futhark_manifest::Backend;

/// Makes this process die with its parent: a run that is interrupted leaves
/// nothing behind.
pub fn die_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        // Without it the process ends a little later, at its next report.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
    }
}

/// Limits the address space, so that a program that asks for everything fails
/// alone. Drivers of devices reserve more than they use, so on such backends
/// there is no limit.
pub fn limit_memory(mebibytes: u64, backend: Backend) {
    #[cfg(target_os = "linux")]
    if mebibytes > 0 && !backend.is_gpu() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let bytes = mebibytes.saturating_mul(1024 * 1024);
        let maximum = getrlimit(Resource::As).maximum;
        let current = Some(maximum.map_or(bytes, |maximum| maximum.min(bytes)));
        // Where the system refuses, the limit on time remains.
        let _ = setrlimit(Resource::As, Rlimit { current, maximum });
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (mebibytes, backend);
}
