//! A walk over a resolved program.

use crate::manifest::model::{
    ArrayType, OpaqueArray, OpaqueType, Record, RecordArray, Structure, Sum, TypeKind,
};
use crate::manifest::program::{EntryPoint, Program, Type, TypeId};

/// Callbacks for the parts of a [`Program`]: see [`Program::visit`].
///
/// The default methods do nothing. For an opaque type, [`opaque`](Visitor::opaque) is called first, then
/// the method for its structure.
///
/// ```
/// use futhark_manifest::{ArrayType, EntryPoint, Manifest, Type, TypeId, Visitor};
///
/// /// The declarations of a bridge, one line each.
/// #[derive(Default)]
/// struct Lines(Vec<String>);
///
/// impl Visitor for Lines {
///     fn array(&mut self, _: TypeId, ty: &Type, array: &ArrayType) {
///         self.0.push(format!("array {} of {}, rank {}", ty.name, array.elem, array.rank));
///     }
///     fn entry(&mut self, entry: &EntryPoint) {
///         self.0.push(format!("entry {}", entry.name));
///     }
/// }
///
/// # let text = r#"{"backend": "c", "entry_points": {"go": {"cfun": "go", "inputs": [], "outputs": []}},
/// #  "types": {"[]i8": {"kind": "array", "ctype": "struct a *", "elemtype": "i8", "rank": 1,
/// #   "ops": {"free": "f", "shape": "s", "values": "v", "new": "n"}}}}"#;
/// let program = Manifest::parse(text)?.resolve()?;
/// let mut lines = Lines::default();
/// program.visit(&mut lines);
/// assert_eq!(lines.0, ["array []i8 of i8, rank 1", "entry go"]);
/// # Ok::<(), futhark_manifest::Error>(())
/// ```
#[expect(unused_variables, reason = "implementors use the names")]
pub trait Visitor {
    /// An array of scalars.
    fn array(&mut self, id: TypeId, ty: &Type, array: &ArrayType) {}

    /// Any opaque type, before the method for its structure.
    fn opaque(&mut self, id: TypeId, ty: &Type, opaque: &OpaqueType) {}

    /// A record, a tuple or the unit type.
    fn record(&mut self, id: TypeId, ty: &Type, record: &Record) {}

    /// A sum type.
    fn sum(&mut self, id: TypeId, ty: &Type, sum: &Sum) {}

    /// An array of records.
    fn record_array(&mut self, id: TypeId, ty: &Type, array: &RecordArray) {}

    /// An array of other opaque values.
    fn opaque_array(&mut self, id: TypeId, ty: &Type, array: &OpaqueArray) {}

    /// An entry point.
    fn entry(&mut self, entry: &EntryPoint) {}
}

impl Program {
    /// Calls the visitor for every type, in dependency order, then for every entry point, by name.
    pub fn visit(&self, visitor: &mut impl Visitor) {
        for (id, ty) in self.types_in_order() {
            match &ty.kind {
                TypeKind::Array(array) => visitor.array(id, ty, array),
                TypeKind::Opaque(opaque) => {
                    visitor.opaque(id, ty, opaque);
                    match &opaque.structure {
                        Structure::Plain => {}
                        Structure::Record(record) => visitor.record(id, ty, record),
                        Structure::Sum(sum) => visitor.sum(id, ty, sum),
                        Structure::RecordArray(array) => visitor.record_array(id, ty, array),
                        Structure::OpaqueArray(array) => visitor.opaque_array(id, ty, array),
                    }
                }
            }
        }
        for entry in self.entries() {
            visitor.entry(entry);
        }
    }
}
