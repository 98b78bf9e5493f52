//! Warnings: problems that do not prevent use of a manifest.

use crate::manifest::code::Code;
use crate::manifest::finding::{Finding, describe, quote};
use crate::manifest::json::{Path, compare_pointers};
use crate::manifest::model::{Structure, TypeKind};
use crate::manifest::operation::Operation;
use crate::manifest::syntax::{Manifest, Type};
use crate::manifest::walk::{Part, walk};
use crate::version::{Version, known};

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
    let version = Version::new(manifest.version.as_deref().unwrap_or_default());
    let root = Path::Root;
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
