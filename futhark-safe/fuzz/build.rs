//! Compiles the programs, under `cargo fuzz` instrumented as the Rust code.

use std::error::Error;
use std::path::PathBuf;

use futhark_safe::{Backend, build::Program};
use futhark_sys::compile::{Build, Linkage, library};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=CUDA_HOME");
    println!("cargo::rerun-if-env-changed=FUTHARK_LIBOPENCL");
    let fuzzed = std::env::var_os("CARGO_CFG_FUZZING").is_some();
    let hardened = PathBuf::from(std::env::var("OUT_DIR")?).join("hardened");
    // A hardened library has the header of its first backend, which has `set_num_threads`.
    let mut backends = vec![Backend::Multicore, Backend::C];
    if std::env::var_os("CUDA_HOME").is_some() {
        backends.push(Backend::Cuda);
    }
    if std::env::var_os("FUTHARK_LIBOPENCL").is_some() {
        backends.push(Backend::OpenCl);
    }
    let flags: &[&str] = match fuzzed {
        true => {
            // SAFETY: the only thread. libFuzzer reads the counters of clang, not those of gcc.
            unsafe { std::env::set_var("CC", "clang") };
            &[
                "-O1",
                "-g",
                "-fno-omit-frame-pointer",
                "-fsanitize=address,fuzzer-no-link",
            ]
        }
        false => &["-O1"],
    };
    for name in ["arrays", "records", "sums", "points"] {
        let program = Program::new(format!("programs/{name}.fut")).backends(backends.clone());
        flags
            .iter()
            .fold(program, |program, flag| program.flag(*flag))
            .compile()?;
        // Without a sanitizer: clang leaves its functions to the executable, and a hardened library has no undefined symbols.
        let source = format!("programs/{name}.fut");
        let build = |&backend: &Backend| Build::new(&source, backend).flag("-O1");
        let builds: Vec<Build> = backends.iter().map(build).collect();
        library(&builds, hardened.join(name), Linkage::Shared)?;
    }
    Ok(())
}
