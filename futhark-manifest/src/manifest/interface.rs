//! The interface of a program as a text, its hash, and its parts in Futhark syntax.

use std::fmt::Write as _;

use crate::manifest::model::TypeRef;
use crate::manifest::model::{Field, Structure, TypeKind};
use crate::manifest::program::{EntryPoint, Program, ResultForm, Type};
use crate::text::fnv1a;

impl Program {
    /// Hashes the interface that callers depend on: FNV-1a (64 bits) of the bytes of
    /// [`interface_text`](Program::interface_text).
    ///
    /// The hash is the same for all backends of a program. It shows whether a loaded library has the entry
    /// points and types for which a binding was generated. It does not cover how the C functions must be
    /// called: everything else that a generator read from the manifest (C names, unique results, results that
    /// are complete only after a sync) is valid for that build only. The hash is not cryptographic.
    #[must_use]
    pub fn interface_hash(&self) -> u64 {
        fnv1a(self.interface_text().as_bytes())
    }

    /// Writes the interface that callers depend on as a canonical text; two programs have the same interface
    /// if the texts are equal.
    ///
    /// Lines end in a line feed, words are separated by one space. The first line is `futhark-interface 1`. A
    /// line for each type follows, then one for each entry point, both ordered by name:
    ///
    /// ```text
    /// array NAME ELEMTYPE RANK
    /// opaque NAME
    /// record NAME COUNT (FIELD TYPE)…
    /// sum NAME COUNT (VARIANT COUNT TYPE…)…
    /// record_array NAME RANK TYPE COUNT (FIELD TYPE)…
    /// opaque_array NAME RANK TYPE
    /// entry NAME COUNT (MODE TYPE)… COUNT TYPE…
    /// ```
    ///
    /// `NAME`, `FIELD`, `VARIANT` and `TYPE` are names of the program, each prefixed with its length in bytes
    /// and a colon, so that names are unambiguous: `5:[]i32`. `COUNT` is the number of groups that follow.
    /// `MODE` is `consumes` for a parameter whose argument is consumed, else `observes`. The second count of
    /// an entry point is the number of output parameters of its C function.
    ///
    /// Callers do not depend on these, so they are not included: C names, the names of parameters, uniqueness
    /// of results, optional operations, tuning parameters, attributes, documentation, backend and version.
    #[must_use]
    pub fn interface_text(&self) -> String {
        let mut text = String::from("futhark-interface 1\n");
        let names = Names {
            program: self,
            spell: str::to_owned,
        };
        for ty in &self.types {
            names.ty(ty, &mut text);
        }
        for entry in &self.entries {
            let outputs: Vec<TypeRef> = entry.outputs.iter().map(|output| output.ty).collect();
            names.entry(entry, &outputs, &mut text);
        }
        text
    }

    /// The parameters and the result of an entry point in Futhark syntax: `(xs: *[]i32) (n: i64): (i32, []i32)`.
    /// Does not depend on whether C splits a tuple.
    #[must_use]
    pub fn signature(&self, entry: &EntryPoint) -> String {
        let mut text = String::new();
        for input in &entry.inputs {
            let star = if input.is_consumed() { "*" } else { "" };
            let _ = write!(text, "({}: {star}{}) ", input.name, self.name_of(input.ty));
        }
        let form = entry.result_form(self);
        let names: Vec<&str> = form.components().map(|ty| self.name_of(ty)).collect();
        let result = match form {
            ResultForm::One(_) => names.concat(),
            _ => format!("({})", names.join(", ")),
        };
        format!("{}: {result}", text.trim_end())
    }

    /// The definition of a type in one line, in notation like Futhark's: `record {x: f64, y: f64}`.
    #[must_use]
    pub fn definition(&self, ty: &Type) -> String {
        let name = |ty: TypeRef| self.name_of(ty);
        let array = |elem, rank| format!("array of {elem}, rank {rank}");
        let structure = match &ty.kind {
            TypeKind::Array(own) => return array(own.elem.as_str(), own.rank),
            TypeKind::Opaque(opaque) => &opaque.structure,
        };
        match structure {
            Structure::Plain => "opaque".to_owned(),
            Structure::Record(record) if record.is_unit() => "the unit type".to_owned(),
            Structure::Record(record) if record.is_tuple() => {
                let fields: Vec<&str> = record.fields.iter().map(|field| name(field.ty)).collect();
                format!("tuple ({})", fields.join(", "))
            }
            Structure::Record(record) => {
                let field = |field: &Field| format!("{}: {}", field.name, name(field.ty));
                let fields: Vec<String> = record.fields.iter().map(field).collect();
                format!("record {{{}}}", fields.join(", "))
            }
            Structure::Sum(sum) => {
                let variants = sum.variants.iter().map(|variant| {
                    let payload = variant.payload.iter().map(|&ty| grouped(name(ty)));
                    format!("#{}{}", variant.name, payload.collect::<String>())
                });
                format!("sum {}", variants.collect::<Vec<_>>().join(" | "))
            }
            Structure::RecordArray(own) => array(name(own.elem), own.rank),
            Structure::OpaqueArray(own) => array(name(own.elem), own.rank),
        }
    }
}

/// A payload after a space; names of several words in parentheses, since they would look like several payloads.
fn grouped(name: &str) -> String {
    if name.contains(' ') && !name.starts_with(['(', '{']) {
        format!(" ({name})")
    } else {
        format!(" {name}")
    }
}

/// Writes the lines of the interface text, with names spelled by a function.
pub(super) struct Names<'p> {
    pub(super) program: &'p Program,
    pub(super) spell: fn(&str) -> String,
}

impl Names<'_> {
    /// Writes the line of a type.
    pub(super) fn ty(&self, ty: &Type, text: &mut String) {
        let name = self.name(&ty.name);
        match &ty.kind {
            TypeKind::Array(array) => {
                let _ = write!(text, "array{name} {} {}", array.elem, array.rank);
            }
            TypeKind::Opaque(opaque) => match &opaque.structure {
                Structure::Plain => *text += &format!("opaque{name}"),
                Structure::Record(record) => {
                    *text += &format!("record{name}");
                    self.fields(&record.fields, text);
                }
                Structure::Sum(sum) => {
                    let _ = write!(text, "sum{name} {}", sum.variants.len());
                    for variant in &sum.variants {
                        *text += &self.name(&variant.name);
                        self.types(&variant.payload, text);
                    }
                }
                Structure::RecordArray(array) => {
                    let elem = self.name(self.program.name_of(array.elem));
                    let _ = write!(text, "record_array{name} {}{elem}", array.rank);
                    self.fields(&array.fields, text);
                }
                Structure::OpaqueArray(array) => {
                    let elem = self.name(self.program.name_of(array.elem));
                    let _ = write!(text, "opaque_array{name} {}{elem}", array.rank);
                }
            },
        }
        text.push('\n');
    }

    /// Writes the line of an entry point with these results.
    pub(super) fn entry(&self, entry: &EntryPoint, results: &[TypeRef], text: &mut String) {
        let name = self.name(&entry.name);
        let _ = write!(text, "entry{name} {}", entry.inputs.len());
        for input in &entry.inputs {
            let mode = if input.is_consumed() {
                "consumes"
            } else {
                "observes"
            };
            let _ = write!(text, " {mode}{}", self.name(self.program.name_of(input.ty)));
        }
        self.types(results, text);
        text.push('\n');
    }

    fn types(&self, types: &[TypeRef], text: &mut String) {
        let _ = write!(text, " {}", types.len());
        for &ty in types {
            *text += &self.name(self.program.name_of(ty));
        }
    }

    fn fields(&self, fields: &[Field], text: &mut String) {
        let _ = write!(text, " {}", fields.len());
        for field in fields {
            *text += &self.name(&field.name);
            *text += &self.name(self.program.name_of(field.ty));
        }
    }

    fn name(&self, name: &str) -> String {
        let name = (self.spell)(name);
        format!(" {}:{name}", name.len())
    }
}
