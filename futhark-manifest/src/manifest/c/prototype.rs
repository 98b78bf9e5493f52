//! The prototype of each C function that a manifest lists, with the role and ownership of its parts.

use std::fmt;

use super::ctype::{CType, write_prototype};
use crate::backend::Backend;
use crate::elem::ElemType;
use crate::manifest::model::{Field, Structure, Variant};
use crate::manifest::model::{TypeId, TypeRef};
use crate::manifest::operation::{Function, Operation, Owner};
use crate::manifest::program::{EntryPoint, Program, Type};

/// The prototype of a C function that a manifest lists.
///
/// `Display` writes the declaration of the generated header.
///
/// A call has succeeded only if it returned success, the next `futhark_context_sync`
/// returned 0, and `futhark_context_get_error` returned `NULL`. On GPU backends a kernel
/// fails after the call has returned, and a later copy can hide a failed allocation, so
/// a function can return 0, or a handle, with an error pending. Handles from such a
/// call contain garbage and must still be freed; slots that it did not write are unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prototype {
    /// The C name.
    pub name: String,
    /// The C type of the result.
    pub result: CType,
    /// The meaning of the result.
    pub returns: Returns,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
}

impl fmt::Display for Prototype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|parameter| (&parameter.ty, &*parameter.name));
        write_prototype(f, &self.result, &self.name, parameters)
    }
}

/// A parameter of a C function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The name in the generated header.
    pub name: String,
    /// The C type.
    pub ty: CType,
    /// The role.
    pub role: ParameterRole,
    /// How it is passed, and its ownership.
    pub passing: Passing,
}

/// The role of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParameterRole {
    /// The context, always the first parameter. All values in a call must belong to it.
    Context,
    /// The value that owns the operation.
    Value,
    /// The elements of an array in host memory, in row-major order. Their number is the
    /// product of the dimensions.
    Data(ElemType),
    /// Raw memory of the backend that holds the elements in row-major order.
    RawMemory(ElemType),
    /// The length of this dimension, outermost first.
    Dimension(usize),
    /// The index in this dimension, outermost first. The function checks it
    /// against the shape.
    Index(usize),
    /// The value of a field.
    Field {
        /// The index of the field.
        index: usize,
        /// The type.
        ty: TypeRef,
    },
    /// A part of the payload of a variant.
    Payload {
        /// The index of the part.
        index: usize,
        /// The type.
        ty: TypeRef,
    },
    /// An argument of an entry point.
    Argument {
        /// The index of the argument.
        index: usize,
        /// The type.
        ty: TypeRef,
    },
    /// One element of an array.
    Element(TypeRef),
    /// All elements of an array in row-major order: a C array of handles.
    Elements(TypeRef),
    /// The slot for a result.
    Output {
        /// The index of the result; 0 if there is only one.
        index: usize,
        /// The type.
        ty: TypeRef,
    },
    /// A value as bytes.
    Bytes,
    /// The number of bytes.
    ByteCount,
}

/// How a parameter is passed, and its ownership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Passing {
    /// A scalar is passed by value.
    Scalar,
    /// The function uses it; the caller keeps ownership.
    Borrowed {
        /// Whether it may still be read until the next `futhark_context_sync`: it must not be freed before.
        until_sync: bool,
    },
    /// The function consumes the value, even if it fails. Afterwards the caller may
    /// only free the handle, and every handle that shares storage with the value.
    Consumed,
    /// The function changes the value in place: the handle stays valid, and
    /// values that share storage with the old value change too.
    Overwritten,
    /// The handle is freed and must not be used again.
    Freed,
    /// Host memory that the function reads.
    HostRead {
        /// Whether it may still be read until the next `futhark_context_sync`: it must be valid and
        /// unchanged until then.
        until_sync: bool,
    },
    /// Host memory that the function fills.
    HostWritten {
        /// Whether it may still be written until the next `futhark_context_sync`.
        until_sync: bool,
    },
    /// Memory that the new value uses as its own: it must outlive the value
    /// and everything that shares storage with it, and Futhark never frees it.
    Lent,
    /// A slot that receives a scalar.
    GivesScalar {
        /// Whether it is complete only after the next `futhark_context_sync`: it must be valid until then.
        after_sync: bool,
    },
    /// A slot that receives a handle, which the caller must free.
    GivesHandle {
        /// Whether the value is complete only after the next `futhark_context_sync`. It must not be used
        /// before, not even freed.
        after_sync: bool,
    },
    /// A slot for a pointer to bytes. If it is `NULL`, the function writes only the
    /// number of bytes. If it contains `NULL`, the function allocates memory, which the
    /// caller must release with `free`. Otherwise the function writes the bytes to the
    /// address in the slot.
    GivesBytes {
        /// Whether the bytes may still be written until the next `futhark_context_sync`.
        until_sync: bool,
    },
    /// A slot that receives a number of bytes.
    GivesByteCount,
}

/// The meaning of the result of a C function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Returns {
    /// 0 for success, but see [`Prototype`]. Any other value is a failure, and does not identify the
    /// cause.
    Status,
    /// A handle that the caller must free, or `NULL` for a failure; see
    /// [`Prototype`].
    Handle,
    /// A pointer to the length of each dimension, outermost first, valid as long as the
    /// handle. The function cannot fail.
    Shape {
        /// The number of dimensions.
        rank: usize,
    },
    /// The index of the variant. The function cannot fail.
    Variant,
    /// Raw memory of the backend, which is valid as long as the value, its owner.
    RawMemory,
}

/// From this version on an entry point has a single result.
const SINGLE_RESULT: (u32, u32, u32) = (0, 26, 1);

const BORROWED: Passing = Passing::Borrowed { until_sync: false };

impl Program {
    /// The prototypes of all [`functions`](Program::functions), in the same
    /// order, for the program's own backend.
    pub fn prototypes(&self) -> impl Iterator<Item = Prototype> {
        let functions = self.functions();
        functions.map(|function| self.prototype(&function))
    }

    /// The prototype of a function, for the program's own backend.
    ///
    /// Panics, or returns an unspecified result, for a function of another program.
    #[must_use]
    pub fn prototype(&self, function: &Function<'_>) -> Prototype {
        self.prototype_for(function, self.backend)
    }

    /// The prototype of a function if the program is compiled for this backend.
    /// Backends differ in the type of raw memory, and in which operations are complete
    /// only after the next `futhark_context_sync`.
    ///
    /// Panics, or returns an unspecified result, for a function of another program.
    #[must_use]
    pub fn prototype_for(&self, function: &Function<'_>, backend: Backend) -> Prototype {
        let mut list = List::new(self, backend);
        let (result, returns) = match function.owner {
            Owner::Entry(index) => {
                list.entry(&self.entries()[index]);
                (CType::INT, Returns::Status)
            }
            Owner::Type(id) => list.operation(id, function),
        };
        Prototype {
            name: function.name.to_owned(),
            result,
            returns,
            parameters: list.parameters,
        }
    }
}

/// Builds a list of parameters.
struct List<'p> {
    program: &'p Program,
    backend: Backend,
    parameters: Vec<Parameter>,
}

impl<'p> List<'p> {
    fn new(program: &'p Program, backend: Backend) -> List<'p> {
        let mut list = List {
            program,
            backend,
            parameters: Vec::new(),
        };
        let context = CType::structure("futhark_context").pointer();
        list.push("ctx", context, ParameterRole::Context, BORROWED);
        list
    }

    /// The parameters and the result of an operation of a type.
    fn operation(&mut self, id: TypeId, function: &Function<'_>) -> (CType, Returns) {
        let own = TypeRef::Type(id);
        let ty = self.program.get(id);
        let rank = ty.rank();
        match function.operation {
            Operation::ArrayNew => {
                let data = self.elem_type(ty).constant().pointer();
                let passing = Passing::HostRead {
                    until_sync: self.backend.is_gpu(),
                };
                self.push("data", data, ParameterRole::Data(elem(ty)), passing);
                self.numbers("dim", rank, ParameterRole::Dimension);
                return (handle(ty), Returns::Handle);
            }
            Operation::ArrayNewRaw => {
                let role = ParameterRole::RawMemory(elem(ty));
                self.push("data", CType::raw_memory(self.backend), role, Passing::Lent);
                self.numbers("dim", rank, ParameterRole::Dimension);
                return (handle(ty), Returns::Handle);
            }
            Operation::ArrayFree => self.value("arr", ty, Passing::Freed),
            Operation::OpaqueFree => self.value("obj", ty, Passing::Freed),
            Operation::ArrayValues => {
                self.value("arr", ty, BORROWED);
                let data = self.elem_type(ty).pointer();
                let passing = Passing::HostWritten {
                    until_sync: self.backend.is_gpu(),
                };
                self.push("data", data, ParameterRole::Data(elem(ty)), passing);
            }
            Operation::ArrayIndex | Operation::RecordArrayIndex | Operation::OpaqueArrayIndex => {
                // From 0.25.36 some elements are complete at once; a further sync is harmless.
                self.output("out".to_owned(), 0, element(ty), self.backend.is_gpu());
                self.value("arr", ty, BORROWED);
                self.numbers("i", rank, ParameterRole::Index);
            }
            Operation::ArrayValuesRaw => {
                self.value("arr", ty, BORROWED);
                return (CType::raw_memory(self.backend), Returns::RawMemory);
            }
            Operation::ArrayShape | Operation::RecordArrayShape | Operation::OpaqueArrayShape => {
                self.value("arr", ty, BORROWED);
                return (CType::INT64.constant().pointer(), Returns::Shape { rank });
            }
            Operation::OpaqueStore => self.store(ty),
            Operation::OpaqueRestore => {
                let passing = Passing::HostRead {
                    until_sync: self.backend.is_gpu(),
                };
                let bytes = CType::VOID.constant().pointer();
                self.push("p", bytes, ParameterRole::Bytes, passing);
                return (handle(ty), Returns::Handle);
            }
            Operation::RecordNew | Operation::RecordArrayZip => {
                self.output("out".to_owned(), 0, own, false);
                for (index, field) in fields(ty).iter().enumerate() {
                    let role = ParameterRole::Field {
                        index,
                        ty: field.ty,
                    };
                    let name = format!("f_{}", z_encoded(&field.name));
                    self.input(name, field.ty, role, BORROWED);
                }
            }
            Operation::RecordProject | Operation::RecordArrayProject => {
                let field = &fields(ty)[part(function)];
                // The scalars of a record are in host memory.
                self.output("out".to_owned(), 0, field.ty, false);
                self.constant_value("obj", ty);
            }
            Operation::SumVariant => {
                self.constant_value("v", ty);
                return (CType::INT, Returns::Variant);
            }
            Operation::SumConstruct => {
                self.output("out".to_owned(), 0, own, false);
                let payload = &variants(ty)[part(function)].payload;
                for (index, &ty) in payload.iter().enumerate() {
                    let role = ParameterRole::Payload { index, ty };
                    self.input(format!("v{index}"), ty, role, BORROWED);
                }
            }
            Operation::SumDestruct => {
                let payload = &variants(ty)[part(function)].payload;
                for (index, &ty) in payload.iter().enumerate() {
                    self.output(format!("v{index}"), index, ty, false);
                }
                self.constant_value("obj", ty);
            }
            Operation::RecordArrayNew | Operation::OpaqueArrayNew => {
                self.output("out".to_owned(), 0, own, false);
                let role = ParameterRole::Elements(element(ty));
                let elements = self.c_type(element(ty)).pointer();
                self.push("elems", elements, role, self.copied());
                self.numbers("dim", rank, ParameterRole::Dimension);
            }
            Operation::RecordArraySet | Operation::OpaqueArraySet => {
                self.value("arr", ty, Passing::Overwritten);
                let role = ParameterRole::Element(element(ty));
                let element = self.c_type(element(ty));
                self.push("elem", element, role, self.copied());
                self.numbers("i", rank, ParameterRole::Index);
            }
            Operation::EntryPoint => unreachable!("no type owns an entry point"),
        }
        (CType::INT, Returns::Status)
    }

    fn entry(&mut self, entry: &EntryPoint) {
        // Work on the device is in order, so only scalars need a sync.
        let gpu = self.backend.is_gpu();
        let after_sync = |ty: TypeRef| gpu && ty.as_scalar().is_some();
        let single = self.program.version.is_at_least(SINGLE_RESULT);
        match &entry.outputs[..] {
            [output] if single => {
                self.output("out".to_owned(), 0, output.ty, after_sync(output.ty))
            }
            outputs => {
                for (index, output) in outputs.iter().enumerate() {
                    self.output(
                        format!("out{index}"),
                        index,
                        output.ty,
                        after_sync(output.ty),
                    );
                }
            }
        }
        for (index, input) in entry.inputs.iter().enumerate() {
            let role = ParameterRole::Argument {
                index,
                ty: input.ty,
            };
            let passing = if input.is_consumed() {
                Passing::Consumed
            } else {
                BORROWED
            };
            self.input(format!("in{index}"), input.ty, role, passing);
        }
    }

    fn store(&mut self, ty: &Type) {
        self.constant_value("obj", ty);
        let passing = Passing::GivesBytes {
            until_sync: self.backend.is_gpu(),
        };
        let slot = CType::VOID.pointer().pointer();
        self.push("p", slot, ParameterRole::Bytes, passing);
        let count = CType::Named("size_t").pointer();
        self.push(
            "n",
            count,
            ParameterRole::ByteCount,
            Passing::GivesByteCount,
        );
    }

    /// The value that owns the operation.
    fn value(&mut self, name: &str, ty: &Type, passing: Passing) {
        self.push(name, handle(ty), ParameterRole::Value, passing);
    }

    /// The same, for a function that does not change the value.
    fn constant_value(&mut self, name: &str, ty: &Type) {
        let handle = CType::structure(ty.c_ident()).constant().pointer();
        self.push(name, handle, ParameterRole::Value, BORROWED);
    }

    /// An input value of any type.
    fn input(&mut self, name: String, ty: TypeRef, role: ParameterRole, passing: Passing) {
        let (ty, passing) = match ty {
            TypeRef::Scalar(elem) => (CType::of_elem(elem).constant(), Passing::Scalar),
            TypeRef::Type(id) => {
                let structure = CType::structure(self.program.get(id).c_ident());
                (structure.constant().pointer(), passing)
            }
        };
        self.push(name, ty, role, passing);
    }

    /// A slot for an output value of any type.
    fn output(&mut self, name: String, index: usize, ty: TypeRef, after_sync: bool) {
        let passing = match ty {
            TypeRef::Scalar(_) => Passing::GivesScalar { after_sync },
            TypeRef::Type(_) => Passing::GivesHandle { after_sync },
        };
        let slot = self.c_type(ty).pointer();
        self.push(name, slot, ParameterRole::Output { index, ty }, passing);
    }

    /// The passing of an element that the function copies. On a device the copy may be
    /// asynchronous.
    fn copied(&self) -> Passing {
        Passing::Borrowed {
            until_sync: self.backend.is_gpu(),
        }
    }

    /// A number for each dimension.
    fn numbers(&mut self, name: &str, rank: usize, role: fn(usize) -> ParameterRole) {
        for dimension in 0..rank {
            let name = format!("{name}{dimension}");
            self.push(name, CType::INT64, role(dimension), Passing::Scalar);
        }
    }

    fn push(&mut self, name: impl Into<String>, ty: CType, role: ParameterRole, passing: Passing) {
        self.parameters.push(Parameter {
            name: name.into(),
            ty,
            role,
            passing,
        });
    }

    /// The C type that holds a value: a scalar type, or that of a handle.
    fn c_type(&self, ty: TypeRef) -> CType {
        match ty {
            TypeRef::Scalar(elem) => CType::of_elem(elem),
            TypeRef::Type(id) => handle(self.program.get(id)),
        }
    }

    /// The C type of the elements of an array of scalars.
    fn elem_type(&self, ty: &Type) -> CType {
        CType::of_elem(elem(ty))
    }
}

/// The C type of a handle.
fn handle(ty: &Type) -> CType {
    CType::structure(ty.c_ident()).pointer()
}

// `Program::functions` yields only operations that fit their type, so these functions panic only
// for a function of another program.

/// The elements of an array of scalars.
fn elem(ty: &Type) -> ElemType {
    ty.as_array().expect(FOREIGN).elem
}

/// The elements of any array.
fn element(ty: &Type) -> TypeRef {
    match structure(ty) {
        None => TypeRef::Scalar(elem(ty)),
        Some(Structure::RecordArray(array)) => array.elem,
        Some(Structure::OpaqueArray(array)) => array.elem,
        Some(_) => panic!("{FOREIGN}"),
    }
}

fn fields(ty: &Type) -> &[Field] {
    match structure(ty) {
        Some(Structure::Record(record)) => &record.fields,
        Some(Structure::RecordArray(array)) => &array.fields,
        _ => panic!("{FOREIGN}"),
    }
}

fn variants(ty: &Type) -> &[Variant] {
    match structure(ty) {
        Some(Structure::Sum(sum)) => &sum.variants,
        _ => panic!("{FOREIGN}"),
    }
}

fn part(function: &Function<'_>) -> usize {
    function.part.expect(FOREIGN)
}

fn structure(ty: &Type) -> Option<&Structure> {
    ty.as_opaque().map(|opaque| &opaque.structure)
}

const FOREIGN: &str = "the function is of another program";

/// Encodes a Futhark name as the compiler does in C identifiers. `z` and `Z` start a code, so
/// they are encoded, too.
fn z_encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            'z' => encoded.push_str("zz"),
            'Z' => encoded.push_str("ZZ"),
            '\'' => encoded.push_str("zq"),
            '_' => encoded.push('_'),
            c if c.is_ascii_alphanumeric() => encoded.push(c),
            c => {
                // A code point, with a leading zero if it would start with a
                // letter, which could be read as another code.
                let hex = format!("{:x}", u32::from(c));
                let zero = if hex.starts_with(|c: char| c.is_ascii_digit()) {
                    ""
                } else {
                    "0"
                };
                encoded.push_str(&format!("z{zero}{hex}U"));
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_names_become_identifiers() {
        for (name, encoded) in [
            ("x", "x"),
            ("0", "0"),
            ("a_b", "a_b"),
            ("b''", "bzqzq"),
            ("zed_Z", "zzed_ZZ"),
            ("é", "z0e9U"),
            ("→", "z2192U"),
        ] {
            assert_eq!(z_encoded(name), encoded);
        }
    }
}
