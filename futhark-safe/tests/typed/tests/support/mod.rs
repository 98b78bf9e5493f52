//! Runs checks on every backend.

use std::sync::MutexGuard;

use futhark_safe::{Backend, Config, Context, Program};

pub use crate::linked::support::{lock_device, says};

/// The backends that the tests run on. Other targets lack a loader of OpenCL.
pub const BACKENDS: &[Backend] = match cfg!(all(
    target_os = "linux",
    target_env = "gnu",
    target_arch = "x86_64"
)) {
    true => &[Backend::C, Backend::Multicore, Backend::OpenCl],
    false => &[Backend::C, Backend::Multicore],
};

/// The lock that a test holds while it has contexts of this backend.
pub fn lock(backend: Backend) -> Option<MutexGuard<'static, ()>> {
    (backend == Backend::OpenCl).then(lock_device)
}

pub fn context<P: Program>(backend: Backend) -> Context<P> {
    Context::new(&Config::new().backend(backend)).unwrap()
}

/// Runs a check in a new context of each backend.
pub fn each<P: Program>(check: impl Fn(Context<P>)) {
    each_of(BACKENDS, check);
}

/// Runs a check on the backends for which `build.rs` compiles most programs with opaque types: c, and with
/// `FUTHARK_TESTS_FULL` opencl.
pub fn on_host_and_device<P: Program>(check: impl Fn(Context<P>)) {
    each_of(&Context::<P>::backends().unwrap(), check);
}

fn each_of<P: Program>(backends: &[Backend], check: impl Fn(Context<P>)) {
    for &backend in backends.iter().filter(|backend| BACKENDS.contains(backend)) {
        eprintln!("{backend}");
        let _device = lock(backend);
        check(context(backend));
    }
}
