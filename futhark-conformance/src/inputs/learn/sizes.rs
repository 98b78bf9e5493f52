//! Finds the sizes that must be equal.

use super::super::recipe::{Extent, Role};
use super::super::strategy::sample;
use super::Lesson;

/// With more sizes than this, pairs are not tried.
const MAX_SIZES: usize = 12;

/// The sizes to try for all extents, until a call succeeds.
const ALIKE: [usize; 7] = [3, 2, 4, 1, 8, 16, 0];

impl Lesson<'_> {
    /// Finds the groups of sizes that the entry point accepts.
    ///
    /// # Errors
    /// If no valid sizes were found.
    pub(super) fn sizes(&mut self, known: Option<&[Vec<usize>]>) -> Result<(), String> {
        let count = self.call.extents.len() + self.candidates.len();
        if self.call.extents.is_empty() {
            return Ok(());
        }
        let base = self.base(count, known).ok_or_else(|| {
            format!(
                "no sizes were found that {} accepts together",
                self.call.entry
            )
        })?;
        let groups = if count <= MAX_SIZES {
            self.groups(&base)
        } else {
            vec![(0..count).collect()]
        };
        let plain = self.call.clone();
        self.settle(&base, &groups);
        // Verifies that all groups are valid together.
        let variables: Vec<usize> = (0..self.call.variables())
            .map(|number| 2 + number)
            .collect();
        let extents = self.call.extents(&variables);
        if !self.accepts_call(&extents) {
            self.call = plain;
            self.settle(&base, &[]);
        }
        Ok(())
    }

    /// Finds valid sizes.
    fn base(&mut self, count: usize, known: Option<&[Vec<usize>]>) -> Option<Vec<usize>> {
        for size in ALIKE {
            if self.accepts(&vec![size; count]) {
                return Some(vec![size; count]);
            }
        }
        for sizes in known.into_iter().flatten() {
            if sizes.len() == count && self.accepts(sizes) {
                return Some(sizes.clone());
            }
        }
        // Try all combinations of a few sizes.
        let top: usize = match count {
            1 => 130,
            2 => 17,
            3 => 8,
            _ => return None,
        };
        (0..top.pow(u32::try_from(count).unwrap_or(1)))
            .map(|mut number| {
                let digits = (0..count).map(|_| {
                    let digit = number % top;
                    number /= top;
                    digit
                });
                digits.collect::<Vec<_>>()
            })
            .find(|sizes| self.accepts(sizes))
    }

    /// Finds the sizes that can only be changed together.
    fn groups(&mut self, base: &[usize]) -> Vec<Vec<usize>> {
        let with = |changed: &[usize]| {
            let mut sizes = base.to_vec();
            for &place in changed {
                sizes[place] += 1;
            }
            sizes
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut tied: Vec<usize> = Vec::new();
        for place in 0..base.len() {
            if self.accepts(&with(&[place])) {
                groups.push(vec![place]);
            } else {
                tied.push(place);
            }
        }
        while let Some(first) = tied.first().copied() {
            // The smallest group: a pair, otherwise all remaining sizes.
            let others = tied[1..].to_vec();
            let partner = others
                .iter()
                .copied()
                .find(|&other| base[other] == base[first] && self.accepts(&with(&[first, other])));
            let group = match partner {
                Some(other) => vec![first, other],
                None => {
                    let all: Vec<usize> = tied
                        .iter()
                        .copied()
                        .filter(|&place| base[place] == base[first])
                        .collect();
                    if all.len() > 2 && self.accepts(&with(&all)) {
                        self.fewest(base, first, all)
                    } else {
                        // The size must have this one value.
                        tied.remove(0);
                        continue;
                    }
                }
            };
            tied.retain(|place| !group.contains(place));
            groups.push(group);
        }
        groups
    }

    /// Removes the sizes from a group that need not change with the first.
    fn fewest(&mut self, base: &[usize], first: usize, mut group: Vec<usize>) -> Vec<usize> {
        for candidate in group.clone() {
            let fewer: Vec<usize> = group.iter().copied().filter(|p| *p != candidate).collect();
            let mut sizes = base.to_vec();
            for &place in &fewer {
                sizes[place] += 1;
            }
            if candidate != first && self.accepts(&sizes) {
                group = fewer;
            }
        }
        group
    }

    /// Records the groups; sizes in no group are as in `base`.
    fn settle(&mut self, base: &[usize], groups: &[Vec<usize>]) {
        let extents = self.call.extents.len();
        for (place, extent) in self.call.extents.iter_mut().enumerate() {
            *extent = Extent::Fixed(base[place]);
        }
        let mut variable = 0;
        for group in groups {
            let Some(&first) = group.iter().find(|&&place| place < extents) else {
                continue;
            };
            for &place in group {
                if place < extents {
                    self.call.extents[place] = Extent::Variable(variable);
                } else {
                    self.call.roles[self.candidates[place - extents]] = Role::Size(first);
                }
            }
            variable += 1;
        }
    }

    fn accepts(&mut self, sizes: &[usize]) -> bool {
        let (extents, candidates) = sizes.split_at(self.call.extents.len());
        let mut scalars = vec![None; self.call.roles.len()];
        for (number, size) in self.candidates.iter().zip(candidates) {
            scalars[*number] = i64::try_from(*size).ok();
        }
        self.accepts_with(extents, &scalars)
    }

    /// Calls the entry point with these extents, and with the scalars that are sizes.
    fn accepts_call(&mut self, extents: &[usize]) -> bool {
        self.accepts_with(extents, &[])
    }

    fn accepts_with(&mut self, extents: &[usize], scalars: &[Option<i64>]) -> bool {
        let Some(inputs) = sample(&self.call, extents, scalars) else {
            return false;
        };
        (self.trial)(&self.call.entry, &inputs).is_some_and(|trial| trial.fits)
    }
}
