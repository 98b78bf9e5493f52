//! Options of `run` that would have no effect, or name files that cannot be used.

use super::{Ended, usage};
use crate::cli::RunArgs;
use crate::devices::Emulate;
use anyhow::{anyhow, bail};
use futhark_manifest::Backend;

/// Verifies the options before the run begins.
pub fn check(args: &RunArgs) -> Result<(), Ended> {
    must_have_an_effect(args).map_err(usage)?;
    if let Some(path) = &args.inputs.input {
        let failed = |why: &str| usage(anyhow!("failed to read --input {}: {why}", path.display()));
        let data = std::fs::metadata(path).map_err(|error| failed(&error.to_string()))?;
        if !data.is_file() {
            return Err(failed("not a regular file"));
        }
    }
    if let Some(folder) = &args.work.build_dir
        && folder.exists()
        && !folder.is_dir()
    {
        let folder = folder.display();
        return Err(usage(anyhow!("--build-dir {folder} is not a folder")));
    }
    Ok(())
}

fn must_have_an_effect(args: &RunArgs) -> anyhow::Result<()> {
    let backends = &args.machine.backends;
    let is_emulated = |backend: &Backend| matches!(backend, Backend::Cuda | Backend::Hip);
    let without_device = !backends.is_empty() && !backends.iter().any(is_emulated);
    for (option, is_given) in [
        ("--emulated", !args.machine.emulated.is_empty()),
        ("--architectures", !args.architectures.is_empty()),
    ] {
        if is_given && without_device {
            bail!(
                "{option} has no effect: it is for the backends cuda and hip, and neither is selected"
            );
        }
        if is_given && args.machine.emulate == Emulate::Never {
            bail!("{option} has no effect: --emulate never excludes the emulated device");
        }
    }
    Ok(())
}
