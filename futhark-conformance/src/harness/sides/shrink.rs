//! Simplifies a failing input, within limits.

use crate::inputs::Patience;
use proptest::strategy::ValueTree;
use std::time::Instant;

/// The simplest input found that still fails, with its failure. `first` is the failure of the tree
/// as it is.
pub fn shrink<T: ValueTree + ?Sized, F, E>(
    tree: &mut T,
    first: F,
    patience: Patience,
    mut fails: impl FnMut(&T::Value) -> Result<Option<F>, E>,
) -> Result<(T::Value, F), E> {
    let begun = Instant::now();
    let mut best = (tree.current(), first);
    let mut more = tree.simplify();
    for _ in 0..patience.tries {
        if !more || begun.elapsed() > patience.time {
            break;
        }
        let candidate = tree.current();
        more = match fails(&candidate)? {
            Some(failure) => {
                best = (candidate, failure);
                tree.simplify()
            }
            None => tree.complicate(),
        };
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::time::Duration;

    const LONG: Patience = Patience {
        tries: 10_000,
        time: Duration::from_secs(20),
    };

    fn tree() -> impl ValueTree<Value = Vec<i32>> {
        let strategy = vec(0..1000i32, 5..50).prop_filter("one is large", |numbers| {
            numbers.iter().any(|&number| number > 100)
        });
        strategy
            .new_tree(&mut crate::inputs::runner(3, ""))
            .unwrap()
    }

    fn large(numbers: &[i32]) -> Result<Option<i32>, ()> {
        Ok(numbers.iter().copied().find(|&number| number > 100))
    }

    #[test]
    fn the_simplest_failure_is_found() {
        let mut tree = tree();
        let first = large(&tree.current()).unwrap().unwrap();
        let (numbers, failure) = shrink(&mut tree, first, LONG, |numbers| large(numbers)).unwrap();
        assert_eq!(failure, 101);
        assert_eq!(numbers.len(), 5);
        assert_eq!(numbers.iter().sum::<i32>(), 101);
    }

    #[test]
    fn shrinking_stops_at_its_limits() {
        let mut tree = tree();
        let first = large(&tree.current()).unwrap().unwrap();
        let mut tries = 0;
        let patience = Patience { tries: 7, ..LONG };
        let (numbers, failure) = shrink(&mut tree, first, patience, |numbers| {
            tries += 1;
            large(numbers)
        })
        .unwrap();
        assert_eq!(tries, 7);
        assert_eq!(large(&numbers).unwrap(), Some(failure), "it still fails");
    }
}
