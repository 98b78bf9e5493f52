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

use std::collections::BTreeMap;

use futhark_manifest::{ElemType, Program, Structure, Type, TypeRef, Version};

use super::source::Source;
use super::token::{captures, span};
use crate::compile::error::Error;
use crate::compile::hash::Hash;

/// One component. Its field is `v` and the index of the component.
///
/// The manifest need not contain the type of an array: the tags of an array of sums are a `struct futhark_i8_1d`, even if
/// the program does not use `[]i8`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::compile) struct Component {
    /// `futhark_f64_1d` for an array, `f64` for a scalar.
    pub ident: String,
    pub elem: ElemType,
    /// 0 for a scalar.
    pub rank: usize,
}

impl Component {
    fn scalar(elem: ElemType) -> Component {
        let (ident, rank) = (elem.as_str().to_owned(), 0);
        Component { ident, elem, rank }
    }

    /// Parses `futhark_<element type>_<rank>d`. The elements of an array of units are bools.
    fn array(ident: &str) -> Option<Component> {
        let name = ident.strip_prefix("futhark_")?.strip_suffix('d')?;
        let (elem, rank) = name.split_once('_')?;
        let elem = match elem {
            "unit" => ElemType::Bool,
            _ => ElemType::from_name(elem)?,
        };
        let rank = rank.parse().ok().filter(|&rank| rank > 0)?;
        let ident = ident.to_owned();
        Some(Component { ident, elem, rank })
    }

    /// Reads a field, whose name is `v` and its index.
    fn of_field(field: &[&str], index: usize) -> Option<Component> {
        let name = format!("v{index}");
        match *field {
            ["struct", ident, "*", v, ";"] if v == name => Component::array(ident),
            // The C types of i8 and bool differ. f16 and u16 share one, which is enough for a layout.
            [ty, v, ";"] if v == name => {
                let mut all = ElemType::ALL.iter().copied();
                all.find(|elem| elem.c_type() == ty).map(Component::scalar)
            }
            _ => None,
        }
    }

    pub(in crate::compile) fn c_type(&self) -> String {
        match self.rank {
            0 => self.elem.c_type().to_owned(),
            _ => format!("struct {} *", self.ident),
        }
    }

    /// The size of an element in memory, in bytes. The size of a unit is 0.
    pub(in crate::compile) fn element_size(&self) -> usize {
        match self.ident.starts_with("futhark_unit_") {
            true => 0,
            false => self.elem.size(),
        }
    }

    /// The C function for an operation of an array: `futhark_new_f64_1d`.
    pub(in crate::compile) fn function(&self, operation: &str) -> String {
        self.ident
            .replacen("futhark_", &format!("futhark_{operation}_"), 1)
    }
}

/// The components of the types of a program.
#[derive(Debug)]
pub(in crate::compile) struct Layouts<'a> {
    pub program: &'a Program,
    /// By the name of the C struct. An array type has one, itself.
    components: BTreeMap<&'a str, Vec<Component>>,
}

impl<'a> Layouts<'a> {
    pub(super) fn read(source: &Source<'_>, program: &'a Program) -> Result<Layouts<'a>, Error> {
        let read = |ty: &'a Type| Ok((ty.c_ident(), components(source, ty, &program.version)?));
        let components: Result<_, Error> = program.types().iter().map(read).collect();
        Ok(Layouts {
            program,
            components: components?,
        })
    }

    /// The components of the type whose C struct is `ident`; none if the manifest does not contain it.
    pub(in crate::compile) fn components(&self, ident: &str) -> &[Component] {
        self.components.get(ident).map_or(&[], Vec::as_slice)
    }

    /// The components that are arrays, with their indices.
    pub(in crate::compile) fn arrays(
        &self,
        ident: &str,
    ) -> impl Iterator<Item = (usize, &Component)> {
        let components = self.components(ident).iter().enumerate();
        components.filter(|(_, component)| component.rank > 0)
    }

    /// Every array type, also those that are not in the manifest.
    pub(in crate::compile) fn all_arrays(&self) -> impl Iterator<Item = &Component> {
        let idents = self.components.keys();
        idents.flat_map(|ident| self.arrays(ident).map(|(_, array)| array))
    }

    /// Whether `array` has the components of `elem`, with the dimensions of the array.
    pub(in crate::compile) fn is_array_of(&self, array: &Type, elem: &Type) -> bool {
        self.consists_of(array, self.components(elem.c_ident()), array.rank())
    }

    /// Whether the components of `ty` have the C types of `parts` with `rank` more dimensions; f16 and u16 share one.
    fn consists_of(&self, ty: &Type, parts: &[Component], rank: usize) -> bool {
        let components = self.components(ty.c_ident());
        let is_part = |(component, part): (&Component, &Component)| {
            component.rank == part.rank + rank && component.elem.c_type() == part.elem.c_type()
        };
        components.len() == parts.len() && components.iter().zip(parts).all(is_part)
    }

    /// The rules for the components of `ty`, and their coverage.
    ///
    /// Records and arrays have rules only if their components are those of their parts, in the same order.
    /// A sum has a rule only for its tag, because its variants share the other components in an order that
    /// only the compiler knows.
    ///
    /// The coverage is full where a constructor accepts any components that obey the rules: for a record any parts,
    /// `zip` compares the outer dimensions, as the rules do, and a scalar in a payload can be anything. Compiled
    /// programs compare the sizes in such values before they rely on them, because constructors do not.
    pub(in crate::compile) fn rules(&self, ty: &Type) -> (Vec<Rule>, Coverage) {
        let components = self.components(ty.c_ident());
        let mut none = vec![Rule::default(); components.len()];
        let Some(opaque) = ty.as_opaque() else {
            return (none, Coverage::Full);
        };
        // The parts, and the number of dimensions that they lack.
        let (parts, lacked): (Vec<TypeRef>, usize) = match &opaque.structure {
            Structure::Plain => return (none, Coverage::Abstract),
            Structure::Sum(sum) => {
                let has_tag = sum.variants.len() > 1
                    && components.first() == Some(&Component::scalar(ElemType::I8));
                if has_tag {
                    none[0].variants = sum.variants.len();
                }
                let mut payloads = sum.variants.iter().flat_map(|variant| &variant.payload);
                let coverage = match payloads.all(|ty| ty.as_scalar().is_some()) {
                    true if has_tag => Coverage::Full,
                    true => Coverage::Unknown,
                    false => Coverage::Sum,
                };
                return (none, coverage);
            }
            Structure::Record(record) => (record.fields.iter().map(|f| f.ty).collect(), 0),
            Structure::RecordArray(array) => (array.fields.iter().map(|f| f.ty).collect(), 0),
            Structure::OpaqueArray(array) => (vec![array.elem], array.rank),
        };
        let (mut of_parts, mut rules, mut coverage) = (Vec::new(), Vec::new(), Coverage::Full);
        for part in parts {
            let first = of_parts.len();
            match part {
                TypeRef::Scalar(elem) => of_parts.push(Component::scalar(elem)),
                TypeRef::Type(id) => {
                    let part = self.program.get(id);
                    let (own, of_part) = self.rules(part);
                    of_parts.extend_from_slice(self.components(part.c_ident()));
                    rules.extend(own);
                    if coverage == Coverage::Full {
                        coverage = of_part;
                    }
                }
            }
            rules.resize(of_parts.len(), Rule::default());
            for rule in rules[first..].iter_mut().filter(|rule| rule.shared > 0) {
                rule.like += first;
                rule.shared += lacked;
            }
        }
        if !self.consists_of(ty, &of_parts, lacked) {
            let is_full = coverage == Coverage::Full;
            return (none, if is_full { Coverage::Unknown } else { coverage });
        }
        // All components of an array have the same size in its dimensions. A component that equals an earlier one keeps
        // that rule, which implies the new one.
        let others = rules.iter_mut().skip(1).filter(|rule| rule.shared == 0);
        for rule in others.take_while(|_| ty.rank() > 0) {
            (rule.like, rule.shared) = (0, ty.rank());
        }
        (rules, coverage)
    }

    /// Identifies the program of stored values: its source, the compiler, and the layout of its opaque
    /// types. Equal for all backends.
    pub(in crate::compile) fn identity(&self, source_hash: &str) -> String {
        let program = self.program;
        let mut hash = Hash::new().with(source_hash).with(&program.version.text);
        for ty in program.types().iter().filter(|ty| ty.as_opaque().is_some()) {
            hash = hash.with(&ty.name);
            for component in self.components(ty.c_ident()) {
                hash = hash.with(&component.ident);
            }
        }
        hash.hex()
    }

    /// The number of columns, if `ty` is an array of records of scalars, at any depth, whose components are the columns in
    /// the order of the fields.
    ///
    /// A manifest does not tell the order of components. The functions that return a field tell it: each
    /// reads the components of its field, and no other.
    pub(in crate::compile) fn columns(&self, source: &Source<'_>, ty: &Type) -> Option<usize> {
        let array = ty.as_record_array()?;
        let components = self.components(ty.c_ident());
        let mut n = 0;
        for field in &array.fields {
            let part = self.program.get(field.ty.as_type()?);
            if part.as_opaque().is_some() {
                self.columns(source, part)?;
            }
            let (first, of_part) = (n, self.components(part.c_ident()));
            n += of_part.len();
            let is_same = part.rank() == array.rank && components.get(first..n)? == of_part;
            let body = &source.functions.get(&*field.project)?.body;
            // The components of `obj` that the function refers to, in order.
            let read = captures(body, "obj -> $").map(|[component]| component);
            let expected = (first..n).map(|i| format!("v{i}"));
            (is_same && expected.eq(read)).then_some(())?;
        }
        let has_units = components.iter().any(|column| column.element_size() == 0);
        (n > 0 && n == components.len() && !has_units).then_some(n)
    }
}

fn components(source: &Source<'_>, ty: &Type, version: &Version) -> Result<Vec<Component>, Error> {
    let ident = ty.c_ident();
    let fail = |why: &str| Error::unsupported(version, &format!("struct {ident}"), why);
    if ty.as_opaque().is_none() {
        let array = Component::array(ident).map(|array| vec![array]);
        return array.ok_or_else(|| fail("the name is not `futhark_<element type>_<rank>d`"));
    }
    let body = source.structs.get(ident);
    let body = body.ok_or_else(|| fail("the struct is not defined"))?;
    if *body == ["char", "dummy", ";"] {
        return Ok(Vec::new());
    }
    let fields = body.split_inclusive(|token| *token == ";").enumerate();
    let unknown = |field| fail(&format!("field `{}`", span(source.text, field)));
    let read = fields.map(|(i, field)| {
        let component = Component::of_field(field, i);
        component.ok_or_else(|| unknown(field))
    });
    read.collect()
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

/// How much of the values of a type the [rules](Layouts::rules) of its components cover.
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

#[cfg(test)]
mod tests {
    use futhark_manifest::Manifest;

    use super::*;

    fn program(manifest: &str) -> Program {
        Manifest::parse(manifest).unwrap().resolve().unwrap()
    }

    fn read(c: &str) -> Result<Vec<Component>, Error> {
        let program = program(
            r#"{"backend": "c", "version": "0.26.1", "entry_points": {}, "types": {
                "x": {"kind": "opaque", "ctype": "struct futhark_opaque_x *",
                    "ops": {"free": "futhark_free_opaque_x", "store": "futhark_store_opaque_x",
                        "restore": "futhark_restore_opaque_x"}}}}"#,
        );
        let layouts = Layouts::read(&Source::read(c), &program)?;
        Ok(layouts.components("futhark_opaque_x").to_vec())
    }

    #[test]
    fn components_are_read_in_order() {
        let c = "\nstruct futhark_opaque_x {\n    int8_t v0;\n    bool v1;\n    struct futhark_f64_1d *v2;\n    struct futhark_unit_2d *v3;\n};\n";
        let read = read(c).unwrap();
        let types: Vec<_> = read.iter().map(|c| (c.elem, c.rank)).collect();
        assert_eq!(
            types,
            [
                (ElemType::I8, 0),
                (ElemType::Bool, 0),
                (ElemType::F64, 1),
                (ElemType::Bool, 2)
            ]
        );
        assert_eq!(read[2].function("new"), "futhark_new_f64_1d");
        assert_eq!([2, 3].map(|i: usize| read[i].element_size()), [8, 0]);
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

    fn has_columns(c: &str) -> bool {
        let (program, source) = (program(MANIFEST), Source::read(c));
        let layouts = Layouts::read(&source, &program).unwrap();
        let mut tables = program.types().iter();
        tables.any(|ty| layouts.columns(&source, ty).is_some())
    }

    #[test]
    fn columns_are_known_if_each_field_is_the_component_of_its_number() {
        assert!(has_columns(C));
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
            assert!(!has_columns(&unknown), "{unknown}");
        }
    }
}
