//! Hands the target triple on to the `compile` feature: outside of a build
//! script the cc crate cannot find it out by itself.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=FUTHARK_SYS_TARGET={target}");
}
