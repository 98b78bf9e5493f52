//! Builds [Futhark](https://futhark-lang.org) programs and exposes each of them as one table of C
//! functions, for each of the backends c, multicore, opencl, cuda and hip.
//!
//! Calling the functions of a table is `unsafe`. Most users want the crate `futhark-safe`, which
//! provides contexts, arrays and errors on top of this one. Use this crate to write another
//! interface.
//!
//! The C code that surrounds the generated code turns failures that would end the process into error
//! codes: failed assertions, `exit`, missing memory, integer overflow. It also loads GPU drivers at
//! run time, so that a binary starts on machines without them, and hides all symbols except the
//! table, so that several programs and backends can be linked into one binary.
//!
//! | module | feature | purpose |
//! |---|---|---|
//! | [`table`] | | the table of a program and backend; `c/futhark_table.h` documents its functions |
//! | `load` | `load` (default) | loads a shared object at run time |
//! | `compile` | `compile` | runs the Futhark and C compilers, in build scripts or at run time |
//! | | `raw` | Rust declarations of the program's own C header, by bindgen (needs libclang) |
//!
//! ```no_run
//! # #[cfg(all(feature = "compile", feature = "load"))]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use futhark_manifest::Backend;
//! use futhark_sys::compile::Build;
//!
//! let artifact = Build::new("stats.fut", Backend::Multicore).run()?;
//! for function in artifact.open()?.functions() {
//!     println!("{} ({} parameters)", function.label(), function.inputs().len());
//! }
//! # Ok(())
//! # }
//! # #[cfg(not(all(feature = "compile", feature = "load")))]
//! # fn main() {}
//! ```

mod bindings;
#[doc(hidden)]
pub mod checksum;
#[cfg(feature = "compile")]
pub mod compile;
#[cfg(any(feature = "compile", feature = "load"))]
mod elf;
mod error;
#[cfg(feature = "load")]
pub mod load;
pub mod table;
