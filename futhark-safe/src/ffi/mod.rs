//! The core: the only module of this crate that calls functions of a program's table. It identifies
//! types by their index in the table and imports nothing from the interfaces (`context`,
//! `array`, `opaque`, `stored`, `raw`, `dynamic`), which add Rust types.
//!
//! Other modules can call its functions safely, except these, whose contracts they pass on:
//! [`borrow`], [`Bytes::new`], [`Setting::command_queue`], [`Lent::adopt`], [`LinkedTable::new`].
//!
//! * `batch`: many transfers with one wait
//! * `core`: a context, its lock, and values that were dropped during a call
//! * `failure`: failures as the C side records them, the errors that they become, and results of asynchronous calls
//!   that they invalidate
//! * `handle`: a value, which keeps its context alive, and calls that make one
//! * `call`: the choke point: checks types and contexts, makes consumed arguments unique,
//!   calls, fetches the error
//! * `consume`: copies, also of a shared argument before a call overwrites it
//! * `inspect`: devices, memory in use, the profiling report
//! * `log`: a writer that receives the runtime's log
//! * `shape`: shapes and lengths, read from the value
//! * `fill`: new arrays whose elements are written in place
//! * `columns`: the columns of arrays of records, read and written in place
//! * `transfer`: copies elements between the host and arrays
//! * `host`: elements in place, without a copy
//! * `memory`: the backend's own memory of arrays, handed out and borrowed
//! * `plain`: a context lent to plain C calls
//! * `elements`: arrays of opaque values, element by element
//! * `opaque`: opaque values as bytes
//! * `setting`: one configuration setting, and its conversion to the C struct
//! * `table`: tables that are linked in
//! * `trace`: spans of the crate `tracing`, with that feature
//!
//! The guarantees, to which SAFETY comments refer by letter:
//!
//! * **T** (table): a [`Table`](futhark_sys::table::Table) obeys `futhark_table.h`; the caller of
//!   the `unsafe` function that made it promised that.
//! * **L** (lock): a function of the table that takes a context is called only while
//!   [`core::Locked`] of that context exists. Exempt are `shape` and `raw_memory`, which read fields
//!   that never change while a value exists, and `context_free`, which runs when nothing else
//!   refers to the context. `references` takes no context, but reads counts that calls change, so
//!   it needs the lock too.
//! * **V** (value): a [`Handle`] holds a live value of its type, which belongs to the
//!   context that the handle keeps alive. Nothing else frees the value. A handle that a call has
//!   spent holds none; `Handle::value`, the access to the pointer, fails for it, and
//!   `Handle::value_or_null` returns null.
//! * **S** (sync): the C side completes every transfer before it returns, so memory
//!   is lent for the duration of a call only. In a batch, it completes a transfer before `sync`
//!   returns; the memory stays until then, because `batch::batch` calls `sync` before it
//!   returns or unwinds. After a call that failed without losing the context, the device accesses
//!   no host memory.
//! * **M** (memory): while a [`Handle`] exists, nothing frees the memory of its value. While it is
//!   borrowed, unless mutably, nothing writes to it. The handle holds one reference. An argument that a
//!   call overwrites has a count of at most 1 (`consume::make_unique`). The call owns its handle or
//!   borrows it mutably, so no view of it exists. The same holds for an array whose elements `host`
//!   lends for writing. Otherwise a call writes only
//!   to memory that it allocates, which the Futhark type checker ensures. The runtime frees only
//!   memory without references; memory of a lost context is freed by `context_free`, when no handle
//!   is left. Plain calls could overwrite shared memory, and addresses that were handed out could be
//!   used at any time; their users promise that memory is not written while it is borrowed, and not used
//!   while it is borrowed mutably: see [`Context::with_raw`](crate::Context::with_raw) and
//!   [`Array::raw_memory`](crate::Array::raw_memory).

#![allow(
    unsafe_code,
    reason = "the core calls functions of the table; the guarantees above make this sound"
)]

mod batch;
mod call;
mod columns;
mod consume;
mod core;
mod elements;
mod failure;
mod fill;
mod handle;
mod host;
mod inspect;
mod log;
mod memory;
mod opaque;
mod plain;
mod setting;
mod shape;
mod table;
mod trace;
mod transfer;

pub(crate) use self::core::Core;
pub(crate) use batch::{Batch, Place, batch};
pub use call::{Input, Output};
pub(crate) use columns::{Columns, NewRecords, columns};
pub(crate) use consume::duplicate;
pub(crate) use elements::{create_of_values, index_value, set_value, unit};
pub(crate) use fill::{NewArray, create_of, fill, fill_two};
pub use handle::Handle;
pub(crate) use host::{Host, view};
pub(crate) use inspect::{describe_device, device_source, devices};
pub(crate) use log::{Log, Quiet};
pub use memory::RawMemory;
pub(crate) use memory::{borrow, raw_memory};
pub(crate) use opaque::{Bytes, other_program, restore, store};
pub(crate) use plain::Lent;
pub(crate) use setting::{Setting, deliver_log};
pub(crate) use shape::{Bounds, count, elements, expect_count, shape_array};
#[cfg(feature = "dynamic")]
pub(crate) use shape::{elem_and_rank, shape};
pub use table::LinkedTable;
pub(crate) use table::backend_of;
pub(crate) use trace::started;
#[cfg(feature = "dynamic")]
pub(crate) use transfer::{array_number, create_from_bytes, read_bytes};
pub(crate) use transfer::{create, index, read_into, read_vec, with_capacity};
