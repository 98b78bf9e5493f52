//! Calls to generate: the free choices in the arguments of an entry point, and the constraints on them.
//!
//! The manifest does not say which sizes must be equal, so [`Call::learn`] finds that out by trial calls. A call
//! with wrong sizes fails before it computes anything, so trials are cheap: first with all sizes equal, then known
//! ones, then combinations; then with one size changed, then with two or more together; then with an extent that is the
//! product of two scalars. A scalar may be a size, or the number of iterations of a loop: then the time or the size of
//! the result grows with it.

use super::input::Input;
use super::strategy::sample;
use crate::harness::make::Constructor;
use futhark_manifest::{ElemType, EntryPoint, Program, Structure, TypeKind, TypeRef};
use std::sync::Arc;

/// The maximum nesting of entry points that create arguments for entry points.
const MAX_CALLS: usize = 3;

/// The maximum number of entry points in a recipe for a type; those that cannot be called do not count.
const MAX_MAKERS: usize = 4;

/// How to create a value. Free choices have numbers. Extents are numbered through a whole call,
/// because they depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// The scalar with this number in the call.
    Scalar(usize),
    /// An array, with the number of each extent.
    Array(ElemType, Vec<usize>),
    /// A value with parts, made in one of these ways: a record, an array of records, or a variant of a sum. Each as
    /// an input without parts, and the recipes of its parts.
    Compound(Vec<(Input, Vec<Recipe>)>),
    /// A result of one of several calls, with its index.
    Made(Vec<(Arc<Call>, usize)>),
}

/// The arguments of an entry point, and the constraints on their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub entry: String,
    pub arguments: Vec<Recipe>,
    /// The extents, by number; those with the same variable are equal. `settle_product` appends extents of no array,
    /// the values of scalars.
    pub extents: Vec<Extent>,
    pub scalars: Vec<Scalar>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub elem: ElemType,
    pub role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The value of the variable with this number.
    Variable(usize),
    /// The product of the variables with these numbers.
    Product(usize, usize),
    /// This value only, according to the trial calls.
    Fixed(usize),
}

/// A constraint on a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Any,
    /// A small number: time or memory grow with it, or may do so.
    Small,
    /// The extent with this number.
    Size(usize),
}

impl Call {
    /// The call of an entry point, with the constraints that trial calls show. `known` has extents that the entry point
    /// accepts, and then its arguments of type i64, if they are known. `trial` makes one call of an entry point.
    /// `None`: the call was not made, or its outcome not read, which counts as a refusal.
    pub fn learn(
        program: &Program,
        entry: &EntryPoint,
        known: Option<&[usize]>,
        trial: &mut dyn FnMut(&str, &[Input]) -> Option<Trial>,
    ) -> Result<Call, String> {
        Writer::call(program, entry, known, trial, &mut Vec::new())
    }

    /// The number of variables of the extents.
    #[must_use]
    pub fn variables(&self) -> usize {
        let numbers = self.extents.iter().map(|extent| match extent {
            Extent::Variable(number) => number + 1,
            Extent::Product(one, other) => one.max(other) + 1,
            Extent::Fixed(_) => 0,
        });
        numbers.max().unwrap_or(0)
    }

    /// The extents for given variables.
    #[must_use]
    pub fn extents(&self, variables: &[usize]) -> Vec<usize> {
        let extents = self.extents.iter().map(|extent| match extent {
            Extent::Variable(number) => variables[*number],
            Extent::Product(one, other) => variables[*one] * variables[*other],
            Extent::Fixed(size) => *size,
        });
        extents.collect()
    }

    /// The number of elements of the largest array that is not made by an entry point.
    #[must_use]
    pub fn largest(&self, extents: &[usize]) -> usize {
        let sizes = self.arguments.iter().map(|recipe| recipe.largest(extents));
        sizes.max().unwrap_or(0)
    }
}

impl Recipe {
    fn largest(&self, extents: &[usize]) -> usize {
        match self {
            Recipe::Scalar(..) | Recipe::Made(_) => 1,
            Recipe::Array(_, dims) => dims.iter().map(|dim| extents[*dim]).product(),
            Recipe::Compound(ways) => {
                let parts = ways.iter().flat_map(|(_, parts)| parts);
                parts.map(|part| part.largest(extents)).max().unwrap_or(0)
            }
        }
    }
}

/// Builds the recipes of one call, and counts its free choices.
struct Writer<'a> {
    program: &'a Program,
    trial: &'a mut dyn FnMut(&str, &[Input]) -> Option<Trial>,
    extents: usize,
    scalars: Vec<Scalar>,
}

impl Writer<'_> {
    /// `being_made` has the types of the values for which this call is needed: it must not need another value of them.
    fn call(
        program: &Program,
        entry: &EntryPoint,
        known: Option<&[usize]>,
        trial: &mut dyn FnMut(&str, &[Input]) -> Option<Trial>,
        being_made: &mut Vec<TypeRef>,
    ) -> Result<Call, String> {
        let mut writer = Writer {
            program,
            trial,
            extents: 0,
            scalars: Vec::new(),
        };
        let inputs = entry.inputs.iter();
        let arguments = inputs
            .map(|input| writer.recipe(input.ty, &[], being_made))
            .collect::<Result<_, _>>()?;
        // All extents are equal, and scalars are small, as long as nothing else is known.
        let call = Call {
            entry: entry.name.clone(),
            arguments,
            extents: vec![Extent::Variable(0); writer.extents],
            scalars: writer.scalars,
        };
        Lesson::new(call, writer.trial).learn(known)
    }

    /// `outer` has the extents that the value shares with the other fields of an array of records.
    fn recipe(
        &mut self,
        ty: TypeRef,
        outer: &[usize],
        being_made: &mut Vec<TypeRef>,
    ) -> Result<Recipe, String> {
        let id = match ty {
            TypeRef::Scalar(elem) => {
                let role = Role::Small;
                self.scalars.push(Scalar { elem, role });
                return Ok(Recipe::Scalar(self.scalars.len() - 1));
            }
            TypeRef::Type(id) => id,
        };
        let opaque = match &self.program.get(id).kind {
            TypeKind::Array(array) => {
                return Ok(Recipe::Array(array.elem, self.dims(outer, array.rank)));
            }
            TypeKind::Opaque(opaque) => opaque,
        };
        let dims = match &opaque.structure {
            Structure::RecordArray(array) => self.dims(outer, array.rank),
            _ => Vec::new(),
        };
        let mut ways = Vec::new();
        let mut missing = None;
        for constructor in Constructor::all_of(self.program, id) {
            let parts = constructor.parts().into_iter();
            let parts = parts.map(|ty| self.recipe(ty, &dims, being_made));
            match parts.collect::<Result<Vec<_>, _>>() {
                Ok(parts) => ways.push((constructor.empty(), parts)),
                Err(reason) => missing = Some(reason),
            }
        }
        match missing {
            _ if !ways.is_empty() => Ok(Recipe::Compound(ways)),
            Some(reason) => Err(reason),
            None => self.made(ty, being_made),
        }
    }

    fn dims(&mut self, outer: &[usize], rank: usize) -> Vec<usize> {
        let mut dims = outer.to_vec();
        dims.truncate(rank);
        while dims.len() < rank {
            dims.push(self.extents);
            self.extents += 1;
        }
        dims
    }

    fn made(&mut self, ty: TypeRef, being_made: &mut Vec<TypeRef>) -> Result<Recipe, String> {
        let none = || {
            let name = self.program.name_of(ty);
            format!("no operation of the program makes a value of type {name}")
        };
        if being_made.len() == MAX_CALLS || being_made.contains(&ty) {
            return Err(none());
        }
        being_made.push(ty);
        let mut entries: Vec<_> = self.program.entries().iter().collect();
        entries.sort_by_key(|entry| entry.inputs.len());
        let mut makers = Vec::new();
        let mut why = none();
        for entry in entries {
            let Some(output) = entry.outputs.iter().position(|output| output.ty == ty) else {
                continue;
            };
            match Writer::call(self.program, entry, None, self.trial, being_made) {
                Ok(call) => makers.push((Arc::new(call), output)),
                Err(reason) => why = reason,
            }
            if makers.len() == MAX_MAKERS {
                break;
            }
        }
        being_made.pop();
        if makers.is_empty() {
            return Err(why);
        }
        Ok(Recipe::Made(makers))
    }
}

/// The outcome of a trial call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Whether the sizes were valid, even if the call failed later.
    pub fits: bool,
    pub seconds: f64,
    /// The size of the results in bytes.
    pub bytes: usize,
    /// Whether it ran out of memory or lost the context, or whether the input did not fit the entry point.
    pub costly: bool,
}

/// With more sizes than this, all sizes are one group.
const MAX_SIZES: usize = 12;

/// The values to try for all sizes (extents and i64 arguments), until a call accepts them.
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
        let candidates = call.arguments.iter().filter_map(|recipe| match recipe {
            Recipe::Scalar(number) => Some(*number),
            _ => None,
        });
        let candidates = candidates.filter(|number| call.scalars[*number].elem == ElemType::I64);
        Lesson {
            candidates: candidates.collect(),
            call,
            trial,
        }
    }

    fn learn(mut self, known: Option<&[usize]>) -> Result<Call, String> {
        self.sizes(known)?;
        self.scalars();
        Ok(self.call)
    }

    /// Finds the groups of sizes that the entry point accepts.
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
        if groups.iter().map(Vec::len).sum::<usize>() < count
            && let Some(sizes) = self.product(&base)
        {
            let mut others = groups.clone();
            others.retain(|group| sizes.iter().all(|size| !group.contains(size)));
            self.settle(&base, &others);
            self.settle_product(sizes);
            if self.groups_fit() {
                return Ok(());
            }
            self.call = plain.clone();
        }
        self.settle(&base, &groups);
        if !self.groups_fit() {
            self.call = plain;
            self.settle(&base, &[]);
        }
        Ok(())
    }

    /// Whether all groups are valid together.
    fn groups_fit(&mut self) -> bool {
        let variables: Vec<usize> = (0..self.call.variables())
            .map(|number| 2 + number)
            .collect();
        let extents = self.call.extents(&variables);
        self.accepts_with(&extents, &[])
    }

    /// Finds valid sizes.
    fn base(&mut self, count: usize, known: Option<&[usize]>) -> Option<Vec<usize>> {
        let alike = ALIKE.into_iter().map(|size| vec![size; count]);
        let known = known.filter(|sizes| sizes.len() == count);
        // All combinations of sizes below `top`, at most 512.
        let top: usize = match count {
            1 => 130,
            2 => 17,
            3 => 8,
            _ => 0,
        };
        let power = |index: usize| top.pow(u32::try_from(index).unwrap_or(u32::MAX));
        let combinations = (0..power(count)).map(|number| {
            let digits = (0..count).map(|index| number / power(index) % top);
            digits.collect::<Vec<_>>()
        });
        let mut all = alike.chain(known.map(<[_]>::to_vec)).chain(combinations);
        all.find(|sizes| self.accepts(sizes))
    }

    /// Divides the sizes into groups that can only change together; a size that must keep its value is in no group.
    fn groups(&mut self, base: &[usize]) -> Vec<Vec<usize>> {
        let sizes = 0..base.len();
        let (free, mut tied): (Vec<usize>, Vec<usize>) =
            sizes.partition(|&size| self.accepts(&enlarged(base, &[size])));
        let mut groups: Vec<Vec<usize>> = free.into_iter().map(|size| vec![size]).collect();
        while let Some(&first) = tied.first() {
            // A pair of equal sizes, otherwise all sizes that equal the first, without those that need not change.
            let equal = tied.iter().copied();
            let equal: Vec<usize> = equal.filter(|&size| base[size] == base[first]).collect();
            let pairs = equal[1..].iter().map(|&other| vec![first, other]);
            let mut all = pairs.chain([equal.clone()]);
            let group = all.find(|group| self.accepts(&enlarged(base, group)));
            // In no group, the size must have this one value.
            tied.remove(0);
            if let Some(group) = group {
                let group = self.fewest(base, first, group);
                tied.retain(|size| !group.contains(size));
                groups.push(group);
            }
        }
        groups
    }

    /// Removes from a group, one after another, the sizes that need not change with `first`.
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
        for (extent, size) in self.call.extents.iter_mut().zip(base) {
            *extent = Extent::Fixed(*size);
        }
        let mut variable = 0;
        for group in groups {
            let Some(&first) = group.iter().find(|&&size| size < extents) else {
                continue;
            };
            for &size in group {
                if size < extents {
                    self.call.extents[size] = Extent::Variable(variable);
                } else {
                    let scalar = self.candidates[size - extents];
                    self.call.scalars[scalar].role = Role::Size(first);
                }
            }
            variable += 1;
        }
    }

    /// Finds an extent that is the product of two scalars, as in `(n: i64) (m: i64) (xs: [n * m]i32)`: its number
    /// among the sizes, and those of the scalars.
    fn product(&mut self, base: &[usize]) -> Option<[usize; 3]> {
        let extents = self.call.extents.len();
        for extent in 0..extents {
            for one in extents..base.len() {
                for other in one + 1..base.len() {
                    let mut accepts = |sizes_of_three| {
                        let mut sizes = base.to_vec();
                        [sizes[extent], sizes[one], sizes[other]] = sizes_of_three;
                        self.accepts(&sizes)
                    };
                    // Two products: one alone can be a constant, or twice a size.
                    if accepts([6, 2, 3]) && !accepts([5, 2, 3]) && accepts([15, 3, 5]) {
                        return Some([extent, one, other]);
                    }
                }
            }
        }
        None
    }

    /// Records a product: each of its scalars is the extent of no array, and has a variable of its own.
    fn settle_product(&mut self, [extent, one, other]: [usize; 3]) {
        let extents = self.call.extents.len();
        let variable = self.call.variables();
        self.call.extents[extent] = Extent::Product(variable, variable + 1);
        for (number, scalar) in [one, other].into_iter().enumerate() {
            let scalar = self.candidates[scalar - extents];
            self.call.scalars[scalar].role = Role::Size(extents + number);
            self.call.extents.push(Extent::Variable(variable + number));
        }
    }

    fn accepts(&mut self, sizes: &[usize]) -> bool {
        let (extents, candidates) = sizes.split_at(self.call.extents.len());
        let mut scalars = vec![None; self.call.scalars.len()];
        for (number, size) in self.candidates.iter().zip(candidates) {
            scalars[*number] = i64::try_from(*size).ok();
        }
        self.accepts_with(extents, &scalars)
    }

    /// Calls the entry point with these extents and scalars; by default, scalars that are sizes are the
    /// extents.
    fn accepts_with(&mut self, extents: &[usize], scalars: &[Option<i64>]) -> bool {
        let inputs = sample(&self.call, extents, scalars);
        (self.trial)(&self.call.entry, &inputs).is_some_and(|trial| trial.fits)
    }

    /// Finds the scalars that may be large.
    fn scalars(&mut self) {
        for (number, scalar) in self.call.scalars.clone().into_iter().enumerate() {
            let cheap = match (scalar.role, scalar.elem) {
                (Role::Size(_), _) => false,
                (_, ElemType::Bool | ElemType::I8 | ElemType::U8) => true,
                (_, ElemType::F16 | ElemType::F32 | ElemType::F64) => true,
                (_, elem) => self.stays_cheap(number, elem),
            };
            if cheap {
                self.call.scalars[number].role = Role::Any;
            }
        }
    }

    fn stays_cheap(&mut self, number: usize, elem: ElemType) -> bool {
        let variables = vec![3; self.call.variables()];
        let extents = self.call.extents(&variables);
        let others = self.call.scalars.iter();
        // By default, a scalar that is a size is the extent.
        let others = others.map(|other| match other.role {
            Role::Size(_) => None,
            Role::Any | Role::Small => Some(1),
        });
        let mut scalars: Vec<Option<i64>> = others.collect();
        let mut first: Option<Trial> = None;
        for value in GROWING {
            if elem.size() == 2 && value > i64::from(i16::MAX) {
                break;
            }
            scalars[number] = Some(value);
            let inputs = sample(&self.call, &extents, &scalars);
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

/// These sizes, of which those with these `numbers` are larger by one.
fn enlarged(base: &[usize], numbers: &[usize]) -> Vec<usize> {
    let mut sizes = base.to_vec();
    numbers.iter().for_each(|number| sizes[*number] += 1);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call with arrays of these ranks, and this number of i64 arguments.
    fn call(ranks: &[usize], scalars: usize) -> Call {
        let mut extents = 0;
        let mut arguments: Vec<Recipe> = (0..scalars).map(Recipe::Scalar).collect();
        for rank in ranks {
            arguments.push(Recipe::Array(
                ElemType::I32,
                (extents..extents + rank).collect(),
            ));
            extents += rank;
        }
        Call {
            entry: "f".into(),
            arguments,
            extents: vec![Extent::Variable(0); extents],
            scalars: vec![
                Scalar {
                    elem: ElemType::I64,
                    role: Role::Small
                };
                scalars
            ],
        }
    }

    /// All sizes of the inputs: scalars first, then extents.
    fn sizes(inputs: &[Input]) -> Vec<i64> {
        let leaves = inputs.iter().flat_map(Input::leaves);
        leaves
            .flat_map(|value| match value.shape() {
                [] => vec![i64::from_ne_bytes(value.bytes().try_into().unwrap())],
                shape => shape.iter().map(|&extent| extent as i64).collect(),
            })
            .collect()
    }

    fn trial(fits: bool, seconds: f64) -> Option<Trial> {
        Some(Trial {
            fits,
            seconds,
            bytes: 0,
            costly: false,
        })
    }

    fn learnt(call: &Call, fits: impl Fn(&[i64]) -> bool) -> Call {
        let mut call_it = |_: &str, inputs: &[Input]| trial(fits(&sizes(inputs)), 0.0);
        Lesson::new(call.clone(), &mut call_it).learn(None).unwrap()
    }

    #[test]
    fn equal_extents_are_found() {
        // [n][m] [m][k] [n]
        let call = learnt(&call(&[2, 2, 1], 0), |s| s[1] == s[2] && s[0] == s[4]);
        assert_eq!(call.variables(), 3);
        assert_eq!(call.extents[0], call.extents[4]);
        assert_eq!(call.extents[1], call.extents[2]);
        assert_ne!(call.extents[0], call.extents[3]);
    }

    #[test]
    fn three_equal_extents_are_found() {
        let call = learnt(&call(&[1, 1, 1, 1], 0), |s| s[0] == s[1] && s[1] == s[3]);
        assert_eq!(call.variables(), 2);
        assert_eq!(call.extents[0], call.extents[3]);
        assert_ne!(call.extents[0], call.extents[2]);
    }

    #[test]
    fn constants_and_sizes_that_are_arguments_are_found() {
        // (n: i64) (x: i64) [n] [4]
        let call = learnt(&call(&[1, 1], 2), |s| s[0] == s[2] && s[3] == 4);
        assert_eq!(call.extents[1], Extent::Fixed(4));
        assert_eq!(call.scalars[0].role, Role::Size(0));
        assert_eq!(call.scalars[1].role, Role::Any);
        assert_eq!(call.variables(), 1);
    }

    #[test]
    fn a_product_of_two_arguments_is_found() {
        // (n: i64) (m: i64) [n * m] [k]
        let call = learnt(&call(&[1, 1], 2), |s| s[0] * s[1] == s[2]);
        assert_eq!(call.variables(), 3);
        assert_eq!(call.extents(&[9, 2, 3]), [6, 9, 2, 3]);
        assert_eq!(
            [0, 1].map(|one: usize| call.scalars[one].role),
            [Role::Size(2), Role::Size(3)]
        );
    }

    #[test]
    fn what_fits_one_product_is_not_one() {
        // (n: i64) (m: i64) [6], and [2 * m]
        let constant = learnt(&call(&[1], 2), |s| s[2] == 6);
        assert_eq!(constant.extents, [Extent::Fixed(6)]);
        assert!(constant.scalars.iter().all(|one| one.role == Role::Any));
        let twice = learnt(&call(&[1], 2), |s| s[2] == 2 * s[1]);
        assert!(matches!(twice.extents[..], [Extent::Fixed(_)]));
    }

    #[test]
    fn a_scalar_that_determines_the_work_stays_small() {
        let call = call(&[], 2);
        let mut largest = 0;
        let mut call_it = |_: &str, inputs: &[Input]| {
            let sizes = sizes(inputs);
            largest = largest.max(sizes[1]);
            trial(true, 0.000_001 * sizes[1] as f64)
        };
        let call = Lesson::new(call, &mut call_it).learn(None).unwrap();
        assert_eq!(
            [0, 1].map(|number: usize| call.scalars[number].role),
            [Role::Any, Role::Small]
        );
        assert!(largest <= 65_536, "it was found out early");
    }

    #[test]
    fn a_scalar_with_exponential_work_stays_small() {
        let mut largest = 0;
        let mut call_it = |_: &str, inputs: &[Input]| {
            let size = sizes(inputs)[0];
            largest = largest.max(size);
            trial(true, 5e-9 * 2f64.powf(size as f64))
        };
        let call = Lesson::new(call(&[], 1), &mut call_it).learn(None).unwrap();
        assert_eq!(call.scalars[0].role, Role::Small);
        assert!(largest <= 21, "it was found out early: {largest}");
    }

    #[test]
    fn an_entry_point_that_rejects_all_sizes_is_an_error() {
        let error = Lesson::new(call(&[1, 1, 1, 1], 0), &mut |_, _| trial(false, 0.0))
            .learn(None)
            .unwrap_err();
        assert!(error.contains("no sizes"), "{error}");
    }
}
