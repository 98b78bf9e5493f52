//! The core: the only module of this crate that touches the table of a program, and the lower layer
//! of the two. It knows values by their numbers in the table and imports nothing of the faces
//! (`context`, `array`, `opaque`, `stored`, `raw`, `dynamic`), which give them types.
//!
//! Its functions are safe but for a few, whose contracts the faces pass on to users unchanged:
//! [`borrow`], [`Bytes::new`], [`Lent::adopt`], [`LinkedTable::new`].
//!
//! * `core`: a context, its lock, and values that were dropped during a call
//! * `failure`: failures as the C side records them, and the errors that they become
//! * `handle`: a value; keeps its context alive
//! * `call`: the choke point: checks types and contexts, makes consumed arguments unique,
//!   calls, fetches the error
//! * `consume`: gives an argument that a call overwrites memory of its own
//! * `make`: calls that make a value and return when it is complete
//! * `duplicate`: copies with memory of their own
//! * `shape`: shapes and lengths, read from the value
//! * `transfer`: arrays in and out
//! * `view`: elements in place, without a copy
//! * `memory`: memory as a backend has it, in and out
//! * `plain`: a context lent to plain C calls
//! * `elements`: arrays of opaque values, element by element
//! * `opaque`: opaque values as bytes
//! * `progress`: which results of asynchronous calls are valid
//! * `setting`: a configuration in C's form
//! * `table`: tables that are linked in
//!
//! The guarantees, to which SAFETY comments refer by letter:
//!
//! * **T** (table): a [`Table`](futhark_sys::table::Table) obeys `futhark_table.h`; the caller of
//!   the `unsafe` function that made it promised that.
//! * **L** (lock): a function of the table that takes a context is called only while
//!   [`core::Locked`] of that context exists. Exempt are `shape` and `raw_memory`, which read fields
//!   that never change while a value exists. `references` takes no context, but reads
//!   counts that calls change, so it needs the lock too.
//! * **V** (value): a [`Handle`] holds a live value of its type, which belongs to the
//!   context that the handle keeps alive. Nothing else frees the value.
//! * **S** (sync): the C side completes every transfer before it returns, so memory
//!   is lent for the duration of a call only.
//! * **M** (memory): while a [`Handle`] exists, nothing writes to the memory of its value or
//!   frees it. The handle holds one reference. A call that overwrites an argument gets one whose count
//!   is 1, from `consume::make_unique`: either by its handle, or (to set an element) by a
//!   mutable borrow of it, so no view of it exists. A call writes to no other memory but
//!   what it allocates, which the Futhark type checker ensures. The runtime frees only memory
//!   without references; memory of a lost context is freed by `context_free`, when no handle is left.
//!   Plain calls can overwrite more; their caller promises not to:
//!   see [`Context::with_raw`](crate::Context::with_raw).

#![allow(
    unsafe_code,
    reason = "the core: calls functions of the table, and is argued by the guarantees above"
)]

mod call;
mod consume;
mod core;
mod duplicate;
mod elements;
mod failure;
mod handle;
mod make;
mod memory;
mod opaque;
mod plain;
mod progress;
mod setting;
mod shape;
mod table;
mod transfer;
mod view;

pub(crate) use self::core::{Core, describe_device};
pub use call::{Input, Output};
pub(crate) use duplicate::duplicate;
#[cfg(feature = "dynamic")]
pub(crate) use elements::index_value_checked_by_c;
pub(crate) use elements::{create_of_values, expect_count, index_value, set_value, unit};
pub use handle::Handle;
pub use memory::RawMemory;
pub(crate) use memory::{borrow, raw_memory};
pub(crate) use opaque::{Bytes, other_program, restore, store};
pub(crate) use plain::Lent;
pub(crate) use setting::Setting;
#[cfg(feature = "dynamic")]
pub(crate) use shape::shape;
pub(crate) use shape::{count, elements, shape_array};
pub use table::LinkedTable;
pub(crate) use table::backend_of;
pub(crate) use transfer::{create, index, read_into, read_vec};
#[cfg(feature = "dynamic")]
pub(crate) use transfer::{create_from_bytes, index_checked_by_c, read_bytes};
pub(crate) use view::view;
