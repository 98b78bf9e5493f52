//! Clients that know only the header of a library: C programs, and the Python package futhark-ffi. Each case runs with the
//! library that a plain C compiler makes of the generated code, and with the hardened one.
#![cfg(all(feature = "library", target_os = "linux"))]

// The name by which `newer` imports the compiler.
extern crate futhark_sys as futhark_safe;

#[path = "../../futhark-safe/tests/newer/mod.rs"]
mod newer;
mod support;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use futhark_manifest::Backend;
use futhark_sys::compile::{Build, Compiler, ErrorKind, Linkage, library};

/// Compiles a client in the folder of its libraries.
const CC: &str = r#"${CC:-cc} -std=gnu99 -Wall -Wextra -Werror -Wno-unused-function -I. -L. \
    -Wl,--no-as-needed -Wl,-rpath,"$PWD" -pthread "#;
const PLAIN: &str = r#""$FUTHARK" "$BACKEND" --library "$PROGRAM" -o "$NAME" -w
    [ "$BACKEND" != opencl ] || set -- -I"$OPENCL/include" -L"$OPENCL/lib" -Wl,-rpath,"$OPENCL/lib" -lOpenCL
    ${CC:-cc} -O1 -std=c99 -w -shared -fPIC "$NAME.c" -o "lib$NAME.so" -lm -pthread "$@""#;
/// futhark-ffi compiles `failures.c`, which in a hardened library only declares the functions.
const FFI: &str = r#"[ "$LIBRARY" = plain ] || export LDFLAGS="-L$PWD -Wl,--no-as-needed -lfailures -Wl,-rpath,$PWD"
    python3 -c 'from futhark_ffi.build import main; main()' failures >&2"#;

struct Client {
    name: String,
    /// A shell script, for the folder of the libraries.
    build: String,
    /// Without arguments prints the cases, with one runs it.
    command: String,
}

#[derive(Default)]
struct Case {
    /// In the words of `library/client.h`.
    expectation: String,
    /// With the plain library, and with the hardened one.
    outcomes: [String; 2],
}

fn folder_of(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn shell(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir(folder);
    command.env("SOURCES", folder_of("tests/library"));
    let toolchain = PathBuf::from(std::env::var_os("FUTHARK_TOOLCHAIN").unwrap_or_default());
    command.env("OPENCL", toolchain.join("opencl"));
    command
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    output
}

/// The newest compiler before 0.26.1, which changed the functions of entry points with several results; without one, tests
/// are skipped.
fn compiler() -> Option<Compiler> {
    let mut all = (!support::no_compiler()).then(Compiler::all)?.into_iter();
    all.rfind(|compiler| compiler.version().number < Some((0, 26, 1)))
}

/// Makes the plain libraries and the hardened ones of the programs; returns their folders.
fn make_libraries(
    futhark: &Compiler,
    parent: &Path,
    backend: Backend,
    programs: &[PathBuf],
) -> [PathBuf; 2] {
    let [plain, hardened] = ["plain", "hardened"].map(|name| parent.join(name));
    std::fs::create_dir_all(&plain).unwrap();
    for program in programs {
        let name = program.file_stem().unwrap();
        let mut command = shell(&plain, PLAIN);
        command.env("FUTHARK", futhark.program());
        command.env("BACKEND", backend.as_str());
        succeed(command.env("NAME", name).env("PROGRAM", program));
        let build = Build::new(program, backend).out_dir(parent).fast(true);
        let build = build.compiler(futhark.clone());
        library(&[build], hardened.join(name), Linkage::Shared).unwrap();
    }
    [plain, hardened]
}

fn outcome(output: &Output) -> String {
    let printed = String::from_utf8_lossy(&output.stdout);
    let last = printed.lines().last().unwrap_or_default();
    match (output.status.code(), output.status.signal()) {
        (Some(0), _) => "passed".to_owned(),
        (Some(1), _) if last.contains("failed: ") => format!("wrong: {last}"),
        (Some(124), _) | (_, Some(9)) => "hangs".to_owned(),
        (Some(code), _) => format!("died: exit code {code}"),
        (None, signal) => format!("died: signal {}", signal.unwrap_or_default()),
    }
}

/// Runs all cases of the clients, each in a process of its own, prints the outcomes and fails if one is unexpected.
fn run_clients(backend: Backend, folders: &[PathBuf; 2], clients: &[Client]) -> Vec<String> {
    let mut cases = BTreeMap::<String, Case>::new();
    for (i, folder) in folders.iter().enumerate() {
        for client in clients {
            let mut build = shell(folder, &client.build);
            succeed(build.env("LIBRARY", folder.file_name().unwrap()));
            let list = succeed(&mut shell(folder, &client.command)).stdout;
            for line in String::from_utf8(list).unwrap().lines() {
                let (expectation, name) = line.split_once(' ').unwrap();
                // The longest case takes a second on an idle machine.
                let script = format!("exec timeout --kill-after=1 30 {} {name}", client.command);
                let output = shell(folder, &script).output().unwrap();
                let case = cases.entry(format!("{} {name}", client.name)).or_default();
                expectation.clone_into(&mut case.expectation);
                case.outcomes[i] = outcome(&output);
            }
        }
    }
    let mut unexpected = Vec::new();
    for (name, case) in &cases {
        let [plain, hardened] = &case.outcomes;
        let row = format!("{backend:9} {name:45} {plain:30.30} {hardened}");
        println!("{row}");
        let plain_is_expected = match case.expectation.as_str() {
            "both" => plain == "passed",
            "hardened" => plain != "passed",
            "unsafe" => true,
            other => panic!("unknown expectation {other}"),
        };
        if hardened != "passed" || !plain_is_expected {
            unexpected.push(format!("{}: {row}", case.expectation));
        }
    }
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    cases.into_keys().collect()
}

/// A client in C. The arguments are for the C compiler.
fn client(name: &str, arguments: &str) -> Client {
    Client {
        name: name.to_owned(),
        build: format!("{CC} {arguments} -o {name}"),
        command: format!("./{name}"),
    }
}

fn run_c_clients(backend: Backend) {
    let Some(futhark) = compiler() else { return };
    let kills = std::fs::read_dir(folder_of("../programs/kills")).unwrap();
    let kills: Vec<PathBuf> = kills.map(|entry| entry.unwrap().path()).collect();
    let name_of = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut programs = kills.clone();
    programs.retain(|path| name_of(path).starts_with("constant_"));
    let constants: Vec<String> = programs.iter().map(name_of).collect();
    programs.push(folder_of("../programs/bridges/everything.fut"));
    programs.push(folder_of("tests/library/failures.fut"));
    let folder = support::folder(&format!("library-{backend}"));
    let folders = make_libraries(&futhark, &folder, backend, &programs);
    let (imitation, here) = (
        folder.join("newer"),
        folder_of("../futhark-safe/tests/newer"),
    );
    newer::compiler(&here, &imitation);
    let futhark = Compiler::at(imitation).unwrap();
    make_libraries(&futhark, &folder, backend, &[here.join("elements.fut")]);

    let paths = r#"'-DEVERYTHING="./libeverything.so"' '-DFAILURES="./libfailures.so"' "$SOURCES/loaded.c""#;
    let linked = format!("-DLINKED {paths} -leverything -lfailures");
    let mut clients = vec![
        client("api", r#""$SOURCES/api.c" -leverything"#),
        client("misuse", r#""$SOURCES/misuse.c" -leverything"#),
        client("differences", r#""$SOURCES/differences.c" -leverything"#),
        client("failures", r#""$SOURCES/failures.c" -lfailures"#),
        client("elements", r#""$SOURCES/elements.c" -lelements"#),
        client("loaded", paths),
        client("linked", &linked),
    ];
    clients.extend(constants.iter().map(|name| {
        let arguments = format!(r#"'-DPROGRAM="{name}.h"' -D{name} "$SOURCES/startup.c" -l{name}"#);
        client(name, &arguments)
    }));
    let cases = run_clients(backend, &folders, &clients);
    for name in kills.iter().map(name_of) {
        let has_case = cases.contains(&format!("failures kills_{name}"));
        assert!(has_case || constants.contains(&name), "{name} has no case");
    }
}

#[test]
fn c_clients_survive_on_c() {
    run_c_clients(Backend::C);
}

#[test]
fn c_clients_survive_on_multicore() {
    if !support::is_full() {
        return println!("skipped: FUTHARK_TESTS_FULL is not set");
    }
    run_c_clients(Backend::Multicore);
}

#[test]
fn pending_failures_are_reported_on_opencl() {
    if !support::is_full() {
        return println!("skipped: FUTHARK_TESTS_FULL is not set");
    }
    let Some(futhark) = compiler() else { return };
    let folder = support::folder("library-opencl");
    let program = folder_of("../programs/errors/parallel.fut");
    let folders = make_libraries(&futhark, &folder, Backend::OpenCl, &[program]);
    let arguments = r#"-I"$OPENCL/include" "$SOURCES/pending.c" -lparallel"#;
    run_clients(Backend::OpenCl, &folders, &[client("pending", arguments)]);
}

/// As the frontend lys does, a build compiles `NAME.c` and searches it for the parameters of an entry point.
#[test]
fn the_c_file_declares_the_functions_and_programs_link_in_each_form() {
    let Some(futhark) = compiler() else { return };
    let folder = support::folder("library-forms");
    let program = folder.join("forms.fut");
    let text = "entry text_content (ms: f32) (n: i64) : (i64, f32) = (n / 2, ms)\n";
    std::fs::write(&program, text).unwrap();
    let main = "#include <stdio.h>\n#include \"forms.h\"\nint main(void) { int64_t n; float ms;\n\
        struct futhark_context *ctx = futhark_context_new(futhark_context_config_new());\n\
        int code = futhark_entry_text_content(ctx, &n, &ms, 1.5F, 84);\n\
        printf(\"%d %lld\\n\", code, (long long)n); }\n";
    std::fs::write(folder.join("main.c"), main).unwrap();
    let build = Build::new(&program, Backend::Multicore).out_dir(&folder);
    let build = build.fast(true).compiler(futhark);
    for (linkage, forms) in [
        (Linkage::Static, &["libforms.a", "forms.o -L. -lforms"][..]),
        (
            Linkage::Shared,
            &[
                r#"-L. -lforms -Wl,-rpath,"$PWD""#,
                r#"forms.o -L. -lforms -Wl,-rpath,"$PWD""#,
            ][..],
        ),
    ] {
        let script = "rm -f libforms.*";
        succeed(&mut shell(&folder, script));
        library(std::slice::from_ref(&build), folder.join("forms"), linkage).unwrap();
        let source = std::fs::read_to_string(folder.join("forms.c")).unwrap();
        let (_, parameters) = source.split_once("futhark_entry_text_content(").unwrap();
        let (parameters, _) = parameters.split_once(')').unwrap();
        assert!(
            parameters.contains("int64_t *out0, float *out1"),
            "{source}"
        );
        for form in forms {
            let script = format!(
                "${{CC:-cc}} -Wall -Wextra -Werror -c forms.c -o forms.o
                ${{CC:-cc}} main.c {form} -lm -pthread -o main && ./main"
            );
            let output = succeed(&mut shell(&folder, &script));
            assert_eq!(output.stdout, b"0 42\n", "{form}");
        }
    }
}

/// `-lc` and the like would find the results.
#[test]
fn names_of_system_libraries_are_refused() {
    let builds = [Build::new("no-such-program.fut", Backend::C)];
    for name in ["c", "m", "gcc_s", "OpenCL"] {
        let error = library(&builds, name, Linkage::Static).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    }
    let error = library(&builds, "c_program", Linkage::Static).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSource, "{error}");
}

#[test]
#[ignore = "needs the Python package futhark-ffi, which ci/full installs"]
fn futhark_ffi_survives() {
    let futhark = compiler().unwrap();
    for backend in [Backend::C, Backend::Multicore] {
        let program = folder_of("tests/library/failures.fut");
        let folder = support::folder(&format!("futhark-ffi-{backend}"));
        let folders = make_libraries(&futhark, &folder, backend, &[program]);
        let client = Client {
            name: "ffi".to_owned(),
            build: FFI.to_owned(),
            command: r#"python3 "$SOURCES/ffi.py" _failures"#.to_owned(),
        };
        run_clients(backend, &folders, &[client]);
    }
}
