//! Recipes: the free choices in a value of a type.

use super::tree::Input;
use crate::harness::constructor::Constructor;
use futhark_manifest::{ElemType, EntryPoint, Program, Structure, TypeKind, TypeRef};
use std::sync::Arc;

/// The maximum nesting of entry points that create arguments for entry points.
const MAX_CALLS: usize = 3;

/// The maximum number of entry points to try for a type.
const MAX_MAKERS: usize = 4;

/// How to create a value. Free choices have numbers. Extents are numbered through a whole call,
/// because they depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// A scalar, with its number in the call.
    Scalar(ElemType, usize),
    /// An array, with the number of each extent.
    Array(ElemType, Vec<usize>),
    /// A value with parts: a record, an array of records, or one of several variants of a sum. Each as an
    /// input without parts, and its parts.
    Whole(Vec<(Input, Vec<Recipe>)>),
    /// A result of one of several calls, with its index.
    Made(Vec<(Arc<Call>, usize)>),
}

/// The arguments of an entry point, and the constraints on their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The entry point's name.
    pub entry: String,
    /// The recipe of each argument.
    pub arguments: Vec<Recipe>,
    /// The extents, by number: a variable or a constant. Equal variables are equal extents.
    pub extents: Vec<Extent>,
    /// The constraint on each scalar.
    pub roles: Vec<Role>,
}

/// A constraint on an extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The value of the variable with this number.
    Variable(usize),
    /// This value only, according to the trial calls.
    Fixed(usize),
}

/// A constraint on a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Any number.
    Any,
    /// A small number: time or memory grow with it.
    Small,
    /// The extent with this number.
    Size(usize),
}

impl Call {
    /// The call of an entry point. Without further knowledge all extents are equal, and scalars
    /// are small.
    ///
    /// # Errors
    /// The name of a type that no function creates.
    pub fn of(program: &Program, entry: &EntryPoint) -> Result<Call, String> {
        let calls = MAX_CALLS;
        Writer {
            program,
            calls,
            extents: 0,
            scalars: 0,
        }
        .call(entry, &mut Vec::new())
    }

    /// The number of variables of the extents.
    #[must_use]
    pub fn variables(&self) -> usize {
        let numbers = self.extents.iter().map(|extent| match extent {
            Extent::Variable(number) => number + 1,
            Extent::Fixed(_) => 0,
        });
        numbers.max().unwrap_or(0)
    }

    /// The extents for given variables.
    #[must_use]
    pub fn extents(&self, variables: &[usize]) -> Vec<usize> {
        let extents = self.extents.iter().map(|extent| match extent {
            Extent::Variable(number) => variables[*number],
            Extent::Fixed(size) => *size,
        });
        extents.collect()
    }

    /// The element types of the scalars, by number, and whether each is an argument itself.
    #[must_use]
    pub fn scalars(&self) -> Vec<(ElemType, bool)> {
        let mut found = vec![None; self.roles.len()];
        for argument in &self.arguments {
            argument.scalars(true, &mut found);
        }
        found.into_iter().flatten().collect()
    }

    /// The number of elements of the largest array.
    #[must_use]
    pub fn largest(&self, extents: &[usize]) -> usize {
        let sizes = self.arguments.iter().map(|recipe| recipe.largest(extents));
        sizes.max().unwrap_or(0)
    }
}

impl Recipe {
    fn scalars(&self, alone: bool, found: &mut [Option<(ElemType, bool)>]) {
        match self {
            Recipe::Scalar(elem, number) => found[*number] = Some((*elem, alone)),
            Recipe::Array(..) | Recipe::Made(_) => {}
            Recipe::Whole(wholes) => {
                let parts = wholes.iter().flat_map(|(_, parts)| parts);
                parts.for_each(|part| part.scalars(false, found));
            }
        }
    }

    fn largest(&self, extents: &[usize]) -> usize {
        match self {
            Recipe::Scalar(..) | Recipe::Made(_) => 1,
            Recipe::Array(_, dims) => dims.iter().map(|dim| extents[*dim]).product(),
            Recipe::Whole(wholes) => {
                let parts = wholes.iter().flat_map(|(_, parts)| parts);
                parts.map(|part| part.largest(extents)).max().unwrap_or(0)
            }
        }
    }
}

/// Builds the recipes of one call, and counts its free choices.
struct Writer<'p> {
    program: &'p Program,
    calls: usize,
    extents: usize,
    scalars: usize,
}

impl Writer<'_> {
    /// `asked` has the types that calls are creating, which must not depend on themselves.
    fn call(mut self, entry: &EntryPoint, asked: &mut Vec<TypeRef>) -> Result<Call, String> {
        let inputs = entry.inputs.iter();
        let arguments = inputs
            .map(|input| self.recipe(input.ty, &[], asked))
            .collect::<Result<_, _>>()?;
        Ok(Call {
            entry: entry.name.clone(),
            arguments,
            extents: vec![Extent::Variable(0); self.extents],
            roles: vec![Role::Small; self.scalars],
        })
    }

    /// `outer` has the extents that the value shares with the other fields of an array of records.
    fn recipe(
        &mut self,
        ty: TypeRef,
        outer: &[usize],
        asked: &mut Vec<TypeRef>,
    ) -> Result<Recipe, String> {
        let id = match ty {
            TypeRef::Scalar(elem) => {
                self.scalars += 1;
                return Ok(Recipe::Scalar(elem, self.scalars - 1));
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
        let mut wholes = Vec::new();
        let mut missing = None;
        for whole in Constructor::all_of(self.program, id) {
            let parts = whole.parts().into_iter();
            let parts = parts.map(|ty| self.recipe(ty, &dims, asked));
            match parts.collect::<Result<Vec<_>, _>>() {
                Ok(parts) => wholes.push((whole.empty(), parts)),
                Err(name) => missing = Some(name),
            }
        }
        match missing {
            _ if !wholes.is_empty() => Ok(Recipe::Whole(wholes)),
            Some(name) => Err(name),
            None => self.made(ty, asked),
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

    fn made(&mut self, ty: TypeRef, asked: &mut Vec<TypeRef>) -> Result<Recipe, String> {
        let name = || self.program.name_of(ty).to_owned();
        if self.calls == 0 || asked.contains(&ty) {
            return Err(name());
        }
        asked.push(ty);
        let mut entries: Vec<_> = self.program.entries().iter().collect();
        entries.sort_by_key(|entry| entry.inputs.len());
        let mut makers = Vec::new();
        for entry in entries {
            let Some(place) = entry.outputs.iter().position(|output| output.ty == ty) else {
                continue;
            };
            let writer = Writer {
                calls: self.calls - 1,
                extents: 0,
                scalars: 0,
                ..*self
            };
            if let Ok(call) = writer.call(entry, asked) {
                makers.push((Arc::new(call), place));
            }
            if makers.len() == MAX_MAKERS {
                break;
            }
        }
        asked.pop();
        if makers.is_empty() {
            Err(name())
        } else {
            Ok(Recipe::Made(makers))
        }
    }
}
