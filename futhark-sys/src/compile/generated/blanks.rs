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

use futhark_manifest::{Program, Structure, TypeRef};

use super::layout::{ArrayStruct, Component, Layouts};
use super::source::Source;

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
            let blank = |line: &str| {
                let component = blank_component(line)?;
                let Component::Array(array) = components.get(component)? else {
                    return None;
                };
                let blank = Blank {
                    component,
                    array: array.clone(),
                    shape: sizes.shape(ty.c_ident(), component, array.rank)?,
                };
                blank.bytes().map(|_| blank)
            };
            let blanks: Vec<Blank> = function.body.lines().filter_map(blank).collect();
            if !blanks.is_empty() {
                all.insert(variant.construct.clone(), blanks);
            }
        }
    }
    all
}

/// The size that entry points expect in one dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Fixed(i64),
    /// The size depends on other arguments, or differs between entry points.
    Open,
}

/// The sizes that entry points expect, by C struct, component and dimension. Types without a
/// corresponding parameter are missing.
#[derive(Default)]
struct Sizes(BTreeMap<(String, usize, usize), Size>);

impl Sizes {
    fn read(source: &Source<'_>, layouts: &Layouts, program: &Program) -> Sizes {
        let mut sizes = Sizes::default();
        for entry in program.entries() {
            let Some(function) = source.functions.get(&*entry.cfun) else {
                continue;
            };
            for (place, input) in entry.inputs.iter().enumerate() {
                let TypeRef::Type(id) = input.ty else {
                    continue;
                };
                let ty = program.get(id);
                if ty.as_opaque().is_none() {
                    continue;
                }
                for (component, array) in arrays(layouts, ty.c_ident()) {
                    for dim in 0..array.rank {
                        let checked = format!(" == in{place}->v{component}->shape[{dim}]");
                        let size =
                            constant(function.body, &checked).map_or(Size::Open, Size::Fixed);
                        sizes.add(ty.c_ident(), component, dim, size);
                    }
                }
            }
        }
        // A size that is expected in a value is also expected in its parts.
        let copies = copies(source, layouts, program);
        while copies.iter().any(|copy| sizes.propagate(copy)) {}
        sizes
    }

    /// Adds a size; returns whether that changes anything.
    fn add(&mut self, ident: &str, component: usize, dim: usize, size: Size) -> bool {
        let key = (ident.to_owned(), component, dim);
        let old = self.0.get(&key).copied();
        let new = match old {
            Some(old) if old != size => Size::Open,
            _ => size,
        };
        self.0.insert(key, new);
        old != Some(new)
    }

    fn propagate(&mut self, copy: &Copied) -> bool {
        let mut changed = false;
        for dim in 0..copy.rank {
            let key = (copy.to.0.clone(), copy.to.1, dim);
            if let Some(&size) = self.0.get(&key) {
                changed |= self.add(&copy.from.0, copy.from.1, dim, size);
            }
        }
        changed
    }

    /// The expected shape of a component, if a dimension is fixed; other dimensions are 0.
    fn shape(&self, ident: &str, component: usize, rank: usize) -> Option<Vec<i64>> {
        let size = |dim| self.0.get(&(ident.to_owned(), component, dim)).copied();
        let sizes: Vec<Size> = (0..rank).map(size).collect::<Option<_>>()?;
        let dim = |size: &Size| match size {
            Size::Fixed(size) => *size,
            Size::Open => 0,
        };
        let shape = sizes.iter().map(dim).collect();
        sizes
            .iter()
            .any(|&size| size != Size::Open)
            .then_some(shape)
    }
}

/// An array component that is copied into a larger value: struct and component of both.
struct Copied {
    from: (String, usize),
    to: (String, usize),
    rank: usize,
}

/// The copies in the functions that construct records and sums:
///
/// ```c
///                 v->v2 = malloc(sizeof(*v0->v1));
/// ```
fn copies(source: &Source<'_>, layouts: &Layouts, program: &Program) -> Vec<Copied> {
    let mut copies = Vec::new();
    for ty in program.types() {
        let Some(opaque) = ty.as_opaque() else {
            continue;
        };
        let functions: Vec<&str> = match &opaque.structure {
            Structure::Record(record) => vec![&record.new],
            Structure::Sum(sum) => sum.variants.iter().map(|v| &*v.construct).collect(),
            _ => continue,
        };
        let arrays: BTreeMap<usize, &ArrayStruct> = arrays(layouts, ty.c_ident()).collect();
        for function in functions
            .iter()
            .filter_map(|name| source.functions.get(name))
        {
            copies.extend(function.body.lines().filter_map(|line| {
                let (to, from) = line.trim().split_once(" = malloc(sizeof(*")?;
                let (parameter, from) = from.strip_suffix("));")?.split_once("->v")?;
                let to = to.strip_prefix("v->v")?.parse().ok()?;
                Some(Copied {
                    from: (
                        struct_of(function.parameters, parameter)?,
                        from.parse().ok()?,
                    ),
                    to: (ty.c_ident().to_owned(), to),
                    rank: arrays.get(&to)?.rank,
                })
            }));
        }
    }
    copies
}

fn arrays<'l>(
    layouts: &'l Layouts,
    ident: &str,
) -> impl Iterator<Item = (usize, &'l ArrayStruct)> + use<'l> {
    let components = layouts.components(ident).iter().enumerate();
    components.filter_map(|(i, component)| match component {
        Component::Array(array) => Some((i, array)),
        Component::Scalar(_) => None,
    })
}

/// The struct that a parameter points to: `const struct futhark_opaque_x *v0`.
fn struct_of(parameters: &str, parameter: &str) -> Option<String> {
    let mut parameters = parameters.split(',').map(str::trim);
    let ident = parameters.find_map(|text| {
        let ty = text.strip_suffix(parameter)?.strip_suffix(" *")?;
        ty.strip_prefix("const ")
            .unwrap_or(ty)
            .strip_prefix("struct ")
    });
    ident.map(str::to_owned)
}

/// The number in `(int64_t) 2 == in0->…`.
fn constant(body: &str, checked: &str) -> Option<i64> {
    let (before, _) = body.split_once(checked)?;
    let (_, number) = before.rsplit_once("(int64_t) ")?;
    number.parse().ok()
}

/// The component that the line sets to an empty array.
fn blank_component(line: &str) -> Option<usize> {
    let (component, value) = line.trim().strip_prefix("v->v")?.split_once(" = ")?;
    let is_empty = value.starts_with("futhark_new_") && value.contains("(ctx, NULL, 0");
    is_empty.then(|| component.parse().ok())?
}
