//! The code of Futhark 0.25 compiles against the headers of CUDA 13 as well, and then calls
//! the driver as these want it; every other test has those of CUDA 12. It runs on the emulated
//! device. The headers are the part `cuda13` of `ci/setup`, named by `FUTHARK_TOOLCHAIN`.

#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "\
-- ==
-- entry: double total
-- input { [1, 2, 3] }
entry double (xs: []i32): []i32 = map (* 2) xs
entry total (xs: []i32): i32 = i32.sum xs
";

#[test]
fn the_headers_of_cuda_13_serve_as_well() {
    let Some(headers) = headers() else {
        let needed = std::env::var_os("FUTHARK_TESTS_NEED_COMPILERS").is_some();
        assert!(!needed, "the headers of CUDA 13 are not set up");
        eprintln!("skipped: no headers of CUDA 13; `ci/setup --only cuda13` fetches them");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("two.fut"), PROGRAM).unwrap();
    // Where other tests keep the emulated device, too.
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated");
    let output = Command::new(env!("CARGO_BIN_EXE_futhark-conformance"))
        .current_dir(folder.path())
        .env("CUDA_HOME", headers)
        .args(["run", "two.fut", "--backend", "cuda", "--emulate", "always"])
        .args(["--check", "blocks", "--check", "lifecycle", "--build-dir"])
        .arg(&kept)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}{error}");

    let libraries = libraries(&kept);
    assert!(!libraries.is_empty(), "{said}{error}");
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

/// What was built of the program: one by each compiler.
fn libraries(build_dir: &Path) -> Vec<PathBuf> {
    let files = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let begins = |path: &Path, with: &str| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(with))
    };
    let builds = files(build_dir).into_iter();
    let builds = builds.filter(|build| begins(build, "two-cuda-"));
    let built = builds.flat_map(|build| files(&build));
    built
        .filter(|file| begins(file, "libfut_") && file.extension() == Some(OsStr::new("so")))
        .collect()
}
