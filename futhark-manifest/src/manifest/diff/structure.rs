//! Compares the structure of types, independent of their names.

use std::collections::HashMap;

use crate::elem::ElemType;
use crate::manifest::model::{Field, Structure, TypeKind};
use crate::manifest::program::{Program, Type, TypeRef};

/// Assigns a number to each type. Two types, of one program or of both, have the same number if
/// they have the same structure, names of types aside. A type of unknown structure is identified by
/// its name.
///
/// Parts get their numbers before wholes, so comparing two types is comparing two numbers,
/// however deep the types are.
#[derive(Default)]
pub(super) struct Numbers<'p>(HashMap<Shape<'p>, usize>);

impl<'p> Numbers<'p> {
    /// The numbers of a program's types.
    pub(super) fn of(&mut self, program: &'p Program) -> Vec<usize> {
        let mut numbers = vec![usize::MAX; program.types().len()];
        for (id, ty) in program.types_in_order() {
            let shape = Shape::of(ty, &numbers);
            let next = self.0.len();
            numbers[id.index()] = *self.0.entry(shape).or_insert(next);
        }
        numbers
    }
}

/// One level of a type.
#[derive(PartialEq, Eq, Hash)]
enum Shape<'p> {
    Array(ElemType, usize),
    Plain(&'p str),
    Record(Vec<(&'p str, Part)>),
    Sum(Vec<(&'p str, Vec<Part>)>),
    RecordArray(usize, Part, Vec<(&'p str, Part)>),
    OpaqueArray(usize, Part),
}

#[derive(PartialEq, Eq, Hash)]
enum Part {
    Scalar(ElemType),
    /// A type, by its number.
    Type(usize),
}

impl<'p> Shape<'p> {
    fn of(ty: &'p Type, numbers: &[usize]) -> Shape<'p> {
        let part = |ty: TypeRef| match ty {
            TypeRef::Scalar(elem) => Part::Scalar(elem),
            TypeRef::Type(id) => Part::Type(numbers[id.index()]),
        };
        let fields = |fields: &'p [Field]| {
            let fields = fields.iter();
            fields.map(|field| (&*field.name, part(field.ty))).collect()
        };
        let opaque = match &ty.kind {
            TypeKind::Array(array) => return Shape::Array(array.elem, array.rank),
            TypeKind::Opaque(opaque) => opaque,
        };
        match &opaque.structure {
            Structure::Plain => Shape::Plain(&ty.name),
            Structure::Record(record) => Shape::Record(fields(&record.fields)),
            Structure::Sum(sum) => {
                let variants = sum.variants.iter().map(|variant| {
                    let payload = variant.payload.iter().map(|&ty| part(ty)).collect();
                    (&*variant.name, payload)
                });
                Shape::Sum(variants.collect())
            }
            Structure::RecordArray(array) => {
                Shape::RecordArray(array.rank, part(array.elem), fields(&array.fields))
            }
            Structure::OpaqueArray(array) => Shape::OpaqueArray(array.rank, part(array.elem)),
        }
    }
}
