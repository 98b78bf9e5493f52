//! Passes two values to the crate: the target triple, which the cc crate needs outside of build
//! scripts, and a hash of the sources that determine the result of a build, for cache keys.

#[cfg(feature = "compile")]
#[path = "src/compile/hash.rs"]
mod hash;
#[cfg(feature = "compile")]
#[path = "build/sources.rs"]
mod sources;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").expect("Cargo sets TARGET");
    println!("cargo::rustc-env=FUTHARK_SYS_TARGET={target}");
    #[cfg(feature = "compile")]
    hash_sources();
}

#[cfg(feature = "compile")]
fn hash_sources() {
    let folders = sources::folders(std::path::Path::new("."));
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let hash = sources::hash(&folders).expect("the sources are readable");
    println!("cargo::rustc-env=FUTHARK_SYS_SOURCES={hash}");
}
