//! The columns of arrays of records: which types have them, and new arrays of them when an allocation fails.
#![cfg(all(feature = "compile", feature = "load", target_os = "linux"))]

mod support;

use std::ffi::c_void;
use std::path::Path;
use std::process::Command;
use std::ptr;

use futhark_manifest::Backend;
use futhark_sys::table::{
    Call, Column, Context, FUT_BOOL, FUT_F32, FUT_FIRST_TYPE, FUT_I64, FUT_LOST, FUT_MEMORY,
    FUT_OK, SYMBOL, Table, Type,
};
use support::Source;

const PROGRAM: &str = "
type pt = {y: f32, x: f32}
type cell = {at: pt, id: i64, on: bool}
type dated = {at: pt, days: [3]i32}
entry cells (cs: []cell) : []cell = cs
entry grid (cs: [][]cell) : [][]cell = cs
entry dates (ds: []dated) : []dated = ds
entry sums (ss: [](#a i32 | #b f32)) : [](#a i32 | #b f32) = ss
entry total (cs: []cell) : f32 = f32.sum (map (\\c -> c.at.x + 10 * c.at.y + f32.i64 c.id) cs)
";

/// Set in a child process: the library.
const LIBRARY: &str = "FUTHARK_SYS_COLUMNS_LIBRARY";

const N: usize = 5;

fn named<'t>(table: &'t Table, name: &str) -> &'t Type {
    let found = table.types().iter().find(|ty| ty.name() == name);
    found.unwrap_or_else(|| panic!("the program has no type {name}"))
}

#[test]
fn arrays_of_records_of_scalars_have_columns() {
    let Some(source) = Source::to_compile("columns", PROGRAM) else {
        return;
    };
    let library = source.build(Backend::C).run().unwrap().open().unwrap();
    for ty in library.types() {
        let has_columns = ty.raw().columns.is_some();
        assert_eq!(ty.raw().create_columns.is_some(), has_columns);
        let expected = match ty.name() {
            "[]cell" | "[][]cell" => true,
            "[]dated" | "cell" | "pt" | "dated" => false,
            // The types of fields, and the one of sums.
            name => ty.raw().elem >= FUT_FIRST_TYPE && !name.contains(['#', '|']),
        };
        assert_eq!(has_columns, expected, "{}", ty.name());
    }
    let elems = named(library, "[]cell")
        .components()
        .iter()
        .map(|part| part.elem);
    assert_eq!(
        elems.collect::<Vec<_>>(),
        [FUT_F32, FUT_F32, FUT_I64, FUT_BOOL]
    );
}

/// A failed allocation is an error, or loses the context, and nothing is leaked.
#[test]
fn each_failed_allocation_of_columns_is_an_error() {
    if let Some(library) = std::env::var_os(LIBRARY) {
        return child(Path::new(&library));
    }
    let Some(source) = Source::to_compile("failing_columns", PROGRAM) else {
        return;
    };
    let build = source.build(Backend::C).flag("-DFUT_FAIL_ALLOCATIONS");
    let library = build.run().unwrap().library();
    let mut lost = 0;
    for failing in 1.. {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let command = command
            .args("--exact each_failed_allocation_of_columns_is_an_error --nocapture".split(' '))
            .env(LIBRARY, &library)
            .env("FUTHARK_SYS_FAIL_ALLOCATION", failing.to_string());
        let output = command.output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{failing}: {text}");
        assert!(!text.contains("never freed"), "{failing}: {text}");
        lost += usize::from(text.contains("columns: 3"));
        if !text.contains("fails, as requested") {
            break;
        }
        assert!(failing < 1000, "the allocations end: {text}");
    }
    // Five structs, and the counts of four references. The memory itself is tried again, with success.
    assert!(lost >= 9, "{lost}");
}

/// Makes an array by its columns, and reads it. Prints the status of the first call.
fn child(library: &Path) {
    // SAFETY: the parent process built it.
    let table = unsafe { futhark_sys::load::open(library, SYMBOL) }.unwrap();
    let (context, status) = support::context(table, &[]);
    if context.is_null() {
        return;
    }
    if status == FUT_OK {
        in_context(table, context);
    }
    support::free(table, context);
}

fn in_context(table: &Table, context: *mut Context) {
    let ty = named(table, "[]cell");
    let call = |call: Option<Call>, out: &[*mut c_void], input: &[*const c_void]| {
        // SAFETY: the context is live and no other thread uses it; the callers below pass the arguments that
        // futhark_table.h documents.
        unsafe { table.raw().enter.unwrap()(call, 0, context, out.as_ptr(), input.as_ptr()) as u32 }
    };
    let none = Column {
        memory: ptr::null_mut(),
        shape: ptr::null(),
    };
    let (mut value, mut columns) = (ptr::null_mut::<c_void>(), [none; 4]);
    let dims = [N as i64];
    let out = [(&raw mut value).cast(), columns.as_mut_ptr().cast()];
    // More than the addresses of any process: the memory of the first column is missing.
    let huge = [1i64 << 60];
    let status = call(ty.raw().create_columns, &out, &[huge.as_ptr().cast()]);
    assert!(value.is_null() && (status == FUT_MEMORY || status == FUT_LOST));
    let status = call(ty.raw().create_columns, &out, &[dims.as_ptr().cast()]);
    println!("columns: {status}");
    if status != FUT_OK {
        assert!(status == FUT_MEMORY || status == FUT_LOST);
        assert!(value.is_null());
        return;
    }
    write(columns[0], |_| 1f32);
    write(columns[1], |_| 2f32);
    write(columns[2], |i| i as i64);
    write(columns[3], |_| true);
    let mut again = [none; 4];
    let status = call(ty.raw().columns, &[again.as_mut_ptr().cast()], &[value]);
    assert_eq!(status, FUT_OK);
    for (column, before) in again.iter().zip(&columns) {
        assert_eq!(column.memory, before.memory);
        // SAFETY: the shape of an array of rank 1.
        assert_eq!(unsafe { column.shape.read() }, N as i64);
    }
    // SAFETY: a value of the type.
    assert_eq!(unsafe { ty.raw().is_shared.unwrap()(value) }, 0);
    let total = table.functions().iter();
    let mut total = total.filter(|function| function.entry_point() == Some("total"));
    let total = total.next().expect("the program has the entry point").raw();
    let mut sum = 0f32;
    if call(total.call, &[(&raw mut sum).cast()], &[value]) == FUT_OK {
        // Records have their fields in alphabetical order: `x` is the first column.
        assert!((sum - (5.0 * (1.0 + 20.0) + 10.0)).abs() < 1e-3, "{sum}");
    }
    call(ty.raw().free, &[], &[value]);
}

/// Writes the elements of a new column of `T`.
fn write<T>(column: Column, element: impl Fn(usize) -> T) {
    for i in 0..N {
        // SAFETY: the memory holds N elements.
        let place = unsafe { column.memory.cast::<T>().add(i) };
        // SAFETY: as above.
        unsafe { place.write(element(i)) };
    }
}
