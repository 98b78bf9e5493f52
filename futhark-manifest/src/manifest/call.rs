//! The functions that take and return values, in an order that generated code and a library share.

use std::fmt::Write as _;

use crate::elem::ElemType;
use crate::manifest::c::{ParameterRole, Passing, Returns};
use crate::manifest::model::TypeRef;
use crate::manifest::operation::{Function, Operation, Owner};
use crate::manifest::program::Program;
use crate::text::fnv1a;

/// An entry point, or an operation that makes an opaque value from its parts or reads a part.
///
/// Every type also has operations of its own, such as `free`, which are not included.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The C function.
    pub function: Function<'a>,
    /// The type of each result.
    pub outputs: Vec<TypeRef>,
    /// The type of each parameter, and whether the call consumes the argument.
    pub inputs: Vec<(TypeRef, bool)>,
    /// Whether the C function returns its result, the number of a variant. Otherwise it returns a
    /// status, and has an output parameter for each result.
    pub returns_variant: bool,
}

/// The names of a program's [calls](Program::calls) in their order, and a hash of that order.
///
/// ```
/// use futhark_manifest::{FunctionList, Manifest};
///
/// let text = r#"{"backend": "c", "version": "0.25.32", "types": {}, "entry_points":
///     {"f": {"cfun": "futhark_entry_f", "inputs": [], "outputs": [], "tuning_params": []}}}"#;
/// let functions = FunctionList::of(&Manifest::parse(text)?.resolve()?);
/// assert_eq!(functions.names(), ["futhark_entry_f"]);
/// # Ok::<(), futhark_manifest::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionList {
    names: Vec<String>,
    hash: u64,
}

impl FunctionList {
    /// The functions of `program`.
    #[must_use]
    pub fn of(program: &Program) -> FunctionList {
        let calls = program.calls();
        FunctionList {
            hash: fnv1a(text(program, &calls).as_bytes()),
            names: calls.iter().map(|c| c.function.name.to_owned()).collect(),
        }
    }

    /// The C names of the functions. The index of a name is the number of the function.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A hash (FNV-1a, 64 bits) of the names of types and functions and of the parameters and results of
    /// each function, in the order of their numbers. A library with another hash has other numbers.
    ///
    /// Unlike [`Program::interface_hash`], it covers C names. It is not cryptographic.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

impl Program {
    /// Entry points and operations on opaque values, ordered by C name.
    #[must_use]
    pub fn calls(&self) -> Vec<Call<'_>> {
        let functions = self.functions();
        let mut calls: Vec<_> = functions
            .filter(|function| is_call(function.operation))
            .map(|function| call(self, function))
            .collect();
        calls.sort_by_key(|call| call.function.name);
        calls
    }
}

fn is_call(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::EntryPoint
            | Operation::RecordNew
            | Operation::RecordProject
            | Operation::RecordArrayZip
            | Operation::RecordArrayProject
            | Operation::SumVariant
            | Operation::SumConstruct
            | Operation::SumDestruct
    )
}

fn call<'a>(program: &Program, function: Function<'a>) -> Call<'a> {
    let (mut outputs, mut inputs) = (Vec::new(), Vec::new());
    let prototype = program.prototype(&function);
    for parameter in &prototype.parameters {
        let consumed = parameter.passing == Passing::Consumed;
        match (parameter.role, function.owner) {
            (ParameterRole::Output { ty, .. }, _) => outputs.push(ty),
            (ParameterRole::Value, Owner::Type(id)) => inputs.push((TypeRef::Type(id), consumed)),
            (
                ParameterRole::Field { ty, .. }
                | ParameterRole::Payload { ty, .. }
                | ParameterRole::Argument { ty, .. },
                _,
            ) => inputs.push((ty, consumed)),
            _ => {}
        }
    }
    let returns_variant = prototype.returns == Returns::Variant;
    if returns_variant {
        outputs.push(TypeRef::Scalar(ElemType::I32));
    }
    Call {
        function,
        outputs,
        inputs,
        returns_variant,
    }
}

/// The text that is hashed. Names have their length in bytes as a prefix, so that the text is
/// unambiguous.
fn text(program: &Program, calls: &[Call<'_>]) -> String {
    let mut text = String::from("futhark-functions 1\n");
    let mut write = |line: std::fmt::Arguments<'_>| {
        text.write_fmt(line).expect("a String takes any text");
    };
    for ty in program.types() {
        write(format_args!("type {}:{}\n", ty.name.len(), ty.name));
    }
    for call in calls {
        let name = call.function.name;
        write(format_args!("function {}:{name}", name.len()));
        write(format_args!(" {}", call.outputs.len()));
        for &ty in &call.outputs {
            let name = program.name_of(ty);
            write(format_args!(" {}:{name}", name.len()));
        }
        write(format_args!(" {}", call.inputs.len()));
        for &(ty, consumed) in &call.inputs {
            let mode = if consumed { "consumes" } else { "observes" };
            let name = program.name_of(ty);
            write(format_args!(" {mode} {}:{name}", name.len()));
        }
        write(format_args!("\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;

    fn program(one: &str, other: &str, input: &str) -> Program {
        let entry = |cfun: &str| {
            format!(
                r#"{{"cfun": "{cfun}", "tuning_params": [], "outputs": [],
                    "inputs": [{{"name": "x", "type": "{input}", "unique": false}}]}}"#
            )
        };
        let text = format!(
            r#"{{"backend": "c", "version": "0.25.32", "types": {{}},
                "entry_points": {{"f": {}, "g": {}}}}}"#,
            entry(one),
            entry(other)
        );
        Manifest::parse(&text).unwrap().resolve().unwrap()
    }

    /// The hash of the interface does not include C names, which determine the order of functions.
    #[test]
    fn functions_in_another_order_have_another_hash() {
        let first = program("futhark_entry_f", "futhark_entry_g", "i32");
        let second = program("futhark_entry_z", "futhark_entry_g", "i32");
        let (one, other) = (FunctionList::of(&first), FunctionList::of(&second));
        assert_eq!(one.names(), ["futhark_entry_f", "futhark_entry_g"]);
        assert_eq!(other.names(), ["futhark_entry_g", "futhark_entry_z"]);
        assert_eq!(first.interface_hash(), second.interface_hash());
        assert_ne!(one.hash(), other.hash());
        let same = program("futhark_entry_f", "futhark_entry_g", "i32");
        assert_eq!(one, FunctionList::of(&same), "it depends on nothing else");
    }

    #[test]
    fn functions_with_other_types_have_another_hash() {
        let hash = |input| {
            let program = program("futhark_entry_f", "futhark_entry_g", input);
            FunctionList::of(&program).hash()
        };
        assert_ne!(hash("i32"), hash("i64"));
    }
}
