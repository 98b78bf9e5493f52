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
//! | a struct per opaque type | its values, around a [`crate::Opaque`] |
//!
//! Parameters that are consumed are taken by value, others by reference, scalars by value.
//! Several results, and a tuple, come as a Rust tuple, whichever version of the compiler.
//!
//! | type | its struct has |
//! |---|---|
//! | record `pt` | `Pt::new(&ctx, x, &ys)`, a method per field, `fields()`, which gives a `PtFields` |
//! | … of scalars, in records or not | `Pt::from_fields(&ctx, PtFields { … })`; `PtFields` is `Copy` |
//! | tuple | the same, with a Rust tuple instead of `PtFields`; its fields are `_0()`, `_1()` |
//! | `()` | `Unit::new(&ctx)` |
//! | sum `shape` | `Shape::new(&ctx, &ShapeVariant::Circle(1.0))`, `destruct()`, which gives a `ShapeVariant`, `variant_name()` |
//! | array of records `[]pt` | `ArrayPt::zip(&ctx, &xs, &ys)`, a method per field, which gives the array of it, `shape()`, `index([i])` |
//! | … of scalars | `to_vec()`, which gives a `Vec<PtFields>`, `from_slice(&ctx, shape, &rows)` |
//! | array of other opaque values | `shape()`, `index([i])` |
//! | any array of opaque values, from Futhark 0.25.36 on | `new(&ctx, shape, &[&a, &b])`, `set([i], &a)` |
//!
//! What is made of values only reads them; what is taken out of a value lives on without it. All of
//! these fail as calls do: with a value of another context, a computation that failed,
//! a context that is lost. Two types are two structs, also if one is another name for the other.
//!
//! # Names
//!
//! Rust's names are made of Futhark's by the rule of [`futhark_manifest::names`]:
//!
//! * letters, digits and underscores stay; a prime becomes `_prime`; a dot `_`
//! * an operator is spelled out: `+++` becomes `op_plus_plus_plus`
//! * keywords become raw identifiers (`r#move`), those that cannot get an underscore (`self_`)
//! * types are written in camel case without punctuation, `[]` as `Array`: `[]pt` is `ArrayPt`,
//!   `(f32, i32)` is `TupleF32I32`, `{x: f32}` is `XF32`, `circle:f32 | none:` is `CircleF32None`.
//!   A long one is cut, and a hash of the whole added: give the type a name in Futhark.
//! * variants of sums are written as types: `#circle` is `Circle`
//! * of several entry points, types, fields or variants that would be called the same, the one whose
//!   own name that is keeps it, and the others get a hash of theirs: beside `f_prime`, `f'` is
//!   `f_prime_hbddaec9d`. What else is in the program changes nothing.
//! * parameters without a name are `arg`, `arg_2` and so on
//!
//! What has a meaning of its own gets an underscore at the end: types called `Program`,
//! `Context`, `Config`, `Array`, `Entries`, `Result`, `Option` or `Vec`; types, parameters and
//! fields called `Ok`, `Err`, `Some` or `None`; fields called `new`, `fields`, `from_fields`, `shape`, `index`, `set`, `zip`,
//! `to_vec`, `from_slice`, `destruct`, `variant_name`, `type_name`, `store`, `restore`,
//! `clone`, `try_clone`, `deref` or `context`. A field has one name: as a method, as a parameter and in
//! `PtFields`. `PtFields` and `ShapeVariant` give way to types that are called so.

//!
//! # Raw modules
//!
//! For who wants plain C calls beside our context. With the feature `raw`, which brings bindgen and
//! needs libclang, and with `.raw(true)`, the program's module also has `raw::c`, `raw::multicore` and so
//! on, one for each backend: the functions and types of the header that the Futhark compiler
//! wrote, under C's names. [`Context::with_raw`](crate::Context::with_raw) lends a context to them:
//! for an example, and for what each call must see to, look there.
//!
//! * Calling any of it is `unsafe`. The types are distinct by program and backend, and what they have to
//!   do with the safe types is known: a `futhark_f32_1d` is an `Array<f32, 1>`.
//! * Left out are `futhark_context_new`, `_free` and all of `futhark_context_config_`, since our contexts
//!   have more around them, and `futhark_new_raw_`: there is `Context::array_from_raw`. Text that C
//!   gives out is for C's `free`.
//! * Functions have symbols of their own, so programs and backends with the same names live in one binary.
//!   Only programs that are linked in have them: one that is loaded at run time has its table alone.
//! * A raw module is code with `unsafe` in your crate, and the only such: it cannot be where
//!   `#![forbid(unsafe_code)]` is. With `deny`, it is let in and your calls need `#[expect(unsafe_code)]`;
//!   otherwise put the program in a crate of its own.

mod arrays;
mod entries;
mod module;
mod names;
mod program;
#[cfg(feature = "raw")]
mod raw;
mod records;
mod sums;
mod text;

pub use program::Program;

/// The typed face of a program that is known by its manifest alone and has no tables. For
/// tests of what is generated.
///
/// # Errors
///
/// The manifest is not valid.
#[doc(hidden)]
pub fn __module(name: &str, manifest: &str) -> Result<String, Box<dyn std::error::Error>> {
    let program = futhark_manifest::Manifest::parse(manifest)?.resolve()?;
    let functions = futhark_sys::compile::FunctionList::of(&program);
    Ok(module::write(name, &program, &functions, &[])?)
}
