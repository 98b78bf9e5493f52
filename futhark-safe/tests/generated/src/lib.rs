//! The typed interfaces of all manifests of the repository, without tables. Tests verify that they
//! compile, equal the committed text, and reject mistakes.
#![forbid(unsafe_code)]
#![deny(warnings)]
#![recursion_limit = "256"]

/// A generated module.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    /// Kind and path of the manifest.
    pub name: &'static str,
    /// The number of tables.
    pub tables: fn() -> usize,
    /// The generated text.
    pub text: &'static str,
}

fn tables<P: futhark_safe::__private::Linked>() -> usize {
    P::tables().len()
}

include!(concat!(env!("OUT_DIR"), "/modules.rs"));
