//! The environment of child processes: the variables of this process that compilers, loaders and drivers
//! read. Others, such as the credentials of a CI job, are not passed to the programs under test.

use std::ffi::{OsStr, OsString};

/// The variables that children get, also after `HOST_` and `TARGET_`, as `README.md` lists them for users.
/// RUSTC_WRAPPER is not among them: the cc crate would run C compilers by it, and a server that it starts
/// would end with the run, although others use it.
const PASSED: &str = "
    PATH HOME USER LOGNAME SHELL TERM TZ TMPDIR TMP TEMP LANG LANGUAGE LC_* XDG_*
    FUTHARK_* GHCRTS LIBCLANG_PATH BINDGEN_EXTRA_CLANG_ARGS
    CC CC_* CXX CXX_* CPP LD LD_* DYLD_* AR AR_* AS NM RANLIB STRIP OBJCOPY
    CFLAGS* CXXFLAGS* ARFLAGS* CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
    LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX CCC_OVERRIDE_OPTIONS CROSS_COMPILE
    PKG_CONFIG_PATH SOURCE_DATE_EPOCH SDKROOT DEVELOPER_DIR MACOSX_DEPLOYMENT_TARGET
    CONDA_PREFIX CONDA_BUILD_SYSROOT NIX_* CCACHE_*
    OCL_* OPENCL_* POCL_* OCLGRIND_* CL_* RUSTICL_* MESA_* LIBGL_DRIVERS_PATH ZE_* ONEAPI_*
    CUDA_* NVIDIA_* NVRTC_* HIP_* ROCM_* ROCR_* HSA_* HCC_AMDGPU_TARGET AMD_* GPU_*
    OMP_* GOMP_* KMP_* MALLOC_* GLIBC_TUNABLES ASAN_* LSAN_* UBSAN_* TSAN_* MSAN_*
    RUST_BACKTRACE RUST_LIB_BACKTRACE RUST_MIN_STACK LLVM_PROFILE_FILE";

/// The variable with the names of further variables that children get, separated by commas.
const FURTHER: &str = "FUTHARK_PASS_ENV";

/// The variables of this process that children get: those of the list, and those that [`FURTHER`] names.
pub(super) fn passed() -> impl Iterator<Item = (OsString, OsString)> {
    let further = std::env::var(FURTHER).unwrap_or_default();
    std::env::vars_os().filter(move |(name, _)| is_passed(name, &further))
}

fn is_passed(name: &OsStr, further: &str) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    // The target form of the cc crate, such as TARGET_CC.
    let own = ["HOST_", "TARGET_"];
    let own = own.iter().find_map(|prefix| name.strip_prefix(prefix));
    let own = own.unwrap_or(name);
    let matches = |pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => own.starts_with(beginning),
        None => own == pattern,
    };
    PASSED.split_whitespace().any(matches) || further.split(',').any(|further| further == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_not_passed() {
        let passed = |name: &str| is_passed(OsStr::new(name), "A,LICENSE");
        for name in [
            "PATH",
            "LC_ALL",
            "CC_x86_64-unknown-linux-gnu",
            "TARGET_CFLAGS",
            "LD_PRELOAD",
            "OCL_ICD_VENDORS",
            "FUTHARK_LIBCUDA",
            "CUDA_VISIBLE_DEVICES",
            "ASAN_OPTIONS",
            "LICENSE",
        ] {
            assert!(passed(name), "{name}");
        }
        for name in [
            "GITHUB_TOKEN",
            "CI_JOB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "CARGO_REGISTRY_TOKEN",
            "RUSTC_WRAPPER",
            "SSH_AUTH_SOCK",
            "LICENSE_KEY",
            "http_proxy",
        ] {
            assert!(!passed(name), "{name}");
        }
    }
}
