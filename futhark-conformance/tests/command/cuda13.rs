//! The code of Futhark 0.25 also compiles with the headers of CUDA 13, and then calls the driver
//! functions that these declare. All other tests use the headers of CUDA 12. The code runs on the
//! emulated device. `ci/setup --only cuda13` installs the headers below `FUTHARK_TOOLCHAIN`.

use super::needs;
use super::run::kept;
use super::scene::Scene;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

const PROGRAM: &str = "\
-- ==
-- entry: double total
-- input { [1, 2, 3] }
entry double (xs: []i32): []i32 = map (* 2) xs
entry total (xs: []i32): i32 = i32.sum xs
";

/// Only with `FUTHARK_TESTS_FULL`, because the emulated device and a program are compiled once more.
#[test]
fn code_compiles_with_the_headers_of_cuda_13() {
    needed!(needs::full());
    let headers = headers().ok_or("no headers of CUDA 13; run `ci/setup --only cuda13`".to_owned());
    let headers = needed!(needs::or_skip(headers));
    let scene = needed!(Scene::new(&[("two.fut", PROGRAM)]));
    // Other tests use the same folder for the emulated device.
    let kept = kept();
    let arguments = "run two.fut --backend cuda --emulate always --check blocks --check lifecycle";
    let said = scene
        .ended(scene.compiling(arguments).env("CUDA_HOME", headers))
        .ends_with(0);

    let libraries = libraries(&kept);
    assert!(!libraries.is_empty(), "{said}");
    for library in libraries {
        let bytes = fs::read(&library).unwrap();
        let names = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
        assert!(names(b"cuCtxCreate_v4"), "{}", library.display());
        assert!(!names(b"cuCtxCreate_v2"), "{}", library.display());
    }
}

fn headers() -> Option<PathBuf> {
    let root = std::env::var_os("FUTHARK_TOOLCHAIN")?;
    let folder = Path::new(&root).join("cuda13");
    folder.join("include/cuda.h").is_file().then_some(folder)
}

/// The libraries of the program, one per compiler.
fn libraries(build_dir: &Path) -> Vec<PathBuf> {
    let files = WalkDir::new(build_dir)
        .min_depth(2)
        .max_depth(2)
        .into_iter();
    let paths = files.flatten().map(DirEntry::into_path);
    let is_library = |path: &PathBuf| {
        let path = path.to_string_lossy();
        path.contains("/two-cuda-") && path.contains("/libfut_") && path.ends_with(".so")
    };
    paths.filter(is_library).collect()
}
