//! Names that a program does not have.

use futhark_manifest::Printable;

use super::file::{Line, Tuning};
use super::near::near;
use crate::error::Error;

/// The names of defaults, which every GPU backend accepts like tuning parameters.
pub(super) const DEFAULTS: [&str; 9] = [
    "default_cache",
    "default_grid_size",
    "default_group_size",
    "default_num_groups",
    "default_reg_tile_size",
    "default_shared_memory",
    "default_thread_block_size",
    "default_threshold",
    "default_tile_size",
];

/// The error for the first line of `tuning` whose name is not in `names`, nor one that every program has.
#[cfg(feature = "build")]
pub(crate) fn unknown_in(tuning: &Tuning, names: &[&str]) -> Option<Error> {
    let is_known = |name: &str| {
        // Manifests do not list the parameters of functions of the compiler.
        names.contains(&name) || DEFAULTS.contains(&name) || name.starts_with("builtin#")
    };
    let mut lines = tuning.lines().iter();
    let line = lines.find(|line| !is_known(&line.name))?;
    Some(unknown(tuning, line, names))
}

/// The error for a line whose name is not in `names`.
pub(super) fn unknown(tuning: &Tuning, line: &Line, names: &[&str]) -> Error {
    let near = near(&line.name, names.iter().chain(&DEFAULTS).copied());
    let hint = match near.is_empty() {
        true => "run `futhark autotune` again with the compiler of the program".to_owned(),
        false => format!("similar names: {}", near.join(", ")),
    };
    let message = format!(
        "{}: the program has no tuning parameter `{}`; {hint}",
        tuning.place(line.number),
        Printable(&line.name)
    );
    Error::invalid("tuning", message)
}
