//! The values of tuning parameters that a new context uses.

use std::ffi::CString;

use futhark_manifest::Printable;
use futhark_sys::table::Table;

use super::file::{Line, Tuning};
use super::near::near;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::Setting;

/// The names of defaults, which every GPU backend accepts like tuning parameters.
const DEFAULTS: [&str; 9] = [
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

/// What tunings come to for a table.
#[derive(Default)]
pub(crate) struct Applied {
    /// In the order of the files, so a later value takes effect.
    pub settings: Vec<Setting>,
    /// The lines that have no effect.
    pub warnings: Vec<String>,
}

/// The settings of `tunings` for `table`. `others` are the tables of the program for other backends.
///
/// A name that only another backend has is a warning. On a host backend, which has no parameters, so is
/// every name if no GPU backend of the program is known.
pub(crate) fn apply<'a>(
    tunings: impl IntoIterator<Item = &'a Tuning>,
    table: &'static Table,
    others: &[&'static Table],
) -> Result<Applied> {
    let mut applied = Applied::default();
    let backend = table.backend();
    let is_judged = table.is_gpu() || others.iter().any(|other| other.is_gpu());
    for tuning in tunings {
        for line in tuning.lines() {
            if has(table, &line.name) {
                applied.settings.push(setting(line));
            } else if !is_judged || others.iter().any(|other| has(other, &line.name)) {
                applied.warnings.push(format!(
                    "{}: `{}` has no effect: backend {backend} has no such tuning parameter",
                    tuning.place(line.number),
                    Printable(&line.name)
                ));
            } else {
                let tables = std::iter::once(&table).chain(others);
                let names = tables.flat_map(|table| table.tuning_params().map(|param| param.name));
                return Err(unknown(tuning, line, &names.collect::<Vec<_>>()));
            }
        }
    }
    Ok(applied)
}

fn has(table: &'static Table, name: &str) -> bool {
    let is_default = table.is_gpu() && DEFAULTS.contains(&name);
    is_default || table.tuning_params().any(|param| param.name == name)
}

fn setting(line: &Line) -> Setting {
    let name = CString::new(&*line.name).expect("a name has no control characters");
    Setting::TuningParam(name, line.value.into())
}

fn unknown(tuning: &Tuning, line: &Line, names: &[&str]) -> Error {
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
    Error::new(ErrorKind::InvalidArgument, "tuning", message)
}
