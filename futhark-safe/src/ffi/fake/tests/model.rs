//! The model itself: each breach is noticed, so that its silence means something.

use super::super::types::{INTS, PAIR};
use super::super::world::{FLAVOURS, Flavour, World};
use super::*;
use futhark_sys::table::{Call, CallFn};

/// Calls a function of the table without the care that the core takes.
fn careless(
    core: &Core,
    call: CallFn,
    out: &[*mut std::ffi::c_void],
    input: &[*const std::ffi::c_void],
) -> i32 {
    let call: Call = call.expect("the type has this operation");
    // SAFETY: V: the fake program looks every value up in its ledger before it follows it.
    unsafe { call(core.context(), out.as_ptr(), input.as_ptr()) }
}

fn the_only(world: &World, words: &str) {
    let violations = world.take_violations();
    assert!(
        matches!(&violations[..], [text] if text.contains(words)),
        "expected `{words}`: {violations:?}"
    );
}

#[test]
fn a_value_freed_twice_or_as_another_type() {
    for flavour in FLAVOURS {
        let world = World::new();
        let core = world.core(flavour);
        let xs = ints(&core, &[1]);
        let pointer = xs.value().cast_const();
        let free_pair = core.table().types()[PAIR as usize].raw().free;
        assert_ne!(careless(&core, free_pair, &[], &[pointer]), 0);
        the_only(&world, "a value of type 2 for 4");
        drop(xs);
        assert_eq!(world.values(), 0);
        let free = core.table().types()[INTS as usize].raw().free;
        assert_ne!(careless(&core, free, &[], &[pointer]), 0);
        the_only(&world, "no value of this context");
    }
}

#[test]
fn a_value_of_another_context() {
    let world = World::new();
    let (core, other) = (world.core(Flavour::Host), world.core(Flavour::Host));
    let xs = ints(&core, &[1]);
    let mut room = std::ptr::null_mut::<std::ffi::c_void>();
    let identity = core.table().functions()[function(&core, "entry_identity")]
        .raw()
        .call;
    let out = [(&raw mut room).cast()];
    assert_ne!(careless(&other, identity, &out, &[xs.value()]), 0);
    assert!(room.is_null());
    the_only(&world, "no value of this context");
}

#[test]
fn shared_memory_that_is_consumed() {
    let world = World::new();
    let core = world.core(Flavour::Host);
    let xs = ints(&core, &[1, 2]);
    let _alias = identity(&core, &xs).unwrap();
    let seven = 7i32;
    let input = [xs.value().cast_const(), (&raw const seven).cast()];
    let mut room = std::ptr::null_mut::<std::ffi::c_void>();
    let set_first = core.table().functions()[function(&core, "entry_set_first")]
        .raw()
        .call;
    assert_ne!(
        careless(&core, set_first, &[(&raw mut room).cast()], &input),
        0
    );
    the_only(&world, "is shared");
}

#[test]
fn two_calls_at_once() {
    let world = World::new();
    let core = world.core(Flavour::Host);
    let xs = ints(&core, &[1, 2, 3]);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| int(&core, "entry_gated", [Input::observed(&xs)]));
        world.await_gated();
        assert_ne!(careless(&core, core.table().raw().sync, &[], &[]), 0);
        world.open_gate();
        assert_eq!(call.join().unwrap().unwrap(), 3);
    });
    the_only(&world, "while another call was running");
}

#[test]
fn a_failed_result_that_is_read() {
    let world = World::new();
    let core = world.core(Flavour::Gpu);
    let failed = bad_gather(&core).unwrap();
    core.simple("sync", |raw| raw.sync).unwrap_err();
    let mut data = [0i32; 2];
    let values = core.table().types()[INTS as usize].raw().values;
    let out = [(&raw mut data).cast()];
    assert_ne!(careless(&core, values, &out, &[failed.value()]), 0);
    the_only(&world, "a result that failed");
}

#[test]
fn a_context_that_is_freed_with_values() {
    let world = World::new();
    // `Core` does not make this mistake, so it is made without one.
    let raw = super::super::program::table(Flavour::Host).raw();
    let mut status = -1;
    // SAFETY: T: no settings, and room for a status.
    let ctx = unsafe { raw.context_new.unwrap()(std::ptr::null(), 0, &raw mut status) };
    let (data, dims) = ([1i32], [1i64]);
    let mut value = std::ptr::null_mut::<std::ffi::c_void>();
    let out = [(&raw mut value).cast()];
    let input = [data.as_ptr().cast(), dims.as_ptr().cast()];
    // SAFETY: T: the type at this place is that of arrays.
    let types = unsafe { std::slice::from_raw_parts(raw.types, raw.n_types as usize) };
    let create = types[INTS as usize].create.unwrap();
    // SAFETY: T: one element, and one dimension that says so.
    status |= unsafe { create(ctx, out.as_ptr(), input.as_ptr()) };
    assert_eq!((status, world.contexts(), world.values()), (0, 1, 1));
    // SAFETY: T: the context lives, and this is the last that is heard of it.
    unsafe { raw.context_free.unwrap()(ctx) };
    the_only(&world, "was freed with 1 values");
}
