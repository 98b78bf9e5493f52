//! Matches the types of two programs.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use super::align::{self, Inputs};
use super::structure::Numbers;
use crate::manifest::program::{EntryPoint, Program, TypeId, TypeRef};
use crate::spaces::squeezed;

/// Types matched across two programs, each at most once. The documentation of the parent
/// module lists the rules.
pub(super) struct Pairing {
    /// For each type of the old program, the matching type of the new one.
    new_of: Vec<Option<TypeId>>,
    old_of: Vec<Option<TypeId>>,
}

impl Pairing {
    pub(super) fn find(old: &Program, new: &Program) -> Pairing {
        let mut pairing = Pairing {
            new_of: vec![None; old.types().len()],
            old_of: vec![None; new.types().len()],
        };
        for (a, ty) in old.types_with_ids() {
            if let Some(b) = new.type_named(&ty.name) {
                pairing.pair(a, b);
            }
        }
        let mut numbers = Numbers::default();
        let (old_numbers, new_numbers) = (numbers.of(old), numbers.of(new));
        pairing.by_key(old, new, |program, id| {
            let ty = program.get(id);
            ty.as_array().map(|array| (array.elem, array.rank))
        });
        pairing.by_key(old, new, |program, id| {
            let ty = program.get(id);
            ty.as_opaque().map(|_| squeezed(&ty.name))
        });
        let mut matching = Matching {
            old,
            new,
            old_numbers,
            new_numbers,
            pairing,
            alike: VecDeque::new(),
            different: VecDeque::new(),
        };
        matching.run();
        matching.pairing
    }

    /// The partner of a type of the old program.
    pub(super) fn of_old(&self, id: TypeId) -> Option<TypeId> {
        self.new_of[id.index()]
    }

    /// The partner of a type of the new program.
    pub(super) fn of_new(&self, id: TypeId) -> Option<TypeId> {
        self.old_of[id.index()]
    }

    /// Whether two references are the same scalar or matched types.
    pub(super) fn same(&self, old: TypeRef, new: TypeRef) -> bool {
        match (old, new) {
            (TypeRef::Scalar(old), TypeRef::Scalar(new)) => old == new,
            (TypeRef::Type(old), TypeRef::Type(new)) => self.of_old(old) == Some(new),
            _ => false,
        }
    }

    fn pair(&mut self, old: TypeId, new: TypeId) {
        self.new_of[old.index()] = Some(new);
        self.old_of[new.index()] = Some(old);
    }

    fn are_free(&self, old: TypeId, new: TypeId) -> bool {
        self.of_old(old).is_none() && self.of_new(new).is_none()
    }

    /// Matches the remaining types by a key, if only one type of each program has it.
    fn by_key<K: Eq + Hash>(
        &mut self,
        old: &Program,
        new: &Program,
        key: impl Fn(&Program, TypeId) -> Option<K>,
    ) {
        let mut holders: HashMap<K, (Vec<TypeId>, Vec<TypeId>)> = HashMap::new();
        for (id, _) in old.types_with_ids() {
            if self.of_old(id).is_none()
                && let Some(key) = key(old, id)
            {
                holders.entry(key).or_default().0.push(id);
            }
        }
        for (id, _) in new.types_with_ids() {
            if self.of_new(id).is_none()
                && let Some(key) = key(new, id)
            {
                holders.entry(key).or_default().1.push(id);
            }
        }
        for (old, new) in holders.into_values() {
            if let (&[old], &[new]) = (&old[..], &new[..]) {
                self.pair(old, new);
            }
        }
    }
}

/// A queue of pairs of types at the same place.
///
/// Each place is visited once. A pair leads to further places only when it is matched, which
/// happens at most once per type.
struct Matching<'p> {
    old: &'p Program,
    new: &'p Program,
    old_numbers: Vec<usize>,
    new_numbers: Vec<usize>,
    pairing: Pairing,
    /// Pairs with the same structure, which are matched first.
    alike: VecDeque<(TypeId, TypeId)>,
    different: VecDeque<(TypeId, TypeId)>,
}

impl Matching<'_> {
    fn run(&mut self) {
        self.at_entry_points();
        for (a, _) in self.old.types_with_ids() {
            if let Some(b) = self.pairing.of_old(a) {
                self.in_parts(a, b);
            }
        }
        while let Some((a, b)) = self
            .alike
            .pop_front()
            .or_else(|| self.different.pop_front())
        {
            if self.pairing.are_free(a, b) {
                self.pairing.pair(a, b);
                self.in_parts(a, b);
            }
        }
    }

    fn at_entry_points(&mut self) {
        let (old, new) = (self.old, self.new);
        for before in old.entries() {
            let Some(after) = new.entry(&before.name) else {
                continue;
            };
            for pair in Inputs::align(&before.inputs, &after.inputs).pairs {
                if let (Some(i), Some(j)) = pair {
                    self.meet(before.inputs[i].ty, after.inputs[j].ty);
                }
            }
            let components = |of: &Program, entry: &EntryPoint| {
                let components = entry.result_form(of).components();
                components.collect::<Vec<_>>()
            };
            let (before, after) = (components(old, before), components(new, after));
            if before.len() == after.len() {
                for (a, b) in before.into_iter().zip(after) {
                    self.meet(a, b);
                }
            }
        }
    }

    fn in_parts(&mut self, old: TypeId, new: TypeId) {
        for (a, b) in align::parts(self.old.get(old), self.new.get(new)) {
            self.meet(a, b);
        }
    }

    fn meet(&mut self, old: TypeRef, new: TypeRef) {
        let (Some(a), Some(b)) = (old.as_type(), new.as_type()) else {
            return;
        };
        // Arrays of scalars with other elements or another rank are different types, so the type
        // of the place has changed.
        let is_opaque = |program: &Program, id| program.get(id).as_opaque().is_some();
        let are_opaque = is_opaque(self.old, a) && is_opaque(self.new, b);
        if !are_opaque || !self.pairing.are_free(a, b) {
            return;
        }
        if self.old_numbers[a.index()] == self.new_numbers[b.index()] {
            self.alike.push_back((a, b));
        } else {
            self.different.push_back((a, b));
        }
    }
}
