//! What a library may use of the system. Our C file replaces the functions of generated code that
//! allocate, end the process, block, or call a driver; it can only replace those that it knows.
//! A new one must therefore be looked at before it is added here: see UPGRADING.md.

use futhark_manifest::Backend;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Of the linker, the C compiler and the loader.
const TOOLS: &[&str] = &[
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
    "_GLOBAL_OFFSET_TABLE_",
    "__cxa_finalize",
    "__gmon_start__",
    "__stack_chk_fail",
    "__tls_get_addr",
];

/// Of our own C file, and what its hooks call in place of generated code.
const OURS: &[&str] = &[
    "__register_atfork",
    "_longjmp",
    "_setjmp",
    "calloc",
    "fdopen",
    "free",
    "malloc",
    "open",
    "pthread_cond_destroy",
    "pthread_cond_init",
    "pthread_mutex_destroy",
    "pthread_mutex_init",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_once",
    "realloc",
    "strdup",
];

/// Functions that neither block nor end the process, nor allocate memory that a hook must count.
const HARMLESS: &[&str] = &[
    "__ctype_b_loc",
    "__errno_location",
    "clock_gettime",
    "close",
    "fclose",
    "feof",
    "fprintf",
    "fputc",
    "fputs",
    "fread",
    "fseek",
    "fseeko",
    "fstat",
    "ftell",
    "ftello",
    "fwrite",
    "getenv",
    "gettimeofday",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "qsort",
    "snprintf",
    "stderr",
    "strchr",
    "strcmp",
    "strcpy",
    "strerror",
    "strlen",
    "strncmp",
    "strrchr",
    "strstr",
    "strtol",
    "time",
    "vasprintf",
    "vfprintf",
    "vsnprintf",
];

/// On backends with worker threads; the hooks replace those that block.
const OF_THREADS: &[&str] = &[
    "get_nprocs",
    "getrusage",
    "pthread_cond_broadcast",
    "pthread_cond_signal",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_create",
    "pthread_detach",
    "pthread_equal",
    "pthread_join",
    "pthread_self",
    "pthread_timedjoin_np",
    "sysconf",
];

/// On GPU backends: loading the driver, and printing the devices.
const OF_GPUS: &[&str] = &[
    "dlerror", "dlopen", "dlsym", "printf", "putchar", "puts", "sscanf", "stat", "stdout",
];

/// Of the mathematical library; each also exists with the suffix `f`.
const MATHEMATICS: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "nextafter",
    "pow",
    "rint",
    "round",
    "sin",
    "sincos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
];

/// Builtins that generated code may use. Others, such as `__builtin_trap`, leave no symbol behind.
const BUILTINS: &[&str] = &[
    "__builtin_amdgcn_global_atomic_fadd_f32",
    "__builtin_amdgcn_global_atomic_fadd_f64",
    "__builtin_clz",
    "__builtin_clzll",
    "__builtin_ctz",
    "__builtin_ctzll",
];

/// Functions of the drivers. The library does not import them: it looks them up when a context is
/// created.
const DRIVERS: &[&str] = &[
    "clBuildProgram",
    "clCreateBuffer",
    "clCreateCommandQueue",
    "clCreateContext",
    "clCreateKernel",
    "clCreateProgramWithBinary",
    "clCreateProgramWithSource",
    "clEnqueueCopyBuffer",
    "clEnqueueNDRangeKernel",
    "clEnqueueReadBuffer",
    "clEnqueueWriteBuffer",
    "clFinish",
    "clGetCommandQueueInfo",
    "clGetDeviceIDs",
    "clGetDeviceInfo",
    "clGetEventProfilingInfo",
    "clGetKernelWorkGroupInfo",
    "clGetPlatformIDs",
    "clGetPlatformInfo",
    "clGetProgramBuildInfo",
    "clGetProgramInfo",
    "clReleaseCommandQueue",
    "clReleaseContext",
    "clReleaseEvent",
    "clReleaseKernel",
    "clReleaseMemObject",
    "clReleaseProgram",
    "clSetKernelArg",
    "clWaitForEvents",
    "cuCtxCreate",
    "cuCtxDestroy",
    "cuCtxPopCurrent",
    "cuCtxPushCurrent",
    "cuCtxSynchronize",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuEventDestroy",
    "cuEventElapsedTime",
    "cuEventRecord",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuGetErrorString",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAlloc",
    "cuMemAllocManaged",
    "cuMemFree",
    "cuMemcpyAsync",
    "cuMemcpyDtoH",
    "cuMemcpyDtoHAsync",
    "cuMemcpyHtoD",
    "cuMemcpyHtoDAsync",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuStreamCreate",
    "cuStreamDestroy",
    "cudaEventCreate",
    "hipDeviceGet",
    "hipDeviceGetAttribute",
    "hipEventCreate",
    "hipEventDestroy",
    "hipEventElapsedTime",
    "hipEventRecord",
    "hipFree",
    "hipFuncGetAttribute",
    "hipGetDeviceCount",
    "hipGetDeviceProperties",
    "hipGetErrorString",
    "hipInit",
    "hipMalloc",
    "hipMallocManaged",
    "hipMemcpyDtoH",
    "hipMemcpyDtoHAsync",
    "hipMemcpyHtoD",
    "hipMemcpyHtoDAsync",
    "hipMemcpyWithStream",
    "hipModuleGetFunction",
    "hipModuleLaunchKernel",
    "hipModuleLoadData",
    "hipModuleUnload",
    "hipStreamCreate",
    "hipStreamDestroy",
    "hipStreamSynchronize",
    "hiprtcCompileProgram",
    "hiprtcCreateProgram",
    "hiprtcDestroyProgram",
    "hiprtcGetCode",
    "hiprtcGetCodeSize",
    "hiprtcGetErrorString",
    "hiprtcGetProgramLog",
    "hiprtcGetProgramLogSize",
    "nvrtcCompileProgram",
    "nvrtcCreateProgram",
    "nvrtcDestroyProgram",
    "nvrtcGetErrorString",
    "nvrtcGetPTX",
    "nvrtcGetPTXSize",
    "nvrtcGetProgramLog",
    "nvrtcGetProgramLogSize",
];

/// The prefixes of driver functions; a capital letter follows.
const DRIVER_PREFIXES: [&str; 6] = ["cl", "cu", "cuda", "nvrtc", "hip", "hiprtc"];

/// The symbols that a library for the backend must not import.
pub fn unknown(imported: &BTreeSet<String>, backend: Backend) -> Vec<&str> {
    let known = |name: &str| {
        let threads = backend.has_threads() && OF_THREADS.contains(&name);
        let gpu = backend.is_gpu() && OF_GPUS.contains(&name);
        let everywhere = [TOOLS, OURS, HARMLESS]
            .iter()
            .any(|list| list.contains(&name));
        let mathematics = name.strip_suffix('f').unwrap_or(name);
        let mathematics = [name, mathematics]
            .iter()
            .any(|name| MATHEMATICS.contains(name));
        everywhere || threads || gpu || mathematics
    };
    let names = imported.iter().map(String::as_str);
    names.filter(|name| !known(plain(name))).collect()
}

/// The builtins and the driver functions in generated C that are not known.
pub fn unknown_in_text(c_text: &str, backend: Backend) -> BTreeSet<&str> {
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b\w+\b").expect("a valid expression"));
    let is_driver = |name: &str| {
        let rests = DRIVER_PREFIXES.iter().filter_map(|p| name.strip_prefix(p));
        let mut rests = rests.filter_map(|rest| rest.chars().next());
        rests.any(|c| c.is_ascii_uppercase())
    };
    let names = NAME.find_iter(c_text);
    let unknown = names.filter(|found| {
        let name = found.as_str();
        let called = c_text[found.end()..].starts_with('(');
        name.starts_with("__builtin_") && !BUILTINS.contains(&name)
            || backend.is_gpu() && called && is_driver(name) && !DRIVERS.contains(&name)
    });
    unknown.map(|found| found.as_str()).collect()
}

/// The name without what the C library adds: `__memcpy_chk` with checks of the length, `__isoc99_scanf`
/// for a version of the standard.
fn plain(name: &str) -> &str {
    let checked = name
        .strip_prefix("__")
        .and_then(|rest| rest.strip_suffix("_chk"));
    let versioned = ["__isoc99_", "__isoc23_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix));
    checked.or(versioned).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unknown_symbols_are_named() {
        let imported = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let good = imported(&["malloc", "__memcpy_chk", "sinf", "erf", "__isoc99_sscanf"]);
        assert_eq!(unknown(&good, Backend::OpenCl), [""; 0]);
        let new = [
            "__isoc99_scanf",
            "_exit",
            "abort",
            "aligned_alloc",
            "cuMemAllocAsync",
            "mmap",
            "pthread_barrier_wait",
            "quick_exit",
        ];
        assert_eq!(unknown(&imported(&new), Backend::Cuda), new);
        let threads = imported(&["pthread_create"]);
        assert_eq!(unknown(&threads, Backend::C), ["pthread_create"]);
        assert_eq!(unknown(&threads, Backend::Multicore), [""; 0]);
    }

    #[test]
    fn functions_that_are_not_imported_are_found_in_the_text() {
        let c = "if (x == 0) { __builtin_trap(); } cuMemAllocAsync(p, cuMemAlloc(p, __builtin_clz(x)));";
        let unknown = |backend| unknown_in_text(c, backend).into_iter().collect::<Vec<_>>();
        assert_eq!(
            unknown(Backend::Cuda),
            ["__builtin_trap", "cuMemAllocAsync"]
        );
        assert_eq!(unknown(Backend::C), ["__builtin_trap"]);
    }
}
