//! Finds the constraints of an entry point on its arguments by trial calls.
//!
//! The manifest does not say which sizes must be equal. A call with wrong sizes fails before it
//! computes anything, so trials are cheap: first with all sizes equal, then with one changed, then
//! with two. A scalar may be a size, or the number of iterations of a loop: then the time or the
//! size of the result grows with it.

use super::recipe::{Call, Extent, Recipe, Role};
use super::strategy::sample;
use super::tree::Input;
use futhark_manifest::ElemType;
use std::sync::Arc;

/// The outcome of a trial call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Whether the sizes were valid, even if the call failed later.
    pub fits: bool,
    /// The duration.
    pub seconds: f64,
    /// The size of the results in bytes.
    pub bytes: usize,
    /// Whether it ran out of memory, or lost the context.
    pub costly: bool,
}

/// With more sizes than this, pairs are not tried.
const MAX_SIZES: usize = 12;

/// The sizes to try for all extents, until a call succeeds.
const ALIKE: [usize; 7] = [3, 2, 4, 1, 8, 16, 0];

/// The values to try for each scalar, as long as the call stays cheap. The work may grow
/// exponentially, so the first ones are close to each other.
const GROWING: [i64; 19] = [
    1, 2, 4, 6, 8, 10, 12, 15, 18, 21, 25, 29, 34, 64, 256, 1024, 4096, 65_536, 4_194_304,
];

/// The work of a call grows with a scalar if it takes this factor longer than with the smallest
/// value.
const MUCH_LONGER: f64 = 10.0;

/// Differences below this are noise, in seconds.
const NOISE: f64 = 0.000_5;

/// Finds the constraints of a call and of nested calls. `trial` makes one call of an entry point;
/// `None` from it ends the search.
///
/// # Errors
/// Why no valid arguments were found.
pub fn learn(
    call: &Call,
    known: Option<&[usize]>,
    trial: &mut dyn FnMut(&str, &[Input]) -> Option<Trial>,
) -> Result<Call, String> {
    let arguments = call.arguments.iter();
    let arguments = arguments
        .map(|recipe| inner(recipe, trial))
        .collect::<Result<_, _>>()?;
    let call = Call {
        arguments,
        ..call.clone()
    };
    if call.entry.is_empty() {
        return Ok(call);
    }
    let mut lesson = Lesson::new(call, trial);
    lesson.sizes(known)?;
    lesson.scalars();
    Ok(lesson.call)
}

/// Replaces nested calls by those with known constraints, and removes the others.
fn inner(
    recipe: &Recipe,
    trial: &mut dyn FnMut(&str, &[Input]) -> Option<Trial>,
) -> Result<Recipe, String> {
    Ok(match recipe {
        Recipe::Scalar(..) | Recipe::Array(..) => recipe.clone(),
        Recipe::Whole(wholes) => {
            let mut learnt = Vec::new();
            for (empty, parts) in wholes {
                let parts = parts.iter().map(|part| inner(part, trial));
                learnt.push((empty.clone(), parts.collect::<Result<_, _>>()?));
            }
            Recipe::Whole(learnt)
        }
        Recipe::Made(makers) => {
            let mut learnt = Vec::new();
            let mut why = String::new();
            for (call, output) in makers {
                match learn(call, None, trial) {
                    Ok(call) => learnt.push((Arc::new(call), *output)),
                    Err(reason) => why = reason,
                }
            }
            if learnt.is_empty() {
                return Err(why);
            }
            Recipe::Made(learnt)
        }
    })
}

/// The search for one entry point. Its sizes are its extents, in order, and then its arguments of
/// type i64, each of which may be a size.
struct Lesson<'a> {
    call: Call,
    trial: &'a mut dyn FnMut(&str, &[Input]) -> Option<Trial>,
    /// The numbers of the scalars that may be sizes.
    candidates: Vec<usize>,
}

impl<'a> Lesson<'a> {
    fn new(call: Call, trial: &'a mut dyn FnMut(&str, &[Input]) -> Option<Trial>) -> Lesson<'a> {
        let scalars = call.scalars();
        let candidates =
            (0..scalars.len()).filter(|&number| scalars[number] == (ElemType::I64, true));
        Lesson {
            candidates: candidates.collect(),
            call,
            trial,
        }
    }

    /// Finds the groups of sizes that the entry point accepts.
    ///
    /// # Errors
    /// If no valid sizes were found.
    fn sizes(&mut self, known: Option<&[usize]>) -> Result<(), String> {
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
        if !self.accepts_with(&extents, &[]) {
            self.call = plain;
            self.settle(&base, &[]);
        }
        Ok(())
    }

    /// Finds valid sizes.
    fn base(&mut self, count: usize, known: Option<&[usize]>) -> Option<Vec<usize>> {
        for size in ALIKE {
            if self.accepts(&vec![size; count]) {
                return Some(vec![size; count]);
            }
        }
        if let Some(sizes) = known
            && sizes.len() == count
            && self.accepts(sizes)
        {
            return Some(sizes.to_vec());
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
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut tied: Vec<usize> = Vec::new();
        for place in 0..base.len() {
            if self.accepts(&enlarged(base, &[place])) {
                groups.push(vec![place]);
            } else {
                tied.push(place);
            }
        }
        while let Some(first) = tied.first().copied() {
            // The smallest group: a pair, otherwise all remaining sizes.
            let others = tied[1..].to_vec();
            let partner = others.iter().copied().find(|&other| {
                base[other] == base[first] && self.accepts(&enlarged(base, &[first, other]))
            });
            let group = match partner {
                Some(other) => vec![first, other],
                None => {
                    let all: Vec<usize> = tied
                        .iter()
                        .copied()
                        .filter(|&place| base[place] == base[first])
                        .collect();
                    if all.len() > 2 && self.accepts(&enlarged(base, &all)) {
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
            if candidate != first && self.accepts(&enlarged(base, &fewer)) {
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

    /// Calls the entry point with these extents and scalars; by default, scalars that are sizes are the
    /// extents.
    fn accepts_with(&mut self, extents: &[usize], scalars: &[Option<i64>]) -> bool {
        let Some(inputs) = sample(&self.call, extents, scalars) else {
            return false;
        };
        (self.trial)(&self.call.entry, &inputs).is_some_and(|trial| trial.fits)
    }

    /// Finds the scalars that may be large.
    fn scalars(&mut self) {
        let variables = vec![3; self.call.variables()];
        let extents = self.call.extents(&variables);
        let scalars = self.call.scalars();
        for (number, (elem, _)) in scalars.iter().enumerate() {
            if matches!(self.call.roles[number], Role::Size(_)) {
                continue;
            }
            let cheap = match elem {
                ElemType::Bool | ElemType::I8 | ElemType::U8 => true,
                ElemType::F16 | ElemType::F32 | ElemType::F64 => true,
                _ => self.stays_cheap(&extents, scalars.len(), number, *elem),
            };
            if cheap {
                self.call.roles[number] = Role::Any;
            }
        }
    }

    fn stays_cheap(
        &mut self,
        extents: &[usize],
        count: usize,
        number: usize,
        elem: ElemType,
    ) -> bool {
        let mut first: Option<Trial> = None;
        for value in GROWING {
            if elem.size() == 2 && value > i64::from(i16::MAX) {
                break;
            }
            let mut scalars = vec![Some(1); count];
            for (other, role) in self.call.roles.iter().enumerate() {
                if matches!(role, Role::Size(_)) {
                    scalars[other] = None;
                }
            }
            scalars[number] = Some(value);
            let Some(inputs) = sample(&self.call, extents, &scalars) else {
                return false;
            };
            let mut call = || (self.trial)(&self.call.entry, &inputs);
            let Some(mut trial) = call() else {
                return false;
            };
            let first = *first.get_or_insert(trial);
            let long = first.seconds * MUCH_LONGER + NOISE;
            // A busy machine delays some calls, but not the same one again and again.
            for _ in 0..2 {
                if trial.seconds > long && !trial.costly {
                    let Some(again) = call() else { return false };
                    trial = again;
                }
            }
            let longer = trial.seconds > long;
            let larger = trial.bytes > first.bytes + 64;
            if trial.costly || longer || larger {
                return false;
            }
        }
        true
    }
}

/// These sizes, of which the ones at `places` are larger by one.
fn enlarged(base: &[usize], places: &[usize]) -> Vec<usize> {
    let mut sizes = base.to_vec();
    places.iter().for_each(|place| sizes[*place] += 1);
    sizes
}

#[cfg(test)]
mod tests;
