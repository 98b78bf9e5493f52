//! The checking stage: consistency rules for the parts of a manifest, and warnings.
//!
//! All violations are reported, so no rule relies on another one: a rule skips parts that it cannot
//! judge because another rule is violated.

use std::collections::{HashMap, HashSet};

use crate::backend::{Backend, UnknownBackend};
use crate::elem::ElemType;
use crate::manifest::finding::{Code, Finding, Path, compare_pointers, describe, quote};
use crate::manifest::model::{
    Field, Manifest, OpaqueArray, Outputs, RecordArray, Structure, Sum, Type, TypeKind, Unknown,
};
use crate::manifest::operation::Operation;
use crate::names::C;
use crate::text::Printable;
use crate::version::{Version, known};

/// Returns all errors, ordered by place.
pub(crate) fn errors(manifest: &Manifest) -> Vec<Finding> {
    let mut checker = Checker {
        manifest,
        findings: Vec::new(),
    };
    checker.references();
    c_names(manifest, &mut checker.findings);
    let root = Path::Root;
    let path = root.key("types");
    if u32::try_from(manifest.types.len()).is_err() {
        let (expected, found) = ("fewer than 4294967296 types", manifest.types.len());
        checker.report(Code::TooManyTypes, &path, expected, found.to_string());
    }
    for (name, ty) in &manifest.types {
        checker.ty(ty, &path.key(name));
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

    fn ty(&mut self, ty: &Type, path: &Path<'_>) {
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
                    array_of_records(self, array, &path);
                }
                Structure::OpaqueArray(array) => {
                    let path = path.key("opaque_array");
                    self.rank(array.rank, &path);
                    array_of_opaques(self, array, &path);
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

/// The elements must be records, and there must be an array for each of their fields.
fn array_of_records(checker: &mut Checker<'_>, array: &RecordArray<String>, path: &Path<'_>) {
    let elem_path = path.key("elemtype");
    let expected = "the name of a record type";
    let fields = match Meaning::of(checker.manifest, &array.elem) {
        None => return,
        Some(Meaning::Opaque(Structure::Record(record))) => &record.fields,
        Some(other) => return wrong_element(checker, &elem_path, expected, &array.elem, other),
    };

    if array.rank == 0 {
        return;
    }
    let path = path.key("fields");
    let own = array.fields.iter().map(|field| &field.name);
    if !own.eq(fields.iter().map(|field| &field.name)) {
        let expected = format!("the fields of {}, in that order", quote(&array.elem));
        checker.report(Code::FieldsDisagree, &path, expected, "others");
        return;
    }
    for (index, (own, field)) in array.fields.iter().zip(fields).enumerate() {
        let path = path.index(index);
        field_array(checker, array.rank, own, field, &path.key("type"));
    }
}

/// The elements must be opaque, and not arrays of scalars.
fn array_of_opaques(checker: &mut Checker<'_>, array: &OpaqueArray<String>, path: &Path<'_>) {
    let path = path.key("elemtype");
    let expected = "the name of an opaque type";
    match Meaning::of(checker.manifest, &array.elem) {
        None | Some(Meaning::Opaque(_)) => {}
        Some(other) => wrong_element(checker, &path, expected, &array.elem, other),
    }
}

/// A field of an array of records must be an array of that field: its rank is the sum of both ranks,
/// and it has the same scalar elements as the field.
///
/// Does not compare names of opaque types, since one type can have several.
fn field_array(
    checker: &mut Checker<'_>,
    rank: usize,
    own: &Field<String>,
    field: &Field<String>,
    path: &Path<'_>,
) {
    let manifest = checker.manifest;
    let meanings = (
        Meaning::of(manifest, &own.ty),
        Meaning::of(manifest, &field.ty),
    );
    let (Some(whole), Some(one)) = meanings else {
        return;
    };
    let wanted = rank.saturating_add(one.rank());
    let fits = whole.rank() == wanted && whole.scalar() == one.scalar();
    if fits || !whole.has_known_rank() {
        return;
    }
    let elem = one.scalar().map_or("opaque values", ElemType::as_str);
    let expected = array_in_words(elem, wanted);
    let found = format!("{}, which is {}", quote(&own.ty), whole.in_words());
    checker.report(Code::WrongFieldType, path, expected, found);
}

fn wrong_element(
    checker: &mut Checker<'_>,
    path: &Path<'_>,
    expected: &str,
    name: &str,
    meaning: Meaning<'_>,
) {
    let found = format!("{}, which is {}", quote(name), meaning.in_words());
    checker.report(Code::WrongElement, path, expected, found);
}

/// The target of a reference to a type.
#[derive(Clone, Copy)]
enum Meaning<'m> {
    Scalar(ElemType),
    Array(ElemType, usize),
    Opaque(&'m Structure<String>),
}

impl<'m> Meaning<'m> {
    fn of(manifest: &'m Manifest, name: &str) -> Option<Meaning<'m>> {
        Some(match manifest.types.get(name).map(|ty| &ty.kind) {
            Some(TypeKind::Array(array)) => Meaning::Array(array.elem, array.rank),
            Some(TypeKind::Opaque(opaque)) => Meaning::Opaque(&opaque.structure),
            None => Meaning::Scalar(ElemType::from_name(name)?),
        })
    }

    fn rank(self) -> usize {
        match self {
            Meaning::Scalar(_) => 0,
            Meaning::Array(_, rank) => rank,
            Meaning::Opaque(structure) => structure.rank(),
        }
    }

    /// False for plain opaque types, which may be arrays.
    fn has_known_rank(self) -> bool {
        !matches!(self, Meaning::Opaque(Structure::Plain))
    }

    fn scalar(self) -> Option<ElemType> {
        match self {
            Meaning::Scalar(elem) | Meaning::Array(elem, _) => Some(elem),
            Meaning::Opaque(_) => None,
        }
    }

    fn in_words(self) -> String {
        match self {
            Meaning::Scalar(_) => "a scalar".to_owned(),
            Meaning::Array(elem, rank) => array_in_words(elem.as_str(), rank),
            Meaning::Opaque(Structure::Plain) => "opaque".to_owned(),
            Meaning::Opaque(Structure::Record(_)) => "a record".to_owned(),
            Meaning::Opaque(Structure::Sum(_)) => "a sum type".to_owned(),
            Meaning::Opaque(Structure::RecordArray(_)) => "an array of records".to_owned(),
            Meaning::Opaque(Structure::OpaqueArray(_)) => "an array of opaque values".to_owned(),
        }
    }
}

fn array_in_words(elem: &str, rank: usize) -> String {
    let dimensions = if rank == 1 { "dimension" } else { "dimensions" };
    format!("an array of {elem} with {rank} {dimensions}")
}

/// Reports C names that are not identifiers or are used twice. Functions and structs have separate name
/// spaces in C, but Futhark never uses one name for both.
fn c_names(manifest: &Manifest, findings: &mut Vec<Finding>) {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    walk(manifest, &mut |path, part| match c_name(part) {
        None => {}
        Some(Ok(name)) => *uses.entry(name).or_default() += 1,
        Some(Err((expected, found))) => {
            findings.push(Finding::new(
                Code::InvalidCName,
                path,
                expected,
                quote(found),
            ));
        }
    });
    if !uses
        .iter()
        .any(|(name, &uses)| uses > 1 || is_of_library(name))
    {
        return;
    }
    // Build paths in a second walk, only if a name is shared: they cost more than names.
    let mut first: HashMap<&str, String> = HashMap::new();
    walk(manifest, &mut |path, part| match c_name(part) {
        Some(Ok(name)) if is_of_library(name) => {
            let expected = "a C name that nothing else has";
            let found = format!("{}, used by every library", quote(name));
            findings.push(Finding::new(Code::DuplicateCName, path, expected, found));
        }
        Some(Ok(name)) if uses[name] > 1 => match first.get(name) {
            None => drop(first.insert(name, path.to_string())),
            Some(first) => {
                let expected = "a C name that nothing else has";
                let found = format!("{}, used by {}", quote(name), Printable(first));
                findings.push(Finding::new(Code::DuplicateCName, path, expected, found));
            }
        },
        _ => {}
    });
}

/// Whether every library has the name, of a function or a struct, or a later one may have it.
fn is_of_library(name: &str) -> bool {
    name.starts_with("futhark_context") || name.starts_with("futhark_get_tuning_param_")
}

/// The C name in a part, if the part has one. An error is the expected and the actual text.
fn c_name(part: Part<'_>) -> Option<Result<&str, (&'static str, &str)>> {
    match part {
        Part::Function(name) if is_c_identifier(name) => Some(Ok(name)),
        Part::Function(name) => Some(Err(("the name of a C function", name))),
        Part::CType(ctype) => {
            let expected = "a pointer to a C struct, written \"struct NAME *\"";
            Some(struct_tag(ctype).ok_or((expected, ctype)))
        }
        Part::Reference(_) | Part::Unknown(_) => None,
    }
}

/// Extracts the tag of `struct TAG *`.
fn struct_tag(ctype: &str) -> Option<&str> {
    ctype
        .strip_prefix("struct ")
        .and_then(|rest| rest.strip_suffix(" *"))
        .filter(|tag| is_c_identifier(tag))
}

/// Accepts names that begin with an underscore, although C reserves some of them.
fn is_c_identifier(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let spelled = name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit());
    spelled && !C.is_keyword(name)
}

/// Returns all warnings, ordered by place.
pub(crate) fn warnings(manifest: &Manifest) -> Vec<Finding> {
    let mut findings = Vec::new();
    walk(manifest, &mut |path, part| {
        if let Part::Unknown(members) = part {
            for (key, value) in members {
                let (code, path) = (Code::UnknownMember, path.key(key));
                let expected = "no member of that name";
                findings.push(Finding::new(code, &path, expected, describe(value)));
            }
        }
    });
    let root = Path::Root;
    let name = &manifest.backend;
    if name.parse::<Backend>().is_err() {
        let (code, path) = (Code::UnknownBackend, root.key("backend"));
        let expected = UnknownBackend::known();
        findings.push(Finding::new(code, &path, expected, quote(name)));
    }
    let version = Version::new(manifest.version.as_deref().unwrap_or_default());
    if version.number.is_some_and(|own| own > known::NEWEST) {
        let (major, minor, patch) = known::NEWEST;
        let expected = format!("a compiler up to {major}.{minor}.{patch}");
        let (code, path) = (Code::NewerCompiler, root.key("version"));
        findings.push(Finding::new(code, &path, expected, version.to_string()));
    }
    if !version.is_known() {
        let (major, minor, patch) = known::OLDEST_MANIFEST;
        let expected = format!(
            "the version of a compiler that writes manifests, {major}.{minor}.{patch} or later"
        );
        let found = manifest.version.as_deref();
        let found = found.map_or("nothing".to_owned(), |text| quote(text.trim_end()));
        let (code, path) = (Code::UnknownVersion, root.key("version"));
        findings.push(Finding::new(code, &path, expected, found));
    }
    let path = root.key("types");
    for (name, ty) in &manifest.types {
        let path = path.key(name);
        if ElemType::from_name(name).is_some() {
            let expected = "another name than a scalar type has";
            findings.push(Finding::new(
                Code::ScalarDescribed,
                &path,
                expected,
                quote(name),
            ));
        }
        missing_operations(ty, &version, &path, &mut findings);
        unusual_order(ty, &path, &mut findings);
    }
    findings.sort_by(|a, b| compare_pointers(a.pointer(), b.pointer()));
    findings
}

/// Reports optional members that this compiler always writes, and incomplete pairs.
fn missing_operations(ty: &Type, version: &Version, path: &Path<'_>, findings: &mut Vec<Finding>) {
    let mut rule = |path: &Path<'_>, operation: Operation, members: &[(&str, &Option<String>)]| {
        let there = members.iter().filter(|(_, name)| name.is_some()).count();
        let expected = operation
            .since()
            .is_none_or(|since| version.is_at_least(since));
        if there == members.len() || (there == 0 && !expected) {
            return;
        }
        for (key, _) in members.iter().filter(|(_, name)| name.is_none()) {
            let (code, path) = (Code::MissingOperation, path.key(key));
            let expected = "the name of a C function";
            findings.push(Finding::new(code, &path, expected, "nothing"));
        }
    };
    match &ty.kind {
        TypeKind::Array(array) => {
            let (ops, path) = (&array.ops, path.key("ops"));
            rule(&path, Operation::ArrayIndex, &[("index", &ops.index)]);
            let raw = [("new_raw", &ops.new_raw), ("values_raw", &ops.values_raw)];
            rule(&path, Operation::ArrayNewRaw, &raw);
        }
        TypeKind::Opaque(opaque) => {
            let (ops, ops_path) = (&opaque.ops, path.key("ops"));
            let stores = [("store", &ops.store), ("restore", &ops.restore)];
            rule(&ops_path, Operation::OpaqueStore, &stores);
            match &opaque.structure {
                Structure::RecordArray(array) => {
                    let path = path.key("record_array");
                    let builds = [("new", &array.new), ("set", &array.set)];
                    rule(&path, Operation::RecordArrayNew, &builds);
                }
                Structure::OpaqueArray(array) => {
                    let path = path.key("opaque_array");
                    let builds = [("new", &array.new), ("set", &array.set)];
                    rule(&path, Operation::OpaqueArrayNew, &builds);
                }
                Structure::Plain | Structure::Record(_) | Structure::Sum(_) => {}
            }
        }
    }
}

/// Reports fields and variants in an unusual order: their order in the manifest is that of C's parameters
/// and variant numbers, and nothing else in the manifest confirms it.
fn unusual_order(ty: &Type, path: &Path<'_>, findings: &mut Vec<Finding>) {
    let mut rule = |path: &Path<'_>, names: &mut dyn Iterator<Item = &str>| {
        let keys: Vec<_> = names.map(order_of).collect();
        if let Some(place) = (1..keys.len()).find(|&n| keys[n - 1] > keys[n]) {
            let expected = "numbers by value, then names by letters";
            let found = format!(
                "{} behind {}",
                quote(keys[place].1),
                quote(keys[place - 1].1)
            );
            findings.push(Finding::new(Code::UnusualOrder, path, expected, found));
        }
    };
    let TypeKind::Opaque(opaque) = &ty.kind else {
        return;
    };
    match &opaque.structure {
        Structure::Record(record) => {
            let mut names = record.fields.iter().map(|field| &*field.name);
            rule(&path.key("record").key("fields"), &mut names);
        }
        Structure::Sum(sum) => {
            let mut names = sum.variants.iter().map(|variant| &*variant.name);
            rule(&path.key("sum").key("variants"), &mut names);
        }
        // The rule applies to its record type.
        Structure::RecordArray(_) | Structure::OpaqueArray(_) | Structure::Plain => {}
    }
}

/// The sort key: numbers before names. A number that does not fit a `u64` counts as a name.
fn order_of(name: &str) -> (u64, &str) {
    (name.parse().unwrap_or(u64::MAX), name)
}

/// A part of a manifest.
pub(crate) enum Part<'m> {
    /// The name of a C function.
    Function(&'m str),
    /// The C type of a handle.
    CType(&'m str),
    /// A reference to a type.
    Reference(&'m str),
    /// The unknown members of an object.
    Unknown(&'m Unknown),
}

/// Calls `see` with each part and its path; for unknown members, the path is that of their object. Types
/// come first, then entry points, each by name.
pub(crate) fn walk<'m>(manifest: &'m Manifest, see: &mut impl FnMut(&Path<'_>, Part<'m>)) {
    let root = Path::Root;
    let mut walk = Walk { see };
    walk.unknown(&root, &manifest.unknown);
    let path = root.key("types");
    for (name, ty) in &manifest.types {
        walk.ty(&path.key(name), ty);
    }
    let path = root.key("entry_points");
    for (name, entry) in &manifest.entry_points {
        let path = path.key(name);
        walk.unknown(&path, &entry.unknown);
        walk.function(&path, "cfun", &entry.cfun);
        let inputs = path.key("inputs");
        for (index, input) in entry.inputs.iter().enumerate() {
            let path = inputs.index(index);
            walk.unknown(&path, &input.unknown);
            walk.reference(&path.key("type"), &input.ty);
        }
        let several = path.key("outputs");
        for (index, output) in entry.outputs.as_slice().iter().enumerate() {
            let path = match entry.outputs {
                Outputs::Several(_) => several.index(index),
                Outputs::Single(_) => path.key("output"),
            };
            walk.unknown(&path, &output.unknown);
            walk.reference(&path.key("type"), &output.ty);
        }
    }
}

struct Walk<'f, F> {
    see: &'f mut F,
}

impl<'m, F: FnMut(&Path<'_>, Part<'m>)> Walk<'_, F> {
    fn ty(&mut self, path: &Path<'_>, ty: &'m Type) {
        self.unknown(path, &ty.unknown);
        (self.see)(&path.key("ctype"), Part::CType(&ty.ctype));
        let ops_path = path.key("ops");
        match &ty.kind {
            TypeKind::Array(array) => {
                let ops = &array.ops;
                self.unknown(&ops_path, &ops.unknown);
                self.function(&ops_path, "free", &ops.free);
                self.function(&ops_path, "shape", &ops.shape);
                self.function(&ops_path, "values", &ops.values);
                self.function(&ops_path, "new", &ops.new);
                self.optional(&ops_path, "index", &ops.index);
                self.optional(&ops_path, "new_raw", &ops.new_raw);
                self.optional(&ops_path, "values_raw", &ops.values_raw);
            }
            TypeKind::Opaque(opaque) => {
                let ops = &opaque.ops;
                self.unknown(&ops_path, &ops.unknown);
                self.function(&ops_path, "free", &ops.free);
                self.optional(&ops_path, "store", &ops.store);
                self.optional(&ops_path, "restore", &ops.restore);
                self.structure(path, &opaque.structure);
            }
        }
    }

    fn structure(&mut self, path: &Path<'_>, structure: &'m Structure<String>) {
        match structure {
            Structure::Plain => {}
            Structure::Record(record) => {
                let path = path.key("record");
                self.unknown(&path, &record.unknown);
                self.function(&path, "new", &record.new);
                self.fields(&path, &record.fields);
            }
            Structure::Sum(sum) => {
                let path = path.key("sum");
                self.unknown(&path, &sum.unknown);
                self.function(&path, "variant", &sum.variant);
                let path = path.key("variants");
                for (index, variant) in sum.variants.iter().enumerate() {
                    let path = path.index(index);
                    self.unknown(&path, &variant.unknown);
                    self.function(&path, "construct", &variant.construct);
                    self.function(&path, "destruct", &variant.destruct);
                    let path = path.key("payload");
                    for (index, ty) in variant.payload.iter().enumerate() {
                        self.reference(&path.index(index), ty);
                    }
                }
            }
            Structure::RecordArray(array) => {
                let path = path.key("record_array");
                self.unknown(&path, &array.unknown);
                self.reference(&path.key("elemtype"), &array.elem);
                self.function(&path, "zip", &array.zip);
                self.function(&path, "index", &array.index);
                self.function(&path, "shape", &array.shape);
                self.optional(&path, "new", &array.new);
                self.optional(&path, "set", &array.set);
                self.fields(&path, &array.fields);
            }
            Structure::OpaqueArray(array) => {
                let path = path.key("opaque_array");
                self.unknown(&path, &array.unknown);
                self.reference(&path.key("elemtype"), &array.elem);
                self.function(&path, "index", &array.index);
                self.function(&path, "shape", &array.shape);
                self.optional(&path, "new", &array.new);
                self.optional(&path, "set", &array.set);
            }
        }
    }

    fn fields(&mut self, path: &Path<'_>, fields: &'m [Field<String>]) {
        let path = path.key("fields");
        for (index, field) in fields.iter().enumerate() {
            let path = path.index(index);
            self.unknown(&path, &field.unknown);
            self.function(&path, "project", &field.project);
            self.reference(&path.key("type"), &field.ty);
        }
    }

    fn unknown(&mut self, path: &Path<'_>, unknown: &'m Unknown) {
        if !unknown.is_empty() {
            (self.see)(path, Part::Unknown(unknown));
        }
    }

    fn function(&mut self, path: &Path<'_>, key: &str, name: &'m str) {
        (self.see)(&path.key(key), Part::Function(name));
    }

    fn optional(&mut self, path: &Path<'_>, key: &str, name: &'m Option<String>) {
        if let Some(name) = name {
            self.function(path, key, name);
        }
    }

    fn reference(&mut self, path: &Path<'_>, name: &'m str) {
        (self.see)(path, Part::Reference(name));
    }
}

/// A type that contains itself: `part` is a direct part of `whole` and contains it, directly or not.
pub(crate) struct Cycle {
    pub(crate) part: usize,
    pub(crate) whole: usize,
}

/// Sorts the numbers below `count` topologically: parts before wholes, otherwise ascending.
///
/// Uses an explicit stack, since chains of types can be long. Linear in the number of types and parts.
pub(crate) fn parts_first<I: Iterator<Item = usize>>(
    count: usize,
    parts: impl Fn(usize) -> I,
) -> Result<Vec<usize>, Cycle> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Not,
        Now,
        Done,
    }
    let mut visits = vec![Visit::Not; count];
    let mut order = Vec::with_capacity(count);
    for root in 0..count {
        if visits[root] != Visit::Not {
            continue;
        }
        visits[root] = Visit::Now;
        let mut stack = vec![(root, parts(root))];
        while let Some((whole, rest)) = stack.last_mut() {
            let Some(part) = rest.next() else {
                visits[*whole] = Visit::Done;
                order.push(*whole);
                stack.pop();
                continue;
            };
            match visits[part] {
                Visit::Done => {}
                Visit::Not => {
                    visits[part] = Visit::Now;
                    stack.push((part, parts(part)));
                }
                Visit::Now => {
                    let whole = *whole;
                    return Err(Cycle { part, whole });
                }
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_identifiers_are_recognized() {
        for name in ["a", "_", "futhark_entry_f_1", "X9"] {
            assert!(is_c_identifier(name), "{name}");
        }
        for name in [
            "", "9a", "a b", "a;", "a.b", "é", "a\n", "f'", "while", "bool",
        ] {
            assert!(!is_c_identifier(name), "{name:?}");
        }
    }

    #[test]
    fn c_struct_pointers_are_recognized() {
        assert_eq!(struct_tag("struct a_1 *"), Some("a_1"));
        for ctype in [
            "",
            "struct a",
            "a *",
            "struct  a *",
            "struct a**",
            "struct *",
        ] {
            assert_eq!(struct_tag(ctype), None, "{ctype:?}");
        }
    }

    fn order(parts: &[&[usize]]) -> Result<Vec<usize>, (usize, usize)> {
        parts_first(parts.len(), |whole| parts[whole].iter().copied())
            .map_err(|cycle| (cycle.part, cycle.whole))
    }

    #[test]
    fn parts_come_before_wholes() {
        assert_eq!(order(&[]), Ok(vec![]));
        assert_eq!(order(&[&[], &[], &[]]), Ok(vec![0, 1, 2]));
        assert_eq!(order(&[&[2, 1], &[3], &[3], &[]]), Ok(vec![3, 2, 1, 0]));
    }

    #[test]
    fn cycles_are_found() {
        assert_eq!(order(&[&[0]]), Err((0, 0)));
        assert_eq!(order(&[&[], &[2], &[3], &[1]]), Err((1, 3)));
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let count = 200_000;
        let chain = parts_first(count, |whole| (whole + 1..count).take(1));
        assert_eq!(chain.ok().unwrap().first(), Some(&(count - 1)));
    }
}
