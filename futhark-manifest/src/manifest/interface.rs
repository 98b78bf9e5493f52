//! The interface of a program as a text, and its hash.

use std::fmt::Write as _;

use crate::hash::fnv1a;
use crate::manifest::model::{Field, Structure, TypeKind};
use crate::manifest::program::{Program, TypeRef};

impl Program {
    /// Hashes the interface that callers depend on: FNV-1a (64 bits) of
    /// the bytes of [`interface_text`](Program::interface_text).
    ///
    /// The hash is the same for all backends of a program. It shows whether a loaded library has
    /// the entry points and types for which a binding was generated.
    /// It does not cover how the C functions must be called: everything else that a generator read from
    /// the manifest (C names, unique results, results that are complete only after a sync) is valid for
    /// that build only. The hash is not cryptographic.
    #[must_use]
    pub fn interface_hash(&self) -> u64 {
        fnv1a(self.interface_text().as_bytes())
    }

    /// Writes the interface that callers depend on as a canonical text; two programs have the same interface if the texts are equal.
    ///
    /// Lines end in a line feed, words are separated by one space. The first
    /// line is `futhark-interface 1`. A line for each type follows, then one
    /// for each entry point, both ordered by name:
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
    /// `NAME`, `FIELD`, `VARIANT` and `TYPE` are names of the program, each
    /// prefixed with its length in bytes and a colon, so that names are
    /// unambiguous: `5:[]i32`. `COUNT` is the number of groups
    /// that follow. `MODE` is `consumes` for a parameter whose argument is
    /// consumed, else `observes`. The second count of an entry point is the
    /// number of output parameters of its C function.
    ///
    /// Callers do not depend on these, so they are not included: C names, the names of
    /// parameters, uniqueness of results, optional operations, tuning parameters,
    /// attributes, documentation, backend and version.
    #[must_use]
    pub fn interface_text(&self) -> String {
        let mut text = Text(String::from("futhark-interface 1"));
        for ty in &self.types {
            match &ty.kind {
                TypeKind::Array(array) => {
                    text.line("array").name(&ty.name);
                    text.word(array.elem.as_str()).count(array.rank);
                }
                TypeKind::Opaque(opaque) => match &opaque.structure {
                    Structure::Plain => {
                        text.line("opaque").name(&ty.name);
                    }
                    Structure::Record(record) => {
                        text.line("record").name(&ty.name);
                        text.fields(self, &record.fields);
                    }
                    Structure::Sum(sum) => {
                        text.line("sum").name(&ty.name).count(sum.variants.len());
                        for variant in &sum.variants {
                            text.name(&variant.name).types(self, &variant.payload);
                        }
                    }
                    Structure::RecordArray(array) => {
                        text.line("record_array").name(&ty.name).count(array.rank);
                        text.name(self.name_of(array.elem));
                        text.fields(self, &array.fields);
                    }
                    Structure::OpaqueArray(array) => {
                        text.line("opaque_array").name(&ty.name).count(array.rank);
                        text.name(self.name_of(array.elem));
                    }
                },
            }
        }
        for entry in &self.entries {
            text.line("entry").name(&entry.name);
            text.count(entry.inputs.len());
            for input in &entry.inputs {
                let mode = if input.is_consumed() {
                    "consumes"
                } else {
                    "observes"
                };
                text.word(mode).name(self.name_of(input.ty));
            }
            let outputs: Vec<TypeRef> = entry.outputs.iter().map(|output| output.ty).collect();
            text.types(self, &outputs);
        }
        text.0.push('\n');
        text.0
    }
}

/// Builds the text; each call adds to the current line.
struct Text(String);

impl Text {
    fn line(&mut self, first: &str) -> &mut Self {
        self.0.push('\n');
        self.0.push_str(first);
        self
    }

    fn word(&mut self, word: &str) -> &mut Self {
        self.0.push(' ');
        self.0.push_str(word);
        self
    }

    fn name(&mut self, name: &str) -> &mut Self {
        self.count(name.len());
        self.0.push(':');
        self.0.push_str(name);
        self
    }

    fn count(&mut self, count: usize) -> &mut Self {
        write!(self.0, " {count}").expect("a String takes any text");
        self
    }

    fn types(&mut self, program: &Program, types: &[TypeRef]) -> &mut Self {
        self.count(types.len());
        for &ty in types {
            self.name(program.name_of(ty));
        }
        self
    }

    fn fields(&mut self, program: &Program, fields: &[Field]) -> &mut Self {
        self.count(fields.len());
        for field in fields {
            self.name(&field.name).name(program.name_of(field.ty));
        }
        self
    }
}
