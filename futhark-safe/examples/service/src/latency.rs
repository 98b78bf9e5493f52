//! A histogram of durations.

use std::time::Duration;

/// Counts durations in intervals whose width is at most 1/32 of their bounds, so that its size does
/// not depend on how many there are.
#[derive(Clone, Debug)]
pub struct Latency {
    counts: Vec<u64>,
    max: Duration,
}

/// One interval per nanosecond up to 63 ns, then 32 per power of two.
const INTERVALS: usize = 1920;

impl Default for Latency {
    fn default() -> Latency {
        Latency {
            counts: vec![0; INTERVALS],
            max: Duration::ZERO,
        }
    }
}

impl Latency {
    /// Counts a duration.
    pub fn add(&mut self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.counts[interval(nanoseconds)] += 1;
        self.max = self.max.max(duration);
    }

    /// Counts the durations of another histogram.
    pub fn merge(&mut self, other: &Latency) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.max = self.max.max(other.max);
    }

    /// The number of durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The longest duration, exactly.
    #[must_use]
    pub fn max(&self) -> Duration {
        self.max
    }

    /// The duration that a fraction of all does not exceed, at most 1/32 too long. Zero if there are none.
    #[must_use]
    pub fn quantile(&self, fraction: f64) -> Duration {
        let rank = (fraction * self.count() as f64).ceil() as u64;
        let mut below = 0;
        let found = self.counts.iter().position(|count| {
            below += count;
            below >= rank.max(1)
        });
        found.map_or(Duration::ZERO, |i| {
            Duration::from_nanos(upper_bound(i)).min(self.max)
        })
    }
}

fn interval(nanoseconds: u64) -> usize {
    let exponent = 63 - (nanoseconds | 1).leading_zeros();
    let shift = exponent.saturating_sub(5);
    shift as usize * 32 + (nanoseconds >> shift) as usize
}

/// The largest number of an interval.
fn upper_bound(interval: usize) -> u64 {
    let shift = (interval / 32).saturating_sub(1);
    let first = (interval - shift * 32) as u64;
    // Not `(first + 1) << shift`, which overflows for the last interval.
    (first << shift) | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_interval_contains_its_upper_bound_and_not_the_next_number() {
        for i in 0..INTERVALS {
            let bound = upper_bound(i);
            assert_eq!(interval(bound), i);
            if i + 1 < INTERVALS {
                assert_eq!(interval(bound + 1), i + 1);
            }
        }
        assert_eq!(upper_bound(INTERVALS - 1), u64::MAX);
    }

    #[test]
    fn quantiles_are_close_and_merge() {
        let (mut a, mut b) = (Latency::default(), Latency::default());
        assert_eq!(a.quantile(0.5), Duration::ZERO);
        for micros in 1..=1000 {
            let half = if micros % 2 == 0 { &mut a } else { &mut b };
            half.add(Duration::from_micros(micros));
        }
        a.merge(&b);
        assert_eq!(a.count(), 1000);
        for (fraction, wanted) in [(0.5, 500.0), (0.9, 900.0), (0.999, 999.0)] {
            let micros = a.quantile(fraction).as_secs_f64() * 1e6;
            assert!(
                (wanted..=wanted * 33.0 / 32.0).contains(&micros),
                "{micros}"
            );
        }
        assert_eq!(a.quantile(1.0), Duration::from_millis(1));
        assert_eq!(a.max(), Duration::from_millis(1));
    }
}
