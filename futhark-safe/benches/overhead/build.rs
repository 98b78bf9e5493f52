//! Compiles calls.fut as users do.

use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    // Debug builds are compiled and never measured.
    let is_debug = std::env::var_os("PROFILE").is_some_and(|profile| profile == "debug");
    Program::new("calls.fut")
        .backends([Backend::C, Backend::Multicore])
        .flag(if is_debug { "-O0" } else { "-O3" })
        .compile()
}
