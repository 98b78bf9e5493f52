//! Random use of futhark-safe, checked against a model, and random input: see `Cargo.toml` for how it is run.

pub mod c;
pub mod device_code;
pub mod face;
pub mod model;
pub mod stored;
pub mod tuning;
pub mod user;

use std::sync::LazyLock;

use futhark_safe::dynamic::Library;
use futhark_safe::{Backend, Context};

/// The typed modules, of which only the linked libraries are used.
mod programs {
    futhark_safe::include_program!(pub arrays);
    futhark_safe::include_program!(pub records);
    futhark_safe::include_program!(pub sums);
    futhark_safe::include_program!(pub points);
}

type Target = (&'static str, fn(&[u8]), fn() -> Vec<Vec<u8>>);

/// The fuzz targets, each with its function and its seeds.
pub const TARGETS: [Target; 4] = [
    ("user", user::run, operations),
    ("stored", stored::run, stored::seeds),
    ("tuning", tuning::run, tuning::seeds),
    ("device_code", device_code::run, device_code::seeds),
];

/// Random operations.
fn operations() -> Vec<Vec<u8>> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut seed = |_| (0..64 * user::OP).map(|_| random.u8(..)).collect();
    (0..64).map(&mut seed).collect()
}

/// The programs, each for these backends.
pub fn libraries(backends: &[Backend]) -> Vec<Vec<Library>> {
    let of = |library: fn(Backend) -> futhark_safe::Result<Library>| {
        let library = |&backend| {
            library(backend).unwrap_or_else(|error| panic!("{error}; is CUDA_HOME set?"))
        };
        backends.iter().map(library).collect()
    };
    vec![
        of(Context::<programs::arrays::Program>::library),
        of(Context::<programs::records::Program>::library),
        of(Context::<programs::sums::Program>::library),
        of(Context::<programs::points::Program>::library),
    ]
}

/// The programs for the host backends.
pub fn linked() -> &'static [Vec<Library>] {
    static LINKED: LazyLock<Vec<Vec<Library>>> =
        LazyLock::new(|| libraries(&[Backend::C, Backend::Multicore]));
    &LINKED
}

/// The hardened libraries of the programs, each for these backends.
pub fn hardened(backends: &[Backend]) -> Vec<Vec<c::Library>> {
    let of = |name| {
        backends
            .iter()
            .map(move |&backend| c::Library::open(name, backend))
    };
    let names = ["arrays", "records", "sums", "points"];
    names.map(|name| of(name).collect()).into()
}

/// The hardened libraries for the host backends.
pub fn opened() -> &'static [Vec<c::Library>] {
    static OPENED: LazyLock<Vec<Vec<c::Library>>> =
        LazyLock::new(|| hardened(&[Backend::C, Backend::Multicore]));
    &OPENED
}

/// A program for cuda, whose driver is not found. Only for processes that use no GPU.
pub fn without_driver() -> &'static Library {
    static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
        // SAFETY: the fuzz targets have one thread, and nothing else in them reads the environment.
        unsafe { std::env::set_var("FUTHARK_LIBCUDA", "/nonexistent") };
        libraries(&[Backend::Cuda]).remove(0).remove(0)
    });
    &LIBRARY
}

/// The main function of a fuzz target; without libFuzzer it runs files.
#[macro_export]
macro_rules! fuzz {
    ($target:path) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $target(bytes));

        /// An allocation that fails because it is too large is an error of the program.
        #[cfg(fuzzing)]
        #[unsafe(no_mangle)]
        extern "C" fn __asan_default_options() -> *const std::ffi::c_char {
            c"allocator_may_return_null=1".as_ptr()
        }

        #[cfg(not(fuzzing))]
        fn main() {
            $crate::user::VERBOSE.store(true, std::sync::atomic::Ordering::Relaxed);
            for file in std::env::args().skip(1) {
                $target(&std::fs::read(file).expect("the file is read"));
            }
        }
    };
}
