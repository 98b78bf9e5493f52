//! Hardened libraries, for bridges from other languages: [`library`]. docs/library.md is the contract.
//!
//! The C file that this module writes has one function per function of `name.h`, which calls one of `c/fut_library.h`
//! with the number that it has in the table.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_manifest::c::{ParameterRole, Passing, Prototype, Returns};
use futhark_manifest::{Backend, FunctionList, Operation, Owner};

use super::artifact::Artifact;
use super::build::{Build, Linkage};
use super::cache::Temporary;
use super::cc::step;
use super::driver::CCompiler;
use super::error::{Error, ErrorKind};
use super::generated::Source;
use super::paths::{canonical, create_folder, folder_of, read, write};
use super::run::UNIT_OBJECT;
use crate::table::Hardening;

/// The files of a hardened library.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Library {
    /// `libNAME.so` (`.dylib`, `.dll`), or `libNAME.a`.
    pub library: PathBuf,
    /// `NAME.h`, as the Futhark compiler wrote it; with several backends, a function is added.
    pub header: PathBuf,
    /// `NAME.json`, as the Futhark compiler wrote it.
    pub manifest: PathBuf,
    /// `NAME.resolved.json`, the manifest in the resolved form of futhark-manifest, with comments of the source.
    pub resolved: PathBuf,
    /// The warnings of the Futhark compiler, and about missing checks; empty if there were none.
    pub warnings: String,
}

/// Makes a library with the functions that `futhark BACKEND --library` declares for a program, which keeps the process
/// alive: `docs/library.md` of this crate lists what it does and what plain C does.
///
/// `builds` are those of one program for different backends. `prefix` is the path of the results without extension:
/// `out/stats` gives `out/libstats.so`, `out/stats.h`, `out/stats.json`, `out/stats.resolved.json`, and `out/stats.c`, which only
/// declares the functions. Header and manifest come from the first build. Its contexts use the first backend that works, or
/// the backends that `futhark_context_config_set_backend` or the variable `FUTHARK_BACKEND` names.
///
/// Blocks like [`Build::run`].
///
/// ```no_run
/// use futhark_manifest::Backend;
/// use futhark_sys::compile::{Build, Linkage, library};
///
/// let builds = [Backend::OpenCl, Backend::Multicore].map(|backend| Build::new("stats.fut", backend));
/// let made = library(&builds, "out/stats", Linkage::Shared)?;
/// println!("{}", made.library.display());
/// # Ok::<(), futhark_sys::compile::Error>(())
/// ```
///
/// # Errors
/// As [`Build::run`]. [`ErrorKind::Layout`]: the header declares a function that this version does not know.
/// [`ErrorKind::Io`]: a library of this name would hide a system library, such as `libc.so`.
pub fn library(
    builds: &[Build],
    prefix: impl AsRef<Path>,
    linkage: Linkage,
) -> Result<Library, Error> {
    let prefix = prefix.as_ref();
    let name = prefix.file_name().and_then(|name| name.to_str());
    // The name is in a comment of `NAME.c`.
    let name = name.filter(|name| !name.contains(['"', '\\', '\n']));
    let Some(name) = name else {
        let message = format!(
            "expected the path of the results without extension, such as build/stats, got {}",
            prefix.display()
        );
        return Err(Error::new(ErrorKind::Io, message));
    };
    if SYSTEM_LIBRARIES.contains(&name) {
        let other = prefix.with_file_name(format!("{name}_program"));
        let message = format!(
            "lib{name} would hide the system library of this name from the linker; choose another name for the results, such as {}",
            other.display()
        );
        return Err(Error::new(ErrorKind::Io, message));
    }
    let folder = folder_of(prefix);
    let [first, ..] = builds else {
        let message = "a library needs at least one build";
        return Err(Error::new(ErrorKind::Backend, message));
    };
    let mut backends: Vec<Backend> = builds.iter().map(Build::backend).collect();
    backends.sort_unstable();
    backends.dedup();
    if backends.len() < builds.len() {
        let message = "a library can have each backend only once";
        return Err(Error::new(ErrorKind::Backend, message));
    }
    let run = |build: &Build| build.clone().linkage(Linkage::Static).run();
    let artifacts = builds.iter().map(run).collect::<Result<Vec<_>, Error>>()?;
    let headers = artifacts.iter().map(|artifact| read(&artifact.header()));
    let declarations = headers.collect::<Result<Vec<String>, Error>>()?;
    create_folder(folder)?;
    let work = Temporary::beside(prefix)?;
    let results = work.path().join("results");
    create_folder(&results)?;
    let result = |file: &str| results.join(file);
    // Our C file includes it by this name, since a program can be called like a header of the system.
    let own = work.path().join("fut_program.h");
    let mut declared = declarations[0].clone();
    // Among the functions of configurations, within `extern "C"`.
    let place = declared.find("struct futhark_context;");
    if let Some(place) = place.filter(|_| builds.len() > 1) {
        declared.insert_str(place, CHOICE);
    }
    write(&own, &declared)?;
    let unit = work.path().join("fut_library.c");
    write(&unit, text(&artifacts, &declarations)?)?;

    let cc = CCompiler::find(Some(&first.folder()?), first.target.as_deref())?;
    let mut arguments = cc.arguments(first);
    // Only in the units of the backends is everything but one symbol unused outside.
    arguments.retain(|argument| argument != "-fwhole-program");
    let mut objects = vec![work.path().join("fut_library.o")];
    cc.compile(&unit, folder, &objects[0], first.backend(), &arguments)?;
    for artifact in &artifacts {
        let object = work.path().join(format!("{}.o", artifact.symbol()));
        cc.extract(&artifact.library(), UNIT_OBJECT, &object)?;
        objects.push(object);
    }
    let extension = match linkage {
        Linkage::Shared if cc.is_for_apple() => "dylib",
        Linkage::Shared if cc.is_for_windows() => "dll",
        Linkage::Shared => "so",
        Linkage::Static => "a",
    };
    let [library, header, manifest, resolved, source] = [
        format!("lib{name}.{extension}"),
        format!("{name}.h"),
        format!("{name}.json"),
        format!("{name}.resolved.json"),
        format!("{name}.c"),
    ];
    match linkage {
        Linkage::Shared => cc.link_program(&objects, first, name, &result(&library))?,
        Linkage::Static => cc.archive(&objects, &result(&library))?,
    }
    write(&result(&header), &declared)?;
    write(&result(&manifest), artifacts[0].manifest())?;
    let mut document = artifacts[0].program().to_json();
    let hardened = artifacts
        .iter()
        .filter(|artifact| artifact.hardening() == Hardening::Full);
    let backends = hardened.map(|artifact| artifact.program().backend.as_str());
    document["hardened"] = backends.collect();
    write(&result(&resolved), format!("{document:#}\n"))?;
    // Two runs for one prefix do not mix their files. Not every system can lock a folder.
    let turn = std::fs::File::open(folder);
    let _ = turn.as_ref().map(std::fs::File::lock);
    // A program of the user can have this name.
    let found = std::fs::read_to_string(folder.join(&source)).unwrap_or_default();
    let has_source = found.is_empty() || found.starts_with(SOURCE_MARK);
    if has_source {
        let text = format!(
            "{SOURCE_MARK}: the functions are in lib{name}, which the result must be linked with.\n{}",
            declared.replace("#pragma once\n", "")
        );
        write(&result(&source), text)?;
    }
    // The library first, because a folder of its name is the likeliest failure. By a rename, a process that has the old
    // one open keeps it.
    let placed = [&library, &header, &manifest, &resolved];
    for file in placed.into_iter().chain(has_source.then_some(&source)) {
        let renamed = std::fs::rename(result(file), folder.join(file));
        renamed.map_err(|error| Error::io("write", folder.join(file), error))?;
    }
    let mut warnings = artifacts[0].warnings().to_owned();
    for check in artifacts[1..].iter().flat_map(Artifact::missing_checks) {
        if warnings.lines().all(|line| line != check) {
            warnings += &format!("{check}\n");
        }
    }
    Ok(Library {
        library: folder.join(library),
        header: folder.join(header),
        manifest: folder.join(manifest),
        resolved: folder.join(resolved),
        warnings,
    })
}

/// What the linker looks up by name for a C program: parts of the C library and of the C compiler, and the libraries of
/// plain generated code.
const SYSTEM_LIBRARIES: [&str; 16] = [
    "c", "m", "pthread", "dl", "rt", "util", "resolv", "System", "gcc", "gcc_s", "OpenCL", "cuda",
    "cudart", "nvrtc", "amdhip64", "hiprtc",
];

/// Begins `NAME.c`, for tools that compile what the Futhark compiler writes under this name, or that search it for the parameters
/// of a function: the text of the header follows, with which the compiler begins this file, too.
const SOURCE_MARK: &str = "// Written by futhark-library";

/// The declaration of the function that selects among several backends.
const CHOICE: &str = "\
// This library has several backends. A context uses the first of these, names with commas between them, that works.
// Not 0: one of them is not in the library.
int futhark_context_config_set_backend(struct futhark_context_config *cfg, const char *names);
";

impl CCompiler {
    /// Links the objects of a program to a shared object with the functions of the program's header.
    fn link_program(
        &self,
        objects: &[PathBuf],
        build: &Build,
        name: &str,
        library: &Path,
    ) -> Result<(), Error> {
        let mut command = self.command();
        command
            .args(["-shared", "-fPIC", "-pthread"])
            .args(&build.flags);
        command.args(objects).arg("-o").arg(library).arg("-lm");
        // The linker takes each word by itself: `-Wl,` would split a path at a comma.
        let mut linker = |words: &[&OsStr]| {
            for word in words {
                command.arg("-Xlinker").arg(word);
            }
        };
        let list = objects[0].with_extension("exported");
        let own_name = library.file_name().unwrap_or_default();
        if self.is_for_apple() {
            write(&list, "_futhark_*\n")?;
            linker(&["-exported_symbols_list".as_ref(), list.as_os_str()]);
            let own_name = format!("@rpath/{}", own_name.display());
            linker(&["-install_name", &own_name].map(OsStr::new));
        } else if self.is_for_windows() {
            // Without the attribute dllexport, all functions that are not hidden are exported.
            command.arg("-static-libgcc");
        } else {
            // Symbols with a version of the program's name: two libraries of which each is linked with a plugin can be in
            // one process.
            let version = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
            let text = format!("futhark_{version} {{ global: futhark_*; local: *; }};\n");
            write(&list, text)?;
            linker(&["--version-script".as_ref(), list.as_os_str()]);
            linker(&["-soname".as_ref(), own_name]);
            // Workers of a context whose values were not freed run until the process ends.
            linker(&["-z", "defs", "-z", "nodelete"].map(OsStr::new));
            command.arg("-ldl");
        }
        step(command, &format!("link {}", library.display()))
    }

    /// Copies an object out of a static library.
    fn extract(&self, library: &Path, name: &str, to: &Path) -> Result<(), Error> {
        let library = canonical(library)?;
        let folder = to.parent().unwrap_or(Path::new("."));
        let mut command = Command::new(&self.ar);
        command.current_dir(folder).arg("x").arg(&library).arg(name);
        step(command, &format!("read {}", library.display()))?;
        std::fs::rename(folder.join(name), to).map_err(|error| Error::io("rename", to, error))
    }
}

/// The C file.
fn text(artifacts: &[Artifact], headers: &[String]) -> Result<String, Error> {
    let declared = Source::read(&headers[0]).prototypes;
    let program = artifacts[0].program();
    let functions = artifacts[0].functions();
    for other in &artifacts[1..] {
        if other.functions().hash() != functions.hash() {
            let message = format!(
                "the program has other functions on backend {} than on {}",
                other.program().backend,
                program.backend
            );
            return Err(Error::new(ErrorKind::Manifest, message));
        }
    }
    let of_manifest: Vec<Prototype> = program.prototypes().collect();
    let known_settings = headers.iter().map(|header| known_settings(header));
    let known_settings: String = known_settings.collect();
    let mut known: Vec<&str> = of_manifest.iter().map(|p| p.name.as_str()).collect();
    let mut setters = String::new();
    for (kind, setting, setter) in settings() {
        if let Some(name) = declared
            .iter()
            .find(|name| name.strip_prefix(CONFIG) == Some(setter))
        {
            setters += &format!("FUT_SETTER_{kind}({setter}, FUT_SET_{setting})\n");
            known.push(name);
        }
    }
    let fixed = include_str!("../../c/fut_library_contexts.h");
    let is_known = |name: &str| known.contains(&name) || fixed.contains(&format!("{name}("));
    if let Some(unknown) = declared.iter().find(|name| !is_known(name)) {
        let why = "it is a function of the header that is not known";
        return Err(Error::unsupported(&program.version, unknown, why));
    }
    let choice = (artifacts.len() > 1).then_some("futhark_context_config_set_backend");
    let mut has = String::new();
    for name in declared.iter().copied().chain(choice) {
        let name = name.trim_start_matches("futhark_");
        has += &format!("#define FUT_HAS_{name} 1\n");
    }
    let tables = artifacts.iter().map(Artifact::symbol);
    let externs: String = tables
        .clone()
        .map(|symbol| format!("extern const struct fut_table {symbol};\n"))
        .collect();
    let tables: String = tables.map(|symbol| format!("&{symbol}, ")).collect();
    let bodies = program.functions().zip(&of_manifest);
    let bodies: String = bodies
        .map(|(function, prototype)| {
            let declaration = prototype.to_string();
            let body = body(&functions, function.operation, function.owner, prototype);
            format!("{} {{\n{body}}}\n", declaration.trim_end_matches(';'))
        })
        .collect();
    Ok(format!(
        "// @generated by futhark-sys; do not edit.\n#define _GNU_SOURCE\n#pragma GCC visibility push(default)\n\
         #include \"fut_program.h\"\n#pragma GCC visibility pop\n#include \"futhark_table.h\"\n\
         {externs}static const struct fut_table *const fut_tables[] = {{{tables}}};\n\
         enum {{ fut_n_tables = {} }};\nstatic const uint64_t fut_known_settings[] = {{{}}};\n{has}#include \"fut_library.h\"\n#include \"fut_library_contexts.h\"\n{setters}{bodies}",
        artifacts.len(),
        known_settings
    ))
}

/// A set of the settings that a backend has, in C: a bit for each, with a comma. Tuning parameters have names.
fn known_settings(header: &str) -> String {
    let declared = Source::read(header).prototypes;
    let setters = settings().map(|(_, setting, setter)| (setting, setter));
    let all = setters.chain([("DEVICE", "set_device")]);
    let known = all.filter(|(_, setter)| {
        let mut names = declared.iter();
        names.any(|name| name.strip_prefix(CONFIG) == Some(setter))
    });
    let bits: String = known
        .map(|(setting, _)| format!(" | UINT64_C(1) << FUT_SET_{setting}"))
        .collect();
    format!("0{bits}, ")
}

const CONFIG: &str = "futhark_context_config_";

/// The kind, the name and each setter of the settings in `fut_settings.def`.
fn settings() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let text = include_str!("../../c/fut_settings.def");
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("FUT_SETTING("));
    lines.flat_map(|line| {
        let mut words = line.split(", ");
        let mut next = || words.next().unwrap_or_default().trim_end_matches(',');
        let (name, setter, other) = (next(), next(), next());
        let kind = next();
        [setter, other].map(|setter| (kind, name, setter))
    })
}

/// The statements of a function.
fn body(
    functions: &FunctionList,
    operation: Operation,
    owner: Owner,
    prototype: &Prototype,
) -> String {
    if let Some(number) = functions
        .names()
        .iter()
        .position(|name| *name == prototype.name)
    {
        return call(number, prototype);
    }
    let Owner::Type(id) = owner else {
        unreachable!("an entry point is in the list of functions");
    };
    let ty = id.index();
    let named = |role: fn(&ParameterRole) -> bool| {
        let parameter = prototype.parameters.iter().find(|p| role(&p.role));
        parameter.map_or("NULL", |parameter| parameter.name.as_str())
    };
    let value = named(|role| matches!(role, ParameterRole::Value));
    let output = named(|role| matches!(role, ParameterRole::Output { .. } | ParameterRole::Bytes));
    let positions = prototype.parameters.iter().filter(|parameter| {
        matches!(
            parameter.role,
            ParameterRole::Dimension(_) | ParameterRole::Index(_)
        )
    });
    let positions: Vec<&str> = positions.map(|parameter| parameter.name.as_str()).collect();
    let positions = format!("(const int64_t[]){{{}}}", positions.join(", "));
    let call = match operation {
        Operation::ArrayNew => {
            let data = named(|role| matches!(role, ParameterRole::Data(_)));
            format!("fut_new(ctx, {ty}, {data}, {positions})")
        }
        Operation::ArrayNewRaw => {
            let memory = named(|role| matches!(role, ParameterRole::RawMemory(_)));
            format!("fut_new_raw(ctx, {ty}, (const void *)(uintptr_t){memory}, {positions})")
        }
        // Frees values of a context that was freed, too.
        Operation::ArrayFree | Operation::OpaqueFree => {
            return format!("  return fut_free_handle(ctx, {ty}, {value});\n");
        }
        Operation::ArrayValues => {
            let data = named(|role| matches!(role, ParameterRole::Data(_)));
            format!("fut_values(ctx, {ty}, {value}, {data})")
        }
        Operation::ArrayIndex | Operation::RecordArrayIndex | Operation::OpaqueArrayIndex => {
            format!("fut_index(ctx, {ty}, {value}, {positions}, {output})")
        }
        Operation::ArrayValuesRaw => {
            let result = &prototype.result;
            format!("({result})(uintptr_t)fut_values_raw(ctx, {ty}, {value})")
        }
        Operation::ArrayShape | Operation::RecordArrayShape | Operation::OpaqueArrayShape => {
            format!("fut_shape(ctx, {ty}, {value})")
        }
        Operation::OpaqueStore => {
            let size = named(|role| matches!(role, ParameterRole::ByteCount));
            format!("fut_store(ctx, {ty}, {value}, {output}, {size})")
        }
        Operation::OpaqueRestore => format!("fut_restore(ctx, {ty}, {output})"),
        Operation::RecordArrayNew | Operation::OpaqueArrayNew => {
            let elements = named(|role| matches!(role, ParameterRole::Elements(_)));
            format!("fut_new_of_values(ctx, {ty}, {elements}, {positions}, {output})")
        }
        Operation::RecordArraySet | Operation::OpaqueArraySet => {
            let element = named(|role| matches!(role, ParameterRole::Element(_)));
            format!("fut_set_element(ctx, {ty}, {value}, {element}, {positions})")
        }
        _ => unreachable!("all other operations are in the list of functions"),
    };
    let failed = match prototype.returns {
        Returns::Status => "FUT_CODE_OTHER",
        _ => "0",
    };
    format!("  FUT_LOCKED(ctx, {failed}, {call})\n")
}

/// Calls function `number` of the table.
fn call(number: usize, prototype: &Prototype) -> String {
    let (mut out, mut arguments) = (Vec::new(), Vec::new());
    for parameter in &prototype.parameters {
        let name = parameter.name.as_str();
        match parameter.role {
            ParameterRole::Context => {}
            ParameterRole::Output { .. } => out.push(name.to_owned()),
            _ if parameter.passing == Passing::Scalar => arguments.push(format!("&{name}")),
            _ => arguments.push(name.to_owned()),
        }
    }
    let returns_variant = prototype.returns == Returns::Variant;
    let mut body = String::new();
    if returns_variant {
        body += "  int32_t fut_variant = -1;\n";
        out.push("&fut_variant".to_owned());
    }
    let list = |all: Vec<String>| match all.is_empty() {
        true => "NULL".to_owned(),
        false => all.join(", "),
    };
    let room = 2 * (out.len() + arguments.len()).max(1);
    body += &format!(
        "  FUT_ROOM({room});\n  void *const fut_out[] = {{{}}};\n  const void *fut_in[] = {{{}}};\n  ",
        list(out),
        list(arguments)
    );
    let call = format!("fut_call_function(ctx, {number}, fut_out, fut_in, fut_room)");
    body += &match returns_variant {
        true => format!("FUT_LOCKED(ctx, -1, ({call}, fut_variant))\n"),
        false => format!("FUT_LOCKED(ctx, FUT_CODE_OTHER, {call})\n"),
    };
    body
}
