//! Packages of users, which depend on futhark-safe by path and are built by Cargo.
#![cfg(feature = "build")]

/// The name by which `ci/test` runs these tests beside the others.
#[path = "."]
mod packages {
    mod build_script;
    mod dependencies;
    mod package;
    mod published;
    mod readme;
    mod reproducible;
    mod shared;
    mod targets;
    mod tuned;
    mod vendored;
}
