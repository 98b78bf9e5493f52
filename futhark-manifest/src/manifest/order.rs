//! Dependency order.

/// A type that contains itself: `part` is a direct part of `whole` and contains it, directly or not.
pub(crate) struct Cycle {
    pub(crate) part: usize,
    pub(crate) whole: usize,
}

/// Sorts the numbers below `count` topologically: parts before wholes, otherwise ascending.
///
/// Uses an explicit stack, since chains of types can be long. Linear in the number of types and parts.
pub(crate) fn parts_first<I: Iterator<Item = usize>>(
    count: usize,
    parts: impl Fn(usize) -> I,
) -> Result<Vec<usize>, Cycle> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Not,
        Now,
        Done,
    }
    let mut visits = vec![Visit::Not; count];
    let mut order = Vec::with_capacity(count);
    for root in 0..count {
        if visits[root] != Visit::Not {
            continue;
        }
        visits[root] = Visit::Now;
        let mut stack = vec![(root, parts(root))];
        while let Some((whole, rest)) = stack.last_mut() {
            let Some(part) = rest.next() else {
                visits[*whole] = Visit::Done;
                order.push(*whole);
                stack.pop();
                continue;
            };
            match visits[part] {
                Visit::Done => {}
                Visit::Not => {
                    visits[part] = Visit::Now;
                    stack.push((part, parts(part)));
                }
                Visit::Now => {
                    let whole = *whole;
                    return Err(Cycle { part, whole });
                }
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(parts: &[&[usize]]) -> Result<Vec<usize>, (usize, usize)> {
        parts_first(parts.len(), |whole| parts[whole].iter().copied())
            .map_err(|cycle| (cycle.part, cycle.whole))
    }

    #[test]
    fn parts_come_before_wholes() {
        assert_eq!(order(&[]), Ok(vec![]));
        assert_eq!(order(&[&[], &[], &[]]), Ok(vec![0, 1, 2]));
        assert_eq!(order(&[&[2, 1], &[3], &[3], &[]]), Ok(vec![3, 2, 1, 0]));
    }

    #[test]
    fn cycles_are_found() {
        assert_eq!(order(&[&[0]]), Err((0, 0)));
        assert_eq!(order(&[&[], &[2], &[3], &[1]]), Err((1, 3)));
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let count = 200_000;
        let chain = parts_first(count, |whole| (whole + 1..count).take(1));
        assert_eq!(chain.ok().unwrap().first(), Some(&(count - 1)));
    }
}
