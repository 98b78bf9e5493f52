//! The functions of a table in the order of their numbers, which C and Rust share.

use futhark_manifest::{Program, TypeRef};

use super::type_number;
use super::wrappers::{Function, functions};
use crate::compile::hash::Hash;

/// The functions in the table of a program. The index of a function is its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionList {
    names: Vec<String>,
    hash: u64,
}

impl FunctionList {
    /// The functions of `program`.
    #[must_use]
    pub fn of(program: &Program) -> FunctionList {
        let functions = functions(program);
        FunctionList {
            hash: hash(program, &functions),
            names: functions.into_iter().map(|f| f.cfun.to_owned()).collect(),
        }
    }

    /// The C names of the functions.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A hash of the names of types and functions and of the parameters and results of each function,
    /// in the order of their numbers. A table with another hash has other numbers.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

pub(super) fn hash(program: &Program, functions: &[Function<'_>]) -> u64 {
    let slot = |hash: Hash, ty: TypeRef, consumed: bool| {
        let number = type_number(ty) as u64;
        hash.with(number.to_le_bytes()).with([u8::from(consumed)])
    };
    let types = program.types();
    let mut hash = Hash::new().with(types.len().to_le_bytes());
    for ty in types {
        hash = hash.with(&ty.name);
    }
    for function in functions {
        hash = hash
            .with(function.cfun)
            .with(function.out.len().to_le_bytes());
        for &ty in &function.out {
            hash = slot(hash, ty, false);
        }
        hash = hash.with(function.input.len().to_le_bytes());
        for &(ty, consumed) in &function.input {
            hash = slot(hash, ty, consumed);
        }
    }
    hash.number()
}

#[cfg(test)]
mod tests {
    use futhark_manifest::Manifest;

    use super::*;

    fn list(one: &str, other: &str) -> (u64, FunctionList) {
        let entry = |cfun: &str| {
            format!(
                r#"{{"cfun": "{cfun}", "tuning_params": [], "outputs": [],
                    "inputs": [{{"name": "x", "type": "i32", "unique": false}}]}}"#
            )
        };
        let text = format!(
            r#"{{"backend": "c", "version": "0.25.32", "types": {{}},
                "entry_points": {{"f": {}, "g": {}}}}}"#,
            entry(one),
            entry(other)
        );
        let program = Manifest::parse(&text).unwrap().resolve().unwrap();
        (program.interface_hash(), FunctionList::of(&program))
    }

    /// The hash of the interface does not include C names, which determine the order of functions.
    #[test]
    fn functions_in_another_order_have_another_hash() {
        let (interface, first) = list("futhark_entry_f", "futhark_entry_g");
        let (same_interface, second) = list("futhark_entry_z", "futhark_entry_g");
        assert_eq!(first.names(), ["futhark_entry_f", "futhark_entry_g"]);
        assert_eq!(second.names(), ["futhark_entry_g", "futhark_entry_z"]);
        assert_eq!(interface, same_interface);
        assert_ne!(first.hash(), second.hash());
        assert_eq!(
            first,
            list("futhark_entry_f", "futhark_entry_g").1,
            "it depends on nothing else"
        );
    }
}
