//! What `GET /metrics` reports.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futhark_example_service::latency::Latency;
use serde_json::{Value, json};

use crate::shared::Shared;

/// Counters of this process.
pub struct Metrics {
    started: Instant,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    by_status: BTreeMap<u16, u64>,
    latency: Latency,
}

impl Metrics {
    pub fn new() -> Metrics {
        Metrics {
            started: Instant::now(),
            counts: Mutex::default(),
        }
    }

    /// Counts a request. `latency` is the time from its last byte to the response.
    pub fn add(&self, status: u16, latency: Duration) {
        let mut counts = self.counts();
        *counts.by_status.entry(status).or_default() += 1;
        counts.latency.add(latency);
    }

    /// The number of requests so far.
    pub fn requests(&self) -> u64 {
        self.counts().by_status.values().sum()
    }

    /// The report, in bytes, milliseconds and seconds.
    pub fn report(&self, shared: &Shared) -> Value {
        let memory = shared.memory();
        let counts = self.counts();
        let at = |fraction| counts.latency.quantile(fraction).as_secs_f64() * 1e3;
        json!({
            "backend": shared.backend().as_str(),
            "uptime_s": self.started.elapsed().as_secs_f64(),
            "requests": counts.by_status.values().sum::<u64>(),
            "by_status": counts.by_status,
            "latency_ms": {
                "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p99.9": at(0.999),
                "max": counts.latency.max().as_secs_f64() * 1e3,
            },
            "contexts_made": shared.made(),
            "context_host_bytes": memory.map(|(host, _)| host),
            "context_device_bytes": memory.map(|(_, device)| device),
            "resident_bytes": resident(),
        })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The resident memory of this process in bytes. `None` on systems without `/proc`.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
