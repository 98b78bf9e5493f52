//! The order of types and the visitor of a resolved program.

use std::collections::HashSet;

use crate::common::{faultless, files_below, fixture, fixtures, read};
use futhark_manifest::{
    ArrayType, EntryPoint, OpaqueArray, OpaqueType, Record, RecordArray, Sum, Type, TypeId, Visitor,
};

#[test]
fn types_come_after_their_parts() {
    for file in files_below(&fixtures(), "json") {
        let program = faultless(&read(&file), file.display());
        let mut seen = HashSet::new();
        for (id, ty) in program.types_in_order() {
            let parts = ty.parts().filter_map(|part| part.as_type());
            for part in parts {
                assert!(seen.contains(&part), "{}: {}", file.display(), ty.name);
            }
            assert!(seen.insert(id));
        }
        assert_eq!(seen.len(), program.types().len());
    }
}

#[derive(Default)]
struct Seen(Vec<String>);

impl Visitor for Seen {
    fn array(&mut self, _: TypeId, ty: &Type, _: &ArrayType) {
        self.0.push(format!("array {}", ty.name));
    }
    fn opaque(&mut self, _: TypeId, ty: &Type, _: &OpaqueType) {
        self.0.push(format!("opaque {}", ty.name));
    }
    fn record(&mut self, _: TypeId, ty: &Type, _: &Record) {
        self.0.push(format!("record {}", ty.name));
    }
    fn sum(&mut self, _: TypeId, ty: &Type, _: &Sum) {
        self.0.push(format!("sum {}", ty.name));
    }
    fn record_array(&mut self, _: TypeId, ty: &Type, _: &RecordArray) {
        self.0.push(format!("record array {}", ty.name));
    }
    fn opaque_array(&mut self, _: TypeId, ty: &Type, _: &OpaqueArray) {
        self.0.push(format!("opaque array {}", ty.name));
    }
    fn entry(&mut self, entry: &EntryPoint) {
        self.0.push(format!("entry {}", entry.name));
    }
}

#[test]
fn a_visitor_sees_everything_once_in_order() {
    let program = faultless(&fixture("0.25.19"), "0.25.19");
    let mut seen = Seen::default();
    program.visit(&mut seen);
    assert_eq!(
        seen.0,
        [
            "array [][]i32",
            "array []i32",
            "opaque {level:i32, tags:[]i32}",
            "record {level:i32, tags:[]i32}",
            "opaque state",
            "sum state",
            "opaque [][]state",
            "opaque array [][]state",
            "array []bool",
            "opaque []{level:i32, tags:[]i32}",
            "record array []{level:i32, tags:[]i32}",
            "entry classify",
            "entry grow",
        ]
    );
}
