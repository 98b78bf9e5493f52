//! The greedy choice of items, which are plain numbers: independent of programs and checks.

use std::collections::BTreeSet;

/// The combinations that a job covers, and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The combinations, as numbers below the count that [`choose`] gets.
    pub covers: Vec<usize>,
    /// The cost, in any unit; at least 1.
    pub cost: u64,
    /// The items of a group share a cost, which only the first chosen one of them has in addition.
    pub group: usize,
    /// The cost that the group shares.
    pub shared: u64,
}

/// The numbers of items that together cover every combination that any item covers, in order.
///
/// Takes the item with the most new combinations per cost, the earlier one if two are equal, until
/// no item has a new combination. Then drops each item whose combinations the others cover, the
/// most expensive first.
pub fn choose(items: &[Item], combinations: usize) -> Vec<usize> {
    let mut holders = vec![0u32; combinations];
    let mut started = BTreeSet::new();
    let mut chosen: Vec<usize> = Vec::new();
    let mut candidates: Vec<usize> = (0..items.len()).collect();
    loop {
        let gain = |item: usize| {
            let new = items[item].covers.iter().filter(|&&c| holders[c] == 0);
            new.count() as u64
        };
        // Gains only shrink, so an item without one never has one again.
        let gains: Vec<(usize, u64)> = candidates
            .iter()
            .map(|&item| (item, gain(item)))
            .filter(|&(_, gain)| gain > 0)
            .collect();
        let cost = |item: usize| {
            let Item {
                cost,
                group,
                shared,
                ..
            } = items[item];
            if started.contains(&group) {
                cost
            } else {
                cost + shared
            }
        };
        let best = gains.iter().copied().reduce(|best, next| {
            let (ours, theirs) = (next.1 * cost(best.0), best.1 * cost(next.0));
            if ours > theirs { next } else { best }
        });
        let Some((best, _)) = best else { break };
        chosen.push(best);
        started.insert(items[best].group);
        items[best].covers.iter().for_each(|&c| holders[c] += 1);
        candidates = gains.into_iter().map(|(item, _)| item).collect();
        candidates.retain(|&item| item != best);
    }
    let mut by_cost = chosen.clone();
    by_cost.sort_by_key(|&item| (std::cmp::Reverse(items[item].cost), item));
    for item in by_cost {
        if items[item].covers.iter().all(|&c| holders[c] > 1) {
            items[item].covers.iter().for_each(|&c| holders[c] -= 1);
            chosen.retain(|&other| other != item);
        }
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(list: &[(&[usize], u64)]) -> Vec<Item> {
        let item = |(group, &(covers, cost)): (usize, &(&[usize], u64))| Item {
            covers: covers.to_vec(),
            cost,
            group,
            shared: 0,
        };
        list.iter().enumerate().map(item).collect()
    }

    #[test]
    fn every_combination_is_covered() {
        let items = items(&[(&[0, 1], 1), (&[1, 2], 1), (&[3], 9), (&[], 1)]);
        assert_eq!(choose(&items, 4), [0, 1, 2]);
    }

    #[test]
    fn cheap_items_are_preferred() {
        let items = items(&[(&[0, 1, 2], 30), (&[0, 1], 2), (&[2], 1)]);
        assert_eq!(choose(&items, 3), [1, 2]);
    }

    #[test]
    fn an_item_that_later_ones_make_redundant_is_dropped() {
        // The first choice is item 0, and items 1 and 2 cover it.
        let items = items(&[(&[0, 1, 2, 3], 4), (&[0, 1, 4], 4), (&[2, 3, 5], 4)]);
        assert_eq!(choose(&items, 6), [1, 2]);
    }

    #[test]
    fn ties_go_to_the_earlier_item() {
        let items = items(&[(&[0], 2), (&[0], 2), (&[0], 2)]);
        assert_eq!(choose(&items, 1), [0]);
    }

    #[test]
    fn items_of_a_chosen_group_are_preferred() {
        let mut items = items(&[(&[0], 1), (&[0], 1), (&[1, 2], 1)]);
        items.iter_mut().for_each(|item| item.shared = 5);
        items[2].group = 1;
        assert_eq!(choose(&items, 3), [1, 2]);
    }

    #[test]
    fn nothing_to_cover_chooses_nothing() {
        assert!(choose(&items(&[(&[], 1)]), 0).is_empty());
    }
}
