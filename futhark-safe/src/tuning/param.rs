//! A program's tuning parameters with their classes, and the values that a new context uses.

use std::ffi::CString;

use futhark_manifest::Printable;
use futhark_sys::table::{FUT_SET_TUNING_PARAM, Table};

use super::file::{DEFAULTS, Tuning, unknown};
use crate::error::Result;
use crate::ffi::Setting;

/// A tuning parameter of a program on one backend: a number that generated code reads when it selects a
/// version of parallel code, or the size of one. It influences speed, not results.
///
/// Names contain numbers that differ between versions of the compiler, except those of thresholds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuningParam {
    name: &'static str,
    class: &'static str,
    default: Option<i64>,
    entry_points: Vec<&'static str>,
}

impl TuningParam {
    /// The name, for [`Config::tuning_param`](crate::Config::tuning_param).
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The class in the generated code, such as `thread_block_size`. That of a threshold names the thresholds that are
    /// compared before it: `threshold(32, !sums.suff_outer_par_0)`.
    #[must_use]
    pub fn class(&self) -> &'static str {
        self.class
    }

    /// The default. `None` if it is chosen for the device when a context is created, or follows from
    /// a setting such as [`Config::threshold`](crate::Config::threshold).
    #[must_use]
    pub fn default_value(&self) -> Option<i64> {
        self.default
    }

    /// The entry points that it influences, ordered by the names of their C functions. Empty if the
    /// compiler does not list them, as for functions of its own (`builtin#…`).
    #[must_use]
    pub fn entry_points(&self) -> &[&'static str] {
        &self.entry_points
    }
}

/// The tuning parameters of a table, in the order of the generated code.
pub(crate) fn params(table: &'static Table) -> Vec<TuningParam> {
    let influenced = |name: &str| {
        let functions = table.functions().iter();
        let of = functions.filter(|f| f.tuning_params().any(|param| param == name));
        of.filter_map(|f| f.entry_point()).collect()
    };
    let params = table.tuning_params().map(|param| TuningParam {
        name: param.name,
        class: param.class,
        default: param.default,
        entry_points: influenced(param.name),
    });
    params.collect()
}

/// What tunings come to for a table.
#[derive(Default)]
pub(crate) struct Applied {
    /// In the order of the files, so a later value takes effect.
    pub settings: Vec<Setting>,
    /// The lines that have no effect.
    pub warnings: Vec<String>,
}

/// The settings of `tunings` for `table`; without one, those of the tuning that is embedded in the module, on GPU
/// backends. `others` are the tables of the program for other backends.
///
/// A name that only another backend has is a warning. On a host backend, which has no parameters, so is
/// every name if no GPU backend of the program is known. The build script has checked the embedded tuning, so a name
/// that the program lacks belongs to another backend, or the library is a later version of the program.
pub(crate) fn apply(
    tunings: &[Tuning],
    embedded: &str,
    table: &'static Table,
    others: &[&'static Table],
) -> Result<Applied> {
    let embedded = match tunings {
        [] if table.is_gpu() => Some(Tuning::embedded(embedded)?),
        _ => None,
    };
    let any_gpu = table.is_gpu() || others.iter().any(|other| other.is_gpu());
    let is_judged = any_gpu && embedded.is_none();
    let mut applied = Applied::default();
    for tuning in tunings.iter().chain(&embedded) {
        for line in &tuning.lines {
            if has(table, &line.name) {
                let name = CString::new(&*line.name).expect("a name has no control characters");
                let setting = Setting::text(FUT_SET_TUNING_PARAM, name).with_number(line.value);
                applied.settings.push(setting);
            } else if is_judged && !others.iter().any(|other| has(other, &line.name)) {
                let tables = std::iter::once(&table).chain(others);
                let names = tables.flat_map(|table| table.tuning_params().map(|param| param.name));
                return Err(unknown(tuning, line, &names.collect::<Vec<_>>()));
            } else {
                applied.warnings.push(format!(
                    "{}: `{}` has no effect: backend {} has no such tuning parameter",
                    tuning.place(line.number),
                    Printable(&line.name),
                    table.backend()
                ));
            }
        }
    }
    Ok(applied)
}

fn has(table: &'static Table, name: &str) -> bool {
    let is_default = table.is_gpu() && DEFAULTS.contains(&name);
    is_default || table.tuning_params().any(|param| param.name == name)
}
