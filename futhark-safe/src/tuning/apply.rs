//! The values of tuning parameters that a new context uses.

use std::ffi::CString;

use futhark_manifest::Printable;
use futhark_sys::table::{FUT_SET_TUNING_PARAM, Table};

use super::file::{Line, Tuning};
use super::unknown::{DEFAULTS, unknown};
use crate::error::Result;
use crate::ffi::Setting;

/// What tunings come to for a table.
#[derive(Default)]
pub(crate) struct Applied {
    /// In the order of the files, so a later value takes effect.
    pub settings: Vec<Setting>,
    /// The lines that have no effect.
    pub warnings: Vec<String>,
}

/// The settings of the tuning in a generated module. The build script has checked it, so a name that the
/// program lacks belongs to another backend, or the library is a later version of the program.
pub(crate) fn apply_embedded(tuning: &Tuning, table: &'static Table) -> Applied {
    let mut applied = Applied::default();
    for line in tuning.lines() {
        if has(table, &line.name) {
            applied.settings.push(setting(line));
        } else {
            applied.warnings.push(no_effect(tuning, line, table));
        }
    }
    applied
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
    let is_judged = table.is_gpu() || others.iter().any(|other| other.is_gpu());
    for tuning in tunings {
        for line in tuning.lines() {
            if has(table, &line.name) {
                applied.settings.push(setting(line));
            } else if !is_judged || others.iter().any(|other| has(other, &line.name)) {
                applied.warnings.push(no_effect(tuning, line, table));
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

fn no_effect(tuning: &Tuning, line: &Line, table: &Table) -> String {
    format!(
        "{}: `{}` has no effect: backend {} has no such tuning parameter",
        tuning.place(line.number),
        Printable(&line.name),
        table.backend()
    )
}

fn setting(line: &Line) -> Setting {
    let name = CString::new(&*line.name).expect("a name has no control characters");
    Setting::text(FUT_SET_TUNING_PARAM, name).with_number(line.value)
}
