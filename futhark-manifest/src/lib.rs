//! The manifest layer: reads, checks and resolves the JSON file that describes
//! a compiled Futhark program.
//!
//! `futhark c --library prog.fut`, and the same command of every other backend
//! that makes C, writes `prog.c`, `prog.h` and `prog.json`. The last one is the
//! manifest: it lists the entry points and the types of the program, and the C
//! functions that go with them. This crate reads what the compilers 0.20.3 to
//! 0.27.1 write, without any C or `unsafe`, for whoever generates bindings.
//!
//! There are two forms:
//!
//! - [`Manifest`] is the file as it is written, in which types refer to each
//!   other by name ([`Manifest::parse`]). The parts are in [`raw`].
//! - [`Program`] is the resolved form ([`Manifest::resolve`]): every reference
//!   leads to its type, all compiler versions look alike, and what does not fit
//!   together has been refused. This is the one to generate code from.
//!
//! Nothing is ever concluded from how a type's name is spelled.
//!
//! # Example
//!
//! ```
//! use futhark_manifest::{Manifest, TypeKind, TypeRef};
//!
//! // What a program with `entry total (xs: []f32): f32` comes with.
//! let text = r#"{
//!   "backend": "multicore",
//!   "version": "0.25.32.\n",
//!   "entry_points": {
//!     "total": {
//!       "cfun": "futhark_entry_total",
//!       "inputs": [{"name": "xs", "type": "[]f32", "unique": false}],
//!       "outputs": [{"type": "f32", "unique": true}],
//!       "tuning_params": []
//!     }
//!   },
//!   "types": {
//!     "[]f32": {
//!       "kind": "array", "ctype": "struct futhark_f32_1d *", "elemtype": "f32", "rank": 1,
//!       "ops": {
//!         "free": "futhark_free_f32_1d", "shape": "futhark_shape_f32_1d",
//!         "values": "futhark_values_f32_1d", "new": "futhark_new_f32_1d",
//!         "index": "futhark_index_f32_1d"
//!       }
//!     }
//!   }
//! }"#;
//!
//! let manifest = Manifest::parse(text)?;
//! assert!(manifest.warnings().is_empty());
//! let program = manifest.resolve()?;
//!
//! let total = program.entry("total").expect("it is listed");
//! let input = &total.inputs[0];
//! let TypeRef::Type(id) = input.ty else { unreachable!("[]f32 is no scalar") };
//! let TypeKind::Array(array) = &program.get(id).kind else { unreachable!() };
//! println!(
//!     "int {}(struct futhark_context *ctx, {} *out0, const {} *{})",
//!     total.cfun,
//!     program.c_type_of(total.outputs[0].ty),
//!     program.get(id).c_struct(),
//!     input.name,
//! );
//! assert_eq!(array.rank, 1);
//! assert_eq!(array.elem.size(), 4);
//! assert_eq!(array.ops.new_raw, None, "this manifest does not list it");
//! # Ok::<(), futhark_manifest::Error>(())
//! ```

#![forbid(unsafe_code)]

mod backend;
#[cfg(feature = "json")]
pub mod c;
#[cfg(feature = "json")]
mod check;
#[cfg(feature = "json")]
mod code;
#[cfg(feature = "json")]
mod decode;
#[cfg(feature = "json")]
pub mod diff;
#[cfg(feature = "json")]
mod document;
mod elem;
#[cfg(feature = "json")]
mod encode;
#[cfg(feature = "json")]
mod error;
#[cfg(feature = "json")]
#[doc = include_str!("guide.md")]
pub mod guide {}
#[cfg(feature = "json")]
mod interface;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "json")]
mod model;
pub mod names;
#[cfg(feature = "json")]
mod operation;
#[cfg(feature = "json")]
mod order;
#[cfg(feature = "json")]
mod program;
#[cfg(feature = "json")]
pub mod raw;
#[cfg(feature = "json")]
mod resolve;
#[cfg(feature = "schema")]
pub mod schema;
mod version;
#[cfg(feature = "json")]
mod visit;
#[cfg(feature = "json")]
mod walk;
mod words;

pub use backend::{Backend, UnknownBackend};
#[cfg(feature = "json")]
pub use code::{Code, Severity};
pub use elem::ElemType;
#[cfg(feature = "json")]
pub use error::{Error, Finding};
#[cfg(feature = "json")]
pub use json::Position;
#[cfg(feature = "json")]
pub use model::{
    ArrayOps, ArrayType, Field, Input, OpaqueArray, OpaqueOps, OpaqueType, Output, Record,
    RecordArray, Structure, Sum, TypeKind, Unknown, Variant,
};
#[cfg(feature = "json")]
pub use operation::{Aliasing, Function, Operation, OutputAliasing, Owner};
#[cfg(feature = "json")]
pub use program::{EntryPoint, Program, ResultForm, Type, TypeId, TypeRef};
#[cfg(feature = "json")]
#[doc(inline)]
pub use raw::Manifest;
pub use version::Version;
#[cfg(feature = "json")]
pub use visit::Visitor;
