//! The runtime in the generated C of the installed compilers is known, and other texts are refused.
#![cfg(all(feature = "compile", feature = "load", unix))]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use futhark_manifest::Backend;
use futhark_sys::compile::{Build, Compiler, ErrorKind, hardened_source};
use futhark_sys::table::Hardening;

const PROGRAM: &str = "\
entry sum [n] (xs: [n]i64) (i: i64) = i64.sum (map (/ i) xs)
entry turn [n][m] (xs: [n][m]f16) = copy (transpose xs)
";

const UNKNOWN: &str = "the text of the runtime is not known";

/// What a compiler writes for a backend.
struct Generated {
    c: String,
    h: String,
    json: String,
}

impl Generated {
    /// `name` is the folder: tests run at once.
    fn by(compiler: &Compiler, backend: &str, name: &str) -> Generated {
        let folder = support::folder(name);
        let (source, base) = (folder.join("program.fut"), folder.join("out"));
        fs::write(&source, PROGRAM).unwrap();
        let mut command = Command::new(compiler.program());
        command
            .args([backend, "--library", "-o"])
            .args([&base, &source]);
        // ispc writes its code before it runs its own compiler, which need not be there.
        let output = command.output().unwrap();
        let read = |extension| {
            let text = fs::read_to_string(Path::new(&base).with_extension(extension));
            text.unwrap_or_else(|error| panic!("{command:?}: {error}: {output:?}"))
        };
        let [c, h, json] = ["c", "h", "json"].map(read);
        Generated { c, h, json }
    }

    /// The hardened code, or the refusal.
    fn checked(&self, c: &str) -> Result<String, String> {
        let checked = hardened_source(c, &self.h, &self.json);
        checked.map_err(|error| error.to_string())
    }
}

#[test]
fn every_section_of_the_installed_compilers_is_known() {
    if support::no_compiler() {
        return;
    }
    for compiler in Compiler::all() {
        for backend in ["c", "multicore", "ispc", "opencl", "cuda", "hip"] {
            let generated = Generated::by(&compiler, backend, "runtime-known-sections");
            let checked = generated.checked(&generated.c);
            // No build supports ispc, so its own statements need not be known.
            let is_known = checked.is_ok()
                || backend == "ispc" && !checked.as_ref().is_err_and(|why| why.contains(UNKNOWN));
            assert!(is_known, "{} {backend}: {checked:?}", compiler.version());
        }
    }
}

/// The backend, a text of the runtime, what a newer compiler could write instead, and words of the refusal.
const CHANGES: [[&str; 4]; 7] = [
    [
        "opencl",
        " // XXX: hardcoded thread block size.",
        "",
        "gpu.h: not ensured that the grid of a copy fits in 32 bits: 0 places",
    ],
    [
        "c",
        "int32_t r = re - rb;",
        "int r = re - rb;",
        "transposition on the host counts with 64 bits: 1 places of this change are found, expected 2",
    ],
    [
        "c",
        "return x % y;",
        "return (x % y);",
        "scalar.h: not ensured that a remainder compares its divisor",
    ],
    [
        "multicore",
        "subtask_id % scheduler->num_threads",
        "subtask_id % (scheduler->num_threads - 1)",
        "scheduler.h: ",
    ],
    [
        "cuda",
        "// Start of gpu.h\n",
        "// Start of device.h\n",
        "gpu.h: 0 lines",
    ],
    ["c", "// End of copy.h\n", "", "copy.h"],
    [
        "hip",
        "// Start of copy.h\n",
        "// Start of copy.h\n\n",
        "copy.h: 269 lines that are not known (SHA-256 ",
    ],
];

#[test]
fn a_changed_runtime_is_refused_by_section() {
    if support::no_compiler() {
        return;
    }
    let compiler = support::compilers().pop().unwrap();
    for [backend, from, to, words] in CHANGES {
        let generated = Generated::by(&compiler, backend, "runtime-changed");
        assert!(generated.c.contains(from), "{backend}: {from}");
        let refusal = generated.checked(&generated.c.replace(from, to));
        let refusal = refusal
            .err()
            .unwrap_or_else(|| panic!("{from} is not missed"));
        assert!(refusal.contains(UNKNOWN), "{refusal}");
        assert!(refusal.contains(words), "no `{words}` in: {refusal}");
        let version = compiler.version().number.unwrap();
        let version = format!("{}.{}.{}", version.0, version.1, version.2);
        let (_, others) = refusal
            .split_once("The versions that have all other sections: ")
            .unwrap();
        assert!(
            others.split_whitespace().any(|other| other == version),
            "{refusal}"
        );
    }
}

/// A build by a compiler that changes its C code by a sed script.
fn build_of_tomorrow(name: &str, edit: &str) -> Build {
    let source = support::Source::new(&support::folder(name), PROGRAM);
    let real = support::compilers().pop().unwrap();
    let script = format!(
        "#!/bin/sh\n'{}' \"$@\" || exit $?\nfor last; do :; done\n[ ! -e \"$last.c\" ] || sed -i '{edit}' \"$last.c\"\n",
        real.program().display()
    );
    let path = source.folder.join("futhark-tomorrow");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    source
        .build(Backend::C)
        .compiler(Compiler::at(path).unwrap())
}

#[test]
fn an_unknown_runtime_is_built_where_that_is_allowed_with_warnings() {
    if support::no_compiler() {
        return;
    }
    let build = build_of_tomorrow("runtime-tomorrow", "s/int32_t r = re/int r = re/");
    let refusal = build.run().unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Layout);
    for word in [
        "copy.h",
        "`hardened(false)`",
        "FUTHARK_UNKNOWN_COMPILER=allow",
        "UPGRADING.md",
    ] {
        assert!(
            refusal.to_string().contains(word),
            "no `{word}` in: {refusal}"
        );
    }
    let plain = build.clone().hardened(false).run().unwrap();
    assert_eq!((plain.hardening(), plain.warnings()), (Hardening::Off, ""));

    let allowed = build.allow_unknown_compiler(true);
    // The second result is from the cache.
    for artifact in [allowed.run().unwrap(), allowed.run().unwrap()] {
        let warnings: Vec<_> = artifact.warnings().lines().collect();
        let [section, change] = warnings[..] else {
            panic!("{warnings:?}");
        };
        assert!(
            section.contains("copy.h: 268 lines that are not known"),
            "{section}"
        );
        assert!(
            change.contains("a transposition on the host counts with 64 bits"),
            "{change}"
        );
        assert_eq!(artifact.hardening(), Hardening::Partial);
        assert_eq!(artifact.open().unwrap().hardening(), Hardening::Partial);
    }
    // A choice without an effect is a part of the key, too, and no warning.
    let source = support::Source::new(&support::folder("runtime-known"), PROGRAM);
    let known = source.build(Backend::C);
    let allowed = known.clone().allow_unknown_compiler(true).run().unwrap();
    assert_eq!(
        (allowed.hardening(), allowed.warnings()),
        (Hardening::Full, "")
    );
    assert_ne!(known.run().unwrap().symbol(), allowed.symbol());
}

#[test]
fn what_keeps_the_process_alive_is_never_optional() {
    if support::no_compiler() {
        return;
    }
    let build = build_of_tomorrow("runtime-hooks", "s/\\bhost_alloc\\b/host_take/");
    for build in [
        build.clone().allow_unknown_compiler(true),
        build.hardened(false),
    ] {
        let refusal = build.run().unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Layout);
        let text = "`host_alloc`: the function is not defined";
        assert!(refusal.to_string().contains(text), "{refusal}");
    }
}
