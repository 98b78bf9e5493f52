//! The manifest layer: reads, checks, explains and compares the JSON file that
//! describes a compiled Futhark program.
//!
//! `futhark c --library prog.fut`, and the same command of every other backend
//! that makes C, writes `prog.c`, `prog.h` and `prog.json`. The last one is the
//! manifest: it lists the entry points and the types of the program, and the C
//! functions that go with them. This crate reads what the compilers 0.20.3 to
//! 0.27.1 write, without any C or `unsafe`, for whoever generates bindings: the
//! [`guide`] is where to start.
//!
//! There are two forms:
//!
//! - [`Manifest`] is the file as it is written, in which types refer to each
//!   other by name ([`Manifest::parse`]). Nothing is lost in it, so it can be
//!   written again. The parts are in [`raw`].
//! - [`Program`] is the resolved form ([`Manifest::resolve`]): every reference
//!   leads to its type, all compiler versions look alike, and what does not fit
//!   together has been refused. This is the one to generate code from.
//!
//! Nothing is ever concluded from how a type's name is spelled.
//!
//! | wanted | is |
//! |---|---|
//! | what is wrong with a manifest | [`Manifest::check`], by [`Code`]; its form alone: `schema` (feature `schema`) |
//! | all types, all functions | [`Program::types_in_order`], [`Program::functions`], [`Program::visit`] |
//! | C prototypes, roles and ownership of parameters | [`Program::prototypes`], [`c`] |
//! | what shares memory with what | [`Operation::aliasing`], [`Output::aliasing`] |
//! | whether a header fits | [`c::agree`] |
//! | identifiers of Rust, C, Python, … | [`names`] |
//! | whether an API changed | [`diff`] |
//! | the same without Rust | [`Program::to_json`], the command `futhark-manifest` (feature `command`) |
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
//!         "index": "futhark_index_f32_1d",
//!         "new_raw": "futhark_new_raw_f32_1d", "values_raw": "futhark_values_raw_f32_1d"
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
//! let TypeRef::Type(id) = total.inputs[0].ty else { unreachable!("[]f32 is no scalar") };
//! let TypeKind::Array(array) = &program[id].kind else { unreachable!() };
//! assert_eq!((array.elem.size(), array.rank), (4, 1));
//! assert_eq!(
//!     program.prototypes().last().expect("the entry point").to_string(),
//!     "int futhark_entry_total(struct futhark_context *ctx, float *out0, \
//!      const struct futhark_f32_1d *in0);",
//! );
//! # Ok::<(), futhark_manifest::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "json"),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "what they lead to is left out"
    )
)]

/// The examples of the README are compiled.
#[cfg(all(doctest, feature = "json"))]
#[doc = include_str!("../README.md")]
struct Readme;

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
mod hash;
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
mod printable;
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
#[cfg(feature = "json")]
pub use document::Document;
pub use elem::ElemType;
#[cfg(feature = "json")]
pub use error::{Error, Finding};
#[cfg(feature = "json")]
pub use json::{Locator, Position};
#[cfg(feature = "json")]
pub use model::{
    ArrayOps, ArrayType, Field, Input, OpaqueArray, OpaqueOps, OpaqueType, Output, Record,
    RecordArray, Structure, Sum, TypeKind, Unknown, Variant,
};
#[cfg(feature = "json")]
pub use operation::{Aliasing, Function, Operation, OutputAliasing, Owner};
pub use printable::Printable;
#[cfg(feature = "json")]
pub use program::{EntryPoint, Program, ResultForm, Type, TypeId, TypeRef};
#[cfg(feature = "json")]
#[doc(inline)]
pub use raw::Manifest;
pub use version::Version;
#[cfg(feature = "json")]
pub use visit::Visitor;

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
