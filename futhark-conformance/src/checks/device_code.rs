//! The check `device-code`: the program's kernels compile for real architectures.

use crate::harness::env::Env;
use crate::harness::steps::{Steps, Stop};
use futhark_manifest::Backend;
use futhark_safe::dynamic::Context;

/// The name of the check.
pub const NAME: &str = "device-code";

/// The option that the emulated device takes for this (`emulated/src/realrtc.h`).
const ALSO_FOR: &str = "--also-compile-for=";

/// How the device begins when the compiler refuses the architecture, not the text.
const UNKNOWN: &str = "an architecture that is not known to ";

/// Asks the real compilers, through the emulated device: it is there that the text of the
/// kernels and all options arrive.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    let backend = env.program().backend;
    let wanted = env
        .architectures
        .iter()
        .filter(|architecture| backend_of(architecture) == backend);
    for architecture in wanted {
        steps.run(NAME, architecture, || {
            if !env.device.is_emulated() {
                return Err(Stop::skip(
                    "only the emulated device asks the compiler for an architecture that is not its own",
                ));
            }
            // Without a cache file, from which the kernels would come compiled.
            let config = env.device.config().build_option(format!("{ALSO_FOR}{architecture}"));
            match Context::new(env.library, &config) {
                Ok(_) => Ok(()),
                // A compiler that is older than the architecture says nothing about the program.
                Err(error) if error.to_string().contains(UNKNOWN) => Err(Stop::skip(format!(
                    "the compiler does not know {architecture}: {error}"
                ))),
                Err(error) => Err(error.into()),
            }
        });
    }
}

/// The backend whose kernels can be compiled for an architecture: `gfx90a` is AMD's,
/// `sm_90` and `compute_90` are NVIDIA's.
fn backend_of(architecture: &str) -> Backend {
    if architecture.starts_with("gfx") {
        Backend::Hip
    } else {
        Backend::Cuda
    }
}
