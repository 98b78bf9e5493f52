//! The core: the only module of this crate that touches the table of a program, and the lower layer
//! of the two. It knows values by their numbers in the table and imports nothing of the faces
//! (`context`, `array`, `opaque`, `stored`, `raw`, `dynamic`), which give them types.
//!
//! Its functions are safe but for a few, whose contracts the faces pass on to users unchanged:
//! [`borrow`], [`Bytes::new`], [`Lent::adopt`], [`LinkedTable::new`].
//!
//! * `core`: a context, its lock, and values that wait to be freed
//! * `handle`: a value; keeps its context alive
//! * `call`: the choke point: checks types and contexts, makes consumed arguments unique,
//!   calls, fetches the error
//! * `consume`: gives an argument that a call overwrites memory of its own
//! * `make`: values that are complete when the function that makes them returns
//! * `duplicate`: copies with memory of their own
//! * `shape`: shapes and lengths, asked from the value
//! * `transfer`: arrays in and out
//! * `view`: elements where they lie
//! * `memory`: memory as a backend has it, in and out
//! * `plain`: a context lent to plain C calls
//! * `elements`: arrays of opaque values, element by element
//! * `opaque`: opaque values as bytes
//! * `progress`: which results of asynchronous calls can be believed
//! * `setting`: a configuration as C wants it
//! * `table`: tables that are linked in
//!
//! The guarantees, to which SAFETY comments refer by letter:
//!
//! * **T** (table): a [`Table`](futhark_sys::table::Table) obeys `futhark_table.h`; its
//!   maker vouched for that.
//! * **L** (lock): a function of the table that takes a context is called only while
//!   [`core::Locked`] of that context exists, but for `shape`, `raw_memory` and
//!   `references`, which read what never changes while a value exists, or what the
//!   lock protects.
//! * **V** (value): a [`Handle`] holds a live value of the type that it says, which
//!   belongs to the context that it keeps alive; nobody else frees it.
//! * **S** (sync): the C side completes every transfer before it returns, so memory
//!   is lent for the length of a call only.
//! * **M** (memory): while a [`Handle`] exists, nothing writes to the memory of its value or
//!   frees it. The handle holds one reference. A call that consumes, and one that
//!   sets an element, is given a value whose count is 1, by `consume::make_unique`. The one
//!   takes that value's own handle, the other borrows it mutably, so nobody else borrows it.
//!   Plain calls overwrite what their caller lets them: see [`Context::with_raw`](crate::Context::with_raw).
//!   The runtime frees only memory without references; memory of a lost context is freed by
//!   `context_free`, when no handle is left. What else a call writes to is new memory: the
//!   Futhark compiler's types see to it.

#![allow(
    unsafe_code,
    reason = "this is the module that the rest of the crate relies on"
)]

mod call;
mod consume;
mod core;
mod duplicate;
mod elements;
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
pub(crate) use elements::{check_count, create_of_values, index_value, set_value, unit};
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
