//! The checking stage: consistency rules for the parts of a manifest.
//!
//! All violations are reported, so no rule relies on another one: a rule skips parts that it cannot
//! judge because another rule is violated.

mod arrays;
mod names;
mod warnings;

use std::collections::{HashMap, HashSet};

use crate::backend::{Backend, UnknownBackend};
use crate::elem::ElemType;
use crate::manifest::code::Code;
use crate::manifest::finding::{Finding, quote};
use crate::manifest::json::{Path, compare_pointers};
use crate::manifest::model::{Structure, Sum, TypeKind};
use crate::manifest::order::parts_first;
use crate::manifest::syntax::{Manifest, Type};
use crate::manifest::walk::{Part, walk};

pub(crate) use warnings::warnings;

/// Returns all errors, ordered by place.
pub(crate) fn errors(manifest: &Manifest) -> Vec<Finding> {
    let mut checker = Checker {
        manifest,
        findings: Vec::new(),
    };
    checker.backend();
    checker.references();
    names::report(manifest, &mut checker.findings);
    let root = Path::Root;
    let path = root.key("types");
    if u32::try_from(manifest.types.len()).is_err() {
        let found = manifest.types.len().to_string();
        checker.report(
            Code::TooManyTypes,
            &path,
            "fewer than 4294967296 types",
            found,
        );
    }
    for (name, ty) in &manifest.types {
        checker.ty(name, ty, &path.key(name));
    }
    checker.acyclic(&path);
    checker
        .findings
        .sort_by(|a, b| compare_pointers(a.pointer(), b.pointer()));
    checker.findings
}

struct Checker<'m> {
    manifest: &'m Manifest,
    findings: Vec<Finding>,
}

impl Checker<'_> {
    fn report(
        &mut self,
        code: Code,
        path: &Path<'_>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        self.findings
            .push(Finding::new(code, path, expected, found));
    }

    fn backend(&mut self) {
        let name = &self.manifest.backend;
        if name.parse::<Backend>().is_err() {
            let root = Path::Root;
            let path = root.key("backend");
            let expected = UnknownBackend::known();
            self.report(Code::UnknownBackend, &path, expected, quote(name));
        }
    }

    fn references(&mut self) {
        let Checker { manifest, findings } = self;
        walk(manifest, &mut |path, part| {
            if let Part::Reference(name) = part
                && !manifest.types.contains_key(name)
                && ElemType::from_name(name).is_none()
            {
                let expected = "a scalar type or one that is described under /types";
                let code = Code::DanglingType;
                findings.push(Finding::new(code, path, expected, quote(name)));
            }
        });
    }

    fn ty(&mut self, name: &str, ty: &Type, path: &Path<'_>) {
        if ElemType::from_name(name).is_some() {
            let expected = "no description of a scalar type";
            self.report(Code::ScalarDescribed, path, expected, quote(name));
        }
        match &ty.kind {
            TypeKind::Array(array) => self.rank(array.rank, path),
            TypeKind::Opaque(opaque) => match &opaque.structure {
                Structure::Plain => {}
                Structure::Record(record) => {
                    let names = record.fields.iter().map(|field| &*field.name);
                    let path = path.key("record");
                    self.distinct(names, &path.key("fields"), Code::DuplicateField, "field");
                }
                Structure::Sum(sum) => self.sum(sum, &path.key("sum")),
                Structure::RecordArray(array) => {
                    let path = path.key("record_array");
                    self.rank(array.rank, &path);
                    let names = array.fields.iter().map(|field| &*field.name);
                    self.distinct(names, &path.key("fields"), Code::DuplicateField, "field");
                    arrays::of_records(self, array, &path);
                }
                Structure::OpaqueArray(array) => {
                    let path = path.key("opaque_array");
                    self.rank(array.rank, &path);
                    arrays::of_opaques(self, array, &path);
                }
            },
        }
    }

    fn sum(&mut self, sum: &Sum<String>, path: &Path<'_>) {
        let path = path.key("variants");
        if sum.variants.is_empty() {
            let expected = "at least one variant";
            self.report(Code::NoVariants, &path, expected, "an empty array");
        }
        let names = sum.variants.iter().map(|variant| &*variant.name);
        self.distinct(names, &path, Code::DuplicateVariant, "variant");
    }

    fn rank(&mut self, rank: usize, path: &Path<'_>) {
        // The bytes of a stored value have one byte for the rank.
        if !(1..=255).contains(&rank) {
            let path = path.key("rank");
            let expected = "an integer from 1 to 255";
            self.report(Code::RankOutOfRange, &path, expected, rank.to_string());
        }
    }

    /// Reports names that occur more than once.
    fn distinct<'a>(
        &mut self,
        names: impl Iterator<Item = &'a str>,
        path: &Path<'_>,
        code: Code,
        what: &str,
    ) {
        let mut seen = HashSet::new();
        for (index, name) in names.enumerate() {
            if !seen.insert(name) {
                let path = path.index(index);
                let expected = format!("the name of a {what} that no other {what} has");
                self.report(code, &path.key("name"), expected, quote(name));
            }
        }
    }

    /// Reports a type that contains itself: users recurse into the parts of types.
    fn acyclic(&mut self, path: &Path<'_>) {
        let types: Vec<(&String, &Type)> = self.manifest.types.iter().collect();
        let numbers: HashMap<&str, usize> = types
            .iter()
            .enumerate()
            .map(|(number, (name, _))| (name.as_str(), number))
            .collect();
        let parts = |whole: usize| {
            let parts = types[whole].1.kind.parts();
            parts.filter_map(|name| numbers.get(name.as_str()).copied())
        };
        if let Err(cycle) = parts_first(types.len(), parts) {
            let path = path.key(types[cycle.part].0);
            let expected = "a type that does not contain itself";
            let found = format!("a part of {}", quote(types[cycle.whole].0));
            self.report(Code::TypeContainsItself, &path, expected, found);
        }
    }
}
