//! Tests of the fake program itself: it reports each violation.

use std::ffi::c_void;
use std::ptr::null_mut;

use futhark_sys::table::{self as c, CallFn, RawType, Table};

use crate::program::table;
use crate::types::{INTS, PAIR, POINT, POINTS};
use crate::{FLAVOURS, Flavour, World};

/// A context that is used without the checks of futhark-safe's core.
struct Careless {
    table: &'static Table,
    ctx: *mut c::Context,
}

/// The argument `later` of a transfer that waits, and of one that does not.
const NOW: *const c_void = std::ptr::from_ref(&0i32).cast();
const LATER: *const c_void = std::ptr::from_ref(&1i32).cast();

// SAFETY: the fake program detects and rejects concurrent calls.
unsafe impl Sync for Careless {}

impl Careless {
    /// Makes a context in the world that was made last on this thread.
    fn new(flavour: Flavour) -> Careless {
        let table = table(flavour);
        let new = table.raw().context_new.unwrap();
        let mut status = -1;
        // SAFETY: T: no settings, and a place for a status.
        let ctx = unsafe { new(std::ptr::null(), 0, &raw mut status) };
        assert_eq!(status, 0);
        Careless { table, ctx }
    }

    fn call(&self, call: CallFn, out: &[*mut c_void], input: &[*const c_void]) -> i32 {
        let enter = self.table.raw().enter.unwrap();
        // SAFETY: the fake program looks up every value in its ledger before it follows it.
        unsafe { enter(call, 0, self.ctx, out.as_ptr(), input.as_ptr()) }
    }

    /// Calls a function whose one result is a value; null if it fails.
    fn value(&self, call: CallFn, input: &[*const c_void]) -> *mut c_void {
        let mut value = null_mut::<c_void>();
        let status = self.call(call, &[(&raw mut value).cast()], input);
        assert_eq!(status == 0, !value.is_null());
        value
    }

    fn ints(&self, data: &[i32]) -> *mut c_void {
        let dims = [data.len() as i64];
        let input = [data.as_ptr().cast(), dims.as_ptr().cast(), NOW];
        self.value(self.ty(INTS).create, &input)
    }

    fn free(&self, value: *mut c_void, ty: u32) -> i32 {
        self.call(self.ty(ty).free, &[], &[value])
    }

    fn ty(&self, ty: u32) -> &'static RawType {
        self.table.types()[ty as usize].raw()
    }

    fn entry(&self, name: &str) -> CallFn {
        let functions = self.table.functions();
        let found = functions.iter().find(|f| f.name().ends_with(name));
        found
            .expect("the fake program has this function")
            .raw()
            .call
    }
}

impl Drop for Careless {
    fn drop(&mut self) {
        // SAFETY: T: the context lives, and is not used again.
        unsafe { self.table.raw().context_free.unwrap()(self.ctx) };
    }
}

fn expect_violation(world: &World, words: &str) {
    let violations = world.take_violations();
    assert!(
        matches!(&violations[..], [text] if text.contains(words)),
        "expected `{words}`: {violations:?}"
    );
}

#[test]
fn freeing_a_value_twice_or_as_another_type_is_a_violation() {
    for flavour in FLAVOURS {
        let world = World::new();
        let context = Careless::new(flavour);
        let xs = context.ints(&[1]);
        assert_ne!(context.free(xs, PAIR), 0);
        expect_violation(&world, "expected a value of type 4, got one of type 2");
        assert_eq!(context.free(xs, INTS), 0);
        assert_eq!(world.values(), 0);
        assert_ne!(context.free(xs, INTS), 0);
        expect_violation(&world, "expected a value of this context");
    }
}

#[test]
fn passing_a_value_of_another_context_is_a_violation() {
    let world = World::new();
    let (context, other) = (Careless::new(Flavour::Host), Careless::new(Flavour::Host));
    let xs = context.ints(&[1]);
    assert!(other.value(other.entry("entry_identity"), &[xs]).is_null());
    expect_violation(&world, "expected a value of this context");
    assert_eq!(context.free(xs, INTS), 0);
}

#[test]
fn consuming_shared_memory_is_a_violation() {
    let world = World::new();
    let context = Careless::new(Flavour::Host);
    let xs = context.ints(&[1, 2]);
    let alias = context.value(context.entry("entry_identity"), &[xs]);
    let seven = 7i32;
    let input = [xs.cast_const(), (&raw const seven).cast()];
    let changed = context.value(context.entry("entry_set_first"), &input);
    assert!(changed.is_null());
    expect_violation(&world, "is shared");
    for value in [xs, alias] {
        assert_eq!(context.free(value, INTS), 0);
    }
}

#[test]
fn concurrent_calls_are_a_violation() {
    let world = World::new();
    let context = Careless::new(Flavour::Host);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let xs = context.ints(&[1, 2, 3]);
            let mut n = 0i32;
            let out = [(&raw mut n).cast()];
            let status = context.call(context.entry("entry_gated"), &out, &[xs]);
            assert_eq!((status, context.free(xs, INTS)), (0, 0));
            n
        });
        world.await_gated();
        assert_ne!(context.call(context.table.raw().sync, &[], &[]), 0);
        world.open_gate();
        assert_eq!(call.join().unwrap(), 3);
    });
    expect_violation(&world, "while another call was running");
}

#[test]
fn reading_a_failed_result_is_a_violation() {
    let world = World::new();
    let context = Careless::new(Flavour::Gpu);
    let (xs, is) = (context.ints(&[1, 2, 3]), context.ints(&[0, 7]));
    let failed = context.value(context.entry("entry_gather"), &[xs, is]);
    assert_ne!(context.call(context.table.raw().sync, &[], &[]), 0);
    let mut data = [0i32; 2];
    let out = [(&raw mut data).cast()];
    assert_ne!(
        context.call(context.ty(INTS).values, &out, &[failed.cast_const(), NOW]),
        0
    );
    expect_violation(&world, "the result of a failed computation");
    for value in [xs, is, failed] {
        assert_eq!(context.free(value, INTS), 0);
    }
}

#[test]
fn reading_elements_that_were_not_written_is_a_violation() {
    let world = World::new();
    let context = Careless::new(Flavour::Host);
    let dims = [2i64];
    let input = [std::ptr::null(), dims.as_ptr().cast(), NOW];
    let xs = context.value(context.ty(INTS).create, &input);
    let mut data = [0i32; 2];
    let out = [(&raw mut data).cast()];
    let read = || context.call(context.ty(INTS).values, &out, &[xs.cast_const(), NOW]);
    assert_ne!(read(), 0);
    expect_violation(&world, "reads elements that were not written");
    assert!(
        context
            .value(context.entry("entry_identity"), &[xs])
            .is_null()
    );
    expect_violation(&world, "got elements that were not written");
    let mut memory = null_mut::<i32>();
    let place = [(&raw mut memory).cast()];
    context.call(context.ty(INTS).raw_memory, &place, &[xs]);
    for i in 0..2 {
        // SAFETY: the memory holds two elements, and nothing else accesses them.
        unsafe { memory.wrapping_add(i).write(i as i32) };
    }
    assert_eq!((read(), data), (0, [0, 1]));
    assert_eq!(context.free(xs, INTS), 0);
}

#[test]
fn arrays_without_data_on_a_gpu_are_a_violation() {
    let world = World::new();
    let context = Careless::new(Flavour::Gpu);
    let dims = [2i64];
    let input = [std::ptr::null(), dims.as_ptr().cast(), NOW];
    assert!(context.value(context.ty(INTS).create, &input).is_null());
    expect_violation(&world, "without data on a GPU");
}

#[test]
fn data_of_an_upload_that_changes_before_the_wait_is_a_violation() {
    let world = World::new();
    let context = Careless::new(Flavour::Gpu);
    let (mut data, dims) = ([1i32, 2], [2i64]);
    let start = (&raw mut data).cast::<i32>();
    let input = [start.cast_const().cast(), dims.as_ptr().cast(), LATER];
    let xs = context.value(context.ty(INTS).create, &input);
    // SAFETY: the array lives, and nothing borrows it.
    unsafe { start.write(9) };
    assert_eq!(context.call(context.table.raw().sync, &[], &[]), 0);
    expect_violation(&world, "the data of an upload changed");
    assert_eq!(context.free(xs, INTS), 0);
}

/// `new` and `set` of arrays of records. The core checks indices first, so only this test sees
/// that `set` does.
#[test]
fn setting_an_element_out_of_bounds_is_an_error() {
    for flavour in FLAVOURS {
        let world = World::new();
        let context = Careless::new(flavour);
        let (x, y) = (0.5f32, 10i32);
        let fields = [(&raw const x).cast(), (&raw const y).cast()];
        let point = context.value(context.entry("new_opaque_point"), &fields);
        let (elements, dims) = ([point, point], [2i64]);
        let input = [elements.as_ptr().cast(), dims.as_ptr().cast()];
        let points = context.value(context.ty(POINTS).create, &input);
        for (index, is_inside) in [(0i64, true), (1, true), (2, false), (-1, false)] {
            let input = [
                points.cast_const(),
                point.cast_const(),
                (&raw const index).cast(),
            ];
            let status = context.call(context.ty(POINTS).set, &[], &input);
            assert_eq!(status == 0, is_inside, "{index}");
        }
        assert_eq!(context.free(points, POINTS), 0);
        assert_eq!(context.free(point, POINT), 0);
        assert!(world.take_violations().is_empty());
    }
}

#[test]
fn freeing_a_context_with_values_is_a_violation() {
    let world = World::new();
    let context = Careless::new(Flavour::Host);
    context.ints(&[1]);
    assert_eq!((world.contexts(), world.values()), (1, 1));
    drop(context);
    expect_violation(&world, "was freed with 1 values");
}
