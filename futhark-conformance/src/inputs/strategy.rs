//! Converts recipes to proptest's strategies.

use super::elements::Random;
use super::elements::{Taste, bits, fill, whole};
use super::recipe::{Call, Recipe, Role};
use super::tree::Input;
use crate::values::HostValue;
use futhark_manifest::ElemType;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::{NewTree, Union, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::sync::Arc;

/// The maximum number of elements that are generated and shrunk one by one.
const SINGLE: usize = 48;

/// The maximum size of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum extent.
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
    let mut random = Random::new(seed, salt);
    let mut bytes = [0; 32];
    for chunk in bytes.chunks_exact_mut(8) {
        chunk.copy_from_slice(&random.next().to_le_bytes());
    }
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(Config::default(), rng)
}

/// Arguments for a call, chosen so that the entry point probably accepts them; if they are to be the `largest`, with
/// all extents at their limit.
pub fn arguments(call: &Arc<Call>, limits: Limits, largest: bool) -> BoxedStrategy<Vec<Input>> {
    let extent = match largest {
        true => Exactly(limits.extent).boxed(),
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
            fixed(&call, &extents, &[], taste, limits)
        })
        .boxed()
}

/// Arguments for trial calls, with the given extents and scalars. The same on each call.
#[must_use]
pub fn sample(call: &Call, extents: &[usize], scalars: &[Option<i64>]) -> Option<Vec<Input>> {
    let strategy = fixed(call, extents, scalars, Taste::Tame, Limits::SLOW);
    let tree = strategy.new_tree(&mut runner(1, "sample")).ok()?;
    Some(tree.current())
}

/// This number, which can be simplified.
#[derive(Debug)]
struct Exactly(usize);

impl Strategy for Exactly {
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

fn fixed(
    call: &Call,
    extents: &[usize],
    scalars: &[Option<i64>],
    taste: Taste,
    limits: Limits,
) -> Vec<BoxedStrategy<Input>> {
    let drawing = Drawing {
        call,
        extents,
        scalars,
        taste,
        limits,
    };
    call.arguments
        .iter()
        .map(|recipe| drawing.strategy(recipe))
        .collect()
}

/// The choices that precede the elements.
struct Drawing<'a> {
    call: &'a Call,
    extents: &'a [usize],
    scalars: &'a [Option<i64>],
    taste: Taste,
    limits: Limits,
}

impl Drawing<'_> {
    fn strategy(&self, recipe: &Recipe) -> BoxedStrategy<Input> {
        match recipe {
            Recipe::Scalar(elem, number) => self.scalar(*elem, *number),
            Recipe::Array(elem, dims) => {
                let shape = dims.iter().map(|dim| self.extents[*dim]).collect();
                array(*elem, shape, self.taste)
            }
            Recipe::Whole(wholes) => {
                let wholes = wholes.iter().map(|(empty, parts)| {
                    let empty = empty.clone();
                    let parts: Vec<_> = parts.iter().map(|part| self.strategy(part)).collect();
                    parts.prop_map(move |parts| empty.with(parts)).boxed()
                });
                Union::new(wholes).boxed()
            }
            Recipe::Made(makers) => {
                let makers = makers.iter().map(|(call, output)| {
                    let (entry, output) = (call.entry.clone(), *output);
                    let made = move |arguments| Input::Made {
                        entry: entry.clone(),
                        output,
                        arguments,
                    };
                    // A single opaque value is small, because nested calls multiply the work.
                    let limits = Limits {
                        extent: self.limits.extent.min(5),
                        ..self.limits
                    };
                    arguments(call, limits, false).prop_map(made).boxed()
                });
                Union::new(makers).boxed()
            }
        }
    }

    fn scalar(&self, elem: ElemType, number: usize) -> BoxedStrategy<Input> {
        if let Some(Some(given)) = self.scalars.get(number) {
            return Just(Input::Host(whole(elem, *given))).boxed();
        }
        let bits = match self.call.roles[number] {
            Role::Size(extent) => {
                let size = i64::try_from(self.extents[extent]).unwrap_or(i64::MAX);
                return Just(Input::Host(whole(elem, size))).boxed();
            }
            Role::Any => bits(elem, self.taste),
            Role::Small => {
                // A negative size is always an error.
                let signed = elem.as_str().starts_with('i');
                let lowest = -i64::from(signed && self.taste == Taste::Wild);
                let highest = i64::try_from(self.limits.extent.min(9)).unwrap_or(9);
                return (lowest..=highest)
                    .prop_map(move |number| Input::Host(whole(elem, number)))
                    .boxed();
            }
        };
        bits.prop_map(move |bits| Input::Host(HostValue::of_bits(elem, &[], [bits])))
            .boxed()
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

/// Arguments for a program that is only correct for inputs like those of its test blocks: with the shapes and scalars of one of `cases`, and array elements that any case has
/// in the same parameter. `None` without a case.
#[must_use]
pub fn like(cases: &[Vec<HostValue>]) -> Option<BoxedStrategy<Vec<Input>>> {
    if cases.is_empty() {
        return None;
    }
    let known = (0..cases[0].len()).map(|place| shown_elements(cases, place));
    let known: Vec<Vec<Vec<u8>>> = known.collect();
    let arguments = select(cases.to_vec()).prop_flat_map(move |case| {
        let arguments = case.iter().zip(&known);
        let arguments = arguments.map(|(value, known)| shown_argument(value, known));
        arguments.collect::<Vec<_>>()
    });
    Some(arguments.boxed())
}

/// The different elements of a parameter in all cases.
fn shown_elements(cases: &[Vec<HostValue>], place: usize) -> Vec<Vec<u8>> {
    let values = cases.iter().map(|case| &case[place]);
    let elements = values.flat_map(|value| value.bytes().chunks(value.elem().size()));
    let mut elements: Vec<Vec<u8>> = elements.map(<[u8]>::to_vec).collect();
    elements.sort();
    elements.dedup();
    elements
}

fn shown_argument(value: &HostValue, known: &[Vec<u8>]) -> BoxedStrategy<Input> {
    if value.shape().is_empty() || value.count() == 0 {
        return Just(Input::Host(value.clone())).boxed();
    }
    let (elem, shape) = (value.elem(), value.shape().to_vec());
    vec(select(known.to_vec()), value.count())
        .prop_map(move |elements| {
            Input::Host(HostValue::new(elem, shape.clone(), elements.concat()))
        })
        .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_contain_only_what_the_cases_show() {
        let array = |bytes: &[u8]| HostValue::new(ElemType::U8, vec![bytes.len()], bytes.to_vec());
        let scalar = |byte| HostValue::new(ElemType::U8, vec![], vec![byte]);
        let cases = [
            vec![array(&[1, 2]), scalar(9)],
            vec![array(&[3, 4, 5]), scalar(8)],
        ];
        assert!(like(&[]).is_none());
        let strategy = like(&cases).unwrap();
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
}
