//! Compiles service.fut for c and multicore, and for the backends that features select.

use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    // Without --backend, the first one that works is used.
    let mut backends = vec![Backend::Multicore, Backend::C];
    let optional = [
        ("CARGO_FEATURE_OPENCL", Backend::OpenCl),
        ("CARGO_FEATURE_CUDA", Backend::Cuda),
        ("CARGO_FEATURE_HIP", Backend::Hip),
    ];
    for (feature, backend) in optional {
        if std::env::var_os(feature).is_some() {
            backends.push(backend);
        }
    }
    compile(Program::new("service.fut").backends(backends))?;
    #[cfg(feature = "floor")]
    compile(
        Program::new("service.fut")
            .name("plain")
            .backends([Backend::C, Backend::Multicore])
            .hardened(false)
            .raw(true),
    )?;
    Ok(())
}

/// Without optimisation in debug builds, which then wait less for the C compiler.
fn compile(program: Program) -> Result<(), Error> {
    let debug = std::env::var_os("PROFILE").is_some_and(|profile| profile == "debug");
    let program = if debug { program.flag("-O0") } else { program };
    program.compile()
}
