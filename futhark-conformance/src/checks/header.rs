//! The check `header`: the header declares the functions that follow from the manifest and the
//! functions that manifests do not list, with the right types.

use crate::harness::steps::{StepResult, Stop};
use futhark_manifest::Program;
use futhark_manifest::c::{self, Header};
use futhark_safe::compile::Artifact;

/// Compares the header with the declarations that follow from the manifest, and with those of the
/// functions that manifests do not list.
pub fn check(artifact: &Artifact) -> StepResult {
    let text = std::fs::read_to_string(artifact.header())
        .map_err(|error| Stop::error(format!("failed to read the header: {error}")))?;
    let header = Header::parse(&text);
    let program = artifact.program();
    let mut wrong: Vec<String> = c::agree(program, &header)
        .disagreements
        .iter()
        .map(ToString::to_string)
        .collect();
    wrong.extend(
        header
            .unread
            .iter()
            .map(|unread| format!("line {} cannot be parsed: {}", unread.line, unread.text)),
    );
    // `agree` reports the macros of other backends.
    if header.backend_names().next().is_none() {
        wrong.push(format!(
            "the header has no macro for backend {}",
            program.backend
        ));
    }
    wrong.extend(missing_functions(program, &header));
    Stop::unless_empty(wrong)
}

/// Returns an error text for each function that manifests do not list and that the header does not
/// declare, or declares with another type.
fn missing_functions(program: &Program, header: &Header) -> Vec<String> {
    let certain = program.library_functions().filter(|(_, certain)| *certain);
    let missing = certain.filter_map(|(function, _)| {
        let wanted = &function.declaration;
        let declared = header
            .declarations
            .iter()
            .find(|declared| declared.name == wanted.name);
        let types = |declaration: &c::Declaration| {
            let parameters = declaration.parameters.iter();
            let parameters: Vec<_> = parameters.map(|parameter| parameter.ty.clone()).collect();
            (declaration.result.clone(), parameters)
        };
        match declared {
            None => Some(format!("{wanted} is not declared")),
            Some(declared) if types(declared) != types(wanted) => {
                Some(format!("expected {wanted}, found {declared}"))
            }
            Some(_) => None,
        }
    });
    missing.collect()
}
