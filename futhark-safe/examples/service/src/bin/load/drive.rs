//! Sends the requests, and samples the server every second.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futhark_example_service::http::{Connection, Failure, Limits, Response};
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::jobs::{Jobs, Random};
use crate::options::Options;
use crate::tally::Tally;

/// A run.
pub struct Outcome {
    pub total: Tally,
    pub seconds: Vec<Second>,
    /// The metrics of the server before the first request.
    pub before: Value,
    /// After the last one.
    pub after: Value,
    pub elapsed: Duration,
}

/// The responses of about a second.
pub struct Second {
    /// The end, since the start of the run.
    pub at: Duration,
    /// Per second.
    pub rate: f64,
    pub refused: u64,
    pub wrong: u64,
    pub p50: Duration,
    pub p99: Duration,
    pub max: Duration,
    /// The server's resident memory in bytes, if it is known.
    pub resident: Option<u64>,
}

/// Sends requests until the time is over, or SIGINT or SIGTERM arrives.
///
/// # Errors
///
/// The server does not report its metrics.
pub fn run(address: SocketAddr, jobs: &Jobs, options: &Options) -> Result<Outcome, String> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| error.to_string())?;
    }
    let mut metrics = Client::new(address);
    let before = metrics.metrics()?;
    let tallies: Vec<Mutex<Tally>> = (0..options.threads).map(|_| Mutex::default()).collect();
    let start = Instant::now();
    let end = Duration::from_secs(options.seconds.into());
    let (mut total, mut seconds) = (Tally::default(), Vec::new());
    thread::scope(|scope| {
        for (i, tally) in tallies.iter().enumerate() {
            let (stop, seed) = (&stop, options.seed ^ ((i as u64 + 1) << 32));
            scope.spawn(move || {
                let mut random = Random::new(seed);
                let mut client = Client::new(address);
                while !stop.load(Ordering::Relaxed) {
                    client.work(jobs, options.failures, &mut random, tally);
                }
            });
        }
        let mut last = Duration::ZERO;
        while last < end && !stop.load(Ordering::Relaxed) {
            let next = start + (last + Duration::from_secs(1)).min(end);
            thread::sleep(next.saturating_duration_since(Instant::now()));
            let now = start.elapsed();
            let mut tally = Tally::default();
            for one in &tallies {
                tally.merge(std::mem::take(&mut lock(one)));
            }
            // The sample is missing if the server does not answer; its other responses count.
            let sample = metrics.metrics().unwrap_or_default();
            seconds.push(Second {
                at: now,
                rate: tally.responses() as f64 / (now - last).as_secs_f64(),
                refused: tally.sum(|counts| counts.refused),
                wrong: tally.sum(|counts| counts.wrong) + tally.broken,
                p50: tally.latency.quantile(0.5),
                p99: tally.latency.quantile(0.99),
                max: tally.latency.max(),
                resident: sample["resident_bytes"].as_u64(),
            });
            total.merge(tally);
            last = now;
        }
        stop.store(true, Ordering::Relaxed);
    });
    let elapsed = start.elapsed();
    for one in &tallies {
        total.merge(std::mem::take(&mut lock(one)));
    }
    Ok(Outcome {
        total,
        seconds,
        before,
        after: metrics.metrics()?,
        elapsed,
    })
}

fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection that is made again if it breaks.
struct Client {
    address: SocketAddr,
    connection: Option<Connection>,
}

impl Client {
    fn new(address: SocketAddr) -> Client {
        Client {
            address,
            connection: None,
        }
    }

    /// Sends a request, and counts the response.
    fn work(&mut self, jobs: &Jobs, failures: u32, random: &mut Random, tally: &Mutex<Tally>) {
        let job = jobs.pick(random, failures);
        let start = Instant::now();
        match self.send("POST", job.path, &job.body) {
            Ok(response) => {
                let latency = start.elapsed();
                let verdict = job.judge(&response);
                lock(tally).add(job.kind, response.status, latency, verdict);
            }
            Err(reason) => {
                lock(tally).add_broken(format!("{}: {reason}", job.path));
                // Do not fill the log if the server is gone.
                thread::sleep(Duration::from_millis(100));
            }
        }
    }

    fn metrics(&mut self) -> Result<Value, String> {
        let response = self.send("GET", "/metrics", b"")?;
        serde_json::from_slice(&response.body)
            .map_err(|error| format!("GET /metrics: {} and {error}", response.status))
    }

    fn send(&mut self, method: &str, path: &str, body: &[u8]) -> Result<Response, String> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.address, Limits::default())
                .map_err(|error| format!("cannot connect to {}: {error}", self.address))?,
        };
        connection
            .write_request(method, path, body)
            .map_err(|error| format!("sending failed: {error}"))?;
        let response = connection
            .read_response()
            .map_err(|failure| match failure {
                Failure::Refused(_, text) => format!("invalid response: {text}"),
                Failure::Io(error) => format!("no response: {error}"),
            })?;
        self.connection = response.keep_alive.then_some(connection);
        Ok(response)
    }
}
