//! The program of the tests, with raw modules. These declare functions of C, so the crate cannot
//! forbid unsafe code:
//!
//! ```compile_fail,E0453
//! #![forbid(unsafe_code)]
//! futhark_safe::include_program!(stats);
//! ```
//!
//! Without the attribute the same code compiles:
//!
//! ```
//! futhark_safe::include_program!(stats);
//! ```

futhark_safe::include_program!(pub stats);
