//! Matches the parameters, fields and variants of two programs.

use std::collections::{HashMap, HashSet};

use crate::manifest::model::{Input, Structure, TypeKind};
use crate::manifest::program::{Type, TypeRef};

/// Members of two lists matched by name; each name occurs once in a list.
pub(super) struct Members {
    /// Indices in the old and the new list, in the order of the old one.
    pub(super) common: Vec<(usize, usize)>,
    /// Indices in the old list.
    pub(super) removed: Vec<usize>,
    /// Indices in the new list.
    pub(super) added: Vec<usize>,
}

impl Members {
    pub(super) fn by_name<T>(old: &[T], new: &[T], name: impl Fn(&T) -> &str) -> Members {
        let mut left: HashMap<&str, usize> = HashMap::with_capacity(new.len());
        left.extend(new.iter().enumerate().map(|(j, member)| (name(member), j)));
        let (mut common, mut removed) = (Vec::new(), Vec::new());
        for (i, member) in old.iter().enumerate() {
            match left.remove(name(member)) {
                Some(j) => common.push((i, j)),
                None => removed.push(i),
            }
        }
        let mut added: Vec<usize> = left.into_values().collect();
        added.sort_unstable();
        Members {
            common,
            removed,
            added,
        }
    }

    /// Whether the common members have another order.
    pub(super) fn reordered(&self) -> bool {
        !self.common.is_sorted_by_key(|&(_, j)| j)
    }
}

/// The matched parameters of an entry point.
pub(super) struct Inputs {
    /// Indices in the old and the new list; one is missing if the parameter was added or
    /// removed.
    pub(super) pairs: Vec<(Option<usize>, Option<usize>)>,
    /// Whether the same parameters have another order.
    pub(super) reordered: bool,
}

impl Inputs {
    /// Matches parameters by position. Names show which parameter was inserted, and whether
    /// parameters were reordered.
    pub(super) fn align(old: &[Input], new: &[Input]) -> Inputs {
        if old.len() == new.len() {
            if let Some(pairs) = permutation(old, new) {
                return Inputs {
                    pairs,
                    reordered: true,
                };
            }
            let pairs = (0..old.len()).map(|i| (Some(i), Some(i))).collect();
            return Inputs {
                pairs,
                reordered: false,
            };
        }
        let shorter = old.len().min(new.len());
        let same = |(a, b): &(&Input, &Input)| a.name == b.name;
        let start = old.iter().zip(new).take_while(same).count();
        let ends = old.iter().rev().zip(new.iter().rev());
        let end = ends.take(shorter - start).take_while(same).count();

        // In the middle, parameters without a counterpart come last.
        let middle = start..(old.len().max(new.len()) - end);
        let within = |i: usize, len: usize| (i < len - end).then_some(i);
        let mut pairs: Vec<_> = (0..start).map(|i| (Some(i), Some(i))).collect();
        pairs.extend(middle.map(|i| (within(i, old.len()), within(i, new.len()))));
        let last = (1..=end).rev();
        pairs.extend(last.map(|i| (Some(old.len() - i), Some(new.len() - i))));
        Inputs {
            pairs,
            reordered: false,
        }
    }
}

/// The parameters by name, if they are the same but not in the same order.
fn permutation(old: &[Input], new: &[Input]) -> Option<Vec<(Option<usize>, Option<usize>)>> {
    // Names can repeat: a parameter that is a pattern is called `_`.
    let mut seen = HashSet::new();
    if !old.iter().all(|input| seen.insert(&input.name)) {
        return None;
    }
    let members = Members::by_name(old, new, |input| &input.name);
    let same = members.removed.is_empty() && members.added.is_empty();
    let pairs = members.common.iter().map(|&(i, j)| (Some(i), Some(j)));
    (same && members.reordered()).then(|| pairs.collect())
}

/// The references to types at the same place in two types: the same field, the same
/// payload value, the element.
pub(super) fn parts(old: &Type, new: &Type) -> Vec<(TypeRef, TypeRef)> {
    let (TypeKind::Opaque(old), TypeKind::Opaque(new)) = (&old.kind, &new.kind) else {
        return Vec::new();
    };
    let (old_fields, new_fields) = match (&old.structure, &new.structure) {
        (Structure::Record(old), Structure::Record(new)) => (&old.fields, &new.fields),
        (Structure::RecordArray(old), Structure::RecordArray(new)) => (&old.fields, &new.fields),
        (Structure::Sum(old), Structure::Sum(new)) => {
            let (old, new) = (&old.variants, &new.variants);
            let members = Members::by_name(old, new, |variant| &variant.name);
            let common = members.common.into_iter();
            let payloads = common.map(|(i, j)| old[i].payload.iter().zip(&new[j].payload));
            return payloads.flatten().map(|(&a, &b)| (a, b)).collect();
        }
        _ => return element(&old.structure, &new.structure),
    };
    let members = Members::by_name(old_fields, new_fields, |field| &field.name);
    let common = members.common.into_iter();
    let fields = common.map(|(i, j)| (old_fields[i].ty, new_fields[j].ty));
    let elements = element(&old.structure, &new.structure);
    elements.into_iter().chain(fields).collect()
}

fn element(old: &Structure, new: &Structure) -> Vec<(TypeRef, TypeRef)> {
    let element = |structure: &Structure| match structure {
        Structure::RecordArray(array) => Some(array.elem),
        Structure::OpaqueArray(array) => Some(array.elem),
        Structure::Plain | Structure::Record(_) | Structure::Sum(_) => None,
    };
    element(old).zip(element(new)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elem::ElemType;

    fn inputs(names: &str) -> Vec<Input> {
        let input = |name: &str| Input {
            name: name.to_owned(),
            ty: TypeRef::Scalar(ElemType::I32),
            unique: false,
            unknown: crate::manifest::model::Unknown::new(),
        };
        names.split_whitespace().map(input).collect()
    }

    #[test]
    fn parameters_are_matched_by_position_and_name() {
        for (old, new, expected) in [
            ("", "", ""),
            ("a b", "a b", "0-0 1-1"),
            ("a b", "c d", "0-0 1-1"),
            ("a b c", "a c", "0-0 1- 2-1"),
            ("a c", "a b c", "0-0 -1 1-2"),
            ("a", "a b c", "0-0 -1 -2"),
            ("", "a", "-0"),
            ("a b", "", "0- 1-"),
            ("_ _", "_ _ _", "0-0 1-1 -2"),
            ("a x b", "a y z b", "0-0 1-1 -2 2-3"),
            ("a b c", "b c a", "0-2 1-0 2-1 reordered"),
            ("a a b", "a b a", "0-0 1-1 2-2"),
        ] {
            let aligned = Inputs::align(&inputs(old), &inputs(new));
            let index = |i: Option<usize>| i.map_or(String::new(), |i| i.to_string());
            let pairs = aligned.pairs.into_iter();
            let mut words: Vec<_> = pairs
                .map(|(i, j)| format!("{}-{}", index(i), index(j)))
                .collect();
            words.extend(aligned.reordered.then(|| "reordered".to_owned()));
            assert_eq!(words.join(" "), expected, "{old:?} {new:?}");
        }
    }
}
