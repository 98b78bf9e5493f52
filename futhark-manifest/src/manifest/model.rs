//! A manifest as written, and the description of types and parameters that it shares with
//! [`Program`](crate::Program).
//!
//! `T` is a reference to a type: its name in a manifest, a [`TypeRef`] in a program.

use std::collections::BTreeMap;

use crate::elem::ElemType;

/// The unknown members of a JSON object: newer compilers add some. Reading and writing keeps them.
pub type Unknown = serde_json::Map<String, serde_json::Value>;

/// A manifest as written.
///
/// The parts have the right form but may be inconsistent: [`check`](Manifest::check) lists the problems,
/// and [`resolve`](Manifest::resolve) returns them as an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// The backend's name.
    pub backend: String,
    /// The compiler's version text, several lines long. All compilers write it, but their schema does
    /// not require it.
    pub version: Option<String>,
    /// The entry points by name.
    pub entry_points: BTreeMap<String, EntryPoint>,
    /// The types by name, without scalar types. A name is an opaque key; do not parse
    /// it.
    pub types: BTreeMap<String, Type>,
    /// Members that this version of the crate does not know.
    pub unknown: Unknown,
}

/// The description of a type, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Type {
    /// The C type of a handle: `struct NAME *`.
    pub ctype: String,
    /// The kind, with everything that depends on it.
    pub kind: TypeKind<String>,
    /// The documentation comment of the type's definition.
    pub doc: Option<String>,
    /// Members that this version of the crate does not know.
    pub unknown: Unknown,
}

/// The description of an entry point, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryPoint {
    /// The C function.
    pub cfun: String,
    /// The parameters, in order.
    pub inputs: Vec<Input<String>>,
    /// The results.
    pub outputs: Outputs,
    /// The tuning parameters that influence this entry point. From 0.24.1.
    pub tuning_params: Option<Vec<String>>,
    /// The attributes of the definition. From 0.25.36.
    pub attributes: Option<Vec<String>>,
    /// The documentation comment. From 0.26.4.
    pub doc: Option<String>,
    /// Members that this version of the crate does not know.
    pub unknown: Unknown,
}

/// The results of an entry point, in one of two forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// `outputs`, up to 0.25.37: one for each component if the result is a
    /// tuple, none if it is the unit value.
    Several(Vec<Output<String>>),
    /// `output`, from 0.26.1: one value, a tuple and the unit value included.
    Single(Output<String>),
}

impl Outputs {
    /// One element for each output parameter of the C function.
    #[must_use]
    pub fn as_slice(&self) -> &[Output<String>] {
        match self {
            Outputs::Several(outputs) => outputs,
            Outputs::Single(output) => std::slice::from_ref(output),
        }
    }
}

/// The id of a type in a [`Program`](crate::Program): its index in [`Program::types`](crate::Program::types).
///
/// Methods panic, or return an unspecified result, for an id of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(u32);

impl TypeId {
    /// The id of the type at this index. The resolver rejects programs with too many types.
    pub(crate) fn new(index: usize) -> TypeId {
        TypeId(u32::try_from(index).expect("the resolver has counted the types"))
    }

    /// The index in [`Program::types`](crate::Program::types).
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A resolved reference to a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeRef {
    /// A scalar, passed by value.
    Scalar(ElemType),
    /// A type of the program, passed by a handle.
    Type(TypeId),
}

impl TypeRef {
    /// The scalar type, if it is one.
    #[must_use]
    pub const fn as_scalar(self) -> Option<ElemType> {
        match self {
            TypeRef::Scalar(elem) => Some(elem),
            TypeRef::Type(_) => None,
        }
    }

    /// The type of the program, if it is one.
    #[must_use]
    pub const fn as_type(self) -> Option<TypeId> {
        match self {
            TypeRef::Scalar(_) => None,
            TypeRef::Type(id) => Some(id),
        }
    }
}

/// The kind of a type.
///
/// This enum and [`Structure`] can be matched exhaustively: an unknown kind of opaque type is not a new
/// variant, but a [`Structure::Plain`] with a member in [`Unknown`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind<T = TypeRef> {
    /// An array of scalars.
    Array(ArrayType),
    /// Everything else: C sees a pointer to an incomplete struct.
    Opaque(OpaqueType<T>),
}

/// An array of scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayType {
    /// The element type.
    pub elem: ElemType,
    /// The number of dimensions; at least 1 in a program.
    pub rank: usize,
    /// The C functions.
    pub ops: ArrayOps,
}

/// The C functions of an array of scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayOps {
    /// Frees a handle.
    pub free: String,
    /// Returns the shape.
    pub shape: String,
    /// Copies all elements to host memory.
    pub values: String,
    /// Creates an array from host memory.
    pub new: String,
    /// Reads one element. From 0.25.19.
    pub index: Option<String>,
    /// Creates an array that borrows raw memory of the backend. From 0.25.14.
    pub new_raw: Option<String>,
    /// Returns the raw memory of the backend. From 0.25.14.
    pub values_raw: Option<String>,
    /// Members of its JSON object that this version of the crate does not know.
    pub unknown: Unknown,
}

/// A type whose representation C does not see.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpaqueType<T = TypeRef> {
    /// The C functions that every opaque type has.
    pub ops: OpaqueOps,
    /// The known structure, with the C functions that access it.
    pub structure: Structure<T>,
}

/// The C functions that every opaque type has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpaqueOps {
    /// Frees a handle.
    pub free: String,
    /// Writes a value as bytes.
    pub store: Option<String>,
    /// Creates a value from bytes.
    pub restore: Option<String>,
    /// Members of its JSON object that this version of the crate does not know.
    pub unknown: Unknown,
}

/// The known structure of an opaque type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure<T = TypeRef> {
    /// None is known: values can be passed on, stored and freed.
    Plain,
    /// A record, tuples and the unit type included.
    Record(Record<T>),
    /// A sum type.
    Sum(Sum<T>),
    /// An array whose elements are records.
    RecordArray(RecordArray<T>),
    /// An array whose elements are other opaque values.
    OpaqueArray(OpaqueArray<T>),
}

/// A record; tuples and the unit type are records too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record<T = TypeRef> {
    /// The fields in the order of the parameters of `new`.
    pub fields: Vec<Field<T>>,
    /// Creates a record from its fields.
    pub new: String,
    /// Members of its JSON object that this version of the crate does not know.
    pub unknown: Unknown,
}

impl<T> Record<T> {
    /// Whether this is a tuple: the fields are called `0`, `1` and so on, in
    /// that order, and there are at least two. Futhark has no tuple of one
    /// component: `{0: i32}` is a record like any other.
    #[must_use]
    pub fn is_tuple(&self) -> bool {
        let mut fields = self.fields.iter().enumerate();
        self.fields.len() >= 2 && fields.all(|(index, field)| is_decimal(&field.name, index))
    }

    /// Whether this is the unit type, which has no fields. In manifests of compilers before
    /// 0.25.35 it is [`Structure::Plain`].
    #[must_use]
    pub fn is_unit(&self) -> bool {
        self.fields.is_empty()
    }
}

/// A field of a record or of an array of records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field<T = TypeRef> {
    /// The name in Futhark, which need not be an identifier elsewhere.
    pub name: String,
    /// The type. In an array of records, the type of the array of all fields with this name.
    pub ty: T,
    /// Reads the field.
    pub project: String,
    /// Members of its JSON object that this version of the crate does not know.
    pub unknown: Unknown,
}

/// A sum type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sum<T = TypeRef> {
    /// Returns the variant of a value: an index into `variants`.
    pub variant: String,
    /// The variants; at least one in a program.
    pub variants: Vec<Variant<T>>,
    /// Members of its JSON object that this version of the crate does not know.
    pub unknown: Unknown,
}

/// A variant of a sum type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variant<T = TypeRef> {
    /// The name, without the `#` of Futhark's syntax.
    pub name: String,
    /// Creates a value from the payload.
    pub construct: String,
    /// Returns the payload of a value. Aborts the process if the value has another variant.
    pub destruct: String,
    /// The types of the payload, in the order of the parameters.
    pub payload: Vec<T>,
    /// Members of its JSON object that this version of the crate does not know.
    pub unknown: Unknown,
}

/// An array of records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordArray<T = TypeRef> {
    /// The number of dimensions; at least 1 in a program.
    pub rank: usize,
    /// The type of one element: a record.
    pub elem: T,
    /// One array for each field of the record, in the order of the parameters
    /// of `zip`.
    pub fields: Vec<Field<T>>,
    /// Creates an array from the arrays of its fields.
    pub zip: String,
    /// Reads one element.
    pub index: String,
    /// Returns the shape.
    pub shape: String,
    /// Creates an array from single elements. From 0.25.36.
    pub new: Option<String>,
    /// Replaces one element. From 0.25.36.
    pub set: Option<String>,
    /// Members of its JSON object that this version of the crate does not know.
    pub unknown: Unknown,
}

/// An array of opaque values that are not records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpaqueArray<T = TypeRef> {
    /// The number of dimensions; at least 1 in a program.
    pub rank: usize,
    /// The type of one element.
    pub elem: T,
    /// Reads one element.
    pub index: String,
    /// Returns the shape.
    pub shape: String,
    /// Creates an array from single elements. From 0.25.36.
    pub new: Option<String>,
    /// Replaces one element. From 0.25.36.
    pub set: Option<String>,
    /// Members of its JSON object that this version of the crate does not know.
    pub unknown: Unknown,
}

/// A parameter of an entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Input<T = TypeRef> {
    /// The name in Futhark; `_` if it has none, so names can repeat.
    pub name: String,
    /// The type.
    pub ty: T,
    /// Whether the call consumes the argument: afterwards its value, and every value that
    /// aliases it, is unspecified.
    pub unique: bool,
    /// Members of its JSON object that this version of the crate does not know.
    pub unknown: Unknown,
}

/// A result of an entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output<T = TypeRef> {
    /// The type.
    pub ty: T,
    /// Whether it aliases nothing. The compiler infers this if the source does not declare it, so
    /// any edit can change it: do not make it part of an interface.
    pub unique: bool,
    /// Members of its JSON object that this version of the crate does not know.
    pub unknown: Unknown,
}

impl<T> TypeKind<T> {
    /// Every type that occurs in this one, in terms of its operations: fields,
    /// elements and payloads, with repetitions.
    pub fn parts(&self) -> impl Iterator<Item = &T> {
        let structure = match self {
            TypeKind::Array(_) => &Structure::Plain,
            TypeKind::Opaque(opaque) => &opaque.structure,
        };
        let (fields, elem, variants): (&[Field<T>], _, &[Variant<T>]) = match structure {
            Structure::Plain => (&[], None, &[]),
            Structure::Record(record) => (&record.fields, None, &[]),
            Structure::Sum(sum) => (&[], None, &sum.variants),
            Structure::RecordArray(array) => (&array.fields, Some(&array.elem), &[]),
            Structure::OpaqueArray(array) => (&[], Some(&array.elem), &[]),
        };
        let payloads = variants.iter().flat_map(|variant| &variant.payload);
        fields
            .iter()
            .map(|field| &field.ty)
            .chain(elem)
            .chain(payloads)
    }

    /// The number of dimensions; 0 for an opaque value that is not known to be an array.
    #[must_use]
    pub fn rank(&self) -> usize {
        match self {
            TypeKind::Array(array) => array.rank,
            TypeKind::Opaque(opaque) => opaque.structure.rank(),
        }
    }

    pub(crate) fn map<U>(self, to: &impl Fn(T) -> U) -> TypeKind<U> {
        match self {
            TypeKind::Array(array) => TypeKind::Array(array),
            TypeKind::Opaque(opaque) => TypeKind::Opaque(OpaqueType {
                ops: opaque.ops,
                structure: opaque.structure.map(to),
            }),
        }
    }
}

impl<T> Structure<T> {
    /// The number of dimensions; 0 if it is not known to be an array.
    #[must_use]
    pub fn rank(&self) -> usize {
        match self {
            Structure::Plain | Structure::Record(_) | Structure::Sum(_) => 0,
            Structure::RecordArray(array) => array.rank,
            Structure::OpaqueArray(array) => array.rank,
        }
    }

    fn map<U>(self, to: &impl Fn(T) -> U) -> Structure<U> {
        match self {
            Structure::Plain => Structure::Plain,
            Structure::Record(record) => Structure::Record(Record {
                fields: map_fields(record.fields, to),
                new: record.new,
                unknown: record.unknown,
            }),
            Structure::Sum(sum) => Structure::Sum(Sum {
                variant: sum.variant,
                variants: sum.variants.into_iter().map(|v| v.map(to)).collect(),
                unknown: sum.unknown,
            }),
            Structure::RecordArray(array) => Structure::RecordArray(RecordArray {
                rank: array.rank,
                elem: to(array.elem),
                fields: map_fields(array.fields, to),
                zip: array.zip,
                index: array.index,
                shape: array.shape,
                new: array.new,
                set: array.set,
                unknown: array.unknown,
            }),
            Structure::OpaqueArray(array) => Structure::OpaqueArray(OpaqueArray {
                rank: array.rank,
                elem: to(array.elem),
                index: array.index,
                shape: array.shape,
                new: array.new,
                set: array.set,
                unknown: array.unknown,
            }),
        }
    }
}

impl<T> Variant<T> {
    fn map<U>(self, to: &impl Fn(T) -> U) -> Variant<U> {
        Variant {
            name: self.name,
            construct: self.construct,
            destruct: self.destruct,
            payload: self.payload.into_iter().map(to).collect(),
            unknown: self.unknown,
        }
    }
}

fn map_fields<T, U>(fields: Vec<Field<T>>, to: &impl Fn(T) -> U) -> Vec<Field<U>> {
    let field = |field: Field<T>| Field {
        name: field.name,
        ty: to(field.ty),
        project: field.project,
        unknown: field.unknown,
    };
    fields.into_iter().map(field).collect()
}

impl<T> Input<T> {
    pub(crate) fn map<U>(self, to: &impl Fn(T) -> U) -> Input<U> {
        Input {
            name: self.name,
            ty: to(self.ty),
            unique: self.unique,
            unknown: self.unknown,
        }
    }
}

impl<T> Output<T> {
    pub(crate) fn map<U>(self, to: &impl Fn(T) -> U) -> Output<U> {
        Output {
            ty: to(self.ty),
            unique: self.unique,
            unknown: self.unknown,
        }
    }
}

/// Whether the text is this number, written as Futhark writes tuple fields.
fn is_decimal(text: &str, number: usize) -> bool {
    // `parse` alone would take `01` and `+1`.
    text.parse() == Ok(number) && text.len() == decimal_digits(number)
}

fn decimal_digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(names: &[&str]) -> Record<String> {
        let field = |name: &&str| Field {
            name: (*name).to_owned(),
            ty: "i32".to_owned(),
            project: String::new(),
            unknown: Unknown::new(),
        };
        Record {
            fields: names.iter().map(field).collect(),
            new: String::new(),
            unknown: Unknown::new(),
        }
    }

    #[test]
    fn tuples_have_numbered_fields() {
        let twelve: Vec<String> = (0..12).map(|n: i32| n.to_string()).collect();
        let twelve: Vec<&str> = twelve.iter().map(String::as_str).collect();
        for tuple in [&["0", "1"][..], &twelve] {
            assert!(record(tuple).is_tuple(), "{tuple:?}");
            assert!(!record(tuple).is_unit());
        }
        for other in [
            &["0"][..],
            &["1"],
            &["1", "0"],
            &["0", "x"],
            &["00", "1"],
            &["0", "+1"],
            &["0", "2"],
        ] {
            assert!(!record(other).is_tuple(), "{other:?}");
        }
        assert!(record(&[]).is_unit() && !record(&[]).is_tuple());
    }
}
