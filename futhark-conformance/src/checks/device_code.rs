//! The check `device-code`: the program's kernels compile for real architectures.

use crate::harness::cases::{Cases, Stop, skip};
use crate::harness::env::Env;
use futhark_manifest::Backend;
use futhark_safe::dynamic::Context;

pub const NAME: &str = "device-code";

/// The option that the emulated device takes for this (`emulated/src/realrtc.h`).
const ALSO_FOR: &str = "--also-compile-for=";

/// The beginning of the device's message if the compiler does not know the architecture.
const UNKNOWN: &str = "an architecture that is not known to ";

/// Compiles the kernels with the real compilers. The emulated device calls these compilers, because it gets the
/// source of the kernels and all options.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let backend = env.program().backend;
    let wanted = env
        .spec
        .run
        .architectures
        .iter()
        .filter(|architecture| backend_of(architecture) == backend);
    for architecture in wanted {
        cases.run(NAME, architecture, || {
            if !env.device().is_emulated() {
                skip!("only the emulated device can compile for other architectures");
            }
            // No cache file, because it would contain compiled kernels.
            let config = env
                .device()
                .config_with(&[format!("{ALSO_FOR}{architecture}")]);
            match Context::new(env.library, &config) {
                Ok(_) => Ok(()),
                // A compiler that does not know the architecture proves nothing about the program.
                Err(error) if error.to_string().contains(UNKNOWN) => Err(Stop::skip(format!(
                    "the compiler does not know {architecture}: {error}"
                ))),
                Err(error) => Err(error.into()),
            }
        });
    }
}

/// The backend of an architecture: `gfx90a` is AMD's, `sm_90` and `compute_90` are NVIDIA's.
fn backend_of(architecture: &str) -> Backend {
    if architecture.starts_with("gfx") {
        Backend::Hip
    } else {
        Backend::Cuda
    }
}
