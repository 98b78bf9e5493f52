//! Compiles a Futhark program in a build script and writes its typed interface.
//!
//! ```no_run
//! // build.rs
//! use futhark_safe::{Backend, build::Program};
//!
//! fn main() -> Result<(), futhark_safe::Error> {
//!     Program::new("stats.fut").backends([Backend::Multicore, Backend::C]).compile()
//! }
//! ```
//!
//! ```toml
//! # Cargo.toml
//! [dependencies]
//! futhark-safe = "0.1"
//!
//! [build-dependencies]
//! futhark-safe = { version = "0.1", default-features = false, features = ["build"] }
//! ```
//!
//! Cargo compiles this crate for the program and for the build script. The default features are contexts and
//! values, which a build script does not use; without them the first build is faster.
//!
//! `futhark_safe::include_program!(stats);` includes the program as a module. Changes of the source
//! file, of its imports, of the compilers, and of the environment variables that select them trigger a
//! rebuild. Warnings of the Futhark compiler become warnings of Cargo.
//!
//! Cargo runs the build script only after such a change, and then also compiles the package again, even if
//! its module stays the same. The C code is compiled again only if it differs.
//!
//! A package can have several programs: compile each in the build script, and include each.
//!
//! # Shipping
//!
//! The libraries for all selected backends are linked into the binary. It loads the GPU libraries when a
//! context is created, so it also starts on machines without them. To use a GPU, the machine needs its
//! driver and: for `cuda`, NVRTC and the CUDA runtime of the major version of the headers that the build
//! used; for `hip`, the HIP runtime; for `opencl`, an OpenCL loader.
//!
//! A binary for a musl target, such as `x86_64-unknown-linux-musl`, needs no library of the machine. Building it needs a
//! C compiler for musl (Debian: `apt-get install musl-tools`). If the binary is static, as is the default there, it cannot
//! load libraries: contexts on GPU backends are refused, `c` and `multicore` work. `sin`, `exp` and similar functions
//! are those of musl, which differ from those of glibc in the last bits.
//!
//! A binary for Windows needs the target `x86_64-pc-windows-gnu` and mingw-w64 (Debian: `apt-get install
//! gcc-mingw-w64-x86-64`), and no library beside it.
//!
//! To replace a program without rebuilding the binary, ship it as a shared object (feature `dynamic`).
//! [`compile::Build`](crate::compile::Build) makes it. Install the file
//! [`Artifact::library`](crate::compile::Artifact::library), and pass its path to
//! `dynamic::Library::open`, which accepts only files that the same version
//! of this crate made. The machine needs no compiler, and the binary no feature besides `dynamic`. The file
//! contains the manifest.
//!
//! If the interface of the program is known, `Program::linked(false)` writes its module without linking it, and
//! `Context::with_library` makes typed contexts. It is an error if the file has
//! other types or entry points. Otherwise the values have the types of the module `dynamic`.
//!
//! # Editors and documentation
//!
//! Checking or documenting a crate needs only the module and no C compiler. If `FUTHARK_SAFE_FACE_ONLY` is
//! set and not empty, or on docs.rs (`DOCS_RS`), the build script writes only the module. The crate cannot
//! be linked then. Programs with raw modules are compiled in any case. Give the editor its own target
//! folder, so that Cargo does not alternate between the two:
//!
//! ```json
//! "rust-analyzer.cargo.targetDir": true,
//! "rust-analyzer.cargo.extraEnv": { "FUTHARK_SAFE_FACE_ONLY": "1" }
//! ```
//!
//! docs.rs has no Futhark compiler: use [vendored code](#vendored-code).
//!
//! # Generated items
//!
//! | item | content |
//! |---|---|
//! | `Program` | the program as a type, so that arrays and contexts of other programs have other types |
//! | `Context`, `Config` | [`crate::Context`] of this program; [`crate::Config`] |
//! | `Array<T, R>` | [`crate::Array`] of this program |
//! | `Entries` | the entry points as methods; returned by `ctx.entry()` |
//! | a struct per opaque type | a value of the type; wraps a [`crate::Opaque`] |
//!
//! Scalars are passed by value, consumed parameters by value or `&mut`
//! ([`Consumed`](crate::Consumed)), others by reference to a value or to host data
//! ([`Observed`](crate::Observed)). Several results, or
//! a tuple, are returned as a Rust tuple with every version of the compiler.
//!
//! | type | methods of its struct |
//! |---|---|
//! | record `pt` | `Pt::new(&ctx, x, &ys)`, a method per field, `fields()`, which returns a `PtFields` |
//! | … with two fields of one type | `Line::new(&ctx, LineParts { from: &a, to: &b })`, so that they cannot be confused; with only scalars `Pt::new(&ctx, PtFields { … })` |
//! | … with scalars as leaves | `Pt::from_fields(&ctx, PtFields { … })`; `PtFields` is `Copy`, `Default` and `PartialEq` |
//! | tuple | the same, with a Rust tuple instead of `PtFields`; its fields are `_0()`, `_1()` |
//! | `()` | `Unit::new(&ctx)` |
//! | sum `shape` | `Shape::new(&ctx, &ShapeVariant::Circle(1.0))`, `destruct()`, which returns a `ShapeVariant`, `variant_name()` |
//! | array of records `[]pt` | `ArrayPt::zip(&ctx, &xs, &ys)` (`zip(&ctx, ArrayPtParts { … })` as for records), a method per field, which returns the array of that field, `shape()`, `index([i])` |
//! | … of scalars | `to_vec()`, which returns a `Vec<PtFields>`, `from_slice(&ctx, &rows)`; of higher rank `from_slice_nd(&ctx, shape, &rows)` |
//! | array of other opaque values | `shape()`, `index([i])` |
//! | any array of opaque values, since Futhark 0.25.36 | `new(&ctx, &[&a, &b])`, of higher rank `new_nd(&ctx, shape, &[&a, &b])`; `set([i], &a)` |
//!
//! A comment that begins with `-- |` at the start of a line documents the entry point or type after it,
//! without its test blocks. Declarations in modules are left out. At the start of the source file, before an empty line,
//! it documents the module, whose page also has an example: a call of the first entry point that has a comment.
//!
//! A struct that contains a tuple of more than twelve elements is only `Copy`, since the traits of such tuples
//! are not in the standard library.
//!
//! Fields are in the order of the manifest, which is alphabetical. Constructors only read their arguments. A part of a value outlives the value. All of these
//! methods fail like calls do: on a value of another context, a failed computation or a lost
//! context. Two types are two structs, even if one is another name for the other.
//!
//! # Names
//!
//! Futhark names become Rust names by the rule of [`futhark_manifest::names`]:
//!
//! * letters, digits and underscores stay; a prime becomes `_prime`; a dot `_`
//! * an operator is spelled out: `+++` becomes `op_plus_plus_plus`
//! * keywords become raw identifiers (`r#move`), those that cannot be raw get an underscore (`self_`)
//! * types are written in camel case without punctuation, `[]` as `Array`: `[]pt` is `ArrayPt`,
//!   `(f32, i32)` is `TupleF32I32`, `{x: f32}` is `XF32`, `circle:f32 | none:` is `CircleF32None`.
//!   A long name is cut and gets a hash. Cargo prints a warning for a record or sum without a name that an entry point
//!   takes or returns: name it in Futhark (`type options = {alpha: f64}`).
//! * variants of sums are written as types: `#circle` is `Circle`
//! * if several entry points, types, fields or variants would get one name, the one with that
//!   name in Futhark keeps it, and the others get a hash of their own name: beside `f_prime`, `f'` is
//!   `f_prime_hbddaec9d`. Other names of the program have no influence.
//! * parameters without a name are `arg`, `arg_2` and so on
//!
//! Reserved names get an underscore at the end: types called `Program`,
//! `Context`, `Config`, `Array`, `Entries`, `Result`, `Option` or `Vec`; types, parameters and
//! fields called `Ok`, `Err`, `Some` or `None`; fields called `new`, `new_nd`, `fields`, `from_fields`, `shape`, `index`, `set`, `zip`,
//! `to_vec`, `from_slice`, `from_slice_nd`, `destruct`, `variant_name`, `type_name`, `store`, `restore`,
//! `clone`, `try_clone`, `deref` or `context`. A field has the same name as a method, as a parameter and
//! in `PtFields`. If a type is called `PtFields`, `PtParts` or `ShapeVariant`, the generated one is renamed.
//!
//! # Vendored code
//!
//! A package with its generated code can be built by anyone who has a C compiler, and published:
//!
//! ```no_run
//! # use futhark_safe::build::Program;
//! # fn build_script() -> Result<(), futhark_safe::Error> {
//! Program::new("stats.fut").vendored("futhark-generated").compile()
//! # }
//! ```
//!
//! | command | effect |
//! |---|---|
//! | `FUTHARK_VENDOR=update cargo build` | generates the code in `futhark-generated/stats-c` if it is missing, or if a source file, the options or the version of the compiler have changed; commit the folder |
//! | `cargo build` | uses the code; if a source file or the options differ, the error says so |
//! | `FUTHARK_VENDOR=check cargo build` | an error if the compiler generates other code; for continuous integration |
//!
//! There is a folder for each backend: generate those of all features. The package must contain the source
//! file and its imports. Unset `FUTHARK_VENDOR` for `cargo publish`, which rejects a build script that
//! changes the package.
//!
//! The code does not depend on the machine, nor on the ends of lines of a checkout. It is trusted like the rest of the package: changing it by hand
//! voids the guarantees. Two programs with the same file name need two folders.
//!
//! # Serde
//!
//! `.serde(true)` derives `Serialize` and `Deserialize` for the structs of fields and the enums of variants
//! whose leaves are scalars: `PtFields`, `ShapeVariant`. The derived code refers to the crate `serde` by this
//! name, so your package needs it, and for fields of type `f16` the feature of the crate `half`:
//!
//! ```toml
//! serde = { version = "1", features = ["derive"] }
//! half = { version = "2", features = ["serde"] }
//! ```
//!
//! Values in the memory of a context are stored as a whole: see [`stored`](crate::stored).
//!
//! # Tuning
//!
//! If there is a file `stats.fut.tuning` beside the program `stats.fut`, as `futhark autotune` writes it, its values
//! are embedded into the module. Contexts on GPU backends use them unless the configuration has
//! [another tuning](crate::Config::tuning). `Program::tuning` selects another file. A name that the program does not
//! have fails the build, if a GPU backend is selected; the error lists similar names.
//!
//! The file is a part of the package like the source, also if the code is vendored. Cargo rebuilds when it
//! changes, but does not see that it was added: then touch the program, too. How to measure:
//! `docs/tuning.md` in the repository.
//!
//! # Raw modules
//!
//! Raw modules declare the plain C functions of a program. The feature `raw` (bindgen, which needs
//! libclang) and `.raw(true)` add the modules `raw::c`, `raw::multicore` and so on, one for each
//! backend: the functions and types of the generated header, with their C names.
//! [`Context::with_raw`](crate::Context::with_raw) lends a context to them; its documentation has an
//! example and the obligations of each call.
//!
//! * Every call is `unsafe`. The types differ by program and backend, and each corresponds to a
//!   safe type: a `futhark_f32_1d` is an `Array<f32, 1>`.
//! * Not declared: `futhark_context_new`, `_free` and all of `futhark_context_config_`, since our
//!   contexts hold more state, and `futhark_new_raw_`: use `Context::array_from_raw`. Strings that C
//!   returns must be freed with C's `free`.
//! * The symbols are unique, so programs and backends with the same names can share a binary. Only
//!   linked programs have them; a program that is loaded at run time has only its table.
//! * A raw module is the only generated code with `unsafe`, so it does not compile in a crate with
//!   `#![forbid(unsafe_code)]`. With `deny` it compiles, and your calls need
//!   `#[expect(unsafe_code)]`. Otherwise put the program into a separate crate.

mod arrays;
mod builder;
mod docs;
mod module;
mod names;
#[cfg(feature = "raw")]
mod raw;
mod records;

pub use builder::Program;

/// Generates the typed interface from a manifest, without tables, and its page. For tests of the generated code.
#[doc(hidden)]
pub fn __module(
    name: &str,
    manifest: &str,
    serde: bool,
) -> Result<[String; 2], futhark_manifest::Error> {
    let program = futhark_manifest::Manifest::parse(manifest)?.resolve()?;
    let module = module::Module::new(&program, serde);
    Ok([module.text(name, &[], None), module.page(name)])
}
