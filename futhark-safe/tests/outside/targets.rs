//! A user's package for other targets: the same output as on this machine, where the tools of the target are installed.

use std::path::Path;
use std::process::Command;

use object::{Object as _, ObjectSymbol as _};

use super::package::{BUILD, MAIN, Package, compiler, full};

/// A target, and what compiles and runs binaries for it.
struct Target {
    triple: &'static str,
    cc: &'static str,
    /// The program that runs binaries, and its arguments; `false` if none runs here.
    runner: &'static [&'static str],
    install: &'static str,
    rustflags: &'static str,
}

/// A static binary with glibc.
const STATIC: Target = Target {
    triple: "x86_64-unknown-linux-gnu",
    cc: "gcc",
    runner: &["env"],
    install: "gcc and libc6-dev",
    rustflags: "-C target-feature=+crt-static",
};

const DYNAMIC: Target = Target {
    rustflags: "-C target-feature=-crt-static",
    ..STATIC
};

/// A static binary. A dynamic one needs a system with musl, which has its own `libgcc_s.so`.
const MUSL: Target = Target {
    triple: "x86_64-unknown-linux-musl",
    cc: "musl-gcc",
    runner: &["env"],
    install: "musl-tools",
    rustflags: "",
};

const AARCH64: Target = Target {
    triple: "aarch64-unknown-linux-gnu",
    cc: "aarch64-linux-gnu-gcc",
    runner: &["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    install: "gcc-aarch64-linux-gnu and qemu-user",
    rustflags: "",
};

const STATIC_AARCH64: Target = Target {
    rustflags: "-C target-feature=+crt-static",
    ..AARCH64
};

const WINDOWS: Target = Target {
    triple: "x86_64-pc-windows-gnu",
    cc: "x86_64-w64-mingw32-gcc",
    runner: &["wine"],
    install: "gcc-mingw-w64-x86-64, wine64 and wine",
    rustflags: "",
};

/// Its compiler is a script that runs `zig cc`.
const MACOS: Target = Target {
    triple: "aarch64-apple-darwin",
    cc: "zig",
    runner: &["false"],
    install: "zig (PyPI: ziglang)",
    rustflags: "",
};

const MACOS_ON_INTEL: Target = Target {
    triple: "x86_64-apple-darwin",
    ..MACOS
};

/// A second program, whose entry points use libm, and fail: in the call, on a worker thread, and for lack of memory.
const MORE: &str = "
type point = {x: f64, tag: #near | #far i32}
entry logs (x: f64) : f64 = f64.log x + f64.lgamma x + f64.erf x
entry points (n: i64) : []point =
  map (\\i -> {x = f64.i64 i, tag = if i < 2 then #near else #far (i32.i64 i)}) (iota n)
entry far (ps: []point) : i32 =
  i32.sum (map (\\p -> match p.tag case #near -> 0 case #far i -> i + i32.f64 p.x) ps)
entry ones (n: i64) : []i64 = replicate n 1
entry positive (x: i64) : i64 = assert (x > 0) x
entry gather (xs: []i64) (is: []i64) : []i64 = map (\\i -> xs[i]) is
entry least (x: i64) : i64 = i64.lowest / x
";

const PRINTS: &str = r#"
    let more = more::Context::new(&more::Config::new().backend(ctx.backend()))?;
    println!("{:.9}", more.entry().logs(3.0)?);
    let points = more.entry().points(1000)?;
    println!("{}", more.entry().far(&points)?);
    // The first run keeps it for those of other targets and backends.
    if !std::path::Path::new("checkpoint").exists() {
        std::fs::write("checkpoint", points.store()?.to_bytes()?).expect("the folder is writable");
    }
    let saved = std::fs::read("checkpoint").expect("the file is readable");
    let saved = futhark_safe::Untrusted::from_bytes(&saved)?.accept()?;
    println!("{}", more.entry().far(&more.restore::<more::ArrayPoint>(&saved)?)?);
    for n in [-3, 1 << 50, 3] {
        println!("{:?}", more.entry().ones(n).and_then(|ones| ones.to_vec()));
    }
    println!("{:?}", more.entry().positive(-1));
    let few = more.array(&[1i64, 2, 3])?;
    let many = more.array(&vec![7i64; 100_000])?;
    println!("{:?}", more.entry().gather(&few, &many).map(|_| ()));
    let xs ="#;

/// Ends the process without the hardening.
const LAST: &str = r#"    println!("{:?}", more.entry().least(-1));
    Ok(())
"#;

fn has_std(triple: &str) -> bool {
    Command::new("rustc")
        .args(["--print", "target-libdir", "--target", triple])
        .output()
        .is_ok_and(|found| Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_dir())
}

/// Builds the package for the target, and compares its output with that on this machine, for each host backend.
/// Skipped without `FUTHARK_TESTS_FULL`, and where the tools of the target are missing.
fn computes_alike(target: &Target) {
    let Target {
        triple,
        cc,
        runner,
        install,
        rustflags,
    } = target;
    if !full() || compiler().is_none() {
        return;
    }
    let runs = |tool: &&str| Command::new(tool).arg("--version").output().is_ok();
    if !has_std(triple) || !runs(cc) || !runs(&runner[0]) {
        return eprintln!("skipped: needs `rustup target add {triple}` and {install}");
    }
    let name = format!("outside-{triple}");
    let package = Package::new(&name);
    package.write("more.fut", MORE);
    let script = BUILD.replace(
        "    Program::new(\"stats.fut\")",
        "    Program::new(\"more.fut\").backends([Backend::OpenCl, Backend::Multicore, Backend::C]).compile()?;\n    \
         Program::new(\"stats.fut\")",
    );
    package.write("build.rs", &script);
    let mut backends = vec!["c", "multicore", "opencl"];
    let is_macos = triple.ends_with("apple-darwin");
    if is_macos {
        // Its headers are a part of Xcode.
        backends.pop();
        package.write("build.rs", &script.replace("Backend::OpenCl, ", ""));
    }
    let main = MAIN.replace("\n    let xs =", PRINTS);
    let main = main.replace(
        "include_program!(stats);",
        "include_program!(stats);\nfuthark_safe::include_program!(more);",
    );
    package.write("src/main.rs", &main.replace("    Ok(())\n", LAST));
    let cc = match *cc {
        "zig" => zig(&package.folder, triple),
        cc => cc.to_owned(),
    };
    let variable = triple.to_uppercase().replace('-', "_");
    let prefix = Package::target().with_file_name("wine");
    let environment = [
        (format!("CC_{}", triple.replace('-', "_")), cc.clone()),
        (format!("CARGO_TARGET_{variable}_RUNNER"), runner.join(" ")),
        ("WINEPREFIX".to_owned(), prefix.display().to_string()),
        ("WINEDEBUG".to_owned(), "-all".to_owned()),
        ("SDKROOT".to_owned(), "/nonexistent".to_owned()),
        (format!("CARGO_TARGET_{variable}_LINKER"), cc.clone()),
    ];
    let environment = environment.iter().map(|(name, value)| (&**name, &**value));
    let mut environment: Vec<(&str, &str)> = environment.collect();
    if *triple == MUSL.triple {
        // Rust links the C library that it brings.
        environment.pop();
    }
    let host = environment.clone();
    environment.push(("RUSTFLAGS", rustflags));
    package.succeeds("build", &["--target", triple], &environment);
    let folder = Package::target().join(triple).join("debug");
    let binary = match *triple == WINDOWS.triple {
        true => folder.join(name + ".exe"),
        false => folder.join(name),
    };
    names_are_unique(&std::fs::read(binary).unwrap(), &backends);
    if *triple == WINDOWS.triple {
        random_numbers_of_windows(&cc, &folder);
    }
    if is_macos {
        return;
    }
    let _ = std::fs::remove_file(package.folder.join("checkpoint"));
    for backend in ["c", "multicore"] {
        let run = |target: &[&str], environment| {
            let printed =
                package.succeeds("run", &[target, &["--", backend]].concat(), environment);
            printed.replace('\r', "")
        };
        let there = run(&["--target", triple], &environment);
        assert!(there.contains("[0.125, 0.25, 0.625]"), "{there}");
        assert_eq!(there, run(&[], &host), "{triple} {backend}");
    }
}

/// The binary contains functions of all backends, each under a name that ends with that of its table.
fn names_are_unique(binary: &[u8], backends: &[&str]) {
    let file = object::File::parse(binary).unwrap();
    let names = file.symbols().filter_map(|symbol| symbol.name().ok());
    // On macOS, names of C begin with an underscore.
    let names = names.map(|name| name.strip_prefix('_').unwrap_or(name));
    let names: Vec<&str> = names
        .filter(|name| name.starts_with("futhark_context_"))
        .collect();
    for backend in backends {
        let table = format!("_fut_{backend}_");
        assert!(
            names.iter().any(|name| name.contains(&table)),
            "{backend}: {names:?}"
        );
    }
    assert!(names.iter().all(|name| name.contains("_fut_")), "{names:?}");
}

/// Writes a script that compiles and links for macOS.
fn zig(folder: &Path, triple: &str) -> String {
    use std::os::unix::fs::PermissionsExt;

    let script = folder.join("zig-cc");
    let target = triple.replace("apple-darwin", "macos");
    let text = format!("#!/bin/sh\nexec zig cc -target {target} \"$@\"\n");
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    script.display().to_string()
}

/// Makes the library of Windows from which Rust's standard library gets random numbers, and which old versions of
/// Wine lack.
fn random_numbers_of_windows(cc: &str, folder: &Path) {
    let source = folder.join("random.c");
    let text = "__declspec(dllimport) int SystemFunction036(void *, unsigned);\n\
         __declspec(dllexport) int ProcessPrng(void *to, unsigned long long n) { return SystemFunction036(to, n); }\n";
    std::fs::write(&source, text).unwrap();
    let library = folder.join("bcryptprimitives.dll");
    let mut command = Command::new(cc);
    command.arg("-shared").arg(&source).arg("-o").arg(&library);
    assert!(command.arg("-ladvapi32").status().unwrap().success());
}

#[test]
fn a_static_binary_of_musl_computes_alike() {
    computes_alike(&MUSL);
}

#[test]
fn a_static_binary_of_glibc_computes_alike() {
    computes_alike(&STATIC);
}

#[test]
fn a_dynamic_binary_of_glibc_computes_alike() {
    computes_alike(&DYNAMIC);
}

#[test]
fn a_binary_for_aarch64_computes_alike() {
    computes_alike(&AARCH64);
}

#[test]
fn a_static_binary_for_aarch64_computes_alike() {
    computes_alike(&STATIC_AARCH64);
}

#[test]
fn a_binary_for_windows_computes_alike() {
    computes_alike(&WINDOWS);
}

#[test]
fn binaries_for_macos_are_linked() {
    computes_alike(&MACOS);
    computes_alike(&MACOS_ON_INTEL);
}

/// cargo-zigbuild names the C compiler and the linker itself.
#[test]
fn cargo_zigbuild_builds_a_package() {
    if !full() || compiler().is_none() {
        return;
    }
    let has_zigbuild = Command::new("cargo-zigbuild").output().is_ok();
    if !has_zigbuild || !has_std(AARCH64.triple) {
        return eprintln!(
            "skipped: needs cargo-zigbuild (PyPI) and `rustup target add aarch64-unknown-linux-gnu`"
        );
    }
    let package = Package::new("outside-zigbuild");
    package.succeeds("zigbuild", &["--target", AARCH64.triple], &[]);
    let binary = Package::target().join("aarch64-unknown-linux-gnu/debug/outside-zigbuild");
    let binary = std::fs::read(binary).unwrap();
    let file = object::File::parse(&*binary).unwrap();
    assert_eq!(file.architecture(), object::Architecture::Aarch64);
}
