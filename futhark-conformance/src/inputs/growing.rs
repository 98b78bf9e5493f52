//! Inputs in stages of growing size, and the decision whether the next stage is affordable.
//!
//! The same seed gives the same inputs in the same order. Durations only decide where to stop.

use super::recipe::Call;
use super::strategy::{self, Limits};
use super::tree::Input;
use proptest::strategy::BoxedStrategy;
use std::sync::Arc;

/// The maximum extent of each stage, and its share of the inputs. The first steps are small,
/// because the work may grow exponentially.
const STAGES: [(usize, u32); 10] = [
    (5, 8),
    (8, 2),
    (12, 2),
    (18, 2),
    (22, 1),
    (24, 1),
    (40, 2),
    (80, 2),
    (320, 2),
    (1500, 2),
];

/// Durations below this are equal, in seconds.
const NOISE: f64 = 0.000_1;

/// The maximum expected duration of a call, in seconds.
const AFFORDABLE: f64 = 1.0;

/// Inputs of similar size.
pub struct Stage {
    /// The maximum extent of arrays.
    pub extent: usize,
    /// The number of inputs.
    pub cases: u32,
    /// Draws the first input. It is as large as the stage allows, so that its duration tells
    /// whether a larger stage is affordable.
    pub first: BoxedStrategy<Vec<Input>>,
    /// Draws another input.
    pub other: BoxedStrategy<Vec<Input>>,
}

impl Stage {
    /// Draws the input with this number in the stage.
    pub fn strategy(&self, number: u32) -> &BoxedStrategy<Vec<Input>> {
        if number == 0 {
            &self.first
        } else {
            &self.other
        }
    }
}

/// The stages for a call, with this number of inputs in total.
#[must_use]
pub fn stages(call: &Arc<Call>, limits: Limits, cases: u32) -> Vec<Stage> {
    let mut sizes: Vec<(usize, u32)> = match call.variables() {
        // Nothing can grow.
        0 => vec![(limits.extent, 1)],
        _ => STAGES
            .into_iter()
            .filter(|(extent, _)| *extent <= limits.extent)
            .collect(),
    };
    if let Some((last, _)) = sizes.last_mut() {
        *last = limits.extent;
    }
    let counts = shares(&sizes, cases);
    let mut stages = Vec::new();
    for (&(extent, _), cases) in sizes.iter().zip(counts) {
        let limits = Limits { extent, ..limits };
        stages.push(Stage {
            extent,
            cases,
            first: strategy::arguments(call, limits, true),
            other: strategy::arguments(call, limits, false),
        });
    }
    stages
}

/// Divides a number of inputs by the shares. The remainder goes to the first stage and then to the
/// largest ones, which differ most from it.
fn shares(sizes: &[(usize, u32)], cases: u32) -> Vec<u32> {
    let sum: u32 = sizes.iter().map(|(_, share)| share).sum();
    let mut counts: Vec<u32> = sizes
        .iter()
        .map(|(_, share)| u32::try_from(u64::from(cases) * u64::from(*share) / u64::from(sum)))
        .map(|count| count.unwrap_or(u32::MAX))
        .collect();
    let mut left = cases - counts.iter().sum::<u32>();
    let order = std::iter::once(0).chain((1..counts.len()).rev()).cycle();
    for stage in order {
        if left == 0 {
            break;
        }
        counts[stage] += 1;
        left -= 1;
    }
    counts
}

/// The durations of the calls so far.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// The extent and the longest duration of each stage.
    stages: Vec<(usize, f64)>,
}

impl Pace {
    /// Records a call with an input of the stage with this extent.
    pub fn record(&mut self, extent: usize, seconds: f64) {
        match self.stages.last_mut() {
            Some((last, longest)) if *last == extent => *longest = longest.max(seconds),
            _ => self.stages.push((extent, seconds)),
        }
    }

    /// Whether a call with an input of this extent is expected to be affordable. The duration grows
    /// at least with a power of the extent, which the last two stages show.
    #[must_use]
    pub fn affords(&self, extent: usize) -> bool {
        let (before, last) = match self.stages.as_slice() {
            [] => return true,
            [only] => (*only, *only),
            [.., before, last] => (*before, *last),
        };
        if extent <= last.0 {
            return true;
        }
        let growth = (last.1.max(NOISE) / before.1.max(NOISE)).max(1.0);
        let log = |from: usize, to: usize| (to.max(1) as f64 / from.max(1) as f64).ln();
        let steps = match log(before.0, last.0) {
            step if step > 0.0 => log(last.0, extent) / step,
            _ => 1.0,
        };
        // The exponent of one and a half allows for more than polynomial growth.
        last.1 * growth.powf(1.5 * steps) <= AFFORDABLE
    }

    /// The longest duration in seconds.
    #[must_use]
    pub fn longest(&self) -> f64 {
        self.stages
            .iter()
            .fold(0.0, |most, stage| most.max(stage.1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe::{Extent, Recipe, Role};
    use super::super::strategy::runner;
    use super::*;
    use crate::values::HostValue;
    use futhark_manifest::ElemType;
    use proptest::strategy::{Strategy, ValueTree};

    fn call() -> Arc<Call> {
        Arc::new(Call {
            entry: "f".into(),
            arguments: vec![
                Recipe::Array(ElemType::U8, vec![0]),
                Recipe::Array(ElemType::U8, vec![1]),
            ],
            extents: vec![Extent::Variable(0), Extent::Variable(1)],
            roles: Vec::<Role>::new(),
        })
    }

    /// The last extent that is tried if a call takes this time.
    fn last(seconds: impl Fn(f64) -> f64) -> usize {
        let mut pace = Pace::default();
        for (extent, _) in STAGES {
            if !pace.affords(extent) {
                break;
            }
            pace.record(extent, seconds(extent as f64));
        }
        pace.stages.last().unwrap().0
    }

    #[test]
    fn stages_grow_and_have_all_inputs() {
        for (limits, cases) in [(Limits::REAL, 24), (Limits::REAL, 7), (Limits::SLOW, 4)] {
            let stages = stages(&call(), limits, cases);
            assert_eq!(stages.iter().map(|stage| stage.cases).sum::<u32>(), cases);
            assert!(stages.is_sorted_by_key(|stage| stage.extent));
            assert_eq!(stages.last().unwrap().extent, limits.extent);
            assert!(stages[0].cases > 0 && stages.last().unwrap().cases > 0);
            for stage in stages {
                for number in 0..2 {
                    let strategy = stage.strategy(number);
                    let input = strategy.new_tree(&mut runner(1, "")).unwrap().current();
                    let mut counts = input.iter().flat_map(Input::leaves).map(HostValue::count);
                    assert!(counts.all(|count| count <= stage.extent));
                }
            }
        }
    }

    #[test]
    fn growth_stops_before_calls_take_long() {
        assert_eq!(last(|_| 0.01), 1500, "constant");
        assert_eq!(last(|n| n * 1e-5), 1500, "linear");
        assert_eq!(last(|n| n * n * 5e-9), 1500, "quadratic, on a host");
        assert_eq!(last(|n| n * n * 2e-5), 80, "quadratic, on a device");
        for (base, most) in [(2.0f64, 24), (3.0, 18), (10.0, 8)] {
            let extent = last(|n| base.powf(n) * 5e-9);
            assert!(extent <= most, "{base}: {extent}");
        }
    }
}
