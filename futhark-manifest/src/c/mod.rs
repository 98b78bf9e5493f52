//! The C side of a program: what its header must declare, and what it does.
//!
//! - [`Program::prototypes`](crate::Program::prototypes) gives the C prototype
//!   of every function that the manifest lists, with the role of each
//!   parameter and who owns what.
//! - [`library`] lists the functions that no manifest lists: configuration,
//!   contexts, tuning, profiling, errors.
//! - [`Header`] reads the generated header, and [`agree`] tells whether it
//!   declares what follows from the manifest.
//!
//! # Example
//!
//! ```
//! use futhark_manifest::{Manifest, c};
//!
//! // What a program with `entry inc (x: i32): i32` comes with.
//! let manifest = r#"{
//!   "backend": "c",
//!   "version": "0.25.32.\n",
//!   "entry_points": {
//!     "inc": {
//!       "cfun": "futhark_entry_inc",
//!       "inputs": [{"name": "x", "type": "i32", "unique": false}],
//!       "outputs": [{"type": "i32", "unique": true}],
//!       "tuning_params": []
//!     }
//!   },
//!   "types": {}
//! }"#;
//! let program = Manifest::parse(manifest)?.resolve()?;
//!
//! let inc = program.prototypes().next().expect("one function");
//! let declaration =
//!     "int futhark_entry_inc(struct futhark_context *ctx, int32_t *out0, const int32_t in0);";
//! assert_eq!(inc.to_string(), declaration);
//!
//! // A header of another program.
//! let header = c::Header::parse(
//!     "int futhark_entry_inc(struct futhark_context *ctx, int64_t *out0, const int64_t in0);\n\
//!      int futhark_context_sync(struct futhark_context *ctx);\n",
//! );
//! let agreement = c::agree(&program, &header);
//! let disagreement = &agreement.disagreements[0];
//! assert_eq!(disagreement.code.as_str(), "different-prototype");
//! assert_eq!(disagreement.line, Some(1));
//! assert_eq!(agreement.beyond[0].group, c::Group::Context);
//! # Ok::<(), futhark_manifest::Error>(())
//! ```

mod agree;
mod ctype;
mod derive;
mod header;
mod library;
mod parse;
mod prototype;
mod roles;
mod tokens;

pub use agree::{Agreement, Beyond, BeyondItem, Disagreement, DisagreementCode, agree};
pub use ctype::{CType, Primitive};
pub use header::{Declaration, DeclaredParameter, Define, Header, StructDeclaration, Unread};
pub(crate) use library::STRUCTS;
pub use library::{ERROR_CODES, ErrorCode, Group, LibraryFunction, Since, library};
pub use prototype::{Parameter, ParameterRole, Passing, Prototype, Returns};
pub use roles::{LibraryReturns, LibraryRole};
