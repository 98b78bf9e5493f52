//! The check `manifest`: the manifest is complete, consistent, and describes the library.

use crate::harness::steps::{StepResult, Stop, ensure, mismatch};
use futhark_manifest::Manifest;
use futhark_safe::compile::Artifact;

/// Checks that no part of the manifest is unknown. The C compiler has compared its types
/// with the header.
pub fn check(artifact: &Artifact) -> StepResult {
    let wrong = |error: &dyn std::fmt::Display| Stop::mismatch(error.to_string());
    let manifest = Manifest::parse(artifact.manifest()).map_err(|error| wrong(&error))?;
    if let Some(finding) = manifest.check().first() {
        return Err(wrong(finding));
    }
    if let Some(warning) = manifest.warnings().first() {
        mismatch!("unknown part of the manifest: {warning}");
    }
    let program = manifest.resolve().map_err(|error| wrong(&error))?;
    ensure!(
        &program == artifact.program(),
        "the manifest in the library differs from the one the compiler wrote"
    );
    let mut names: Vec<&str> = program.functions().map(|function| function.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    ensure!(
        names.len() == all,
        "the manifest lists {} functions twice",
        all - names.len()
    );
    if artifact
        .functions()
        .names()
        .iter()
        .any(|name| names.binary_search(&name.as_str()).is_err())
    {
        mismatch!("the library's table has a function that the manifest does not list");
    }
    Ok(())
}
