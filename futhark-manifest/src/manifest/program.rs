//! The resolved form, for generators of bindings.

use std::ops::Index;

use crate::backend::Backend;
use crate::manifest::model::{
    ArrayType, Field, Input, OpaqueArray, OpaqueType, Output, Record, RecordArray, Structure, Sum,
    TypeId, TypeKind, TypeRef, Unknown,
};
use crate::text::squeezed;
use crate::version::Version;

/// A compiled program: its manifest with every reference resolved.
///
/// Types and entry points are each ordered by name (by bytes), so the same
/// manifest gives the same program, and [`TypeId`]s are stable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// The backend of the C code.
    pub backend: Backend,
    /// The compiler that generated it.
    pub version: Version,
    /// The documentation comment of the source file. Manifests have none.
    pub doc: Option<String>,
    /// Members of the manifest that this version of the crate does not know.
    pub unknown: Unknown,
    /// The name of a backend that is [`Backend::Other`].
    pub(crate) other_backend: String,
    pub(crate) types: Vec<Type>,
    pub(crate) entries: Vec<EntryPoint>,
    /// The types, parts before wholes.
    pub(crate) order: Vec<TypeId>,
}

impl Program {
    /// The name of the backend, also of one that this version of the crate does not know.
    #[must_use]
    pub fn backend_name(&self) -> &str {
        match self.backend {
            Backend::Other => &self.other_backend,
            known => known.as_str(),
        }
    }

    /// The types, ordered by name. A [`TypeId`] is an index into this slice.
    #[must_use]
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// The types with their ids, ordered by name.
    pub fn types_with_ids(&self) -> impl ExactSizeIterator<Item = (TypeId, &Type)> {
        self.types
            .iter()
            .enumerate()
            .map(|(index, ty)| (TypeId::new(index), ty))
    }

    /// The types with their ids in dependency order: each type comes after its
    /// [parts](Type::parts). Declarations in this order refer only to earlier
    /// declarations.
    pub fn types_in_order(&self) -> impl ExactSizeIterator<Item = (TypeId, &Type)> {
        self.order.iter().map(|&id| (id, self.get(id)))
    }

    /// The entry points, ordered by name.
    #[must_use]
    pub fn entries(&self) -> &[EntryPoint] {
        &self.entries
    }

    /// The type with this name; `None` for scalar types. Spaces may differ, because they do between
    /// compilers: `{a:u8}` also finds `{a: u8}`.
    #[must_use]
    pub fn type_named(&self, name: &str) -> Option<TypeId> {
        let exact = self.types.binary_search_by(|ty| ty.name.as_str().cmp(name));
        let found = exact.ok().or_else(|| {
            let name = squeezed(name);
            self.types.iter().position(|ty| squeezed(&ty.name) == name)
        });
        found.map(TypeId::new)
    }

    /// The entry point with this name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&EntryPoint> {
        let found = self
            .entries
            .binary_search_by(|entry| entry.name.as_str().cmp(name));
        found.ok().map(|index| &self.entries[index])
    }

    /// The type with this id; `program[id]` returns the same.
    #[must_use]
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// The Futhark name of a type.
    #[must_use]
    pub fn name_of(&self, ty: TypeRef) -> &str {
        match ty {
            TypeRef::Scalar(elem) => elem.as_str(),
            TypeRef::Type(id) => &self.get(id).name,
        }
    }

    /// The C type by which a value is passed: `int32_t`, or
    /// `struct futhark_i32_1d *`.
    #[must_use]
    pub fn c_type_of(&self, ty: TypeRef) -> &str {
        match ty {
            TypeRef::Scalar(elem) => elem.c_type(),
            TypeRef::Type(id) => &self.get(id).ctype,
        }
    }

    /// Sets the documentation where the manifest has none: `comment` returns that of the declaration with this keyword,
    /// `type` or `entry`, and name. Manifests have none of types, and none of entry points before 0.26.4.
    pub fn add_docs(&mut self, comment: impl Fn(&'static str, &str) -> Option<String>) {
        for ty in self.types.iter_mut().filter(|ty| ty.doc.is_none()) {
            ty.doc = comment("type", &ty.name);
        }
        for entry in self.entries.iter_mut().filter(|entry| entry.doc.is_none()) {
            entry.doc = comment("entry", &entry.name);
        }
    }

    /// The number of dimensions; 0 for a scalar, and for an opaque value that is not an
    /// array.
    #[must_use]
    pub fn rank_of(&self, ty: TypeRef) -> usize {
        match ty {
            TypeRef::Scalar(_) => 0,
            TypeRef::Type(id) => self.get(id).rank(),
        }
    }
}

impl Index<TypeId> for Program {
    type Output = Type;

    fn index(&self, id: TypeId) -> &Type {
        self.get(id)
    }
}

/// A type of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Type {
    /// The Futhark name: an opaque key.
    pub name: String,
    /// The C type of a handle, such as `struct futhark_i32_1d *`.
    pub ctype: String,
    /// The kind, with everything that depends on it.
    pub kind: TypeKind,
    /// The documentation comment of the type's definition.
    pub doc: Option<String>,
    /// Members of its description that this version of the crate does not know.
    pub unknown: Unknown,
}

impl Type {
    /// The C struct that a handle points to, such as `struct futhark_i32_1d`.
    #[must_use]
    pub fn c_struct(&self) -> &str {
        // The resolver has checked the form.
        self.ctype.strip_suffix(" *").unwrap_or(&self.ctype)
    }

    /// The tag of that struct, such as `futhark_i32_1d`.
    #[must_use]
    pub fn c_ident(&self) -> &str {
        let c_struct = self.c_struct();
        c_struct.strip_prefix("struct ").unwrap_or(c_struct)
    }

    /// The C function that frees a handle.
    #[must_use]
    pub fn free(&self) -> &str {
        match &self.kind {
            TypeKind::Array(array) => &array.ops.free,
            TypeKind::Opaque(opaque) => &opaque.ops.free,
        }
    }

    /// The array of scalars, if it is one.
    #[must_use]
    pub fn as_array(&self) -> Option<&ArrayType> {
        match &self.kind {
            TypeKind::Array(array) => Some(array),
            TypeKind::Opaque(_) => None,
        }
    }

    /// The opaque type, if it is one.
    #[must_use]
    pub fn as_opaque(&self) -> Option<&OpaqueType> {
        match &self.kind {
            TypeKind::Array(_) => None,
            TypeKind::Opaque(opaque) => Some(opaque),
        }
    }

    /// The record, if it is one (tuples and the unit type included).
    #[must_use]
    pub fn as_record(&self) -> Option<&Record> {
        match &self.as_opaque()?.structure {
            Structure::Record(record) => Some(record),
            _ => None,
        }
    }

    /// The sum type, if it is one.
    #[must_use]
    pub fn as_sum(&self) -> Option<&Sum> {
        match &self.as_opaque()?.structure {
            Structure::Sum(sum) => Some(sum),
            _ => None,
        }
    }

    /// The array of records, if it is one.
    #[must_use]
    pub fn as_record_array(&self) -> Option<&RecordArray> {
        match &self.as_opaque()?.structure {
            Structure::RecordArray(array) => Some(array),
            _ => None,
        }
    }

    /// The array of other opaque values, if it is one.
    #[must_use]
    pub fn as_opaque_array(&self) -> Option<&OpaqueArray> {
        match &self.as_opaque()?.structure {
            Structure::OpaqueArray(array) => Some(array),
            _ => None,
        }
    }

    /// The number of dimensions; 0 for an opaque value that is not an array.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.kind.rank()
    }

    /// Every type that occurs in this one, in terms of its operations: fields,
    /// payloads and elements, with repetitions.
    pub fn parts(&self) -> impl Iterator<Item = TypeRef> {
        self.kind.parts().copied()
    }
}

/// An entry point of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryPoint {
    /// The Futhark name, which need not be an identifier elsewhere.
    pub name: String,
    /// The C function.
    pub cfun: String,
    /// The parameters, in order.
    pub inputs: Vec<Input>,
    /// The results of the C function, one per output parameter. For the result in terms
    /// of the program, see [`result_form`](EntryPoint::result_form).
    pub outputs: Vec<Output>,
    /// The tuning parameters that influence this entry point. They depend on
    /// the backend.
    pub tuning_params: Vec<String>,
    /// The attributes of the definition.
    pub attributes: Vec<String>,
    /// The documentation comment.
    pub doc: Option<String>,
    /// Members of its description that this version of the crate does not know.
    pub unknown: Unknown,
}

impl EntryPoint {
    /// The parameters whose arguments a call consumes, with their indices.
    pub fn consumed(&self) -> impl Iterator<Item = (usize, &Input)> {
        let inputs = self.inputs.iter().enumerate();
        inputs.filter(|(_, input)| input.is_consumed())
    }

    /// The result in terms of the program, independent of how the compiler splits it.
    ///
    /// Up to 0.25.37 the C function has an output parameter for each component
    /// of a tuple, and none for the unit value; from 0.26.1 it has a single
    /// one, for the tuple or unit value itself. A bridge that offers
    /// [`ResultForm::components`] as a tuple of its own language has the same
    /// interface for both.
    #[must_use]
    pub fn result_form<'a>(&'a self, program: &'a Program) -> ResultForm<'a> {
        let output = match &self.outputs[..] {
            [] => return ResultForm::Nothing,
            [output] => output,
            several => return ResultForm::Several(several),
        };
        let TypeRef::Type(ty) = output.ty else {
            return ResultForm::One(output.ty);
        };
        match program.get(ty).as_record() {
            Some(record) if record.is_unit() => ResultForm::Unit(ty),
            Some(record) if record.is_tuple() => ResultForm::Tuple {
                ty,
                fields: &record.fields,
            },
            _ => ResultForm::One(output.ty),
        }
    }
}

/// The result of an entry point in terms of the program, and how C returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultForm<'a> {
    /// No value, and no output parameter.
    Nothing,
    /// A value of the unit type in an output parameter, which must be freed.
    Unit(TypeId),
    /// One value.
    One(TypeRef),
    /// Several values, each with its own output parameter.
    Several(&'a [Output]),
    /// Several values in one output parameter: a tuple, to be projected.
    Tuple {
        /// The tuple type.
        ty: TypeId,
        /// The components.
        fields: &'a [Field],
    },
}

impl<'a> ResultForm<'a> {
    /// The values that the program returns: none, one, or the components of a tuple.
    pub fn components(self) -> impl Iterator<Item = TypeRef> + 'a {
        let (one, outputs, fields): (_, &[Output], &[Field]) = match self {
            ResultForm::Nothing | ResultForm::Unit(_) => (None, &[], &[]),
            ResultForm::One(ty) => (Some(ty), &[], &[]),
            ResultForm::Several(outputs) => (None, outputs, &[]),
            ResultForm::Tuple { fields, .. } => (None, &[], fields),
        };
        let outputs = outputs.iter().map(|output| output.ty);
        let fields = fields.iter().map(|field| field.ty);
        one.into_iter().chain(outputs).chain(fields)
    }
}
