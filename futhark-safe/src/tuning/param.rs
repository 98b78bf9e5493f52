//! A program's tuning parameters with their classes, and the values that a new context uses.

use std::ffi::CString;
use std::fmt;

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
    class: TuningClass,
    class_text: &'static str,
    default: Option<i64>,
    entry_points: Vec<&'static str>,
}

impl TuningParam {
    /// The name, for [`Config::tuning_param`](crate::Config::tuning_param).
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The class.
    #[must_use]
    pub fn class(&self) -> &TuningClass {
        &self.class
    }

    /// The class in the generated code. That of a threshold names the thresholds that are compared before
    /// it: `threshold(32, !sums.suff_outer_par_0)`.
    #[must_use]
    pub fn class_text(&self) -> &'static str {
        self.class_text
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

/// The class of a tuning parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TuningClass {
    /// The amount of parallelism from which a version of the code is chosen.
    Threshold,
    /// The number of threads per block.
    ThreadBlockSize,
    /// The number of blocks per launch.
    GridSize,
    /// The size of tiles in shared memory.
    TileSize,
    /// The size of tiles in registers.
    RegTileSize,
    /// The number of bytes of registers per thread.
    Registers,
    /// The number of bytes of shared memory per block.
    SharedMemory,
    /// The number of bytes of cache.
    Cache,
    /// A class that this version does not know.
    Other(String),
}

impl TuningClass {
    fn of(text: &str) -> TuningClass {
        // Before 0.25.17 the names were those of OpenCL.
        match text.split('(').next().unwrap_or(text) {
            "threshold" => TuningClass::Threshold,
            "thread_block_size" | "group_size" => TuningClass::ThreadBlockSize,
            "grid_size" | "num_groups" => TuningClass::GridSize,
            "tile_size" => TuningClass::TileSize,
            "reg_tile_size" => TuningClass::RegTileSize,
            "registers" => TuningClass::Registers,
            "shared_memory" | "local_memory" => TuningClass::SharedMemory,
            "cache" => TuningClass::Cache,
            _ => TuningClass::Other(text.to_owned()),
        }
    }

    /// A stable name: that of recent compilers, without arguments.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            TuningClass::Threshold => "threshold",
            TuningClass::ThreadBlockSize => "thread_block_size",
            TuningClass::GridSize => "grid_size",
            TuningClass::TileSize => "tile_size",
            TuningClass::RegTileSize => "reg_tile_size",
            TuningClass::Registers => "registers",
            TuningClass::SharedMemory => "shared_memory",
            TuningClass::Cache => "cache",
            TuningClass::Other(text) => text,
        }
    }
}

impl fmt::Display for TuningClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
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
        class: TuningClass::of(param.class),
        class_text: param.class,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_all_compilers_are_known() {
        for (text, class) in [
            ("threshold(def, )", "threshold"),
            ("threshold(32, !f.suff_outer_par_0)", "threshold"),
            ("thread_block_size", "thread_block_size"),
            ("group_size", "thread_block_size"),
            ("num_groups", "grid_size"),
            ("reg_tile_size", "reg_tile_size"),
            ("shared_memory", "shared_memory"),
        ] {
            assert_eq!(TuningClass::of(text).as_str(), class);
            assert_ne!(TuningClass::of(text), TuningClass::Other(text.into()));
        }
        let other = TuningClass::of("bespoke(1)");
        assert_eq!(other, TuningClass::Other("bespoke(1)".into()));
    }
}
