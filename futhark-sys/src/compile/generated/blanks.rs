//! The arrays of inactive variants in values of sum types.
//!
//! The C function that constructs a value of one variant sets the array components of the other
//! variants to empty arrays:
//!
//! ```c
//!         v->v1 = futhark_new_i32_1d(ctx, NULL, 0);
//! ```
//!
//! If such a component has a fixed size, as in `#none | #bulk [2]i32`, every entry point with such a
//! parameter rejects the value:
//!
//! ```c
//!     if (!((int64_t) 2 == in0->v1->shape[0])) {
//! ```
//!
//! The manifest does not contain these sizes, so they are read from the checks, and our wrapper
//! replaces the empty array by one of that size. If the generated C has another form, nothing is
//! replaced, and the entry point reports the error.

use std::collections::BTreeMap;

use futhark_manifest::{Operation, Program};

use super::layout::{ArrayStruct, Layouts};
use super::source::Source;
use super::token::captures;

/// An empty array in an unused component, and the shape that entry points expect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::compile) struct Blank {
    pub component: usize,
    pub array: ArrayStruct,
    pub shape: Vec<i64>,
}

impl Blank {
    /// The size of its elements in bytes; `None` if it is larger than `LARGEST`.
    pub(in crate::compile) fn bytes(&self) -> Option<usize> {
        let mut shape = self.shape.iter();
        let bytes = shape.try_fold(self.array.elem.size(), |bytes, &dim| {
            bytes.checked_mul(usize::try_from(dim).ok()?)
        });
        bytes.filter(|&bytes| bytes <= LARGEST)
    }
}

/// The largest array that is allocated for a variant that does not use it.
const LARGEST: usize = 1 << 26;

/// The blanks of every function that constructs a value of a sum type, by its name.
pub(super) fn all(
    source: &Source<'_>,
    layouts: &Layouts,
    program: &Program,
) -> BTreeMap<String, Vec<Blank>> {
    let sizes = sizes(source, layouts, program);
    let mut all = BTreeMap::new();
    for ty in program.types() {
        let variants = ty.as_sum().map_or(&[][..], |sum| &sum.variants);
        for name in variants.iter().map(|variant| &variant.construct) {
            let Some(function) = source.functions.get(&**name) else {
                continue;
            };
            let empty = captures(&function.body, "v -> $ = $ ( ctx , NULL , 0");
            let empty = empty.filter(|[_, new]| new.starts_with("futhark_new_"));
            let blanks = empty.filter_map(|[field, _]| {
                let component = component(field)?;
                let mut arrays = layouts.arrays(ty.c_ident());
                let (_, array) = arrays.find(|(i, _)| *i == component)?;
                let shape = sizes.get(&(ty.c_ident().to_owned(), component))?;
                let is_fixed = shape.iter().any(Option::is_some);
                let blank = Blank {
                    component,
                    array: array.clone(),
                    shape: shape.iter().map(|dim| dim.unwrap_or(0)).collect(),
                };
                (is_fixed && blank.bytes().is_some()).then_some(blank)
            });
            all.insert(name.clone(), blanks.collect());
        }
    }
    all
}

/// A component of a C struct.
type Place = (String, usize);

/// The sizes that entry points expect. `None` is one that depends on other arguments, or differs between entry points.
/// Types without a corresponding parameter are missing.
type Sizes = BTreeMap<Place, Vec<Option<i64>>>;

fn sizes(source: &Source<'_>, layouts: &Layouts, program: &Program) -> Sizes {
    let mut sizes = Sizes::new();
    for entry in program.entries() {
        let Some(function) = source.functions.get(&*entry.cfun) else {
            continue;
        };
        for (i, input) in entry.inputs.iter().enumerate() {
            let ident = input
                .ty
                .as_type()
                .map_or("", |id| program.get(id).c_ident());
            for (component, array) in layouts.arrays(ident) {
                let dims = 0..array.rank;
                let shape = dims.map(|dim| fixed(&function.body, i, component, dim));
                add(&mut sizes, (ident.to_owned(), component), shape.collect());
            }
        }
    }
    // A size that is expected in a value is also expected in its parts.
    let copies = copies(source, layouts, program);
    while copies.iter().any(|(from, to)| {
        let shape = sizes.get(to).cloned();
        shape.is_some_and(|shape| add(&mut sizes, from.clone(), shape))
    }) {}
    sizes
}

/// Adds a shape; returns whether that changes anything.
fn add(sizes: &mut Sizes, place: Place, shape: Vec<Option<i64>>) -> bool {
    let old = sizes.get(&place);
    let new = match old {
        Some(old) => {
            let both = old.iter().zip(&shape);
            both.map(|(old, new)| old.filter(|_| old == new)).collect()
        }
        None => shape,
    };
    let is_changed = old != Some(&new);
    sizes.insert(place, new);
    is_changed
}

/// The components that functions copy into larger values when they construct records and sums:
///
/// ```c
///                 v->v2 = malloc(sizeof(*v0->v1));
/// ```
fn copies(source: &Source<'_>, layouts: &Layouts, program: &Program) -> Vec<(Place, Place)> {
    let mut copies = Vec::new();
    for (id, ty) in program.types_with_ids() {
        let constructors = program.functions_of(id).filter(|function| {
            matches!(
                function.operation,
                Operation::RecordNew | Operation::SumConstruct
            )
        });
        for function in constructors.filter_map(|function| source.functions.get(function.name)) {
            let copied = captures(&function.body, "v -> $ = malloc ( sizeof ( * $ -> $ )");
            copies.extend(copied.filter_map(|[to, value, from]| {
                let to = component(to)?;
                layouts.arrays(ty.c_ident()).find(|(i, _)| *i == to)?;
                // The struct that the parameter points to: `const struct futhark_opaque_x *v0`.
                let mut parameters = captures(&function.parameters, "struct $ * $");
                let [of, _] = parameters.find(|[_, name]| *name == value)?;
                let from = (of.to_owned(), component(from)?);
                Some((from, (ty.c_ident().to_owned(), to)))
            }));
        }
    }
    copies
}

/// The number in the check `(int64_t) 2 == in0->v1->shape[0]` of a function.
fn fixed(body: &[&str], place: usize, component: usize, dim: usize) -> Option<i64> {
    let place = [
        format!("in{place}"),
        format!("v{component}"),
        dim.to_string(),
    ];
    let mut checks = captures(body, "( int64_t ) $ == $ -> $ -> shape [ $ ]");
    checks.find_map(|[number, value, field, dim]| {
        let number = number.parse().ok();
        number.filter(|_| [value, field, dim] == place)
    })
}

/// The index of a component.
fn component(field: &str) -> Option<usize> {
    field.strip_prefix('v')?.parse().ok()
}
