//! The core: the only module of this crate that calls functions of a program's table. It identifies
//! types by their index in the table and imports nothing from the interfaces (`context`,
//! `array`, `opaque`, `stored`, `raw`, `dynamic`), which add Rust types.
//!
//! Other modules can call its functions safely, except these, whose contracts they pass on:
//! [`borrow`], [`Bytes::new`], [`Setting::command_queue`], [`Lent::adopt`], [`LinkedTable::new`].
//!
//! * `context`: a context, its lock, `Locked::call`, the choke point, values that were dropped during a call, and the
//!   errors of calls that failed
//! * `operations`: the operations of a context without values
//! * `call`: calls of entry points and of operations on values: checks types and contexts, makes consumed arguments
//!   unique
//! * `value`: a value, which keeps its context alive; copies, also of a shared argument before a call overwrites
//!   it; opaque values as bytes
//! * `array`: arrays of scalars: shapes, transfers, elements in place
//! * `records`: arrays of opaque values, element by element, and by columns in place
//! * `batch`: many transfers with one wait
//! * `progress`: pending work on a GPU, and the results that its failures invalidate
//! * `plain`: a context lent to plain C calls
//! * `settings`: configuration settings, and a writer that receives the runtime's log
//! * `table`: tables that are linked in, and the devices that a table knows
//! * `buffer`: memory of the host that receives elements
//! * `trace`: spans of the crate `tracing`, with that feature; a check that no code of the user runs under a lock
//!
//! The ways of an upload, of the call of an entry point and of a download, with Rust files from `src/`:
//!
//! ```text
//! Context::array ─▶ create ─▶ create_from ─▶ Core::make ─▶ Core::run ─┐       array.rs, ffi/{array,value,context}.rs
//! a generated method ─▶ Core::call ─▶ Locked::call_function ──────────┤       ffi/{call,context}.rs
//! Array::to_vec ─▶ read_to ─┬─▶ Core::run (GPU) ──────────────────────┤       array.rs, ffi/{array,context}.rs
//!                           └─▶ address (host) ─▶ ptr::copy_nonoverlapping
//!                                                                     ▼
//!     Locked::call ─▶ fut_enter ─▶ the wrapper, by a macro FUT_WRAP_…         ffi/context.rs, fut_{calls,wrappers}.h
//!                     ─▶ the generated function ─▶ fut_leave…                 fut_calls.h; with results to free: fut_sizes.h
//!     a failure: fut_settle ─▶ Locked::failed ─▶ attributed ─▶ Failure::error fut_calls.h, ffi/context.rs
//!                ─▶ in Core::call: after_failure                              ffi/call.rs
//! ```
//!
//! The macros of this route: `FUT_WRAP_NEW` (upload), `FUT_WRAP_ENTRY` (call), `FUT_WRAP_VALUES` (download, GPU),
//! and `FUT_WRAP_SHAPE` and `FUT_WRAP_RAW_MEMORY` (host, without a lock: `dims`, and then `address`).
//!
//! The guarantees, to which SAFETY comments refer by letter:
//!
//! * **T** (table): a [`Table`](futhark_sys::table::Table) obeys `futhark_table.h`; the caller of
//!   the `unsafe` function that made it promised that.
//! * **L** (lock): a function of the table that takes a context is called only while
//!   [`context::Locked`] of that context exists. Exempt are `shape` and `raw_memory`, which read fields
//!   that never change while a value exists, and `context_free`, which runs when nothing else
//!   refers to the context. `is_shared` takes no context, but reads counts that calls change, so
//!   it needs the lock too.
//! * **V** (value): a [`Handle`] holds a live value of its type, which belongs to the
//!   context that the handle keeps alive. Nothing else frees the value. A handle that a call has
//!   spent holds none; `Handle::live`, the only access to the pointer, returns none for it.
//! * **S** (sync): the C side completes every transfer before it returns, so memory
//!   is lent for the duration of a call only. In a batch, it completes a transfer before `sync`
//!   returns; the memory stays until then, because `batch::batch` calls `sync` before it
//!   returns or unwinds. After a call that failed without losing the context, the device accesses
//!   no host memory.
//! * **M** (memory): while a [`Handle`] exists, nothing frees the memory of its value. While it is
//!   borrowed, unless mutably, nothing writes to it. The handle holds one reference. An argument that a
//!   call overwrites has no other reference (`value`). The call owns its handle or
//!   borrows it mutably, so no view of it exists. The same holds for an array whose elements a `Host`
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

mod array;
mod batch;
mod buffer;
mod call;
mod context;
mod operations;
mod plain;
mod progress;
mod records;
mod settings;
pub(crate) mod sync;
mod table;
mod trace;
mod value;

pub use array::RawMemory;
pub(crate) use array::{
    Bounds, Host, borrow, count, create, create_of, elements, expect_count, index, raw_memory,
    read_into, read_vec, shape_array, view,
};
#[cfg(feature = "dynamic")]
pub(crate) use array::{array_number, create_from_bytes, elem_and_rank, read_bytes, shape};
pub(crate) use batch::{Batch, Downloaded, batch};
pub(crate) use buffer::try_vec;
pub use call::{Input, Output};
pub(crate) use context::Core;
pub(crate) use plain::Lent;
pub(crate) use records::{
    Columns, NewArray, NewRecords, columns, create_of_values, fill, fill_two, index_value,
    set_value, unit,
};
pub(crate) use settings::{Log, Quiet, Setting, deliver_log};
pub use table::LinkedTable;
pub(crate) use table::{backend_of, describe_device, device_source, devices};
pub(crate) use trace::started;
pub use value::Handle;
pub(crate) use value::{Bytes, duplicate, other_program, restore, store};
