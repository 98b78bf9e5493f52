//! The greedy choice of items, which are plain numbers: independent of programs and checks.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

/// The combinations that a job covers, and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The combinations, as numbers below the count that [`choose`] gets.
    pub covers: Vec<u32>,
    /// The cost, in any unit; at least 1.
    pub cost: u64,
    /// The items of a group share a cost, which only the first chosen one of them has in addition.
    pub group: usize,
    /// The cost that the group shares.
    pub shared: u64,
}

/// The numbers of items that together cover every combination that any item covers, in the order in
/// which they were chosen: after each, as much is covered as a greedy choice can at this cost.
///
/// Takes the item with the most new combinations per cost, the earlier one if two are equal, until
/// no item has a new combination. Then drops each item whose combinations the others cover, the
/// most expensive first.
pub fn choose(items: &[Item], combinations: usize) -> Vec<usize> {
    let mut greedy = Greedy::new(items, combinations);
    let mut chosen: Vec<usize> = std::iter::from_fn(|| greedy.next()).collect();
    let mut holders = greedy.holders;
    let mut by_cost = chosen.clone();
    by_cost.sort_by_key(|&item| (std::cmp::Reverse(items[item].cost), item));
    let mut dropped = BTreeSet::new();
    for item in by_cost {
        let covers = &items[item].covers;
        if covers.iter().all(|&c| holders[c as usize] > 1) {
            covers.iter().for_each(|&c| holders[c as usize] -= 1);
            dropped.insert(item);
        }
    }
    chosen.retain(|item| !dropped.contains(item));
    chosen
}

/// The items that a greedy choice takes, one by one.
///
/// The heap has one valid candidate for each item that can still gain, with its gain at an earlier
/// moment. A gain only shrinks, so a candidate on top whose gain is still true is the best one. A
/// cost shrinks when its group begins; then the candidates of the group are replaced.
struct Greedy<'a> {
    items: &'a [Item],
    /// The number of chosen items that cover each combination.
    holders: Vec<u32>,
    groups: Vec<Vec<usize>>,
    started: BTreeSet<usize>,
    heap: BinaryHeap<Candidate>,
    /// The version of each item's valid candidate.
    versions: Vec<u32>,
}

impl<'a> Greedy<'a> {
    fn new(items: &'a [Item], combinations: usize) -> Greedy<'a> {
        let count = items.iter().map(|item| item.group + 1).max().unwrap_or(0);
        let mut groups = vec![Vec::new(); count];
        for (number, item) in items.iter().enumerate() {
            groups[item.group].push(number);
        }
        let mut greedy = Greedy {
            items,
            holders: vec![0; combinations],
            groups,
            started: BTreeSet::new(),
            heap: BinaryHeap::new(),
            versions: vec![0; items.len()],
        };
        (0..items.len()).for_each(|item| greedy.push(item));
        greedy
    }

    fn push(&mut self, item: usize) {
        let candidate = self.candidate(item);
        if candidate.gain > 0 {
            self.heap.push(candidate);
        }
    }

    fn candidate(&self, number: usize) -> Candidate {
        let item = &self.items[number];
        let new = item.covers.iter();
        let new = new.filter(|&&c| self.holders[c as usize] == 0).count();
        let shared = match self.started.contains(&item.group) {
            true => 0,
            false => item.shared,
        };
        Candidate {
            gain: new as u64,
            cost: item.cost + shared,
            item: number,
            version: self.versions[number],
        }
    }

    fn next(&mut self) -> Option<usize> {
        loop {
            let best = self.heap.pop()?;
            if best.version != self.versions[best.item] {
                continue;
            }
            if self.candidate(best.item).gain != best.gain {
                self.push(best.item);
                continue;
            }
            let item = &self.items[best.item];
            for &combination in &item.covers {
                self.holders[combination as usize] += 1;
            }
            self.versions[best.item] += 1;
            if self.started.insert(item.group) && item.shared > 0 {
                for other in std::mem::take(&mut self.groups[item.group]) {
                    self.versions[other] += 1;
                    self.push(other);
                }
            }
            return Some(best.item);
        }
    }
}

/// An item with its gain and cost, ordered by gain per cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    gain: u64,
    cost: u64,
    item: usize,
    version: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        let ours = u128::from(self.gain) * u128::from(other.cost);
        let theirs = u128::from(other.gain) * u128::from(self.cost);
        // Of two equal ones, the earlier item is the greater.
        (ours.cmp(&theirs))
            .then(other.item.cmp(&self.item))
            .then(self.version.cmp(&other.version))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(list: &[(&[u32], u64)]) -> Vec<Item> {
        let item = |(group, &(covers, cost)): (usize, &(&[u32], u64))| Item {
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
    fn the_item_with_the_most_new_combinations_per_cost_comes_first() {
        let items = items(&[(&[0], 1), (&[1, 2, 3], 2), (&[4, 5], 4), (&[1], 1)]);
        assert_eq!(choose(&items, 6), [1, 0, 2]);
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
        assert_eq!(choose(&items, 3), [2, 1]);
    }

    #[test]
    fn nothing_to_cover_chooses_nothing() {
        assert!(choose(&items(&[(&[], 1)]), 0).is_empty());
    }
}
