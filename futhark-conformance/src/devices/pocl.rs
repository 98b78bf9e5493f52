//! Finds the PoCL that `ci/setup` installed: an OpenCL platform, tested beside Oclgrind, that
//! compiles kernels for the host CPU and runs them asynchronously.

use super::{Device, Environment, Search};
use futhark_manifest::Backend;
use std::path::{Path, PathBuf};

/// Returns the PoCL device if it is installed; the caller must probe it.
pub(super) fn of_toolchain(search: &Search<'_>) -> Option<Device> {
    let root = PathBuf::from(std::env::var_os("FUTHARK_TOOLCHAIN")?);
    let library = root.join("pocl/lib/host/libpocl.so");
    library.is_file().then(|| Device {
        environment: environment(&root, &library, search),
        ..Device::unknown(Backend::OpenCl)
    })
}

/// Whether the platform in a device's name is PoCL's, installed by `ci/setup` or not.
pub(super) fn is_pocl(name: &str) -> bool {
    name.starts_with("Portable Computing Language")
}

/// The device with options for programs that PoCL 3.1 refuses as OpenCL C 3.0, as those of Futhark
/// 0.27.1; `None` for another device.
pub(crate) fn for_newer_compilers(device: &Device, name: &str) -> Option<Device> {
    is_pocl(name).then(|| Device {
        options: vec!["-cl-std=CL1.2".to_owned()],
        ..device.clone()
    })
}

fn environment(root: &Path, library: &Path, search: &Search<'_>) -> Environment {
    let mut variables: Environment = vec![("OCL_ICD_VENDORS".into(), library.into())];
    // Use the toolchain's loader: others may accept only a folder of .icd files in OCL_ICD_VENDORS.
    let loader = root.join("opencl/lib/libOpenCL.so.1");
    if loader.is_file() {
        variables.push(("FUTHARK_LIBOPENCL".into(), loader.into()));
    }
    let unset = |name: &str| std::env::var_os(name).is_none();
    // By default PoCL caches kernels in the user's home folder.
    if unset("POCL_CACHE_DIR") {
        let kernels = search.build_dir.join("pocl-kernels");
        let kernels = std::path::absolute(&kernels).unwrap_or(kernels);
        variables.push(("POCL_CACHE_DIR".into(), kernels.into()));
    }
    // Limit PoCL's memory, which is host memory; GiB, rounded up from MiB.
    if search.memory > 0 && unset("POCL_MEMORY_LIMIT") {
        let gibibytes = search.memory.div_ceil(1024).to_string();
        variables.push(("POCL_MEMORY_LIMIT".into(), gibibytes.into()));
    }
    variables
}
