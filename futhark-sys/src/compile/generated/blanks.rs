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

use futhark_manifest::{Program, Structure};

use super::layout::{ArrayStruct, Component, Layouts};
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
    let sizes = Sizes::read(source, layouts, program);
    let mut all = BTreeMap::new();
    for ty in program.types() {
        let Some(sum) = ty.as_sum() else { continue };
        let components = layouts.components(ty.c_ident());
        for variant in &sum.variants {
            let Some(function) = source.functions.get(&*variant.construct) else {
                continue;
            };
            let empty = captures(&function.body, "v -> $ = $ ( ctx , NULL , 0");
            let blanks = empty.filter_map(|[field, new]| {
                let component = component(field).filter(|_| new.starts_with("futhark_new_"))?;
                let Component::Array(array) = components.get(component)? else {
                    return None;
                };
                let blank = Blank {
                    component,
                    array: array.clone(),
                    shape: sizes.shape(&(ty.c_ident().to_owned(), component))?,
                };
                blank.bytes().map(|_| blank)
            });
            let blanks: Vec<Blank> = blanks.collect();
            if !blanks.is_empty() {
                all.insert(variant.construct.clone(), blanks);
            }
        }
    }
    all
}

/// A component of a C struct.
type Place = (String, usize);

/// The sizes that entry points expect. `None` is one that depends on other arguments, or differs between entry points.
/// Types without a corresponding parameter are missing.
#[derive(Default)]
struct Sizes(BTreeMap<Place, Vec<Option<i64>>>);

impl Sizes {
    fn read(source: &Source<'_>, layouts: &Layouts, program: &Program) -> Sizes {
        let mut sizes = Sizes::default();
        for entry in program.entries() {
            let Some(function) = source.functions.get(&*entry.cfun) else {
                continue;
            };
            for (i, input) in entry.inputs.iter().enumerate() {
                let ty = input.ty.as_type().map(|id| program.get(id));
                let Some(ty) = ty.filter(|ty| ty.as_opaque().is_some()) else {
                    continue;
                };
                for (component, array) in layouts.arrays(ty.c_ident()) {
                    let dims = 0..array.rank;
                    let shape = dims.map(|dim| fixed(&function.body, i, component, dim));
                    sizes.add((ty.c_ident().to_owned(), component), shape.collect());
                }
            }
        }
        // A size that is expected in a value is also expected in its parts.
        let copies = copies(source, layouts, program);
        while copies.iter().any(|(from, to)| {
            let shape = sizes.0.get(to).cloned();
            shape.is_some_and(|shape| sizes.add(from.clone(), shape))
        }) {}
        sizes
    }

    /// Adds a shape; returns whether that changes anything.
    fn add(&mut self, place: Place, shape: Vec<Option<i64>>) -> bool {
        let old = self.0.get(&place);
        let new = match old {
            Some(old) => {
                let both = old.iter().zip(&shape);
                both.map(|(old, new)| old.filter(|_| old == new)).collect()
            }
            None => shape,
        };
        let is_changed = old != Some(&new);
        self.0.insert(place, new);
        is_changed
    }

    /// The expected shape of a component, if a dimension is fixed; other dimensions are 0.
    fn shape(&self, place: &Place) -> Option<Vec<i64>> {
        let shape = self.0.get(place)?;
        let is_fixed = shape.iter().any(Option::is_some);
        is_fixed.then(|| shape.iter().map(|dim| dim.unwrap_or(0)).collect())
    }
}

/// The components that functions copy into larger values when they construct records and sums:
///
/// ```c
///                 v->v2 = malloc(sizeof(*v0->v1));
/// ```
fn copies(source: &Source<'_>, layouts: &Layouts, program: &Program) -> Vec<(Place, Place)> {
    let mut copies = Vec::new();
    for ty in program.types() {
        let functions: Vec<&str> = match ty.as_opaque().map(|opaque| &opaque.structure) {
            Some(Structure::Record(record)) => vec![&record.new],
            Some(Structure::Sum(sum)) => sum.variants.iter().map(|v| &*v.construct).collect(),
            _ => continue,
        };
        let ident = ty.c_ident();
        let functions = functions.iter().map(|name| source.functions.get(name));
        for function in functions.flatten() {
            let copied = captures(&function.body, "v -> $ = malloc ( sizeof ( * $ -> $ )");
            copies.extend(copied.filter_map(|[to, value, from]| {
                let to = component(to)?;
                layouts.arrays(ident).find(|(i, _)| *i == to)?;
                // The struct that the parameter points to: `const struct futhark_opaque_x *v0`.
                let mut parameters = captures(&function.parameters, "struct $ * $");
                let [of, _] = parameters.find(|[_, name]| *name == value)?;
                Some(((of.to_owned(), component(from)?), (ident.to_owned(), to)))
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
