//! A failed assertion of the runtime ends the call, and the process continues.
#![cfg(all(feature = "compile", feature = "load", unix))]

mod support;

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::ptr::null_mut;

use futhark_manifest::Backend;
use futhark_sys::compile::{Build, Compiler};
use futhark_sys::table::{FUT_LOST, FUT_OK, Table};

const PROGRAM: &str = "\
type shape = #circle f64 | #square f64 f64
entry area (s: shape) : f64 = match s case #circle r -> r * r case #square a b -> a * b
";

/// Calls a function of the table, found by a part of its label.
fn call(
    table: &Table,
    label: &str,
    context: *mut futhark_sys::table::Context,
    out: &[*mut c_void],
    inputs: &[*const c_void],
) -> u32 {
    let function = (table.functions().iter()).find(|f| f.label().contains(label));
    let function = function.unwrap_or_else(|| panic!("no {label}"));
    assert_eq!(function.outputs().len(), out.len());
    assert_eq!(function.inputs().len(), inputs.len());
    let call = function.raw().call.unwrap();
    // SAFETY: the caller passes a live context of this table, and as many pointers as the function
    // has results and parameters, each to a place of its type.
    unsafe { call(context, out.as_ptr(), inputs.as_ptr()) as u32 }
}

#[test]
fn a_failed_assertion_ends_only_the_call() {
    if support::no_compiler() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ends");
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join("ends.fut");
    std::fs::write(&source, PROGRAM).unwrap();
    for compiler in Compiler::all() {
        for backend in [Backend::C, Backend::Multicore] {
            let build = Build::new(&source, backend).compiler(compiler.clone());
            let artifact = build.out_dir(&folder).fast(true).run().unwrap();
            let table = artifact.open().unwrap();
            let mut status = FUT_LOST as i32;
            let new = table.raw().context_new.unwrap();
            // SAFETY: the table is valid; there are no settings.
            let context = unsafe { new(std::ptr::null(), 0, &raw mut status) };
            assert_eq!(status as u32, FUT_OK);

            let (radius, mut circle) = (2.0f64, null_mut::<c_void>());
            let status = call(
                table,
                "construct #circle",
                context,
                &[(&raw mut circle).cast()],
                &[(&raw const radius).cast()],
            );
            assert_eq!(status, FUT_OK);
            // The core in futhark-safe never takes a value apart as another variant.
            let (mut a, mut b) = (0.0f64, 0.0f64);
            let sides = [(&raw mut a).cast(), (&raw mut b).cast()];
            let status = call(table, "destruct #square", context, &sides, &[circle]);
            assert_eq!(status, FUT_LOST, "{} {backend}", compiler.version());
            // SAFETY: the context is live.
            let failure = unsafe { table.raw().failure.unwrap()(context, 0) };
            // SAFETY: it is valid until the next call.
            let words = unsafe { (*failure).words };
            // SAFETY: as above; a lost context has words.
            let words = unsafe { CStr::from_ptr(words) }.to_str().unwrap();
            assert!(
                words.contains("an assertion of the runtime failed"),
                "{words}"
            );
            // SAFETY: the context is live, its value is not used again, and neither is the context.
            unsafe { table.raw().context_free.unwrap()(context) };
        }
    }
}
