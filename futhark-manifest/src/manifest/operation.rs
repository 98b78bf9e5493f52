//! The kinds of C functions that a manifest lists, and a walk over all of them.

use std::fmt;

use crate::backend::Backend;
use crate::manifest::model::{ArrayType, Field, Input, OpaqueType, Output, Structure, TypeKind};
use crate::manifest::model::{TypeId, TypeRef};
use crate::manifest::program::{EntryPoint, Program, Type};

/// A kind of C function that a manifest lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Creates an array of scalars from host memory.
    ArrayNew,
    /// Creates an array of scalars that borrows raw memory of the backend.
    ArrayNewRaw,
    /// Frees a handle of an array of scalars.
    ArrayFree,
    /// Copies all elements to host memory.
    ArrayValues,
    /// Reads one element of an array of scalars.
    ArrayIndex,
    /// Returns the raw memory of the backend.
    ArrayValuesRaw,
    /// Returns the shape of an array of scalars.
    ArrayShape,
    /// Frees a handle of an opaque value.
    OpaqueFree,
    /// Writes an opaque value as bytes.
    OpaqueStore,
    /// Creates an opaque value from bytes.
    OpaqueRestore,
    /// Reads a field of a record.
    RecordProject,
    /// Creates a record from its fields.
    RecordNew,
    /// Creates a value of a variant from its payload.
    SumConstruct,
    /// Returns the payload of a value of a variant.
    SumDestruct,
    /// Returns the variant of a value.
    SumVariant,
    /// Reads a field of every record in an array; the result is an array.
    RecordArrayProject,
    /// Creates an array of records from the arrays of its fields.
    RecordArrayZip,
    /// Reads one record of an array.
    RecordArrayIndex,
    /// Returns the shape of an array of records.
    RecordArrayShape,
    /// Creates an array of records from single records.
    RecordArrayNew,
    /// Replaces one record of an array.
    RecordArraySet,
    /// Reads one element of an array of opaque values.
    OpaqueArrayIndex,
    /// Returns the shape of an array of opaque values.
    OpaqueArrayShape,
    /// Creates an array of opaque values from single values.
    OpaqueArrayNew,
    /// Replaces one element of an array of opaque values.
    OpaqueArraySet,
    /// Calls an entry point.
    EntryPoint,
}

impl Operation {
    /// Every operation, in the order of declaration.
    pub const ALL: &'static [Operation] = &[
        Operation::ArrayNew,
        Operation::ArrayNewRaw,
        Operation::ArrayFree,
        Operation::ArrayValues,
        Operation::ArrayIndex,
        Operation::ArrayValuesRaw,
        Operation::ArrayShape,
        Operation::OpaqueFree,
        Operation::OpaqueStore,
        Operation::OpaqueRestore,
        Operation::RecordProject,
        Operation::RecordNew,
        Operation::SumConstruct,
        Operation::SumDestruct,
        Operation::SumVariant,
        Operation::RecordArrayProject,
        Operation::RecordArrayZip,
        Operation::RecordArrayIndex,
        Operation::RecordArrayShape,
        Operation::RecordArrayNew,
        Operation::RecordArraySet,
        Operation::OpaqueArrayIndex,
        Operation::OpaqueArrayShape,
        Operation::OpaqueArrayNew,
        Operation::OpaqueArraySet,
        Operation::EntryPoint,
    ];

    /// A stable name, such as `record_array.zip`: the object and the key of the operation in the
    /// manifest.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Operation::ArrayNew => "array.new",
            Operation::ArrayNewRaw => "array.new_raw",
            Operation::ArrayFree => "array.free",
            Operation::ArrayValues => "array.values",
            Operation::ArrayIndex => "array.index",
            Operation::ArrayValuesRaw => "array.values_raw",
            Operation::ArrayShape => "array.shape",
            Operation::OpaqueFree => "opaque.free",
            Operation::OpaqueStore => "opaque.store",
            Operation::OpaqueRestore => "opaque.restore",
            Operation::RecordProject => "record.project",
            Operation::RecordNew => "record.new",
            Operation::SumConstruct => "sum.construct",
            Operation::SumDestruct => "sum.destruct",
            Operation::SumVariant => "sum.variant",
            Operation::RecordArrayProject => "record_array.project",
            Operation::RecordArrayZip => "record_array.zip",
            Operation::RecordArrayIndex => "record_array.index",
            Operation::RecordArrayShape => "record_array.shape",
            Operation::RecordArrayNew => "record_array.new",
            Operation::RecordArraySet => "record_array.set",
            Operation::OpaqueArrayIndex => "opaque_array.index",
            Operation::OpaqueArrayShape => "opaque_array.shape",
            Operation::OpaqueArrayNew => "opaque_array.new",
            Operation::OpaqueArraySet => "opaque_array.set",
            Operation::EntryPoint => "entry_point",
        }
    }

    /// The first compiler version whose manifests list it; `None` if all manifests do (since
    /// 0.20.3).
    #[must_use]
    pub const fn since(self) -> Option<(u32, u32, u32)> {
        match self {
            Operation::ArrayNew
            | Operation::ArrayFree
            | Operation::ArrayValues
            | Operation::ArrayShape
            | Operation::OpaqueFree
            | Operation::OpaqueStore
            | Operation::OpaqueRestore
            | Operation::EntryPoint => None,
            Operation::RecordProject | Operation::RecordNew => Some((0, 21, 13)),
            Operation::SumConstruct | Operation::SumDestruct | Operation::SumVariant => {
                Some((0, 25, 12))
            }
            Operation::ArrayNewRaw | Operation::ArrayValuesRaw => Some((0, 25, 14)),
            Operation::ArrayIndex
            | Operation::RecordArrayProject
            | Operation::RecordArrayZip
            | Operation::RecordArrayIndex
            | Operation::RecordArrayShape
            | Operation::OpaqueArrayIndex
            | Operation::OpaqueArrayShape => Some((0, 25, 19)),
            Operation::RecordArrayNew
            | Operation::RecordArraySet
            | Operation::OpaqueArrayNew
            | Operation::OpaqueArraySet => Some((0, 25, 36)),
        }
    }

    /// The values that may share storage with its result.
    ///
    /// This matters for consumption: values that share storage with a consumed value change with it.
    /// Scalars never share storage.
    #[must_use]
    pub const fn aliasing(self) -> Aliasing {
        match self {
            Operation::ArrayFree
            | Operation::ArrayValues
            | Operation::ArrayIndex
            | Operation::ArrayShape
            | Operation::OpaqueFree
            | Operation::OpaqueStore
            | Operation::SumVariant
            | Operation::RecordArrayShape
            | Operation::OpaqueArrayShape => Aliasing::NoValue,
            Operation::ArrayNew
            | Operation::OpaqueRestore
            | Operation::RecordArrayIndex
            | Operation::RecordArrayNew
            | Operation::OpaqueArrayIndex
            | Operation::OpaqueArrayNew => Aliasing::Fresh,
            Operation::RecordProject
            | Operation::RecordNew
            | Operation::SumConstruct
            | Operation::SumDestruct
            | Operation::RecordArrayProject
            | Operation::RecordArrayZip => Aliasing::Arguments,
            Operation::ArrayNewRaw => Aliasing::CallersMemory,
            Operation::ArrayValuesRaw => Aliasing::Exposed,
            Operation::RecordArraySet | Operation::OpaqueArraySet => Aliasing::Overwrites,
            Operation::EntryPoint => Aliasing::PerOutput,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The values that may share storage with the result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Aliasing {
    /// The result has no storage: a status, a shape, or copied scalars and bytes.
    NoValue,
    /// No other value: the result has new storage.
    Fresh,
    /// The values that it was created from, or the value that it was read from.
    Arguments,
    /// Memory of the caller, which must outlive the value and every value that shares
    /// it. In-place updates write to it.
    CallersMemory,
    /// The result is a pointer to the storage.
    Exposed,
    /// The operation overwrites the array in place. As with consumption, values that share
    /// storage with the array change, too.
    Overwrites,
    /// It depends on the output: see [`Output::aliasing`].
    PerOutput,
}

/// The values that may share storage with a result of an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputAliasing {
    /// No other value: it is a scalar.
    Scalar,
    /// No value from before the call. Two unique results share storage if the caller
    /// passed one value for two parameters.
    Unique,
    /// Every argument that was not consumed, the other results, and constants of the
    /// program, which have no handle. Consuming such a result could change the results of
    /// later calls: copy it before it is consumed.
    Shared,
}

impl Output {
    /// The values that may share storage with this result.
    #[must_use]
    pub const fn aliasing(&self) -> OutputAliasing {
        match (self.ty, self.unique) {
            (TypeRef::Scalar(_), _) => OutputAliasing::Scalar,
            (TypeRef::Type(_), true) => OutputAliasing::Unique,
            (TypeRef::Type(_), false) => OutputAliasing::Shared,
        }
    }
}

impl Input {
    /// Whether the call consumes the argument. Scalars are never consumed.
    #[must_use]
    pub const fn is_consumed(&self) -> bool {
        self.unique && matches!(self.ty, TypeRef::Type(_))
    }
}

/// A C function that a manifest lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Function<'a> {
    /// The C name.
    pub name: &'a str,
    /// The operation.
    pub operation: Operation,
    /// The type or entry point that it belongs to.
    pub owner: Owner,
    /// The index of the field that is projected, or of the variant that is constructed or
    /// destructed. `None` for all other operations.
    pub part: Option<usize>,
}

/// The type or entry point that a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A type.
    Type(TypeId),
    /// An entry point: its index in [`Program::entries`].
    Entry(usize),
}

impl Program {
    /// Every C function that the manifest lists, without functions of raw memory on an
    /// [unknown backend](Backend::Other): the functions of each type, in the
    /// order of [`types`](Program::types), then the
    /// [entry points](Program::entries). The functions of a type are in the order of
    /// the generated header.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        let of_types = self.types_with_ids();
        let of_types = of_types.flat_map(|(id, _)| self.functions_of(id));
        of_types.chain(self.entries().iter().enumerate().map(of_entry))
    }

    /// The C function of a type for an operation, if the type has it. `part` is the index of the
    /// field or variant, for operations on one.
    #[must_use]
    pub fn function(
        &self,
        id: TypeId,
        operation: Operation,
        part: Option<usize>,
    ) -> Option<Function<'_>> {
        let mut functions = self.functions_of(id);
        functions.find(|function| (function.operation, function.part) == (operation, part))
    }

    /// The C function of the entry point with this index in [`entries`](Program::entries).
    ///
    /// # Panics
    /// If the index is out of bounds.
    #[must_use]
    pub fn function_of_entry(&self, index: usize) -> Function<'_> {
        of_entry((index, &self.entries()[index]))
    }

    /// The C functions of a type, in the order of the generated header.
    pub fn functions_of(&self, id: TypeId) -> impl Iterator<Item = Function<'_>> {
        let raw = [Operation::ArrayNewRaw, Operation::ArrayValuesRaw];
        let without_raw = self.backend == Backend::Other;
        let functions = self.get(id).functions(id);
        functions.filter(move |f| !(without_raw && raw.contains(&f.operation)))
    }
}

fn of_entry((index, entry): (usize, &EntryPoint)) -> Function<'_> {
    Function {
        name: &entry.cfun,
        operation: Operation::EntryPoint,
        owner: Owner::Entry(index),
        part: None,
    }
}

/// An operation and its C function.
type Named<'a> = (Operation, &'a str);

impl Type {
    fn functions(&self, id: TypeId) -> impl Iterator<Item = Function<'_>> {
        let (array, opaque) = match &self.kind {
            TypeKind::Array(array) => (Some(array), None),
            TypeKind::Opaque(opaque) => (None, Some(opaque)),
        };
        let array = array.into_iter().flat_map(array_functions);
        let opaque = opaque.into_iter().flat_map(opaque_functions);
        let functions = array.map(|named| (named, None)).chain(opaque);
        functions.map(move |((operation, name), part)| Function {
            name,
            operation,
            owner: Owner::Type(id),
            part,
        })
    }
}

fn array_functions(array: &ArrayType) -> impl Iterator<Item = Named<'_>> {
    let ops = &array.ops;
    let functions = [
        (Operation::ArrayNew, Some(&ops.new)),
        (Operation::ArrayNewRaw, ops.new_raw.as_ref()),
        (Operation::ArrayFree, Some(&ops.free)),
        (Operation::ArrayValues, Some(&ops.values)),
        (Operation::ArrayIndex, ops.index.as_ref()),
        (Operation::ArrayValuesRaw, ops.values_raw.as_ref()),
        (Operation::ArrayShape, Some(&ops.shape)),
    ];
    present(functions)
}

fn opaque_functions(opaque: &OpaqueType) -> impl Iterator<Item = (Named<'_>, Option<usize>)> {
    let common = present([
        (Operation::OpaqueFree, Some(&opaque.ops.free)),
        (Operation::OpaqueStore, opaque.ops.store.as_ref()),
        (Operation::OpaqueRestore, opaque.ops.restore.as_ref()),
    ]);

    // Where nothing fits, an operation without a function says nothing.
    let none = (Operation::OpaqueFree, None);
    let no_fields = (Operation::RecordProject, &[][..]);
    let (fields, variants, others): ((_, &[Field]), &[_], [_; 5]) = match &opaque.structure {
        Structure::Plain => (no_fields, &[], [none; 5]),
        Structure::Record(record) => (
            (Operation::RecordProject, &record.fields),
            &[],
            [
                (Operation::RecordNew, Some(&record.new)),
                none,
                none,
                none,
                none,
            ],
        ),
        Structure::Sum(sum) => (
            no_fields,
            &sum.variants,
            [
                (Operation::SumVariant, Some(&sum.variant)),
                none,
                none,
                none,
                none,
            ],
        ),
        Structure::RecordArray(array) => (
            (Operation::RecordArrayProject, &array.fields),
            &[],
            [
                (Operation::RecordArrayZip, Some(&array.zip)),
                (Operation::RecordArrayIndex, Some(&array.index)),
                (Operation::RecordArrayShape, Some(&array.shape)),
                (Operation::RecordArrayNew, array.new.as_ref()),
                (Operation::RecordArraySet, array.set.as_ref()),
            ],
        ),
        Structure::OpaqueArray(array) => (
            no_fields,
            &[],
            [
                (Operation::OpaqueArrayIndex, Some(&array.index)),
                (Operation::OpaqueArrayShape, Some(&array.shape)),
                (Operation::OpaqueArrayNew, array.new.as_ref()),
                (Operation::OpaqueArraySet, array.set.as_ref()),
                none,
            ],
        ),
    };

    let (project, fields) = fields;
    let fields = fields.iter().enumerate();
    let projections = fields.map(move |(index, field)| ((project, &*field.project), Some(index)));
    let variants = variants.iter().enumerate().flat_map(|(index, variant)| {
        [
            ((Operation::SumConstruct, &*variant.construct), Some(index)),
            ((Operation::SumDestruct, &*variant.destruct), Some(index)),
        ]
    });
    let whole = |named| (named, None);
    let parts = projections.chain(variants);
    common
        .map(whole)
        .chain(parts)
        .chain(present(others).map(whole))
}

fn present<'a, const N: usize>(
    functions: [(Operation, Option<&'a String>); N],
) -> impl Iterator<Item = Named<'a>> {
    let functions = functions.into_iter();
    functions.filter_map(|(operation, name)| Some((operation, name?.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_of_operations_are_unique() {
        let names: HashSet<_> = Operation::ALL.iter().map(|op| op.as_str()).collect();
        assert_eq!(names.len(), Operation::ALL.len());
        assert!(Operation::ALL.is_sorted(), "the order of declaration");
    }
}
