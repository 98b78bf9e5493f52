//! One OpenCL library for Futhark and opencl3: handles of one are not valid in another.
//!
//! Both load `libOpenCL.so.1` at run time. A variable selects another file: `FUTHARK_LIBOPENCL` for
//! Futhark, `OPENCL_DYLIB_PATH` for opencl3.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

const FUTHARK: &str = "FUTHARK_LIBOPENCL";
const OPENCL3: &str = "OPENCL_DYLIB_PATH";

/// Makes opencl3 load the library that Futhark loads. Call it before either of them loads one.
///
/// # Safety
///
/// No other thread reads or writes the environment, as for [`env::set_var`].
pub unsafe fn select() {
    match env::var_os(FUTHARK).filter(|file| !file.is_empty()) {
        // SAFETY: the caller promises what it requires.
        Some(file) => unsafe { env::set_var(OPENCL3, file) },
        // SAFETY: as above.
        None => unsafe { env::remove_var(OPENCL3) },
    }
}

/// Returns the OpenCL library of this process. Call it after both have loaded theirs.
///
/// # Errors
///
/// The process has loaded two. opencl3 loads its default library if it cannot load the file in the
/// variable, and takes a `;` in a path for a separator.
pub fn check() -> Result<String, String> {
    // Only on Linux a process can read its mappings as a file.
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return Ok("unknown on this system".to_owned());
    };
    let selected = env::var_os(FUTHARK).and_then(|file| PathBuf::from(file).canonicalize().ok());
    let is_loader = |file: &Path| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libOpenCL") || selected.as_deref() == Some(file)
    };
    let files: BTreeSet<&Path> = maps
        .lines()
        .filter_map(|line| line.find('/').map(|start| Path::new(&line[start..])))
        .filter(|file| is_loader(file))
        .collect();
    match files.iter().collect::<Vec<_>>()[..] {
        [file] => Ok(file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()),
        [] => Err("no OpenCL library is loaded".to_owned()),
        _ => Err(format!(
            "expected one OpenCL library, got {files:?}; set {FUTHARK} and {OPENCL3} to the same file"
        )),
    }
}
