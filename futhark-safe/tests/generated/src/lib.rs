//! The typed faces of all manifests at hand, with tables left out: what is tested is that
//! they compile, what they look like, and what they refuse.
#![forbid(unsafe_code)]
#![deny(warnings)]
#![recursion_limit = "256"]

/// A module that was generated.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    /// Where it came from: kind and path of the manifest.
    pub name: &'static str,
    /// How many tables it has.
    pub tables: fn() -> usize,
    /// Its text.
    pub text: &'static str,
}

fn tables<P: futhark_safe::__private::Linked>() -> usize {
    P::tables().len()
}

include!(concat!(env!("OUT_DIR"), "/modules.rs"));
