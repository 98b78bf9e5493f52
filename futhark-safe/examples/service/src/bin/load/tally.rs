//! Counts of responses.

use std::collections::BTreeMap;
use std::time::Duration;

use futhark_example_service::latency::Latency;

use crate::jobs::{Kind, Verdict};

/// Responses of one thread or of all.
#[derive(Default)]
pub struct Tally {
    /// In the order of [`Kind::ALL`].
    pub by_kind: [Verdicts; 4],
    pub by_status: BTreeMap<u16, u64>,
    /// Of all responses.
    pub latency: Latency,
    /// Of right responses with a result.
    pub good_latency: Latency,
    /// Requests without a response.
    pub broken: u64,
    /// The first wrong or missing responses.
    pub examples: Vec<String>,
}

/// Counts of [`Verdict`]s.
#[derive(Clone, Copy, Default)]
pub struct Verdicts {
    pub right: u64,
    pub refused: u64,
    pub wrong: u64,
}

/// The number of examples that are kept.
const EXAMPLES: usize = 5;

impl Tally {
    /// Counts a response.
    pub fn add(&mut self, kind: Kind, status: u16, latency: Duration, verdict: Verdict) {
        *self.by_status.entry(status).or_default() += 1;
        self.latency.add(latency);
        let counts = &mut self.by_kind[kind as usize];
        match verdict {
            Verdict::Right => {
                counts.right += 1;
                if kind == Kind::Good {
                    self.good_latency.add(latency);
                }
            }
            Verdict::Refused => counts.refused += 1,
            Verdict::Wrong(example) => {
                counts.wrong += 1;
                self.keep(example);
            }
        }
    }

    /// Counts a request without a response.
    pub fn add_broken(&mut self, reason: String) {
        self.broken += 1;
        self.keep(reason);
    }

    /// Adds the counts of another one.
    pub fn merge(&mut self, other: Tally) {
        for (counts, more) in self.by_kind.iter_mut().zip(other.by_kind) {
            counts.right += more.right;
            counts.refused += more.refused;
            counts.wrong += more.wrong;
        }
        for (status, count) in other.by_status {
            *self.by_status.entry(status).or_default() += count;
        }
        self.latency.merge(&other.latency);
        self.good_latency.merge(&other.good_latency);
        self.broken += other.broken;
        other
            .examples
            .into_iter()
            .for_each(|example| self.keep(example));
    }

    /// The number of responses.
    pub fn responses(&self) -> u64 {
        self.by_status.values().sum()
    }

    /// The sum of one count over all kinds.
    pub fn sum(&self, count: impl Fn(&Verdicts) -> u64) -> u64 {
        self.by_kind.iter().map(count).sum()
    }

    fn keep(&mut self, example: String) {
        if self.examples.len() < EXAMPLES {
            self.examples.push(example);
        }
    }
}
