//! For build scripts: compiles a Futhark program and writes its typed face.
//!
//! ```no_run
//! // build.rs
//! use futhark_safe::{Backend, build::Program};
//!
//! # fn build_script() {
//! Program::new("stats.fut").backends([Backend::Multicore, Backend::C]).compile();
//! # }
//! ```
//!
//! The program becomes a module by `futhark_safe::include_program!(stats);`. Source
//! files, all that they import, and the variables that choose compilers trigger a
//! rebuild.
//!
//! # What is generated
//!
//! | in the module | what it is |
//! |---|---|
//! | `Program` | the program, as a type: arrays and contexts of other programs do not fit |
//! | `Context`, `Config` | [`crate::Context`] of this program; [`crate::Config`] |
//! | `Array<T, R>` | [`crate::Array`] of this program |
//! | `Entries` | the entry points as methods; `ctx.entry()` gives it |
//! | one alias per opaque type | [`crate::Opaque`] of that type |
//!
//! Parameters that are consumed are taken by value, others by reference, scalars by
//! value. Several results, and a tuple, come as a Rust tuple.
//!
//! # Names
//!
//! Rust's names are made of Futhark's by the rule of [`futhark_manifest::names`]:
//!
//! * letters, digits and underscores stay; a prime becomes `_prime`; a dot `_`
//! * an operator is spelled out: `+++` becomes `op_plus_plus_plus`
//! * keywords become raw identifiers (`r#move`), those that cannot get an underscore (`self_`)
//! * types are written in camel case without punctuation, `[]` as `Array`: `[]pt` is `ArrayPt`,
//!   `(f32, i32)` is `TupleF32I32`
//! * of several entry points, or types, that would be called the same, the one whose own
//!   name that is keeps it, and the others get a hash of theirs: beside `f_prime`, `f'` is
//!   `f_prime_hbddaec9d`. What else is in the program changes nothing.
//! * parameters without a name are `arg`, `arg_2` and so on

mod code;
mod program;

pub use program::Program;
