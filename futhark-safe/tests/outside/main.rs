//! What a user sees: packages that depend on futhark-safe by path, built by Cargo.
#![cfg(feature = "build")]

mod build_script;
mod package;
mod raw;
mod readme;
