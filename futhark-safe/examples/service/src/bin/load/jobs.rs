//! Requests, and whether a response is right.

use std::sync::OnceLock;

use futhark_example_service::http::Response;
use serde_json::{Value, json};

use crate::expected;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A result.
    Good,
    /// An index out of bounds.
    OutOfBounds,
    /// An array larger than any memory.
    OutOfMemory,
    /// An overflow that loses the context.
    LostContext,
}

impl Kind {
    /// In the order of the variants.
    pub const ALL: [Kind; 4] = [
        Kind::Good,
        Kind::OutOfBounds,
        Kind::OutOfMemory,
        Kind::LostContext,
    ];

    /// For reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Good => "good",
            Kind::OutOfBounds => "out_of_bounds",
            Kind::OutOfMemory => "out_of_memory",
            Kind::LostContext => "lost_context",
        }
    }
}

/// A call that succeeds.
pub struct Good {
    pub xs: Vec<f64>,
    pub call: Call,
}

/// An entry point and its other arguments.
#[derive(Clone, Copy)]
pub enum Call {
    Summary,
    Histogram { bins: i64, low: f64, high: f64 },
    Smooth { radius: i64 },
    At { index: i64 },
}

/// A request with its right response.
pub struct Job {
    pub kind: Kind,
    pub path: &'static str,
    pub body: Vec<u8>,
    right: Right,
    /// The body of a right response. The same bytes are right again, and need not be parsed: the load
    /// and the server compete for the processor.
    seen: OnceLock<(u16, Vec<u8>)>,
}

enum Right {
    Result(Value),
    /// A status, and the kind of error.
    Error(u16, &'static str),
}

/// The judgement of a response.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    Right,
    /// 503, because other requests lost the context too often. The client may try again.
    Refused,
    Wrong(String),
}

/// All requests.
pub struct Jobs {
    good: Vec<Good>,
    good_jobs: Vec<Job>,
    failing: [Job; 3],
}

/// Different arrays of numbers.
const INPUTS: usize = 8;

impl Jobs {
    /// Makes requests with arrays of `numbers` numbers.
    pub fn new(seed: u64, numbers: usize) -> Jobs {
        let mut random = Random::new(seed);
        let mut good = Vec::new();
        let mut xs = Vec::new();
        for _ in 0..INPUTS {
            // Whole numbers, whose sums are exact in any order.
            let number = |random: &mut Random| random.below(2001) as f64 - 1000.0;
            xs = (0..numbers).map(|_| number(&mut random)).collect();
            for call in [
                Call::Summary,
                Call::Histogram {
                    bins: 32,
                    low: -1000.0,
                    high: 1000.0,
                },
                Call::Smooth { radius: 5 },
                Call::At {
                    index: random.below(numbers as u64) as i64,
                },
            ] {
                good.push(Good {
                    xs: xs.clone(),
                    call,
                });
            }
        }
        let failing = |kind, path, body: Value, status, error| Job {
            kind,
            path,
            body: body.to_string().into_bytes(),
            right: Right::Error(status, error),
            seen: OnceLock::new(),
        };
        Jobs {
            failing: [
                failing(
                    Kind::OutOfBounds,
                    "/at",
                    json!({ "xs": xs, "index": numbers }),
                    422,
                    "Program",
                ),
                // 2^48 bytes: more than an address space has.
                failing(
                    Kind::OutOfMemory,
                    "/fill",
                    json!({ "n": 1i64 << 45 }),
                    507,
                    "OutOfMemory",
                ),
                failing(Kind::LostContext, "/lose", json!({}), 503, LOST),
            ],
            good_jobs: good.iter().map(Good::job).collect(),
            good,
        }
    }

    /// The calls of the requests that succeed.
    #[cfg_attr(not(feature = "floor"), allow(dead_code, reason = "only for `floor`"))]
    pub fn good(&self) -> &[Good] {
        &self.good
    }

    /// A request, of which `failures` percent provoke a failure.
    pub fn pick(&self, random: &mut Random, failures: u32) -> &Job {
        let from: &[Job] = if random.below(100) < u64::from(failures) {
            &self.failing
        } else {
            &self.good_jobs
        };
        &from[random.below(from.len() as u64) as usize]
    }
}

impl Good {
    fn job(&self) -> Job {
        let xs = &self.xs;
        let (path, body, right) = match self.call {
            Call::Summary => ("/summary", json!({ "xs": xs }), expected::summary(xs)),
            Call::Histogram { bins, low, high } => (
                "/histogram",
                json!({ "xs": xs, "bins": bins, "low": low, "high": high }),
                expected::histogram(xs, bins, low, high),
            ),
            Call::Smooth { radius } => (
                "/smooth",
                json!({ "xs": xs, "radius": radius }),
                expected::smooth(xs, radius),
            ),
            Call::At { index } => (
                "/at",
                json!({ "xs": xs, "index": index }),
                json!({ "number": xs[index as usize] }),
            ),
        };
        Job {
            kind: Kind::Good,
            path,
            body: body.to_string().into_bytes(),
            right: Right::Result(right),
            seen: OnceLock::new(),
        }
    }
}

/// The kind of the error of a lost context.
const LOST: &str = "ContextLost";

impl Job {
    /// Judges the response to this request.
    pub fn judge(&self, response: &Response) -> Verdict {
        let is_503 = response.status == 503;
        // A client needs the header to know that it may try again.
        let has_header = response.retry_after.is_some() == is_503;
        let seen = self.seen.get();
        if has_header
            && seen
                .is_some_and(|(status, body)| *status == response.status && *body == response.body)
        {
            return Verdict::Right;
        }
        let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let error = body["error"]["kind"].as_str();
        let is_right = match &self.right {
            Right::Result(right) => response.status == 200 && expected::are_close(right, &body),
            Right::Error(status, kind) => response.status == *status && error == Some(*kind),
        };
        if has_header {
            if is_right {
                let _ = self.seen.set((response.status, response.body.clone()));
                return Verdict::Right;
            }
            if is_503 && error == Some(LOST) {
                return Verdict::Refused;
            }
        }
        let text: String = String::from_utf8_lossy(&response.body)
            .chars()
            .take(200)
            .collect();
        Verdict::Wrong(format!("{}: {} {text}", self.path, response.status))
    }
}

/// SplitMix64: reproducible, and good enough to choose requests.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, body: &Value) -> Response {
        Response {
            status,
            retry_after: (status == 503).then_some(1),
            body: body.to_string().into_bytes(),
            keep_alive: true,
        }
    }

    #[test]
    fn responses_are_judged() {
        let jobs = Jobs::new(1, 10);
        let good = &jobs.good_jobs[0];
        let Right::Result(right) = &good.right else {
            panic!("a good job has a result")
        };
        assert_eq!(good.judge(&response(200, right)), Verdict::Right);
        let is_wrong = |job: &Job, response| matches!(job.judge(&response), Verdict::Wrong(_));
        assert!(is_wrong(good, response(500, right)));
        assert!(is_wrong(good, response(200, &json!({ "mean": 0 }))));

        let lost = json!({ "error": { "kind": LOST } });
        let [bounds, memory, losing] = &jobs.failing;
        assert_eq!(good.judge(&response(503, &lost)), Verdict::Refused);
        assert_eq!(bounds.judge(&response(503, &lost)), Verdict::Refused);
        assert_eq!(losing.judge(&response(503, &lost)), Verdict::Right);
        assert!(is_wrong(losing, response(500, &lost)));
        let silent = Response {
            retry_after: None,
            ..response(503, &lost)
        };
        assert!(is_wrong(losing, silent));
        let program = json!({ "error": { "kind": "Program" } });
        assert_eq!(bounds.judge(&response(422, &program)), Verdict::Right);
        assert!(is_wrong(memory, response(422, &program)));
        assert!(is_wrong(bounds, response(200, &json!({ "number": 1 }))));
    }

    #[test]
    fn the_share_of_failures_is_kept() {
        let (jobs, mut random) = (Jobs::new(1, 10), Random::new(2));
        let mut counts = [0; 4];
        for _ in 0..10_000 {
            counts[jobs.pick(&mut random, 10).kind as usize] += 1;
        }
        assert!((8800..9200).contains(&counts[0]), "{counts:?}");
        assert!(
            counts[1..].iter().all(|count| (250..420).contains(count)),
            "{counts:?}"
        );
    }
}
