//! The check `manifest`: the manifest is complete, consistent, and describes the library.

use crate::harness::steps::{StepResult, Stop};
use futhark_manifest::Manifest;
use futhark_safe::compile::Artifact;

/// That the C compiler took our file proves the types; what remains is that
/// nothing in the manifest is unknown or lost, at any depth.
pub fn check(artifact: &Artifact) -> StepResult {
    let wrong = |error: &dyn std::fmt::Display| Stop::mismatch(error.to_string());
    let manifest = Manifest::parse(artifact.manifest()).map_err(|error| wrong(&error))?;
    if let Some(finding) = manifest.check().first() {
        return Err(wrong(finding));
    }
    if let Some(warning) = manifest.warnings().first() {
        return Err(Stop::mismatch(format!(
            "something in the manifest is unknown: {warning}"
        )));
    }
    let again = Manifest::from_json(manifest.to_json()).map_err(|error| wrong(&error))?;
    if again != manifest {
        return Err(Stop::mismatch(
            "the manifest is another one after it was written and read",
        ));
    }
    let program = manifest.resolve().map_err(|error| wrong(&error))?;
    if &program != artifact.program() {
        return Err(Stop::mismatch(
            "the library carries another manifest than the compiler wrote",
        ));
    }
    let mut names: Vec<&str> = program.functions().map(|function| function.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    if names.len() < all {
        return Err(Stop::mismatch(format!(
            "{} functions are listed twice",
            all - names.len()
        )));
    }
    if artifact
        .functions()
        .names()
        .iter()
        .any(|name| names.binary_search(&name.as_str()).is_err())
    {
        return Err(Stop::mismatch(
            "the library's table has a function that the manifest does not list",
        ));
    }
    Ok(())
}
