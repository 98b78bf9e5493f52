//! The fake program's manifest, as compiler 0.25.36 would write it, and its tables.

use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

use futhark_manifest::{FunctionList, Manifest, Program};
use futhark_sys::table::{
    self as c, CallFn, FUT_ABI, FUT_CONSUMED, FUT_CONSUMES, FUT_FIRST_TYPE, FUT_GPU, FUT_HARDENED,
    FUT_PARTIAL, Raw, RawFunction, Table,
};

use crate::context;
use crate::functions::raw_functions;
use crate::plain;
use crate::types::raw_types;
use crate::world::Flavour;

/// The table of the program, made once per flavour.
#[must_use]
pub fn table(flavour: Flavour) -> &'static Table {
    static TABLES: [OnceLock<&Table>; 2] = [const { OnceLock::new() }; 2];
    TABLES[flavour as usize].get_or_init(|| {
        checked(match flavour {
            Flavour::Host => raw::<false>("c", "c", raw_functions()),
            Flavour::Gpu => raw::<true>("opencl", "opencl", raw_functions()),
        })
    })
}

/// A table of the same interface whose functions have other numbers, since one has another C name.
#[must_use]
pub fn reordered() -> &'static Table {
    static TABLE: OnceLock<&Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut functions = raw_functions();
        functions.rotate_left(1);
        let mut raw = raw::<false>("c", "c", functions);
        let program = resolved(&manifest("c").replace("entry_total", "z_entry_total"));
        assert_eq!(program.interface_hash(), raw.interface_hash);
        raw.functions_hash = FunctionList::of(&program).hash();
        checked(raw)
    })
}

/// A table of a backend that does not exist.
#[must_use]
pub fn of_unknown_backend() -> &'static Table {
    static TABLE: OnceLock<&Table> = OnceLock::new();
    TABLE.get_or_init(|| checked(raw::<false>("abacus", "c", raw_functions())))
}

fn checked(raw: Raw) -> &'static Table {
    // SAFETY: T: the fake program obeys futhark_table.h, and is never freed.
    unsafe { Table::from_raw(Box::leak(Box::new(raw))) }.expect("the fake table is valid")
}

/// The hashes of the program's interface and functions. Read once, since Miri takes 40 s to read a manifest.
fn hashes() -> (u64, u64) {
    static HASHES: OnceLock<(u64, u64)> = OnceLock::new();
    *HASHES.get_or_init(|| {
        let program = resolved(&manifest("c"));
        (program.interface_hash(), FunctionList::of(&program).hash())
    })
}

fn resolved(manifest: &str) -> Program {
    let manifest = Manifest::parse(manifest).expect("the manifest can be read");
    manifest.resolve().expect("the manifest can be resolved")
}

/// A table with these functions, which names `backend` and has the manifest for `described`.
fn raw<const GPU: bool>(backend: &str, described: &str, list: Vec<RawFunction>) -> Raw {
    let text = |text: &str| -> *const c_char {
        let text = CString::new(text).expect("no NUL in it");
        text.into_raw()
    };
    // SAFETY: a struct of numbers, pointers and optional functions may be all zeros.
    let mut raw: Raw = unsafe { std::mem::zeroed() };
    raw.abi = FUT_ABI;
    raw.size = size_of::<Raw>() as u32;
    raw.flags = if GPU {
        FUT_GPU | FUT_HARDENED | FUT_PARTIAL
    } else {
        0
    };
    raw.backend = text(backend);
    raw.manifest = text(&manifest(described));
    raw.program = text("fake program");
    (raw.interface_hash, raw.functions_hash) = hashes();
    let (types, functions) = (raw_types().leak(), list.leak());
    (raw.types, raw.n_types) = (types.as_ptr(), types.len() as u32);
    (raw.functions, raw.n_functions) = (functions.as_ptr(), functions.len() as u32);
    raw.context_new = Some(context::context_new::<GPU>);
    raw.context_free = Some(context::context_free);
    raw.failure = Some(context::failure);
    raw.pending = if GPU { Some(context::pending) } else { None };
    raw.drain = Some(context::drain);
    raw.enter = Some(enter);
    raw.call = Some(call_function);
    raw.sync = Some(wait);
    raw.clear_caches = Some(wait);
    raw.pause_profiling = Some(wait);
    raw.unpause_profiling = Some(wait);
    raw.report = Some(report);
    raw.free_text = Some(free_text);
    raw.lend = Some(plain::lend);
    raw.take_back = Some(plain::take_back);
    raw
}

unsafe extern "C" fn enter(
    call: CallFn,
    number: u32,
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let call = call.expect("a function of the table");
    // SAFETY: T: these are the arguments of the function.
    context::entering(Some(number), || unsafe { call(ctx, out, input) })
}

unsafe extern "C" fn call_function(
    table: *const Raw,
    number: u32,
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
    copies: *mut *const c_void,
) -> i32 {
    // SAFETY: T: the table that has this function.
    let table = unsafe { Table::from_raw(table) }.expect("a table");
    let function = &table.functions()[number as usize];
    let n = function.inputs().len();
    let mut own = match n {
        0 => Vec::new(),
        // SAFETY: T: as many arguments as the function has.
        n => unsafe { std::slice::from_raw_parts(input, n) }.to_vec(),
    };
    let copies = match function.raw().flags & FUT_CONSUMES {
        0 => &mut [],
        // SAFETY: T: a place for each argument of a function that consumes one.
        _ => unsafe { std::slice::from_raw_parts_mut(copies, n) },
    };
    let mut status = c::FUT_OK as i32;
    for ((own, copy), slot) in own.iter_mut().zip(&mut *copies).zip(function.inputs()) {
        let ty = table
            .types()
            .get((slot.type_ as usize).wrapping_sub(FIRST_TYPE));
        let ty = ty.filter(|_| slot.flags & FUT_CONSUMED != 0 && status == 0);
        let Some(ty) = ty.map(c::Type::raw) else {
            continue;
        };
        // SAFETY: T: a live value of this type.
        if unsafe { ty.is_shared.expect("it can be counted")(*own) } != 0 {
            let place = [ptr::from_mut(copy).cast::<c_void>()];
            // SAFETY: T: as above; `place` is for the copy.
            status = unsafe { enter(ty.duplicate, number, ctx, place.as_ptr(), &raw const *own) };
            *own = *copy;
        }
    }
    match status as u32 {
        // SAFETY: T: these are the arguments of the function.
        c::FUT_OK => status = unsafe { enter(function.raw().call, number, ctx, out, own.as_ptr()) },
        // SAFETY: T: the context lives.
        _ => unsafe { context::Context::did_not_start(ctx) },
    }
    let made = copies.iter().zip(function.inputs());
    for (copy, slot) in made.filter(|(copy, _)| !copy.is_null()) {
        let ty = slot.type_ - FIRST_TYPE as u32;
        // SAFETY: T: the context lives.
        unsafe { context::Context::drop_copy(ctx, copy.cast_mut(), ty) };
    }
    status
}

/// The number of the first type in a slot.
const FIRST_TYPE: usize = FUT_FIRST_TYPE as usize;

unsafe extern "C" fn wait(
    ctx: *mut c::Context,
    _out: *const *mut c_void,
    _input: *const *const c_void,
) -> i32 {
    // SAFETY: T: the context lives.
    unsafe { context::Context::enter(ctx, "sync", context::Context::wait) }
}

unsafe extern "C" fn report(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    _input: *const *const c_void,
) -> i32 {
    let body = |context: &mut context::Context| {
        context.wait()?;
        // SAFETY: T: one result.
        let place = unsafe { out.read() }.cast::<*mut c_char>();
        // SAFETY: T: the place is for a pointer.
        unsafe { place.write(c"{\"events\": []}".to_owned().into_raw()) };
        Ok(())
    };
    // SAFETY: T: the context lives.
    unsafe { context::Context::enter(ctx, "report", body) }
}

unsafe extern "C" fn free_text(text: *mut c_char) {
    // SAFETY: T: `report` made it, and it is freed once.
    drop(unsafe { CString::from_raw(text) });
}

fn manifest(backend: &str) -> String {
    MANIFEST.replace("BACKEND", backend)
}

const MANIFEST: &str = include_str!("manifest.json");
