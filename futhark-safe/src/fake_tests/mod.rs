//! The promises of the core and of both interfaces, on the program `futhark-fake`.
//!
//! It is a table like any other, but checks how it is called. These tests need the core's own
//! functions, and run under sanitizers and Miri (`ci/sanitize`).

#![allow(
    unsafe_code,
    reason = "some tests link a table, call it without the core, or make plain C calls"
)]
#![cfg_attr(loom, allow(dead_code, reason = "models use some of these functions"))]

#[cfg(not(loom))]
mod batches;
#[cfg(not(loom))]
mod by_mut;
#[cfg(not(loom))]
mod columns;
#[cfg(not(loom))]
mod consumption;
#[cfg(not(loom))]
mod failures;
#[cfg(not(loom))]
mod interfaces;
#[cfg(not(loom))]
mod late;
#[cfg(not(loom))]
mod logs;
#[cfg(loom)]
pub(crate) mod models;
#[cfg(not(loom))]
mod plain;
#[cfg(not(loom))]
mod records;
#[cfg(not(loom))]
mod refusals;
#[cfg(not(loom))]
mod threads;
#[cfg(not(loom))]
mod views;
#[cfg(not(loom))]
mod walk;

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use futhark_fake::types::INTS;
use futhark_fake::{FLAVOURS, Flavour, World, program};
use futhark_manifest::ElemType;

use crate::call::scalar;
use crate::elem::sealed::Scalar as _;
use crate::ffi::sync::Arc;
use crate::ffi::{self, Core, Handle, Input, Output, Setting};
use crate::{ErrorKind, Result};

/// Contexts in a world, made by the core.
trait Cores {
    fn core(&self, flavour: Flavour) -> Arc<Core>;
    fn start(&self, flavour: Flavour, settings: &[Setting]) -> Result<Arc<Core>>;
}

impl Cores for World {
    fn core(&self, flavour: Flavour) -> Arc<Core> {
        self.start(flavour, &[]).expect("the fake context starts")
    }

    fn start(&self, flavour: Flavour, settings: &[Setting]) -> Result<Arc<Core>> {
        self.enter();
        Core::new(program::table(flavour), settings)
    }
}

/// A world with a context. Variables of them drop the context first.
fn world_and_core(flavour: Flavour) -> (World, Arc<Core>) {
    let world = World::new();
    let core = world.core(flavour);
    (world, core)
}

fn each_flavour() -> impl Iterator<Item = (World, Arc<Core>)> {
    FLAVOURS.into_iter().map(world_and_core)
}

/// Expects an error of this kind whose message has these words.
fn says<T>(result: Result<T>, kind: ErrorKind, words: &str) {
    let Err(error) = result else {
        panic!("expected an error with `{words}`");
    };
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    assert!(text.contains(words), "no `{words}` in: {text}");
}

/// Expects the error of a drop that [`World::fail_frees`] made fail.
fn reports_free<T>(result: Result<T>) {
    says(result, ErrorKind::Backend, "refused to free");
}

/// Fails if the test deadlocks.
pub(crate) fn in_time(test: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    let waited = wait.recv_timeout(Duration::from_secs(60));
    assert_ne!(
        waited,
        Err(RecvTimeoutError::Timeout),
        "the test deadlocked"
    );
    thread.join().unwrap();
}

/// Miri is some hundred times slower, and the tests that repeat something would take most of its time.
pub(crate) fn times(n: usize) -> usize {
    if cfg!(miri) { n.div_ceil(200) } else { n }
}

fn ints(core: &Arc<Core>, data: &[i32]) -> Handle {
    ffi::create(core, INTS, &[data.len()], data).unwrap()
}

fn read(array: &Handle) -> Result<Vec<i32>> {
    ffi::read_vec(array)
}

/// The number of a function by its name without `futhark_`.
fn function(core: &Core, name: &str) -> usize {
    let functions = core.table().functions();
    let found = functions
        .iter()
        .position(|f| f.name().strip_prefix("futhark_") == Some(name));
    found.unwrap_or_else(|| panic!("the fake program has no function {name}"))
}

fn result_type(core: &Core, function: usize, i: usize) -> u32 {
    let slot = core.table().functions()[function].outputs()[i];
    slot.type_ - futhark_sys::table::FUT_FIRST_TYPE
}

/// Calls a function that has one value for a result.
fn value<'a>(
    core: &Arc<Core>,
    name: &str,
    inputs: impl IntoIterator<Item = Input<'a>>,
) -> Result<Handle> {
    let function = function(core, name);
    let mut output = Output::value(result_type(core, function, 0));
    call(core, function, inputs, &mut [&mut output])?;
    Ok(output.take_handle())
}

fn two_values<'a>(
    core: &Arc<Core>,
    name: &str,
    inputs: impl IntoIterator<Item = Input<'a>>,
) -> Result<(Handle, Handle)> {
    let function = function(core, name);
    let [mut a, mut b] = [0, 1].map(|i| Output::value(result_type(core, function, i)));
    call(core, function, inputs, &mut [&mut a, &mut b])?;
    Ok((a.take_handle(), b.take_handle()))
}

fn int<'a>(
    core: &Arc<Core>,
    name: &str,
    inputs: impl IntoIterator<Item = Input<'a>>,
) -> Result<i32> {
    let mut output = Output::scalar(ElemType::I32);
    call(core, function(core, name), inputs, &mut [&mut output])?;
    Ok(i32::from_c(output.to_scalar()))
}

fn call<'a>(
    core: &Arc<Core>,
    function: usize,
    inputs: impl IntoIterator<Item = Input<'a>>,
    outputs: &mut [&mut Output],
) -> Result<()> {
    Core::call_dynamic(core, function, inputs.into_iter().collect(), outputs)
}

fn total(core: &Arc<Core>, array: &Handle) -> Result<i32> {
    int(core, "entry_total", [Input::Observed(array)])
}

fn set_first(core: &Arc<Core>, array: Handle, to: i32) -> Result<Handle> {
    let inputs = [Input::Consumed(array), scalar(to)];
    value(core, "entry_set_first", inputs)
}

fn identity(core: &Arc<Core>, array: &Handle) -> Result<Handle> {
    value(core, "entry_identity", [Input::Observed(array)])
}

fn gather(core: &Arc<Core>, xs: &Handle, is: &Handle) -> Result<Handle> {
    let inputs = [Input::Observed(xs), Input::Observed(is)];
    value(core, "entry_gather", inputs)
}

/// Fails on the host, or later on a GPU.
fn bad_gather(core: &Arc<Core>) -> Result<Handle> {
    gather(core, &ints(core, &[1, 2, 3]), &ints(core, &[0, 7]))
}

fn sync(core: &Arc<Core>) -> Result<()> {
    core.simple("sync", |raw| raw.sync)
}

/// A record that shares the memory of `xs`.
fn pair(core: &Arc<Core>, n: i32, xs: &Handle) -> Result<Handle> {
    let inputs = [scalar(n), Input::Observed(xs)];
    value(core, "new_opaque_pair", inputs)
}

/// An array of records that shares the memory of the arrays of its fields.
fn zip(core: &Arc<Core>, xs: &Handle, ys: &Handle) -> Result<Handle> {
    let inputs = [Input::Observed(xs), Input::Observed(ys)];
    value(core, "zip_opaque_points", inputs)
}

/// Calls an entry point that makes its result, then fails: 0 as the program, 1 without a text, 2 out
/// of memory, 3 fatally.
fn fail(core: &Arc<Core>, how: i32) -> crate::Error {
    let inputs = [scalar(how), Input::Consumed(ints(core, &[1, 2]))];
    value(core, "entry_fail", inputs).expect_err("this entry point always fails")
}
