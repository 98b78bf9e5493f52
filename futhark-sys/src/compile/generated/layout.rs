//! The components of opaque values.
//!
//! A manifest does not describe the memory layout of sums and abstract types. The generated C does, in
//! one fixed form:
//!
//! ```c
//! struct futhark_opaque_shape {
//!     int8_t v0;
//!     struct futhark_f64_1d *v1;
//! };
//! ```
//!
//! C has no struct without members, so a type without components has the member `char dummy`. Any
//! other form is an error. Static assertions in our C file compare the result with the structs.

use std::collections::{BTreeMap, BTreeSet};

use futhark_manifest::{ElemType, Field, Program, Structure, Type, TypeRef, Version};

use super::source::Source;
use super::token::{captures, span};
use crate::compile::error::Error;
use crate::compile::hash::Hash;

/// One component. Its field is `v` and the index of the component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::compile) enum Component {
    Scalar(ElemType),
    Array(ArrayStruct),
}

/// An array type. The manifest need not contain it: the tags of an array of sums are a
/// `struct futhark_i8_1d`, even if the program does not use `[]i8`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::compile) struct ArrayStruct {
    /// `futhark_f64_1d`
    pub ident: String,
    pub elem: ElemType,
    pub rank: usize,
}

impl Component {
    /// Whether the two have the same C type; f16 and u16 share one.
    fn is_like(&self, other: &Component) -> bool {
        match (self, other) {
            (Component::Scalar(a), Component::Scalar(b)) => a.c_type() == b.c_type(),
            _ => self == other,
        }
    }
}

impl ArrayStruct {
    /// Parses `futhark_<element type>_<rank>d`. The elements of an array of units are bools.
    pub(in crate::compile) fn read(ident: &str) -> Option<ArrayStruct> {
        let (elem, rank) = ident
            .strip_prefix("futhark_")?
            .strip_suffix('d')?
            .split_once('_')?;
        let elem = match elem {
            "unit" => ElemType::Bool,
            _ => ElemType::from_name(elem)?,
        };
        let rank = rank.parse().ok().filter(|&rank| rank > 0)?;
        Some(ArrayStruct {
            ident: ident.to_owned(),
            elem,
            rank,
        })
    }

    /// The size of an element in memory, in bytes. The size of a unit is 0.
    pub(in crate::compile) fn element_size(&self) -> usize {
        match self.ident.starts_with("futhark_unit_") {
            true => 0,
            false => self.elem.size(),
        }
    }

    /// The C function for an operation: `futhark_new_f64_1d`.
    pub(in crate::compile) fn function(&self, operation: &str) -> String {
        self.ident
            .replacen("futhark_", &format!("futhark_{operation}_"), 1)
    }
}

/// The components of every opaque type, and the C structs of the array types.
#[derive(Debug)]
pub(in crate::compile) struct Layouts {
    /// By the name of the C struct.
    opaque: BTreeMap<String, Vec<Component>>,
    arrays: BTreeMap<String, ArrayStruct>,
}

impl Layouts {
    pub(super) fn read(source: &Source<'_>, program: &Program) -> Result<Layouts, Error> {
        let version = &program.version;
        let (mut opaque, mut arrays) = (BTreeMap::new(), BTreeMap::new());
        for ty in program.types() {
            let ident = ty.c_ident().to_owned();
            if ty.as_opaque().is_some() {
                let components = components(source, &ident, version)?;
                opaque.insert(ident, components);
            } else {
                let array = ArrayStruct::read(&ident).ok_or_else(|| {
                    let why = "the name is not `futhark_<element type>_<rank>d`";
                    Error::unsupported(version, &format!("struct {ident}"), why)
                })?;
                arrays.insert(ident, array);
            }
        }
        Ok(Layouts { opaque, arrays })
    }

    /// The components of the opaque type whose C struct is `ident`; none of another type.
    pub(in crate::compile) fn components(&self, ident: &str) -> &[Component] {
        self.opaque.get(ident).map_or(&[], Vec::as_slice)
    }

    /// The components that are arrays, with their indices.
    pub(in crate::compile) fn arrays(
        &self,
        ident: &str,
    ) -> impl Iterator<Item = (usize, &ArrayStruct)> {
        let components = self.components(ident).iter().enumerate();
        components.filter_map(|(i, component)| match component {
            Component::Array(array) => Some((i, array)),
            Component::Scalar(_) => None,
        })
    }

    /// Every array type, also those that are not in the manifest.
    pub(in crate::compile) fn all_arrays(&self) -> impl Iterator<Item = &ArrayStruct> {
        let components = self.opaque.keys().flat_map(|ident| self.arrays(ident));
        let of_components = components.map(|(_, array)| array);
        self.arrays.values().chain(of_components)
    }

    /// The array type in the manifest whose C struct is `ident`.
    pub(in crate::compile) fn array(&self, ident: &str) -> Option<&ArrayStruct> {
        self.arrays.get(ident)
    }
}

fn components(
    source: &Source<'_>,
    ident: &str,
    version: &Version,
) -> Result<Vec<Component>, Error> {
    let fail = |why: &str| Error::unsupported(version, &format!("struct {ident}"), why);
    let body = source.structs.get(ident);
    let body = body.ok_or_else(|| fail("the struct is not defined"))?;
    if *body == ["char", "dummy", ";"] {
        return Ok(Vec::new());
    }
    let fields = body.split_inclusive(|token| *token == ";").enumerate();
    let unknown = |field| fail(&format!("field `{}`", span(source.text, field)));
    let read = fields.map(|(i, field)| component(field, i).ok_or_else(|| unknown(field)));
    read.collect()
}

/// Reads a field, whose name is `v` and its index.
fn component(field: &[&str], index: usize) -> Option<Component> {
    let name = format!("v{index}");
    match *field {
        ["struct", ident, "*", v, ";"] if v == name => {
            ArrayStruct::read(ident).map(Component::Array)
        }
        // The C types of i8 and bool differ. f16 and u16 share one, which is enough for a layout.
        [ty, v, ";"] if v == name => {
            let elem = ElemType::ALL.iter().find(|elem| elem.c_type() == ty);
            elem.map(|elem| Component::Scalar(*elem))
        }
        _ => None,
    }
}

/// The invariants of one component in all values of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::compile) struct Rule {
    /// If not 0, the component is the tag of a sum with this number of variants.
    pub variants: usize,
    /// If `shared` is not 0, the earlier component with the same size …
    pub like: usize,
    /// … in this many outer dimensions.
    pub shared: usize,
}

/// How much of the values of a type the [`rules`] of its components cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compile) enum Coverage {
    /// The components are not those of the parts.
    Unknown,
    /// Everything: components that obey the rules are those of a value that constructors can make.
    Full,
    /// Not a sum whose variants have other payloads than scalars.
    Sum,
    /// Not a type without a structure in the manifest.
    Abstract,
}

/// The rules for the components of `ty`, an opaque type, and their coverage.
///
/// Records and arrays have rules only if their components are those of their parts, in the same order.
/// A sum has a rule only for its tag, because its variants share the other components in an order that
/// only the compiler knows.
///
/// The coverage is full where a constructor accepts any components that obey the rules: that of a record takes any parts,
/// `zip` compares the outer dimensions, as the rules do, and a scalar in a payload can be anything. Compiled
/// programs compare the sizes in such values before they rely on them, because constructors do not.
pub(in crate::compile) fn rules(
    layouts: &Layouts,
    program: &Program,
    ty: &Type,
) -> (Vec<Rule>, Coverage) {
    let components = layouts.components(ty.c_ident());
    let none = vec![Rule::default(); components.len()];
    let structure = ty.as_opaque().map(|opaque| &opaque.structure);
    // With the rules, and whether the components are those of the parts.
    let (rules, coverage, is_known) = match structure {
        None | Some(Structure::Plain) => (none.clone(), Coverage::Abstract, true),
        Some(Structure::Record(record)) => rules_of_fields(layouts, program, ty, &record.fields),
        Some(Structure::RecordArray(array)) => {
            let (rules, coverage, is_known) = rules_of_fields(layouts, program, ty, &array.fields);
            (share(rules, array.rank), coverage, is_known)
        }
        Some(Structure::Sum(sum)) => {
            let mut rules = none.clone();
            let has_tag = components.first() == Some(&Component::Scalar(ElemType::I8))
                && sum.variants.len() > 1;
            if has_tag {
                rules[0].variants = sum.variants.len();
            }
            let mut payloads = sum.variants.iter().flat_map(|variant| &variant.payload);
            match payloads.all(|ty| ty.as_scalar().is_some()) {
                true => (rules, Coverage::Full, has_tag),
                false => (rules, Coverage::Sum, true),
            }
        }
        Some(Structure::OpaqueArray(array)) => {
            let elem = array.elem.as_type().map(|id| program.get(id));
            match elem.filter(|elem| elem.as_opaque().is_some()) {
                Some(elem) => {
                    let (mut rules, coverage) = rules(layouts, program, elem);
                    for rule in rules.iter_mut().filter(|rule| rule.shared > 0) {
                        rule.shared += array.rank;
                    }
                    let is_known = is_array_of(layouts, ty, elem);
                    (share(rules, array.rank), coverage, is_known)
                }
                None => (none.clone(), Coverage::Full, false),
            }
        }
    };
    match (is_known, coverage) {
        (true, _) => (rules, coverage),
        (false, Coverage::Full) => (none, Coverage::Unknown),
        (false, _) => (none, coverage),
    }
}

/// The rules and the coverage of the fields, and whether the components of `ty` are those of its fields.
fn rules_of_fields(
    layouts: &Layouts,
    program: &Program,
    ty: &Type,
    fields: &[Field],
) -> (Vec<Rule>, Coverage, bool) {
    let (mut parts, mut rules) = (Vec::new(), Vec::new());
    let mut coverage = Coverage::Full;
    for field in fields {
        let first = parts.len();
        match field.ty {
            TypeRef::Scalar(elem) => parts.push(Component::Scalar(elem)),
            TypeRef::Type(id) => {
                let ty = program.get(id);
                if let Some(array) = layouts.array(ty.c_ident()) {
                    parts.push(Component::Array(array.clone()));
                } else {
                    let (own, of_part) = self::rules(layouts, program, ty);
                    parts.extend_from_slice(layouts.components(ty.c_ident()));
                    rules.extend(own);
                    if coverage == Coverage::Full {
                        coverage = of_part;
                    }
                }
            }
        }
        rules.resize(parts.len(), Rule::default());
        for rule in rules[first..].iter_mut().filter(|rule| rule.shared > 0) {
            rule.like += first;
        }
    }
    let all = layouts.components(ty.c_ident());
    let is_known = all.len() == parts.len() && all.iter().zip(&parts).all(|(a, b)| a.is_like(b));
    (rules, coverage, is_known)
}

/// Whether each component of `array` is that of `elem` with the dimensions of the array.
pub(in crate::compile) fn is_array_of(layouts: &Layouts, array: &Type, elem: &Type) -> bool {
    let rank = array.rank();
    let arrays = layouts.components(array.c_ident());
    let elems = layouts.components(elem.c_ident());
    let fits = |(array, elem): (&Component, &Component)| {
        let (of, inner) = match elem {
            Component::Scalar(elem) => (*elem, 0),
            Component::Array(array) => (array.elem, array.rank),
        };
        matches!(array, Component::Array(array) if array.rank == rank + inner
            && Component::Scalar(array.elem).is_like(&Component::Scalar(of)))
    };
    arrays.len() == elems.len() && arrays.iter().zip(elems).all(fits)
}

/// Adds the rule that all components have the same size in `rank` outer dimensions. A component that
/// equals an earlier one keeps that rule, which implies the new one.
fn share(mut rules: Vec<Rule>, rank: usize) -> Vec<Rule> {
    for rule in rules.iter_mut().skip(1).filter(|rule| rule.shared == 0) {
        (rule.like, rule.shared) = (0, rank);
    }
    rules
}

/// Identifies the program of stored values: its source, the compiler, and the layout of its opaque
/// types. Equal for all backends.
pub(in crate::compile) fn identity(
    layouts: &Layouts,
    program: &Program,
    source_hash: &str,
) -> String {
    let mut hash = Hash::new().with(source_hash).with(&program.version.text);
    for ty in program.types().iter().filter(|ty| ty.as_opaque().is_some()) {
        hash = hash.with(&ty.name);
        for component in layouts.components(ty.c_ident()) {
            let name = match component {
                Component::Scalar(elem) => elem.as_str(),
                Component::Array(array) => &array.ident,
            };
            hash = hash.with(name);
        }
    }
    hash.hex()
}

/// The C structs of arrays of records of scalars, at any depth, whose components are the columns in the order of the
/// fields.
///
/// A manifest does not tell the order of components. The functions that return a field tell it: each
/// reads the components of its field, and no other.
pub(super) fn all_columns(
    source: &Source<'_>,
    layouts: &Layouts,
    program: &Program,
) -> BTreeSet<String> {
    let types = program.types().iter();
    let tables = types.filter(|ty| columns(source, layouts, program, ty).is_some());
    tables.map(|ty| ty.c_ident().to_owned()).collect()
}

/// The number of columns of `ty`, if it is such an array.
fn columns(source: &Source<'_>, layouts: &Layouts, program: &Program, ty: &Type) -> Option<usize> {
    let array = ty.as_record_array()?;
    let components = layouts.components(ty.c_ident());
    let mut n = 0;
    for field in &array.fields {
        let part = program.get(field.ty.as_type()?);
        let first = n;
        let of_part = match layouts.array(part.c_ident()) {
            Some(column) if column.element_size() == 0 => return None,
            Some(column) => vec![Component::Array(column.clone())],
            None => {
                columns(source, layouts, program, part)?;
                layouts.components(part.c_ident()).to_vec()
            }
        };
        n += of_part.len();
        let is_same = part.rank() == array.rank && components.get(first..n)? == of_part;
        let body = &source.functions.get(&*field.project)?.body;
        // The components of `obj` that the function refers to, in order.
        let read = captures(body, "obj -> $").map(|[component]| component);
        let expected = (first..n).map(|i| format!("v{i}"));
        (is_same && expected.eq(read)).then_some(())?;
    }
    (n > 0 && n == components.len()).then_some(n)
}

#[cfg(test)]
mod tests {
    use futhark_manifest::Manifest;

    use super::*;

    fn read(c: &str) -> Result<Vec<Component>, Error> {
        components(
            &Source::read(c),
            "futhark_opaque_x",
            &Version::new("0.26.1"),
        )
    }

    #[test]
    fn components_are_read_in_order() {
        let c = "\nstruct futhark_opaque_x {\n    int8_t v0;\n    bool v1;\n    struct futhark_f64_1d *v2;\n    struct futhark_unit_2d *v3;\n};\n";
        let read = read(c).unwrap();
        assert_eq!(read[0], Component::Scalar(ElemType::I8));
        assert_eq!(read[1], Component::Scalar(ElemType::Bool));
        let Component::Array(array) = &read[2] else {
            panic!("an array")
        };
        assert_eq!((array.elem, array.rank), (ElemType::F64, 1));
        assert_eq!(array.function("new"), "futhark_new_f64_1d");
        let Component::Array(units) = &read[3] else {
            panic!("an array")
        };
        assert_eq!((units.elem, units.rank), (ElemType::Bool, 2));
    }

    #[test]
    fn a_dummy_member_is_no_component() {
        let c = "\nstruct futhark_opaque_x {\n    char dummy;\n};\n";
        assert_eq!(read(c).unwrap(), []);
    }

    #[test]
    fn unknown_forms_are_refused() {
        for c in [
            "",
            "\nstruct futhark_opaque_x {\n    int8_t v0;\n    char dummy;\n};\n",
            "\nstruct futhark_opaque_x {\n    long v0;\n};\n",
            "\nstruct futhark_opaque_x {\n    int8_t v1;\n};\n",
            "\nstruct futhark_opaque_x {\n    struct futhark_other *v0;\n};\n",
            "\nstruct futhark_opaque_x {\n    int8_t v0;\n    union y z;\n",
        ] {
            let error = read(c).unwrap_err();
            error.refuses_a_form_of_0_26_1(&["struct futhark_opaque_x"]);
        }
    }

    const MANIFEST: &str = r#"{"backend": "c", "version": "0.26.1", "entry_points": {}, "types": {
        "[]f32": {"kind": "array", "ctype": "struct futhark_f32_1d *", "rank": 1, "elemtype": "f32",
            "ops": {"free": "futhark_free_f32_1d", "shape": "futhark_shape_f32_1d",
                "values": "futhark_values_f32_1d", "new": "futhark_new_f32_1d"}},
        "pt": {"kind": "opaque", "ctype": "struct futhark_opaque_pt *",
            "ops": {"free": "futhark_free_opaque_pt", "store": "futhark_store_opaque_pt",
                "restore": "futhark_restore_opaque_pt"},
            "record": {"new": "futhark_new_opaque_pt", "fields": [
                {"name": "x", "type": "f32", "project": "futhark_project_opaque_pt_x"},
                {"name": "y", "type": "f32", "project": "futhark_project_opaque_pt_y"}]}},
        "[]pt": {"kind": "opaque", "ctype": "struct futhark_opaque_arr1d_pt *",
            "ops": {"free": "futhark_free_opaque_arr1d_pt", "store": "futhark_store_opaque_arr1d_pt",
                "restore": "futhark_restore_opaque_arr1d_pt"},
            "record_array": {"rank": 1, "elemtype": "pt", "zip": "futhark_zip_opaque_arr1d_pt",
                "index": "futhark_index_opaque_arr1d_pt", "shape": "futhark_shape_opaque_arr1d_pt",
                "fields": [
                    {"name": "x", "type": "[]f32", "project": "futhark_project_opaque_arr1d_pt_x"},
                    {"name": "y", "type": "[]f32", "project": "futhark_project_opaque_arr1d_pt_y"}]}}}}"#;
    const C: &str = r#"
struct futhark_f32_1d {
    struct memblock mem;
    int64_t shape[1];
};
struct futhark_opaque_pt {
    float v0;
    float v1;
};
struct futhark_opaque_arr1d_pt {
    struct futhark_f32_1d *v0;
    struct futhark_f32_1d *v1;
};
int futhark_project_opaque_arr1d_pt_x(struct futhark_f32_1d **out, const struct futhark_opaque_arr1d_pt *obj)
{
    memcpy(v, obj->v0, sizeof(struct futhark_f32_1d));
}
int futhark_project_opaque_arr1d_pt_y(struct futhark_f32_1d **out, const struct futhark_opaque_arr1d_pt *obj)
{
    memcpy(v, obj->v1, sizeof(struct futhark_f32_1d));
}
"#;

    fn columns(c: &str) -> Vec<String> {
        let program = Manifest::parse(MANIFEST).unwrap().resolve().unwrap();
        let source = Source::read(c);
        let layouts = Layouts::read(&source, &program).unwrap();
        all_columns(&source, &layouts, &program)
            .into_iter()
            .collect()
    }

    #[test]
    fn columns_are_known_if_each_field_is_the_component_of_its_number() {
        assert_eq!(columns(C), ["futhark_opaque_arr1d_pt"]);
        let swapped = C.replace("obj->v0", "obj->w").replace("obj->v1", "obj->v0");
        for unknown in [
            swapped.replace("obj->w", "obj->v1"),
            C.replace("obj->v1", "obj->v0"),
            C.replace("obj->v0,", "f(obj->v0, obj->v1),"),
            C.replace("memcpy(v, obj->v1", "memcpy(v, of(obj)"),
            C.replace(
                "    struct futhark_f32_1d *v1;\n}",
                "    struct futhark_f32_1d *v1;\n    float v2;\n}",
            ),
            C.replace("*v1;", "*v1;\n    struct futhark_f32_1d *v2;"),
            C.replace("struct futhark_f32_1d *v1;", "struct futhark_f32_2d *v1;"),
        ] {
            assert_ne!(unknown, C);
            assert!(columns(&unknown).is_empty(), "{unknown}");
        }
    }
}
