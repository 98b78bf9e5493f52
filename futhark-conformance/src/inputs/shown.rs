//! Inputs like those of the test blocks, for programs that are only correct for such inputs.

use super::tree::Input;
use crate::values::HostValue;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Arguments with the shapes and scalars of one of `cases`, and array elements that any case has
/// in the same parameter. `None` without a case.
#[must_use]
pub fn like(cases: &[Vec<HostValue>]) -> Option<BoxedStrategy<Vec<Input>>> {
    if cases.is_empty() {
        return None;
    }
    let known = (0..cases[0].len()).map(|place| elements(cases, place));
    let known: Vec<Vec<Vec<u8>>> = known.collect();
    let arguments = select(cases.to_vec()).prop_flat_map(move |case| {
        let arguments = case.iter().zip(&known);
        let arguments = arguments.map(|(value, known)| argument(value, known));
        arguments.collect::<Vec<_>>()
    });
    Some(arguments.boxed())
}

/// The different elements of a parameter in all cases.
fn elements(cases: &[Vec<HostValue>], place: usize) -> Vec<Vec<u8>> {
    let values = cases.iter().map(|case| &case[place]);
    let elements = values.flat_map(|value| value.bytes().chunks(value.elem().size()));
    let mut elements: Vec<Vec<u8>> = elements.map(<[u8]>::to_vec).collect();
    elements.sort();
    elements.dedup();
    elements
}

fn argument(value: &HostValue, known: &[Vec<u8>]) -> BoxedStrategy<Input> {
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
    use super::super::runner;
    use super::*;
    use futhark_manifest::ElemType;
    use proptest::strategy::ValueTree as _;

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
