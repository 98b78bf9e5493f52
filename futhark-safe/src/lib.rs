//! Call Futhark programs from Rust: typed, sound, on every backend.
//!
//! Your build script compiles a program, which becomes a module of your crate:
//!
//! ```text
//! // build.rs
//! use futhark_safe::{Backend, build::Program};
//!
//! fn main() -> Result<(), futhark_safe::Error> {
//!     Program::new("stats.fut").backends([Backend::Multicore, Backend::C]).compile()
//! }
//!
//! // main.rs
//! futhark_safe::include_program!(stats);
//!
//! let ctx = stats::Context::new(&stats::Config::new())?;
//! let xs = ctx.array(&[1.0f32, 2.0, 3.0])?;
//! let mean: f32 = ctx.entry().mean(&xs)?;   // reads its argument
//! let ys = ctx.entry().normalise(xs)?;      // consumes its argument
//! println!("{mean} {:?}", ys.to_vec()?);
//! ```
//!
//! # Guarantees
//!
//! * A value never changes. An argument that a call consumes is moved, or spent if it was passed by
//!   `&mut`; if other values share its memory, the call gets a copy.
//! * Values keep their context alive and cannot be passed to another context or program.
//! * Transfers are complete when the call that makes them returns, or their [batch](Context::batch) ends.
//! * A failing program (out of bounds, a negative size, out of memory) is an [`Error`] with the text
//!   of the C side, and the context remains usable. Other fatal failures of the runtime, except those
//!   that SAFETY.md lists, are [`ErrorKind::ContextLost`]; create a new context to continue. On host
//!   backends the memory of the lost context is freed with its last value.
//!
//! # Errors
//!
//! The errors of all crates of the bridge have one shape: `kind()` returns a `Copy` enum, `ErrorKind`, to match
//! on; `{}` prints what failed, without the cause; `source()` is the cause, often the error of a lower crate;
//! `{:#}` prints both. `{:?}`, which `unwrap` and a failing `main` print, adds the kind.
//!
//! | error | of | its sources |
//! |---|---|---|
//! | [`Error`] | every call | those below, [`std::io::Error`] |
//! | `compile::Error` | builds | `futhark_manifest::Error`, [`std::io::Error`] |
//! | `futhark_sys::load::Error` | opening a library | `futhark_sys::table::Error`, that of the loader |
//! | `futhark_sys::table::Error` | a table of another version | |
//! | `futhark_manifest::Error` | reading a manifest | |
//!
//! ```
//! use futhark_safe::{Error, ErrorKind};
//!
//! /// Whether to continue with the same context after a failed call.
//! fn can_continue(error: &Error) -> bool {
//!     match error.kind() {
//!         // A check in the program: an index out of bounds, a division by zero, an assertion, …
//!         ErrorKind::Program => println!("at {:?}: {error}", error.place()),
//!         // The arguments: sizes that do not match, an index out of bounds in `get` or `index`, …
//!         ErrorKind::InvalidArgument | ErrorKind::OutOfMemory => println!("{error}"),
//!         ErrorKind::ContextLost => return false,
//!         _ => println!("{error:#}"),
//!     }
//!     true
//! }
//! # let _ = can_continue;
//! ```
//!
//! Any function can return [`ErrorKind::OutOfMemory`]. Any operation on a context can return [`ErrorKind::ContextLost`],
//! [`ErrorKind::Backend`], the failure of the call that computes a value which it reads, or
//! [an earlier call's failure](Error::is_from_earlier_call). `# Errors` sections have the other failures. A function that
//! is documented as another one ("as …", "like …") also has the errors of that one.
//!
//! Enums of kinds are `#[non_exhaustive]`: new versions can add kinds. [`Error`] has more methods, such as the place in the
//! Futhark program and the call that failed.
//!
//! # Backends
//!
//! A binary contains the program for each backend of the build script. By default a context uses the first one that
//! works on the machine.
//!
//! ```text
//! let config = stats::Config::new().backends([Backend::Cuda, Backend::OpenCl, Backend::Multicore]);
//! let ctx = stats::Context::new(&config)?;
//! for (backend, why) in ctx.refused() {
//!     eprintln!("not {backend}: {why}");
//! }
//! println!("{} on {}", ctx.backend(), ctx.device()?);
//! ```
//!
//! `"opencl".parse::<Backend>()` reads a name from a command line. [`Context::backends`] and [`Context::devices`] tell
//! what is there before a context exists, [`Context::memory`] and [`Context::copies`] what it uses.
//!
//! # Values
//!
//! * [`Array`]: elements are copied in and out, or read and written in place on host backends.
//! * Each opaque type gets a struct: records have a constructor and a method per field, sums also
//!   get an enum of their variants, arrays of records are zipped from arrays. The documentation of your crate
//!   shows them; the module `build` explains them (`cargo doc -p futhark-safe --features build`). [`Opaque`] has the methods that all of them share.
//! * A call that only reads an argument also takes host data for it, such as a slice or a plain struct: see [`Observed`].
//! * [`Opaque::store`] turns a value into bytes, for later or for another backend; see [`stored`].
//!
//! # State
//!
//! A value that lives across calls, such as the state of a simulation, is passed by `&mut` to the call that
//! consumes it, and the result takes its place:
//!
//! ```text
//! -- sim.fut. A type with a name becomes a struct of this name.
//! type state [n] = {pos: [n]f32, vel: [n]f32}
//!
//! entry start [n] (pos: [n]f32) : state [n] = {pos = copy pos, vel = map (const 0) pos}
//!
//! entry step [n] (s: *state [n]) (dt: f32) : *state [n] =
//!   s with pos = map2 (\p v -> p + v * dt) s.pos s.vel
//! ```
//!
//! ```text
//! struct Simulation {
//!     ctx: sim::Context,
//!     state: sim::State,
//! }
//!
//! impl Simulation {
//!     fn step(&mut self, dt: f32) -> futhark_safe::Result<()> {
//!         self.state = self.ctx.entry().step(&mut self.state, dt)?;
//!         Ok(())
//!     }
//! }
//! ```
//!
//! The memory of the state is reused, without a copy, unless another value shares it. A call that is refused
//! before it starts leaves the state as it is. After a call that failed the state is spent: every
//! use of it is an error, until another value is assigned, such as a copy made by `try_clone` before the call.
//! On a GPU a call can fail after it has returned; [`sync`](Context::sync), or [`store`](Opaque::store) for a checkpoint, reports
//! that. `step(self.state, dt)` does not compile (E0507): a field of `&mut self` cannot be moved out. See
//! [`Consumed`].
//!
//! # Threads and blocking
//!
//! [`Context`], [`Array`] and [`Opaque`] are `Send` and `Sync`. One call at a time
//! runs per context; others wait for it. Dropping a value never waits. Several contexts run at the same time, on
//! one device or several, except on Oclgrind.
//!
//! * **fork**: a context works in the process that created it. In a child, each call is
//!   [`ErrorKind::ContextLost`]; create a new context there, on GPU backends after `exec` only, since drivers do not
//!   survive a fork. If another thread was in a call when the process forked, its lock stays locked in
//!   the child, so the child must not use that context at all.
//! * **Signals**: this crate installs no handlers, and none of its functions may be called in one. Set
//!   a flag there, and test it between calls: a running call cannot be interrupted. Worker threads of
//!   `multicore` inherit the signal mask of the thread that creates the context.
//!
//! # Features
//!
//! | feature | adds | dependencies |
//! |---|---|---|
//! | `run` (default) | contexts, values and calls: all that a program needs at run time | half |
//! | `load` (default) | opens shared objects | libloading |
//! | `build` | for build scripts: compiles programs and writes their modules | as `compile` |
//! | `raw` | also for build scripts: modules for plain C calls beside safe ones ([`Context::with_raw`]); needs libclang | bindgen |
//! | `compile` | runs the compilers | cc, hmac-sha256, serde_json |
//! | `dynamic` | programs that are known only at run time, and programs of a module that are shared objects; with `compile`, it also builds them | libloading, serde_json |
//! | `report` | profiling reports as typed data | serde_json |
//! | `tracing` | spans for calls, transfers and compile steps, events for copies, starts and the log of the runtime | tracing |
//! | `ndarray` | converts arrays to and from those of the crate `ndarray`, 0.16 or 0.17; Cargo selects 0.17, so for 0.16 run `cargo update ndarray@0.17 --precise 0.16.1` once | ndarray |
//! | `serde` | serializes stored values | serde_core |
//! | `mac` | seals stored values with a key of yours, so that they are restored without `unsafe` (`Stored::seal`) | hmac-sha256 |
//!
//! `dynamic`, `report`, `ndarray`, `serde` and `mac` include `run`. A build script needs `build` alone; with
//! `default-features = false` in `[build-dependencies]`, Cargo compiles only that for it.

#![deny(unsafe_code)]
#![cfg_attr(
    not(feature = "run"),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "links to items of disabled features"
    )
)]

#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "compile")]
pub use futhark_sys::compile;
#[cfg(feature = "dynamic")]
pub mod dynamic;

#[cfg(feature = "run")]
mod array;
#[cfg(feature = "run")]
mod batch;
#[cfg(feature = "run")]
mod call;
#[cfg(feature = "run")]
mod context;
#[cfg(feature = "run")]
mod elem;
#[cfg_attr(
    not(feature = "run"),
    allow(dead_code, reason = "constructors for failures of contexts")
)]
mod error;
#[cfg(all(test, feature = "dynamic"))]
mod fake_tests;
#[cfg(feature = "run")]
mod ffi;
#[cfg(feature = "run")]
mod observe;
#[cfg(feature = "run")]
mod opaque;
#[cfg(feature = "run")]
mod raw;
#[cfg(any(feature = "build", feature = "run"))]
mod regular_file;
#[cfg(feature = "run")]
mod start;
#[cfg(feature = "run")]
pub mod stored;
#[cfg(any(feature = "build", feature = "run"))]
mod tuning;

pub use error::{Error, ErrorKind, Place, Result};
pub use futhark_manifest::{Backend, ElemType};
#[cfg(feature = "run")]
pub use futhark_sys::table::Hardening;
#[cfg(feature = "report")]
pub use observe::{Event, Report};
#[cfg(any(feature = "build", feature = "run"))]
pub use tuning::Tuning;
#[cfg(feature = "run")]
pub use {
    array::{Array, ArrayIndex, HostArray},
    batch::{Batch, Download},
    call::{Consumed, HasArray, Observed},
    context::{Context, Program},
    elem::Element,
    ffi::RawMemory,
    half::f16,
    observe::{Copies, Device, MemoryUse},
    opaque::{Opaque, OpaqueTag},
    raw::{Raw, RawContext, RawValue},
    start::Config,
    stored::{Stored, Untrusted},
    tuning::TuningParam,
};

/// Items for generated code and this crate's macros. They may change in any version.
#[cfg(feature = "run")]
#[doc(hidden)]
pub mod __private {
    pub use crate::call::{
        Consumed, Held, Observed, Receive, Slot, Value, consumed, get, observed, part, parts,
        scalar, slot,
    };
    pub use crate::context::Linked;
    pub use crate::ffi::{Input, LinkedTable, Output};
    pub use crate::opaque::{
        blocks, check_rows, columns, element, fill, fill_two, from_elements, new_records,
        no_variant, rows, set_element, shape, unit,
    };
    pub use futhark_sys::table::Raw as RawTable;
}
