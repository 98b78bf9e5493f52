//! Assertions by which a C compiler compares a header with its manifest.

use std::fmt::Write as _;

use crate::backend::Backend;
use crate::manifest::program::Program;

/// C text before the assertions. Types of functions are compatible if they differ only in names of
/// parameters and in whether a parameter itself is `const`.
const MACRO: &str = "\
#define FUTHARK_ASSERT(function, result, ...) \\
    _Static_assert(_Generic(&function, result (*)(__VA_ARGS__): 1, default: 0), \\
                   \"the header and the manifest disagree about \" #function)
";

/// Functions that manifests do not list: the first compiler version that certainly has them, the backends,
/// and for each the arguments of `FUTHARK_ASSERT` after the prefix of its name.
type Rows = ((u32, u32, u32), &'static [Backend], &'static str);

const GPU: &[Backend] = &[Backend::OpenCl, Backend::Cuda, Backend::Hip];
const THREADS: &[Backend] = &[Backend::Multicore, Backend::Ispc];

const LIBRARY: &[Rows] = &[
    (
        (0, 20, 4),
        Backend::ALL,
        "context_config_new, CFG *, void
         context_config_free, void, CFG *
         context_config_set_debugging, void, CFG *, int
         context_config_set_logging, void, CFG *, int
         context_config_set_profiling, void, CFG *, int
         context_config_set_tuning_param, int, CFG *, const char *, size_t
         context_new, CTX *, CFG *
         context_free, void, CTX *
         context_sync, int, CTX *
         context_get_error, char *, CTX *
         context_clear_caches, int, CTX *
         context_report, char *, CTX *
         context_pause_profiling, void, CTX *
         context_unpause_profiling, void, CTX *
         get_tuning_param_count, int, void
         get_tuning_param_name, const char *, int
         get_tuning_param_class, const char *, int",
    ),
    (
        (0, 21, 9),
        Backend::ALL,
        "context_config_set_cache_file, void, CFG *, const char *",
    ),
    (
        (0, 25, 18),
        Backend::ALL,
        "context_set_logging_file, void, CTX *, FILE *",
    ),
    (
        (0, 25, 18),
        THREADS,
        "context_config_set_num_threads, void, CFG *, int",
    ),
    (
        (0, 25, 18),
        GPU,
        "context_config_set_device, void, CFG *, const char *
         context_config_set_default_thread_block_size, void, CFG *, int
         context_config_set_default_grid_size, void, CFG *, int
         context_config_set_default_tile_size, void, CFG *, int
         context_config_set_unified_memory, void, CFG *, int
         context_config_set_program, void, CFG *, const char *
         context_config_get_program, const char *, CFG *",
    ),
    (
        (0, 25, 18),
        &[Backend::OpenCl],
        "context_config_set_platform, void, CFG *, const char *
         context_config_set_command_queue, void, CFG *, cl_command_queue
         context_get_command_queue, cl_command_queue, CTX *",
    ),
];

impl Program {
    /// Writes a C file that compiles only if `header` declares every function of the manifest with the type
    /// that follows from the manifest.
    ///
    /// Includes `header` by that name, which must not contain quotes, backslashes or line breaks. Compile
    /// the file with the C compiler, the include folders and the target of your bridge; nothing has to be
    /// linked. It needs C11. Each failed assertion names a function.
    ///
    /// For a known backend it also asserts its macro, and the types of the functions that manifests do not list and
    /// that libraries of this backend and compiler version certainly have.
    ///
    /// ```
    /// use futhark_manifest::Manifest;
    ///
    /// let text = r#"{"backend": "c", "version": "0.25.32.\n", "types": {}, "entry_points": {
    ///   "inc": {"cfun": "futhark_entry_inc", "tuning_params": [],
    ///     "inputs": [{"name": "x", "type": "i32", "unique": false}],
    ///     "outputs": [{"type": "i32", "unique": true}]}}}"#;
    /// let program = Manifest::parse(text)?.resolve()?;
    /// let assertions = program.assertions("prog.h");
    /// assert!(assertions.starts_with("#include \"prog.h\"\n"));
    /// assert!(assertions.contains(
    ///     "FUTHARK_ASSERT(futhark_entry_inc, int, struct futhark_context *, int32_t *, const int32_t);"
    /// ));
    /// # Ok::<(), futhark_manifest::Error>(())
    /// ```
    #[must_use]
    pub fn assertions(&self, header: &str) -> String {
        let backend = self.backend;
        // The name of an unknown one can be any text.
        let is_backend = match backend {
            Backend::Other => String::new(),
            _ => format!(
                "#ifndef FUTHARK_BACKEND_{backend}\n\
                 #error \"the header is not for backend {backend}\"\n#endif\n\n"
            ),
        };
        let mut c = format!("#include \"{header}\"\n\n{is_backend}{MACRO}\n");
        for prototype in self.prototypes() {
            let (name, result) = (&prototype.name, &prototype.result);
            let types = prototype.parameters.iter().map(|one| one.ty.to_string());
            let types = types.collect::<Vec<_>>().join(", ");
            let _ = writeln!(c, "FUTHARK_ASSERT({name}, {result}, {types});");
        }
        for (since, backends, functions) in LIBRARY {
            if self.version.is_at_least(*since) && backends.contains(&backend) {
                for function in functions.lines() {
                    let types = function
                        .trim()
                        .replace("CFG", "struct futhark_context_config")
                        .replace("CTX", "struct futhark_context");
                    let _ = writeln!(c, "FUTHARK_ASSERT(futhark_{types});");
                }
            }
        }
        c
    }
}
