//! Compiles the programs, under `cargo fuzz` instrumented as the Rust code.

use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-env-changed=CUDA_HOME");
    let fuzzed = std::env::var_os("CARGO_CFG_FUZZING").is_some();
    let mut backends = vec![Backend::C, Backend::Multicore];
    if std::env::var_os("CUDA_HOME").is_some() {
        backends.push(Backend::Cuda);
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
    }
    Ok(())
}
