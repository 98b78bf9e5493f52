//! The types of the fake program, and their numbers.

use std::ffi::{CStr, c_void};

use futhark_sys::table::{self as c, FUT_FIRST_TYPE, RawType};

use crate::context::Context;
use crate::operations::{
    Lists, columns, create, create_columns, create_records, duplicate, free, index, index_record,
    is_shared, operation, raw_memory, restore, set_record, shape, store, stored_size, values,
};

/// A type. The table has them sorted by name.
pub(crate) struct Type {
    /// The name in the manifest.
    pub(crate) name: &'static CStr,
    kind: Kind,
    /// Element type and rank of each component.
    pub(crate) components: &'static [(u32, u32)],
}

enum Kind {
    /// An array of scalars.
    Array,
    /// An array of records of this type.
    Records(u32),
    Plain,
}

pub use crate::operations::OUT_OF_MEMORY;

/// The number of `[][]i32`.
pub const MATRIX: u32 = 0;
/// The number of `[]f32`.
pub const FLOATS: u32 = 1;
/// The number of `[]i32`.
pub const INTS: u32 = 2;
/// The number of `[]point`.
pub const POINTS: u32 = 3;
/// The number of `pair`.
pub const PAIR: u32 = 4;
/// The number of `point`.
pub const POINT: u32 = 5;
/// The number of `shape`.
pub const SHAPE: u32 = 6;

pub(crate) const TYPES: [Type; 7] = [
    Type::new(c"[][]i32", Kind::Array, &[(c::FUT_I32, 2)]),
    Type::new(c"[]f32", Kind::Array, &[(c::FUT_F32, 1)]),
    Type::new(c"[]i32", Kind::Array, &[(c::FUT_I32, 1)]),
    // {x: f32, y: i32} each.
    Type::new(
        c"[]point",
        Kind::Records(POINT),
        &[(c::FUT_F32, 1), (c::FUT_I32, 1)],
    ),
    // {n: i32, xs: []i32}
    Type::new(c"pair", Kind::Plain, &[(c::FUT_I32, 0), (c::FUT_I32, 1)]),
    Type::new(c"point", Kind::Plain, &[(c::FUT_F32, 0), (c::FUT_I32, 0)]),
    // #dot | #line []i32 i32
    Type::new(
        c"shape",
        Kind::Plain,
        &[(c::FUT_I32, 0), (c::FUT_I32, 1), (c::FUT_I32, 0)],
    ),
];

impl Type {
    const fn new(name: &'static CStr, kind: Kind, components: &'static [(u32, u32)]) -> Type {
        Type {
            name,
            kind,
            components,
        }
    }

    pub(crate) fn rank(&self) -> usize {
        match self.kind {
            Kind::Plain => 0,
            Kind::Array | Kind::Records(_) => self.components[0].1 as usize,
        }
    }
}

pub(crate) fn raw_types() -> Vec<RawType> {
    vec![
        raw::<MATRIX>(),
        raw::<FLOATS>(),
        raw::<INTS>(),
        raw::<POINTS>(),
        raw::<PAIR>(),
        raw::<POINT>(),
        raw::<SHAPE>(),
    ]
}

fn raw<const T: u32>() -> RawType {
    let ty = &TYPES[T as usize];
    let components: Vec<c::Component> = ty
        .components
        .iter()
        .enumerate()
        .map(|(i, &(elem, rank))| {
            // SAFETY: a struct of numbers may be all zeros.
            let mut component: c::Component = unsafe { std::mem::zeroed() };
            (component.elem, component.rank) = (elem, rank);
            component.offset = 8 * i as u64;
            component
        })
        .collect();
    // SAFETY: a struct of numbers, pointers and optional functions may be all zeros.
    let mut raw: RawType = unsafe { std::mem::zeroed() };
    raw.name = ty.name.as_ptr();
    raw.rank = ty.rank() as u32;
    raw.is_shared = Some(is_shared);
    raw.free = Some(free::<T>);
    raw.duplicate = operation!(duplicate, T);
    match ty.kind {
        Kind::Array => {
            raw.kind = c::FUT_ARRAY;
            raw.elem = ty.components[0].0;
            raw.shape = Some(shape);
            raw.create = operation!(create, T);
            raw.values = operation!(values, T);
            raw.index = operation!(index, T);
            raw.raw_memory = Some(raw_memory);
            return raw;
        }
        Kind::Records(elem) => {
            raw.elem = FUT_FIRST_TYPE + elem;
            raw.shape = Some(shape);
            raw.create = operation!(create_records, T);
            raw.index = operation!(index_record, T);
            raw.set = operation!(set_record, T);
            raw.columns = operation!(columns, T);
            raw.create_columns = operation!(create_columns, T);
        }
        Kind::Plain => {}
    }
    raw.kind = c::FUT_OPAQUE;
    raw.n_components = components.len() as u32;
    // The components of `shape` are shared by its variants.
    raw.coverage = match T {
        SHAPE => c::FUT_COVERAGE_SUM,
        _ => c::FUT_COVERAGE_FULL,
    };
    raw.components = components.leak().as_ptr();
    raw.stored_size = operation!(stored_size, T);
    raw.store = operation!(store, T);
    raw.restore = operation!(restore, T);
    raw
}
