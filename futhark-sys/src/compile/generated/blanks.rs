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

use futhark_manifest::Operation;

use super::layout::{Component, Layouts};
use super::source::Source;
use super::token::captures;

/// An empty array in an unused component, and the shape that entry points expect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::compile) struct Blank {
    pub component: usize,
    pub array: Component,
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
pub(super) fn all<'a>(source: &Source<'_>, layouts: &Layouts<'a>) -> BTreeMap<&'a str, Vec<Blank>> {
    let copies = copies(source, layouts);
    let blank = |ident: &str, field: &str| {
        let (component, array) = array_in(layouts, ident, field)?;
        let shape = expected(source, layouts, &copies, &(ident.to_owned(), component))?;
        let is_fixed = shape.iter().any(Option::is_some);
        let blank = Blank {
            component,
            array: array.clone(),
            shape: shape.iter().map(|dim| dim.unwrap_or(0)).collect(),
        };
        (is_fixed && blank.bytes().is_some()).then_some(blank)
    };
    let mut all = BTreeMap::new();
    for ty in layouts.program.types() {
        for variant in ty.as_sum().map_or(&[][..], |sum| &sum.variants) {
            if let Some(function) = source.functions.get(&*variant.construct) {
                let empty = captures(&function.body, "v -> $ = $ ( ctx , NULL , 0");
                let empty = empty.filter(|[_, new]| new.starts_with("futhark_new_"));
                let blanks = empty.filter_map(|[field, _]| blank(ty.c_ident(), field));
                all.insert(&*variant.construct, blanks.collect());
            }
        }
    }
    all
}

/// A component of a C struct.
type Place = (String, usize);

/// The sizes that entry points expect of a component. `None` is one that depends on other arguments, or differs between
/// entry points. No shape if no parameter has the component.
fn expected(
    source: &Source<'_>,
    layouts: &Layouts<'_>,
    copies: &[(Place, Place)],
    place: &Place,
) -> Option<Vec<Option<i64>>> {
    let (ident, component) = place;
    let rank = layouts.components(ident).get(*component)?.rank;
    let mut shapes: Vec<Vec<_>> = Vec::new();
    for entry in layouts.program.entries() {
        for (i, input) in entry.inputs.iter().enumerate() {
            let is_type = |id| layouts.program.get(id).c_ident() == ident;
            let function = source.functions.get(&*entry.cfun);
            if let Some(function) = function.filter(|_| input.ty.as_type().is_some_and(is_type)) {
                let dims = (0..rank).map(|dim| fixed(&function.body, i, *component, dim));
                shapes.push(dims.collect());
            }
        }
    }
    // A size that is expected in a value is also expected in its parts.
    let larger = copies.iter().filter(|(from, _)| from == place);
    shapes.extend(larger.filter_map(|(_, to)| expected(source, layouts, copies, to)));
    shapes.into_iter().reduce(|first, other| {
        let both = first.into_iter().zip(other);
        both.map(|(first, other)| first.filter(|_| first == other))
            .collect()
    })
}

/// The components that functions copy into larger values when they construct records and sums:
///
/// ```c
///                 v->v2 = malloc(sizeof(*v0->v1));
/// ```
fn copies(source: &Source<'_>, layouts: &Layouts<'_>) -> Vec<(Place, Place)> {
    let mut copies = Vec::new();
    for (id, ty) in layouts.program.types_with_ids() {
        let constructors = layouts.program.functions_of(id).filter(|function| {
            matches!(
                function.operation,
                Operation::RecordNew | Operation::SumConstruct
            )
        });
        for function in constructors.filter_map(|function| source.functions.get(function.name)) {
            let copied = captures(&function.body, "v -> $ = malloc ( sizeof ( * $ -> $ )");
            copies.extend(copied.filter_map(|[to, value, from]| {
                let (to, _) = array_in(layouts, ty.c_ident(), to)?;
                // The struct that the parameter points to: `const struct futhark_opaque_x *v0`.
                let mut parameters = captures(&function.parameters, "struct $ * $");
                let [of, _] = parameters.find(|[_, name]| *name == value)?;
                let (from, _) = array_in(layouts, of, from)?;
                Some(((of.to_owned(), from), (ty.c_ident().to_owned(), to)))
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

/// The array in a field `v1` of a C struct, and its index.
fn array_in<'l>(
    layouts: &'l Layouts<'_>,
    ident: &str,
    field: &str,
) -> Option<(usize, &'l Component)> {
    let mut arrays = layouts.arrays(ident);
    arrays.find(|(i, _)| field == format!("v{i}"))
}
