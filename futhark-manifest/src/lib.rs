//! Reads, checks, explains and compares the manifests of compiled [Futhark] programs.
//!
//! `futhark c --library prog.fut` writes `prog.c`, `prog.h` and `prog.json`, and so does each
//! other backend that generates C. `prog.json` is the *manifest*: it lists the program's entry
//! points and types, and the C functions that belong to them. This crate reads the manifests of
//! the compilers 0.20.3 to 0.27.1 and derives what a generator of bindings needs: types in
//! dependency order, C prototypes, ownership of arguments and results, identifiers. It contains
//! no `unsafe` code and needs no C compiler. To write a bridge from another language to Futhark,
//! start with the [`guide`].
//!
//! A manifest has two forms:
//!
//! - [`Manifest`] is the file as written, in which types refer to each other by name.
//!   [`Manifest::parse`] keeps every member. Its parts are in [`syntax`].
//! - [`Program`] is the resolved form, for code generators. References are typed, and programs of
//!   all compiler versions have the same form. [`Manifest::resolve`] returns an error if the
//!   parts are inconsistent.
//!
//! Type names are opaque keys: the crate never parses them.
//!
//! # Example
//!
//! ```
//! use futhark_manifest::{Manifest, TypeKind, TypeRef};
//!
//! // The manifest of a program with `entry total (xs: []f32): f32`.
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
//! let TypeRef::Type(id) = total.inputs[0].ty else { unreachable!("[]f32 is an array") };
//! let TypeKind::Array(array) = &program[id].kind else { unreachable!() };
//! assert_eq!((array.elem.size(), array.rank), (4, 1));
//! assert_eq!(
//!     program.prototypes().last().expect("the entry point").to_string(),
//!     "int futhark_entry_total(struct futhark_context *ctx, float *out0, \
//!      const struct futhark_f32_1d *in0);",
//! );
//! # Ok::<(), futhark_manifest::Error>(())
//! ```
//!
//! # Errors
//!
//! Reading and resolving return an [`Error`], which holds one or more [`Finding`]s. Each finding has a
//! [`Code`], the JSON pointer of its place, and the expected and the actual value:
//! "at /types/[]i32/rank: expected a positive integer, found \"two\"". [`Manifest::check`] returns
//! all findings of a manifest, warnings included; [`Code`] describes each of them. To decide what to do, match
//! on [`Error::kind`], which has few values.
//!
//! # Items by task
//!
//! | task | item |
//! |---|---|
//! | list all types and functions | [`Program::types_in_order`], [`Program::functions`] |
//! | C prototypes, roles and ownership of parameters | [`Program::prototypes`], [`c`] |
//! | which values may share memory | [`Operation::aliasing`], [`Output::aliasing`] |
//! | compare with the generated header | [`Program::assertions`] |
//! | identifiers for Rust, C, Python and others | [`names`] |
//! | compare two versions of an API | [`diff`] |
//! | report every violation of the format | [`schema`] |
//! | use the resolved form outside of Rust | [`resolved`], [`Program::to_json`], the command `futhark-manifest` |
//!
//! # Features
//!
//! | feature | adds | dependencies |
//! |---|---|---|
//! | `json` (default) | manifests: [`Manifest`], [`Program`], [`c`] | serde_core, serde_json |
//! | `diff` | [`diff`]: two programs compared as APIs | |
//! | `document` | [`Program::to_json`] and [`Program::document`]: the [resolved form](resolved) as JSON | |
//! | `languages` | [`names`] for Python, and the keywords of C++ | |
//! | `schema` | [`schema`]: the JSON Schemas and a validator | jsonschema |
//! | `command` | the command `futhark-manifest` | clap and all of the above |
//!
//! Without any feature the crate consists of [`Backend`], [`ElemType`], [`Version`] and [`names`],
//! and has no dependencies.
//!
//! [Futhark]: https://futhark-lang.org

#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(
        feature = "json",
        feature = "diff",
        feature = "document",
        feature = "languages",
        feature = "schema"
    )),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "links to items of disabled features"
    )
)]

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "json"))]
#[doc = include_str!("../README.md")]
struct Readme;

mod backend;
mod elem;
#[cfg(feature = "json")]
mod manifest;
pub mod names;
mod text;
mod version;

pub use backend::{Backend, UnknownBackend};
pub use elem::ElemType;
#[cfg(feature = "json")]
pub use manifest::*;
pub use text::Printable;
pub use version::{Version, known};

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
