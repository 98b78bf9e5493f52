//! Failures of the runtime that would end the process end the call.
#![cfg(all(feature = "compile", feature = "load", unix))]

mod support;

use std::ffi::c_void;
use std::ptr::null_mut;

use futhark_manifest::Backend;
use futhark_sys::compile::Build;
use futhark_sys::table::{FUT_LOST, FUT_OK, FUT_REFUSED, FUT_SET_COMMAND_QUEUE, Setting, Table};

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
    let (enter, call) = (table.raw().enter.unwrap(), function.raw().call);
    // SAFETY: the caller passes a live context of this table, and as many pointers as the function
    // has results and parameters, each to a place of its type.
    unsafe { enter(call, 0, context, out.as_ptr(), inputs.as_ptr()) as u32 }
}

/// A build with this flag does not compare the variant, so the assertion of the generated code fails.
const UNCHECKED: &str = "-DFUT_EXPECT_VARIANT(...)=";

#[test]
fn destructing_another_variant_is_refused() {
    destruct_as_another_variant(None, FUT_REFUSED, "expected variant `square`, got `circle`");
}

#[test]
fn a_failed_assertion_ends_only_the_call() {
    let words = "an assertion of the runtime failed";
    destruct_as_another_variant(Some(UNCHECKED), FUT_LOST, words);
}

/// `futhark-safe/tests/configuration.rs` tests the known ones.
#[test]
fn an_unknown_setting_is_refused() {
    let Some(source) = support::Source::to_compile("ends/settings", PROGRAM) else {
        return;
    };
    let table = source.build(Backend::C).run().unwrap().open().unwrap();
    let setting = Setting {
        what: FUT_SET_COMMAND_QUEUE + 1,
        number: 0,
        text: c"x".as_ptr(),
        object: std::ptr::null(),
    };
    let (context, status) = support::context(table, &[setting]);
    assert_eq!(status, FUT_REFUSED);
    let words = support::failure(table, context);
    assert_eq!(words, "unknown setting number 22");
    support::free(table, context);
}

fn destruct_as_another_variant(flag: Option<&str>, expected: u32, said: &str) {
    let Some(source) = support::Source::to_compile(&format!("ends/{expected}"), PROGRAM) else {
        return;
    };
    for compiler in support::compilers() {
        for backend in [Backend::C, Backend::Multicore] {
            let build = source.build(backend).compiler(compiler.clone());
            let build = flag.into_iter().fold(build, Build::flag);
            let table = build.run().unwrap().open().unwrap();
            let (context, status) = support::context(table, &[]);
            assert_eq!(status, FUT_OK);

            let (radius, mut circle) = (2.0f64, null_mut::<c_void>());
            let status = call(
                table,
                "construct #circle",
                context,
                &[(&raw mut circle).cast()],
                &[(&raw const radius).cast()],
            );
            assert_eq!(status, FUT_OK);
            let (mut a, mut b) = (0.0f64, 0.0f64);
            let sides = [(&raw mut a).cast(), (&raw mut b).cast()];
            let status = call(table, "destruct #square", context, &sides, &[circle]);
            assert_eq!(status, expected, "{} {backend}", compiler.version());
            let words = support::failure(table, context);
            assert!(words.contains(said), "{words}");
            // A refused call leaves the context usable, a fatal failure does not.
            let status = call(table, "destruct #circle", context, &sides[..1], &[circle]);
            match expected {
                FUT_REFUSED => assert_eq!((status, a), (FUT_OK, radius)),
                _ => assert_eq!(status, FUT_LOST),
            }
            if expected == FUT_REFUSED {
                let mut types = table.types().iter();
                let free = types.find_map(|ty| ty.raw().free).unwrap();
                let (enter, input) = (table.raw().enter.unwrap(), [circle.cast_const()]);
                // SAFETY: the program has one type, and the value is not used again.
                unsafe { enter(Some(free), 0, context, std::ptr::null(), input.as_ptr()) };
            }
            support::free(table, context);
        }
    }
}
