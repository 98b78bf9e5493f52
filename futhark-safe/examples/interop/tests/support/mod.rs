//! Runs the binaries.

#[path = "../../../../../futhark-conformance/tests/support/needs.rs"]
mod needs;

use std::process::Command;

pub use needs::or_skip;

/// What the command prints on its standard output, if it succeeds, or otherwise on its standard error.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().unwrap();
    let [text, errors] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("{}: {text}{errors}", output.status)),
    }
}
