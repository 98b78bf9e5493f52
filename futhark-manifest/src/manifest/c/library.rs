//! The functions that manifests do not list, as data.

use std::fmt;
use std::sync::LazyLock;

use super::header::{Declaration, Header};
use crate::backend::Backend;
use crate::manifest::program::Program;

/// The functions of the libraries of each backend that manifests do not list, for all compiler
/// versions that write manifests.
///
/// The table was compared with the headers of 0.25.27 and 0.25.32 for all backends.
/// It lacks functions that later versions add.
///
/// ```
/// use futhark_manifest::{Backend, c};
///
/// let queue = c::library()
///     .iter()
///     .find(|function| function.name() == "futhark_context_config_set_command_queue")
///     .expect("it is in the table");
/// assert_eq!(queue.exists(Backend::OpenCl, (0, 25, 32)), Some(true));
/// assert_eq!(queue.exists(Backend::OpenCl, (0, 22, 7)), Some(false));
/// assert_eq!(queue.exists(Backend::Cuda, (0, 25, 32)), Some(false));
/// assert_eq!(
///     queue.declaration.to_string(),
///     "void futhark_context_config_set_command_queue(\
///      struct futhark_context_config *cfg, cl_command_queue);",
/// );
/// ```
#[must_use]
pub fn library() -> &'static [LibraryFunction] {
    static FUNCTIONS: LazyLock<Vec<LibraryFunction>> =
        LazyLock::new(|| TABLE.iter().flat_map(Rows::functions).collect());
    &FUNCTIONS
}

/// A function that manifests do not list.
///
/// [`library`] may list a function several times, if backends have it since different
/// versions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LibraryFunction {
    /// The prototype. The line has no meaning.
    pub declaration: Declaration,
    /// The purpose.
    pub group: Group,
    /// The backends that have it.
    pub backends: &'static [Backend],
    /// The first version that has it.
    pub since: Since,
    /// The first version without it; `None` if all later versions have it.
    pub until: Option<Since>,
}

impl LibraryFunction {
    /// The C name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.declaration.name
    }

    /// Whether libraries of this compiler version and backend have it; `None` if that is
    /// not known.
    #[must_use]
    pub fn exists(&self, backend: Backend, version: (u32, u32, u32)) -> Option<bool> {
        if !self.backends.contains(&backend) {
            return Some(false);
        }
        let begun = self.since.holds(version);
        let ended = self.until.map_or(Some(false), |until| until.holds(version));
        match (begun, ended) {
            (Some(false), _) | (_, Some(true)) => Some(false),
            (Some(true), Some(false)) => Some(true),
            (None, _) | (_, None) => None,
        }
    }
}

impl Program {
    /// The functions that no manifest lists and that libraries of this backend and
    /// compiler version have, each with whether that is certain.
    pub fn library_functions(&self) -> impl Iterator<Item = (&'static LibraryFunction, bool)> {
        let (backend, version) = (self.backend, &self.version);
        let version = version.number.filter(|_| version.is_known());
        library().iter().filter_map(move |function| {
            let exists = match version {
                Some(version) => function.exists(backend, version),
                None if !function.backends.contains(&backend) => Some(false),
                // The version is unknown, so only functions of all versions are certain.
                None => {
                    (function.since == Since::Manifests && function.until.is_none()).then_some(true)
                }
            };
            (exists != Some(false)).then_some((function, exists.is_some()))
        })
    }
}

/// The purpose of a function that does not belong to a type or an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Group {
    /// Creating a configuration, and settings of all backends.
    Configuration,
    /// Creating, synchronising and freeing contexts, errors, caches.
    Context,
    /// Tuning parameters.
    Tuning,
    /// Profiling, reports and logs.
    Profiling,
    /// Functions of some backends only.
    Backend,
    /// An array type that only the library itself uses. Known headers do not declare
    /// such types, but libraries have symbols for them.
    HiddenArray,
    /// Unknown.
    Other,
}

impl Group {
    /// Every group, in the order of declaration.
    pub const ALL: &'static [Group] = &[
        Group::Configuration,
        Group::Context,
        Group::Tuning,
        Group::Profiling,
        Group::Backend,
        Group::HiddenArray,
        Group::Other,
    ];

    /// A stable name, such as `hidden-array`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Group::Configuration => "configuration",
            Group::Context => "context",
            Group::Tuning => "tuning",
            Group::Profiling => "profiling",
            Group::Backend => "backend",
            Group::HiddenArray => "hidden-array",
            Group::Other => "other",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The compiler version since which something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Since {
    /// Since the first version that writes manifests (0.20.3).
    Manifests,
    /// Exactly this version.
    Version((u32, u32, u32)),
    /// This version or an earlier one; this is the oldest version that was examined.
    AtLatest((u32, u32, u32)),
}

impl Since {
    /// The version, if it is known exactly.
    #[must_use]
    pub const fn exactly(self) -> Option<(u32, u32, u32)> {
        match self {
            Since::Manifests => Some((0, 20, 3)),
            Since::Version(version) => Some(version),
            Since::AtLatest(_) => None,
        }
    }

    /// Whether it holds in this version; `None` if that is not known.
    #[must_use]
    pub fn holds(self, version: (u32, u32, u32)) -> Option<bool> {
        match self {
            Since::Manifests => Some(true),
            Since::Version(first) => Some(version >= first),
            Since::AtLatest(seen) => (version >= seen).then_some(true),
        }
    }
}

/// A macro of the generated header for a code that functions return.
///
/// A call may also fail with another code, and with one of these for another reason. Rely
/// only on zero and nonzero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorCode {
    /// The macro.
    pub name: &'static str,
    /// The value.
    pub value: i32,
    /// The first version that has it.
    pub since: Since,
}

/// The codes that the generated header names.
pub const ERROR_CODES: &[ErrorCode] = &[
    ErrorCode {
        name: "FUTHARK_SUCCESS",
        value: 0,
        since: Since::AtLatest((0, 21, 8)),
    },
    ErrorCode {
        name: "FUTHARK_PROGRAM_ERROR",
        value: 2,
        since: Since::AtLatest((0, 21, 8)),
    },
    ErrorCode {
        name: "FUTHARK_OUT_OF_MEMORY",
        value: 3,
        since: Since::AtLatest((0, 21, 8)),
    },
];

/// The structs that every generated header declares.
pub(crate) const STRUCTS: &[&str] = &["futhark_context", "futhark_context_config"];

/// Functions that differ only in their prototype.
struct Rows {
    group: Group,
    backends: &'static [Backend],
    since: Since,
    until: Option<Since>,
    /// C text, one prototype per line.
    prototypes: &'static str,
}

impl Rows {
    fn functions(&self) -> impl Iterator<Item = LibraryFunction> {
        let header = Header::parse(self.prototypes);
        let declarations = header.declarations.into_iter();
        declarations.map(|declaration| LibraryFunction {
            declaration,
            group: self.group,
            backends: self.backends,
            since: self.since,
            until: self.until,
        })
    }
}

const ALL: &[Backend] = Backend::ALL;
const BUT_C: &[Backend] = &[
    Backend::Multicore,
    Backend::Ispc,
    Backend::OpenCl,
    Backend::Cuda,
    Backend::Hip,
];
const THREADS: &[Backend] = &[Backend::Multicore, Backend::Ispc];
const GPU: &[Backend] = &[Backend::OpenCl, Backend::Cuda, Backend::Hip];
const OPENCL: &[Backend] = &[Backend::OpenCl];
const CUDA: &[Backend] = &[Backend::Cuda];
const OPENCL_HIP: &[Backend] = &[Backend::OpenCl, Backend::Hip];
const OPENCL_CUDA: &[Backend] = &[Backend::OpenCl, Backend::Cuda];

// Some rows state an older version than the backend's first (ispc: 0.21.13, hip: 0.25.3). That is
// harmless, because no library of such a backend is older.
const TABLE: &[Rows] = &[
    Rows {
        group: Group::Configuration,
        backends: ALL,
        since: Since::Manifests,
        until: None,
        prototypes: "
struct futhark_context_config *futhark_context_config_new(void);
void futhark_context_config_free(struct futhark_context_config *cfg);
void futhark_context_config_set_debugging(struct futhark_context_config *cfg, int flag);
void futhark_context_config_set_logging(struct futhark_context_config *cfg, int flag);
",
    },
    Rows {
        group: Group::Configuration,
        backends: ALL,
        since: Since::Version((0, 21, 9)),
        until: None,
        prototypes: "
void futhark_context_config_set_cache_file(struct futhark_context_config *cfg, const char *f);
",
    },
    Rows {
        group: Group::Context,
        backends: ALL,
        since: Since::Manifests,
        until: None,
        prototypes: "
struct futhark_context *futhark_context_new(struct futhark_context_config *cfg);
void futhark_context_free(struct futhark_context *ctx);
int futhark_context_sync(struct futhark_context *ctx);
char *futhark_context_get_error(struct futhark_context *ctx);
int futhark_context_clear_caches(struct futhark_context *ctx);
",
    },
    Rows {
        group: Group::Tuning,
        backends: ALL,
        since: Since::AtLatest((0, 20, 4)),
        until: None,
        prototypes: "
int futhark_context_config_set_tuning_param(struct futhark_context_config *cfg, const char *param_name, size_t new_value);
int futhark_get_tuning_param_count(void);
const char *futhark_get_tuning_param_name(int);
const char *futhark_get_tuning_param_class(int);
",
    },
    Rows {
        group: Group::Profiling,
        backends: BUT_C,
        since: Since::Manifests,
        until: None,
        prototypes: "
void futhark_context_config_set_profiling(struct futhark_context_config *cfg, int flag);
",
    },
    Rows {
        group: Group::Profiling,
        backends: &[Backend::C],
        since: Since::Version((0, 20, 4)),
        until: None,
        prototypes: "
void futhark_context_config_set_profiling(struct futhark_context_config *cfg, int flag);
",
    },
    Rows {
        group: Group::Profiling,
        backends: ALL,
        since: Since::Manifests,
        until: None,
        prototypes: "
void futhark_context_pause_profiling(struct futhark_context *ctx);
void futhark_context_unpause_profiling(struct futhark_context *ctx);
char *futhark_context_report(struct futhark_context *ctx);
",
    },
    Rows {
        group: Group::Profiling,
        backends: ALL,
        since: Since::AtLatest((0, 25, 18)),
        until: None,
        prototypes: "
void futhark_context_set_logging_file(struct futhark_context *ctx, FILE *f);
",
    },
    Rows {
        group: Group::Backend,
        backends: THREADS,
        since: Since::AtLatest((0, 25, 18)),
        until: None,
        prototypes: "
void futhark_context_config_set_num_threads(struct futhark_context_config *cfg, int n);
",
    },
    Rows {
        group: Group::Backend,
        backends: GPU,
        since: Since::Manifests,
        until: None,
        prototypes: "
void futhark_context_config_set_device(struct futhark_context_config *cfg, const char *s);
void futhark_context_config_set_default_group_size(struct futhark_context_config *cfg, int size);
void futhark_context_config_set_default_num_groups(struct futhark_context_config *cfg, int size);
void futhark_context_config_set_default_tile_size(struct futhark_context_config *cfg, int size);
",
    },
    Rows {
        group: Group::Backend,
        backends: GPU,
        since: Since::Version((0, 25, 11)),
        until: None,
        prototypes: "
void futhark_context_config_set_default_thread_block_size(struct futhark_context_config *cfg, int size);
void futhark_context_config_set_default_grid_size(struct futhark_context_config *cfg, int size);
",
    },
    Rows {
        group: Group::Backend,
        backends: GPU,
        since: Since::Version((0, 25, 14)),
        until: None,
        prototypes: "
void futhark_context_config_set_unified_memory(struct futhark_context_config *cfg, int flag);
",
    },
    Rows {
        group: Group::Backend,
        backends: GPU,
        since: Since::AtLatest((0, 25, 18)),
        until: None,
        prototypes: "
const char *futhark_context_config_get_program(struct futhark_context_config *cfg);
void futhark_context_config_set_program(struct futhark_context_config *cfg, const char *s);
",
    },
    Rows {
        group: Group::Backend,
        backends: GPU,
        since: Since::AtLatest((0, 25, 27)),
        until: None,
        prototypes: "
void futhark_context_config_set_default_reg_tile_size(struct futhark_context_config *cfg, int size);
void futhark_context_config_set_default_registers(struct futhark_context_config *cfg, int size);
void futhark_context_config_set_default_cache(struct futhark_context_config *cfg, int size);
void futhark_context_config_set_default_threshold(struct futhark_context_config *cfg, int size);
",
    },
    Rows {
        group: Group::Backend,
        backends: OPENCL_HIP,
        since: Since::Manifests,
        until: None,
        prototypes: "
void futhark_context_config_add_build_option(struct futhark_context_config *cfg, const char *opt);
",
    },
    Rows {
        group: Group::Backend,
        backends: OPENCL,
        since: Since::Manifests,
        until: None,
        prototypes: "
void futhark_context_config_set_platform(struct futhark_context_config *cfg, const char *s);
void futhark_context_config_select_device_interactively(struct futhark_context_config *cfg);
void futhark_context_config_dump_binary_to(struct futhark_context_config *cfg, const char *s);
void futhark_context_config_load_binary_from(struct futhark_context_config *cfg, const char *s);
cl_command_queue futhark_context_get_command_queue(struct futhark_context *ctx);
",
    },
    Rows {
        group: Group::Backend,
        backends: OPENCL,
        since: Since::AtLatest((0, 25, 27)),
        until: None,
        prototypes: "
void futhark_context_config_list_devices(struct futhark_context_config *cfg);
",
    },
    Rows {
        group: Group::Backend,
        backends: OPENCL,
        since: Since::Version((0, 23, 1)),
        until: None,
        prototypes: "
void futhark_context_config_set_command_queue(struct futhark_context_config *cfg, cl_command_queue);
",
    },
    Rows {
        group: Group::Backend,
        backends: OPENCL,
        since: Since::Manifests,
        until: Some(Since::Version((0, 23, 1))),
        prototypes: "
struct futhark_context *futhark_context_new_with_command_queue(struct futhark_context_config *cfg, cl_command_queue queue);
",
    },
    Rows {
        group: Group::Backend,
        backends: CUDA,
        since: Since::Manifests,
        until: None,
        prototypes: "
void futhark_context_config_add_nvrtc_option(struct futhark_context_config *cfg, const char *opt);
void futhark_context_config_dump_ptx_to(struct futhark_context_config *cfg, const char *s);
void futhark_context_config_load_ptx_from(struct futhark_context_config *cfg, const char *s);
",
    },
    Rows {
        group: Group::Backend,
        backends: OPENCL_CUDA,
        since: Since::Manifests,
        until: Some(Since::AtLatest((0, 25, 27))),
        prototypes: "
void futhark_context_config_dump_program_to(struct futhark_context_config *cfg, const char *path);
void futhark_context_config_load_program_from(struct futhark_context_config *cfg, const char *path);
",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_prototype() {
        for rows in TABLE {
            let header = Header::parse(rows.prototypes);
            assert_eq!(header.unread, []);
            let written: Vec<_> = header
                .declarations
                .iter()
                .map(ToString::to_string)
                .collect();
            let lines: Vec<_> = rows.prototypes.trim().lines().collect();
            assert_eq!(written, lines);
        }
    }

    #[test]
    fn no_backend_has_a_function_twice() {
        let mut seen = std::collections::HashSet::new();
        for function in library() {
            for &backend in function.backends {
                assert!(
                    seen.insert((function.name(), backend)),
                    "{}",
                    function.name()
                );
            }
        }
    }

    #[test]
    fn unknown_versions_are_not_certain() {
        let dump = library()
            .iter()
            .find(|function| function.name() == "futhark_context_config_dump_program_to")
            .expect("it is in the table");
        assert_eq!(dump.exists(Backend::Cuda, (0, 25, 27)), Some(false));
        assert_eq!(dump.exists(Backend::Cuda, (0, 22, 7)), None);
        assert_eq!(dump.exists(Backend::C, (0, 22, 7)), Some(false));
        assert_eq!(dump.until.and_then(Since::exactly), None);
    }
}
