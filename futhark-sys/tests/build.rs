//! Builds: every backend compiles with every compiler, and invalid inputs are errors.
#![cfg(all(feature = "compile", feature = "load", unix))]

mod support;

use std::error::Error as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use futhark_manifest::Backend;
use futhark_sys::compile::{BACKENDS, Build, Compiler, ErrorKind, Linkage};
use futhark_sys::table::Hardening;
use support::{Source, folder};

const PROGRAM: &str = "\
type pt = {x: f64, y: f64}
type shape = #circle f64 | #square f64 | #none
entry f (x: i32) (xs: [](i32, f32)) : (i32, [](i32, f32)) = (x, xs)
entry g [n] (xs: *[n]f32) : *[n]f32 = xs
entry h (p: pt) (s: shape) : (pt, shape) = (p, s)
entry k (as: []i64) (i: i64) : i64 = i64.sum (scan (+) 0 (map (\\a -> a / as[i]) as))
";

/// Functions of the C library that end the process, that wait for input, for a signal or for other
/// threads without a hook, or that open files that can block. The check `symbols` of the conformance
/// program has the opposite list: all functions that generated code may use.
const ENDING: &str = "_Exit __assert_fail __libc_fatal _exit abort alarm err error errx execv execve exit fgetc fgets \
    fopen fopen64 freopen fscanf getc getchar getdelim getline gets kill longjmp nanosleep pause poll \
    popen pthread_barrier_wait pthread_cancel pthread_exit pthread_kill quick_exit raise read scanf \
    select sem_wait sigaction signal sleep stdin syscall system usleep wait";

/// What `nm` prints about the dynamic symbols of a library, without versions.
fn symbols(library: &Path, which: &str) -> Vec<String> {
    let nm = std::process::Command::new("nm")
        .args(["--dynamic", "--extern-only", which])
        .arg(library)
        .output()
        .unwrap();
    assert!(nm.status.success(), "{nm:?}");
    let text = String::from_utf8(nm.stdout).unwrap();
    let name = |line: &str| {
        let name = line.split_whitespace().next_back()?;
        Some(name.split('@').next()?.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// The imported functions of [`ENDING`]. glibc adds a prefix for a version of the standard.
fn ending(library: &Path) -> Vec<String> {
    let mut imported = symbols(library, "--undefined-only");
    assert!(imported.iter().any(|name| name == "malloc"), "{imported:?}");
    imported.retain(|name| {
        let plain = ["__isoc99_", "__isoc23_"]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix));
        ENDING.split(' ').any(|one| one == plain.unwrap_or(name))
    });
    imported
}

#[test]
fn every_backend_exports_only_its_table_and_cannot_end_the_process() {
    let Some(source) = Source::to_compile("every-backend", PROGRAM) else {
        return;
    };
    let mut ids = std::collections::BTreeMap::new();
    for compiler in support::compilers() {
        for backend in BACKENDS {
            let build = source.build(backend).compiler(compiler.clone());
            // In place of `abort`, in the one function of ours that ends the process.
            let build = build.flag("-DFUT_END=__builtin_trap");
            let artifact = build
                .run()
                .unwrap_or_else(|error| panic!("{} {backend}: {error}", compiler.version()));
            let table = artifact.open().unwrap();
            assert_eq!(table.backend(), backend.as_str());
            assert_eq!(table.manifest(), artifact.manifest());
            assert_eq!(table.interface_hash(), artifact.program().interface_hash());
            assert_eq!(table.hardening(), Hardening::Full);
            assert_eq!(table.is_gpu(), backend.is_gpu());
            let names: Vec<&str> = table.functions().iter().map(|f| f.name()).collect();
            assert_eq!(names, artifact.functions().names());
            assert_eq!(table.functions_hash(), artifact.functions().hash());
            assert!(names.is_sorted());
            // Equal for all backends of a compiler.
            let id = ids
                .entry(compiler.version().text.clone())
                .or_insert(table.program().to_owned());
            assert_eq!(id, table.program());

            let library = artifact.library();
            let exported = symbols(&library, "--defined-only");
            assert_eq!(exported, [artifact.symbol(), futhark_sys::table::SYMBOL]);
            let version = compiler.version();
            assert_eq!(ending(&library), [""; 0], "{version} {backend}");
            // The test finds `abort` where it is.
            if backend == Backend::C {
                let usual = build.flag("-UFUT_END").run().unwrap();
                assert_eq!(ending(&usual.library()), ["abort"], "{version}");
            }
        }
    }
}

#[test]
fn a_program_can_have_the_name_of_a_system_header() {
    if support::no_compiler() {
        return;
    }
    let folder = folder("system-headers");
    // All backends use the same include paths, so one backend per name suffices.
    for (name, backend) in [
        ("math", Backend::Hip),
        ("strings", Backend::C),
        ("errno", Backend::Multicore),
        ("assert", Backend::C),
    ] {
        let source = folder.join(format!("{name}.fut"));
        std::fs::write(&source, PROGRAM).unwrap();
        let build = Build::new(&source, backend).out_dir(&folder).fast(true);
        let artifact = build
            .run()
            .unwrap_or_else(|error| panic!("{name} {backend}: {error}"));
        assert!(artifact.open().is_ok());
    }
}

#[test]
fn program_errors_and_compiler_failures_have_different_kinds() {
    if support::no_compiler() {
        return;
    }
    let folder = folder("compiler-errors");
    let refused: [(&str, &[u8], &str); 3] = [
        (
            "warned",
            b"def f (x: i32) = let y = 1 in x\nentry main (x: i32) = nowhere x",
            "Unknown name \"nowhere\"",
        ),
        (
            "quoting",
            b"-- Internal compiler error\nentry main (x: i32) : bool = f \"Internal compiler error\"",
            "Unknown name \"f\"",
        ),
        ("not_utf8", b"entry main (x: i32) = x -- \xff", "cannot decode"),
    ];
    // GPU backends do not support parallel functions called inside of `map`.
    let limited = "\
#[noinline] def fill (n: i64) (x: i64) : []i64 = replicate n x
entry main (n: i64) = map (\\i -> i64.sum (fill (i % 8) i)) (iota n)";
    std::fs::write(folder.join("limited.fut"), limited).unwrap();
    for (name, text, _) in refused {
        std::fs::write(folder.join(format!("{name}.fut")), text).unwrap();
    }
    for compiler in support::compilers() {
        let error = |name: &str, backend| {
            let build = Build::new(folder.join(format!("{name}.fut")), backend);
            let build = build.compiler(compiler.clone()).out_dir(&folder);
            build.run().unwrap_err()
        };
        for (name, _, said) in refused {
            let error = error(name, Backend::C);
            assert_eq!(error.kind(), ErrorKind::Program, "{error}");
            assert!(error.to_string().contains(said), "{error}");
        }
        let error = error("limited", Backend::OpenCl);
        assert_eq!(error.kind(), ErrorKind::CompilerFailed, "{error}");
        assert!(
            error.to_string().contains("a newer version may work"),
            "{error}"
        );
    }
}

#[test]
fn a_backend_without_checks_is_refused() {
    let source = Source::new(&folder("unsupported-backend"), PROGRAM);
    let builds = [Backend::Ispc, Backend::Other].map(|backend| source.build(backend));
    let errors = |build: &Build| [build.run().unwrap_err(), build.interface().unwrap_err()];
    for error in builds.iter().flat_map(errors) {
        assert_eq!(error.kind(), ErrorKind::Backend, "{error}");
        for words in ["ispc", "c, multicore, opencl, cuda, hip", "use multicore"] {
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}

#[test]
fn a_c_compiler_without_checked_arithmetic_is_refused() {
    let Some(source) = Source::to_compile("checked-arithmetic", PROGRAM) else {
        return;
    };
    let build = source.build(Backend::C);
    let error = build.flag("-D__has_builtin(x)=0").run().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("lacks __builtin_mul_overflow; set CC"),
        "{error}"
    );
}

#[test]
fn options_of_the_compiler_take_effect_or_are_refused() {
    let text =
        "entry get (xs: []i32) (i: i64) = #[unsafe] xs[i]\ndef more (x: i32) = let y = 1 in x\n";
    let Some(source) = Source::to_compile("options", text) else {
        return;
    };
    let build = source.build(Backend::C);
    let entries = |build: &Build| build.run().unwrap().program().entries().len();
    assert_eq!(entries(&build), 1);
    let more = build.clone().option("--entry-point=more");
    assert_eq!(entries(&more), 2);
    // Only the checked program has the message of a failed bounds check.
    let checks = |build: &Build| {
        let artifact = build.run().unwrap();
        let library = std::fs::read(artifact.library()).unwrap();
        (library.windows(15)).any(|window| window == b"out of bounds f")
    };
    assert!(!checks(&build) && checks(&build.clone().option("--safe")));
    let warnings = |build: &Build| build.run().unwrap().warnings().len();
    assert!(warnings(&build) > 0);
    assert_eq!(warnings(&build.clone().option("-w")), 0);

    let refused = |option: &str| build.clone().option(option).run().unwrap_err();
    let error = refused("--Werror");
    assert_eq!(error.kind(), ErrorKind::Program, "{error}");
    for option in ["--server", "-o", "--entry-point=", "--entry-point=a b"] {
        let error = refused(option);
        assert_eq!(error.kind(), ErrorKind::Option, "{error}");
        assert!(
            error
                .to_string()
                .contains("--safe, --Werror, -w, --entry-point=NAME")
        );
    }
}

#[test]
fn equal_builds_in_two_folders_have_equal_bytes() {
    let Some(source) = Source::to_compile("reproducible", PROGRAM) else {
        return;
    };
    let outs = ["one", "two"].map(|name| source.folder.join(name));
    for (linkage, fast, backend) in [
        (Linkage::Shared, false, Backend::C),
        (Linkage::Shared, true, Backend::OpenCl),
        (Linkage::Static, true, Backend::C),
    ] {
        for out in &outs {
            let _ = std::fs::remove_dir_all(out);
        }
        let [first, second, third] = [0, 1, 1].map(|out| {
            let build = source.build(backend).out_dir(&outs[out]);
            let artifact = build.linkage(linkage).fast(fast).run().unwrap();
            let bytes = std::fs::read(artifact.library()).unwrap();
            std::fs::remove_dir_all(artifact.folder()).unwrap();
            bytes
        });
        assert!(first == second && second == third, "{linkage:?} {backend}");
        let text = String::from_utf8_lossy(&first);
        assert!(!text.contains(outs[0].to_str().unwrap()), "{backend}");
    }
    // Debuggers find the files that stay.
    let build = source.build(Backend::C).out_dir(&outs[0]);
    let artifact = build.flag("-g").run().unwrap();
    let bytes = std::fs::read(artifact.library()).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains(artifact.folder().to_str().unwrap()));
    assert!(!text.contains(".tmp"), "the folder in which it was built");
}

/// A compiler that edits its manifest by a sed script.
fn lying_compiler(folder: &Path, edit: &str) -> Compiler {
    let real = Compiler::find().expect("a Futhark compiler is set up");
    let script = format!(
        "#!/bin/sh\n'{}' \"$@\" || exit $?\nfor last; do :; done\nif [ -e \"$last.json\" ]; then sed -i '{edit}' \"$last.json\"; fi\n",
        real.program().display()
    );
    let path = folder.join("futhark-lying");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Compiler::at(path).unwrap()
}

#[test]
fn invalid_manifests_are_rejected() {
    if support::no_compiler() {
        return;
    }
    let refused = |name: &str, edit: &str, kind: ErrorKind, words: &[&str]| {
        let source = Source::new(&folder(&format!("lying-{name}")), PROGRAM);
        let build = source.build(Backend::C);
        let build = build.compiler(lying_compiler(&source.folder, edit));
        let error = build.run().unwrap_err();
        assert_eq!(error.kind(), kind, "{name}: {error}");
        for word in words {
            assert!(
                format!("{error:#}").contains(word),
                "{name}: no `{word}` in: {error}"
            );
        }
    };
    use ErrorKind::{C, Manifest};
    refused("not-json", "s/.*/hello/", Manifest, &["program.json"]);
    refused("not-a-manifest", "s/.*/[1, 2]/", Manifest, &["manifest"]);
    let edit = "s/\"type\":\"pt\"/\"type\":\"no_such\"/g";
    refused("dangling", edit, Manifest, &["/entry_points/h", "no_such"]);
    let edit = "s/\"backend\":\"c\"/\"backend\":\"cuda\"/";
    refused("other-backend", edit, Manifest, &["cuda"]);
    // The header disagrees with the manifest.
    let edit = "s/\"name\":\"x\",\"type\":\"i32\"/\"name\":\"x\",\"type\":\"i64\"/";
    let words = "manifest and header disagree about futhark_entry_f";
    refused("other-scalar", edit, C, &[words]);
    let edit = "s/futhark_entry_g\"/futhark_entry_gone\"/";
    refused("other-function", edit, C, &["futhark_entry_gone"]);
}

/// Runs [`child_builds_without_a_folder`] in a child process.
fn build_in_a_child(cache: &Path, cflags: &str) -> std::process::Output {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_builds_without_a_folder", "--nocapture"])
        .env(
            "FUTHARK_SYS_TEST_SOURCE",
            Source::new(&folder("private"), PROGRAM).file,
        )
        .env("XDG_CACHE_HOME", cache)
        .env("CFLAGS", cflags)
        // A variable that the compiler does not read must not matter.
        .env(
            "FUTHARK_SYS_TEST_TIME",
            format!("{:?}", std::time::Instant::now()),
        )
        .output()
        .unwrap()
}

#[test]
fn child_builds_without_a_folder() {
    // Only the child builds.
    if let Some(source) = std::env::var_os("FUTHARK_SYS_TEST_SOURCE") {
        let artifact = Build::new(source, Backend::C).fast(true).run().unwrap();
        println!("\nsymbol {}", artifact.symbol());
    }
}

#[test]
fn results_are_in_a_private_folder_and_depend_on_cflags() {
    if support::no_compiler() {
        return;
    }
    let cache = folder("private-cache");
    let _ = std::fs::remove_dir_all(&cache);
    let symbol = |cflags| {
        let output = build_in_a_child(&cache, cflags);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let symbol = text.lines().find_map(|line| line.strip_prefix("symbol "));
        symbol.unwrap().to_owned()
    };
    let first = symbol("-DSOME=1");
    assert_eq!(first, symbol("-DSOME=1"));
    assert_ne!(first, symbol("-DSOME=2"));

    let folder = cache.join("futhark-sys");
    let permissions = std::fs::metadata(&folder).unwrap().permissions();
    assert_eq!(permissions.mode() & 0o777, 0o700);
    // Rejected, since other users could replace a library.
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    let output = build_in_a_child(&cache, "-DSOME=1");
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("only this user can access"), "{text}");
}

#[test]
fn a_build_succeeds_after_a_failure_to_write() {
    let Some(source) = Source::to_compile("no-room", PROGRAM) else {
        return;
    };
    // A path that cannot be created, in place of a full disk.
    let blocked = source.folder.join("blocked");
    let _ = std::fs::remove_dir_all(&blocked);
    std::fs::write(&blocked, "a file where the folder should be").unwrap();
    let build = source.build(Backend::C).out_dir(blocked.join("out"));
    let error = build.run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.to_string().contains("blocked"), "{error}");
    assert_eq!(format!("{error:?}"), format!("{error:#} (Io)"));
    let cause = error.source().unwrap();
    assert!(cause.is::<std::io::Error>());
    assert_eq!(format!("{error:#}"), format!("{error}: {cause}"));
    // SAFETY: the file does not exist, so no code of it runs.
    let error = unsafe { futhark_sys::load::open(&blocked.join("none.so"), "table") }.unwrap_err();
    assert_eq!(error.kind(), futhark_sys::load::ErrorKind::File);
    assert!(error.to_string().contains("none.so"), "{error}");
    let cause = error.source().unwrap();
    assert_eq!(format!("{error:?}"), format!("{error}: {cause} (File)"));
    std::fs::remove_file(&blocked).unwrap();
    build.run().unwrap();
}

#[test]
fn tables_list_the_tuning_parameters_of_entry_points() {
    let text = "def row [m] (xs: [m]f32) = let s = f32.sum xs in scan (+) 0 (map (/ s) xs)\n\
                entry sums [n][m] (xss: [n][m]f32) : [n][m]f32 = map row xss\n\
                entry one (x: i32) : i32 = x\n";
    let Some(source) = Source::to_compile("tuning", text) else {
        return;
    };
    for compiler in support::compilers() {
        for backend in [Backend::C, Backend::OpenCl] {
            let build = source.build(backend).compiler(compiler.clone());
            let artifact = build.run().unwrap();
            let table = artifact.open().unwrap();
            let all: Vec<_> = table.tuning_params().collect();
            for function in table.functions() {
                let name = function.entry_point().unwrap();
                let entry = artifact.program().entry(name).unwrap();
                let listed: Vec<_> = function.tuning_params().collect();
                assert_eq!(listed, entry.tuning_params, "{name}");
                let is_known = |name: &&str| all.iter().any(|param| param.name == *name);
                assert!(listed.iter().all(is_known), "{listed:?} of {all:?}");
                let is_parallel = name == "sums" && backend.is_gpu();
                assert_eq!(!listed.is_empty(), is_parallel, "{name} on {backend}");
            }
            let thresholds = all.iter().filter(|p| p.class.starts_with("threshold("));
            let defaults: Vec<_> = thresholds.map(|p| p.default).collect();
            // The threshold for parallelism within a thread block, and the one for outer parallelism.
            let expected: &[_] = match backend.is_gpu() {
                true => &[Some(32), None],
                false => &[],
            };
            assert_eq!(defaults, expected, "{all:?}");
            assert!(all.iter().all(|param| !param.class.is_empty()));
        }
    }
}
