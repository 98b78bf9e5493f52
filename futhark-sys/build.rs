//! Passes on what the `compile` feature cannot find out by itself: the target triple, which
//! the cc crate needs outside of a build script, and a hash of the sources that decide
//! what a build produces.

#[cfg(feature = "compile")]
#[path = "src/compile/hash.rs"]
mod hash;
#[cfg(feature = "compile")]
#[path = "src/compile/sources.rs"]
mod sources;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").expect("Cargo sets TARGET");
    println!("cargo::rustc-env=FUTHARK_SYS_TARGET={target}");
    #[cfg(feature = "compile")]
    hash_sources();
}

/// futhark-manifest decides the C code too. Its sources are beside ours in a repository and
/// in a folder of vendored crates; elsewhere they never change within one version.
#[cfg(feature = "compile")]
fn hash_sources() {
    let folders = ["src", "c", "../futhark-manifest/src"].map(std::path::Path::new);
    let folders: Vec<_> = folders.into_iter().filter(|f| f.is_dir()).collect();
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let hash = sources::of_folders(&folders).expect("the sources can be read");
    println!("cargo::rustc-env=FUTHARK_SYS_SOURCES={hash}");
}
