//! Proptest's strategies for the arguments of a call, of growing size, and the decision whether larger
//! ones are affordable.
//!
//! The same seed gives the same inputs in the same order. Durations only decide where to stop.

use super::call::{Call, Recipe, Role, Scalar};
use super::elements::{Taste, bits, edges, fill, random, whole_number};
use super::input::Input;
use crate::values::HostValue;
use futhark_manifest::ElemType;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::{NewTree, Union, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The maximum number of elements that are generated and shrunk one by one.
const SINGLE: usize = 48;

/// The maximum size of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub extent: usize,
    /// The maximum number of elements of an array.
    pub elements: usize,
}

impl Limits {
    /// For hosts and real devices: large enough to be split among threads.
    pub const REAL: Limits = Limits {
        extent: 1500,
        elements: 4096,
    };
    /// For simulated and emulated devices.
    pub const SLOW: Limits = Limits {
        extent: 20,
        elements: 64,
    };
}

/// A runner whose numbers depend on the seed; `salt` separates different uses of a seed.
#[must_use]
pub fn runner(seed: u64, salt: &str) -> TestRunner {
    let mut bytes = [0; 32];
    random(seed, salt).fill(&mut bytes);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(Config::default(), rng)
}

/// The maximum extents of a sequence of inputs; a shorter sequence has evenly spaced ones of them. They grow
/// slowly up to 24, because the work may grow exponentially.
const EXTENTS: [usize; 24] = [
    5, 5, 5, 5, 5, 5, 5, 5, 8, 12, 12, 18, 18, 24, 24, 24, 40, 40, 80, 320, 320, 1500, 1500, 1500,
];

/// The strategy for one input, whose arrays have a limited size.
#[derive(Clone)]
pub struct SizedInput {
    /// The maximum extent of the arrays, unless the entry point fixes it, or it is a product of two.
    pub extent: usize,
    pub arguments: BoxedStrategy<Vec<Input>>,
}

/// `cases` inputs for a call. The first one of each extent is as large as that allows, so that its
/// duration tells whether a larger extent is affordable.
pub fn growing(call: Arc<Call>, limits: Limits, cases: u32) -> impl Iterator<Item = SizedInput> {
    let last_case = cases.saturating_sub(1).max(1) as usize;
    let mut previous = None;
    (0..cases as usize).map(move |number| {
        let extent = match call.variables() {
            // Nothing can grow.
            0 => limits.extent,
            _ => EXTENTS[number * (EXTENTS.len() - 1) / last_case].min(limits.extent),
        };
        let is_first = previous.replace(extent) != Some(extent);
        SizedInput {
            extent,
            // Each edge of floats occurs in some input, if there are enough inputs.
            arguments: arguments(
                &call,
                Limits { extent, ..limits },
                is_first,
                (number % 2 == 1).then_some(number / 2),
            ),
        }
    })
}

/// Arguments for a call, chosen so that the entry point probably accepts them. If they are to be the `largest`, all
/// variable extents start at their limit. In any case, long ones are halved until each array has few enough elements.
/// `edge`: the number of the limit that scalar floats probably are.
fn arguments(
    call: &Arc<Call>,
    limits: Limits,
    largest: bool,
    edge: Option<usize>,
) -> BoxedStrategy<Vec<Input>> {
    let extent = match largest {
        true => AtFirst(limits.extent).boxed(),
        false => extent(limits.extent),
    };
    let call = Arc::clone(call);
    let variables = vec(extent, call.variables());
    let taste = prop_oneof![3 => Just(Taste::Tame), 2 => Just(Taste::Wild)];
    (taste, variables)
        .prop_flat_map(move |(taste, mut variables)| {
            // Halves the longest extents to reduce the number of elements.
            while call.largest(&call.extents(&variables)) > limits.elements {
                match variables.iter_mut().max() {
                    Some(longest) if *longest > 1 => *longest /= 2,
                    _ => break,
                }
            }
            let extents = call.extents(&variables);
            Choices {
                call: &call,
                extents: &extents,
                scalars: &[],
                taste,
                edge,
                limits,
            }
            .arguments()
        })
        .boxed()
}

/// Arguments for trial calls, with the given extents and scalars. The same on each call.
#[must_use]
pub fn sample(call: &Call, extents: &[usize], scalars: &[Option<i64>]) -> Vec<Input> {
    let choices = Choices {
        call,
        extents,
        scalars,
        taste: Taste::Tame,
        edge: None,
        limits: Limits::SLOW,
    };
    let tree = choices.arguments().new_tree(&mut runner(1, "sample"));
    tree.expect("no strategy rejects a value").current()
}

/// Generates this number at first, which can be simplified.
#[derive(Debug)]
struct AtFirst(usize);

impl Strategy for AtFirst {
    type Tree = proptest::num::usize::BinarySearch;
    type Value = usize;

    fn new_tree(&self, _: &mut TestRunner) -> NewTree<Self> {
        Ok(Self::Tree::new(self.0))
    }
}

/// Empty, small, medium and long.
fn extent(limit: usize) -> BoxedStrategy<usize> {
    let some = 17.min(limit);
    prop_oneof![
        1 => Just(0),
        6 => 1..=4usize,
        3 => 5..=some,
        1 => some..=limit,
    ]
    .boxed()
}

/// What is chosen before the elements of the arguments.
struct Choices<'a> {
    call: &'a Call,
    extents: &'a [usize],
    scalars: &'a [Option<i64>],
    taste: Taste,
    edge: Option<usize>,
    limits: Limits,
}

impl Choices<'_> {
    fn arguments(&self) -> Vec<BoxedStrategy<Input>> {
        let recipes = self.call.arguments.iter();
        recipes.map(|recipe| self.strategy(recipe)).collect()
    }

    fn strategy(&self, recipe: &Recipe) -> BoxedStrategy<Input> {
        match recipe {
            Recipe::Scalar(number) => self.scalar(*number),
            Recipe::Array(elem, dims) => {
                let shape = dims.iter().map(|dim| self.extents[*dim]).collect();
                array(*elem, shape, self.taste)
            }
            Recipe::Compound(ways) => {
                let ways = ways.iter().map(|(empty, parts)| {
                    let empty = empty.clone();
                    let parts: Vec<_> = parts.iter().map(|part| self.strategy(part)).collect();
                    parts.prop_map(move |parts| empty.with(parts)).boxed()
                });
                Union::new(ways).boxed()
            }
            Recipe::Made(makers) => {
                let makers = makers.iter().map(|(call, output)| {
                    let (entry, output) = (call.entry.clone(), *output);
                    let made = move |arguments| Input::Made {
                        entry: entry.clone(),
                        output,
                        arguments,
                    };
                    // A value that another entry point makes is small, because nested calls multiply the work.
                    let limits = Limits {
                        extent: self.limits.extent.min(5),
                        ..self.limits
                    };
                    arguments(call, limits, false, self.edge)
                        .prop_map(made)
                        .boxed()
                });
                Union::new(makers).boxed()
            }
        }
    }

    fn scalar(&self, number: usize) -> BoxedStrategy<Input> {
        let Scalar { elem, role } = self.call.scalars[number];
        let position = number;
        let given = self.scalars.get(number).copied().flatten();
        let number = move |number: i64| Input::Host(whole_number(elem, number));
        match (given, role) {
            (Some(given), _) => Just(number(given)).boxed(),
            (None, Role::Size(extent)) => {
                let size = i64::try_from(self.extents[extent]).unwrap_or(i64::MAX);
                Just(number(size)).boxed()
            }
            (None, Role::Any) => {
                let usual = array(elem, Vec::new(), self.taste);
                let is_float = elem.as_str().starts_with('f');
                let Some(edge) = self.edge.filter(|_| is_float) else {
                    return usual;
                };
                let edges = edges(elem);
                let edge = edges[(edge + position) % edges.len()];
                // With several scalars, the usual numbers show which one matters.
                let weight = if self.call.scalars.len() == 1 { 9 } else { 1 };
                let edge = Just(Input::Host(HostValue::of_bits(elem, &[], [edge])));
                prop_oneof![1 => usual, weight => edge].boxed()
            }
            (None, Role::Small) => {
                // A negative size is always an error, so only wild inputs have one, -1.
                let signed = elem.as_str().starts_with('i');
                let lowest = -i64::from(signed && self.taste == Taste::Wild);
                let highest = i64::try_from(self.limits.extent.min(9)).unwrap_or(9);
                (lowest..=highest).prop_map(number).boxed()
            }
        }
    }
}

fn array(elem: ElemType, shape: Vec<usize>, taste: Taste) -> BoxedStrategy<Input> {
    let count: usize = shape.iter().product();
    if count <= SINGLE {
        return vec(bits(elem, taste), count)
            .prop_map(move |elements| Input::Host(HostValue::of_bits(elem, &shape, elements)))
            .boxed();
    }
    any::<u64>()
        .prop_map(move |seed| Input::Host(fill(seed, elem, &shape, taste)))
        .boxed()
}

/// Arguments for a program that is only correct for inputs like those of its test blocks: with the shapes and
/// scalars of one of `cases`, and array elements that any case has in the same parameter. `None` without a case.
#[must_use]
pub fn like_test_cases(cases: &[Vec<HostValue>]) -> Option<BoxedStrategy<Vec<Input>>> {
    let parameters = 0..cases.first()?.len();
    let known = parameters.map(|parameter| {
        let values = cases.iter().map(|case| &case[parameter]);
        let elements = values.flat_map(|value| (0..value.count()).map(|index| value.bits(index)));
        elements.collect::<BTreeSet<u64>>()
    });
    let known: Vec<Vec<u64>> = known.map(|bits| bits.into_iter().collect()).collect();
    let arguments = select(cases.to_vec()).prop_flat_map(move |case| {
        let arguments = case.into_iter().zip(&known);
        let arguments = arguments.map(|(value, known)| like_value(value, known));
        arguments.collect::<Vec<_>>()
    });
    Some(arguments.boxed())
}

fn like_value(value: HostValue, known: &[u64]) -> BoxedStrategy<Input> {
    if value.shape().is_empty() || value.count() == 0 {
        return Just(Input::Host(value)).boxed();
    }
    let elements = vec(select(known.to_vec()), value.count());
    let array = move |bits| HostValue::of_bits(value.elem(), value.shape(), bits);
    elements
        .prop_map(move |bits| Input::Host(array(bits)))
        .boxed()
}

/// Durations below this are equal, in seconds.
const NOISE: f64 = 0.000_1;

/// The maximum expected duration of a call, in seconds.
const AFFORDABLE: f64 = 1.0;

/// The durations of the calls so far.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// The longest duration for each extent, in the order of the calls.
    durations: Vec<(usize, f64)>,
}

impl Pace {
    /// Records a call with an input of this extent.
    pub fn record(&mut self, extent: usize, seconds: f64) {
        match self.durations.last_mut() {
            Some((last, longest)) if *last == extent => *longest = longest.max(seconds),
            _ => self.durations.push((extent, seconds)),
        }
    }

    /// Whether a call with an input of this extent is expected to be affordable. The duration grows
    /// at least with a power of the extent, which the last two extents show.
    #[must_use]
    pub fn affords(&self, extent: usize) -> bool {
        let (before, last) = match self.durations.as_slice() {
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
        self.durations
            .iter()
            .fold(0.0, |most, (_, seconds)| most.max(*seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::super::call::Extent;
    use super::*;

    #[test]
    fn inputs_contain_only_what_the_cases_show() {
        let array = |bytes: &[u8]| HostValue::new(ElemType::U8, vec![bytes.len()], bytes.to_vec());
        let scalar = |byte| HostValue::new(ElemType::U8, vec![], vec![byte]);
        let cases = [
            vec![array(&[1, 2]), scalar(9)],
            vec![array(&[3, 4, 5]), scalar(8)],
        ];
        assert!(like_test_cases(&[]).is_none());
        let strategy = like_test_cases(&cases).unwrap();
        let mut runner = runner(1, "shown");
        let mut mixed = false;
        for _ in 0..100 {
            let inputs = strategy.new_tree(&mut runner).unwrap().current();
            let [Input::Host(xs), Input::Host(x)] = &inputs[..] else {
                panic!("{inputs:?}")
            };
            assert!(matches!((xs.shape()[0], x.bytes()[0]), (2, 9) | (3, 8)));
            assert!(xs.bytes().iter().all(|x| (1..=5).contains(x)));
            mixed |= xs.bytes().contains(&1) && xs.bytes().contains(&3);
        }
        assert!(mixed);
    }

    fn call() -> Arc<Call> {
        Arc::new(Call {
            entry: "f".into(),
            arguments: vec![
                Recipe::Array(ElemType::U8, vec![0]),
                Recipe::Array(ElemType::U8, vec![1]),
            ],
            extents: vec![Extent::Variable(0), Extent::Variable(1)],
            scalars: Vec::new(),
        })
    }

    /// The last extent that is tried if a call takes this time.
    fn last(seconds: impl Fn(f64) -> f64) -> usize {
        let mut pace = Pace::default();
        for extent in EXTENTS {
            if !pace.affords(extent) {
                break;
            }
            pace.record(extent, seconds(extent as f64));
        }
        pace.durations.last().unwrap().0
    }

    #[test]
    fn inputs_grow_from_small_to_the_largest() {
        for (limits, cases) in [(Limits::REAL, 24), (Limits::REAL, 7), (Limits::SLOW, 4)] {
            let draws: Vec<SizedInput> = growing(call(), limits, cases).collect();
            assert_eq!(draws.len(), cases as usize);
            assert!(draws.is_sorted_by_key(|draw| draw.extent));
            assert_eq!(draws[0].extent, EXTENTS[0]);
            assert_eq!(draws.last().unwrap().extent, limits.extent);
            for draw in draws {
                let tree = draw.arguments.new_tree(&mut runner(1, ""));
                let input = tree.unwrap().current();
                let mut counts = input.iter().flat_map(Input::leaves).map(HostValue::count);
                assert!(counts.all(|count| count <= draw.extent));
            }
        }
        assert_eq!(growing(call(), Limits::REAL, 1).count(), 1);
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
