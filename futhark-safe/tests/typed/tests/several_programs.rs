//! Several programs and backends in one binary, and programs of two crates with one name.

use futhark_safe::{Backend, Config};
use futhark_safe_twin::twin as other_twin;
use futhark_safe_typed_tests::{first, twin};
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _};

#[test]
fn programs_with_equal_names_are_independent() {
    for backend in [Backend::C, Backend::Multicore] {
        let config = Config::new().backend(backend);
        let a = first::Context::new(&config).unwrap();
        let b = twin::Context::new(&config).unwrap();
        let c = other_twin::Context::new(&config).unwrap();
        assert_eq!(a.backend(), backend);
        assert_eq!(a.entry().answer(5).unwrap(), 6);
        assert_eq!(b.entry().answer(5).unwrap(), 7);
        assert_eq!(c.entry().answer(5).unwrap(), 1005);
        let xs: Vec<i64> = (0..1000).collect();
        assert_eq!(a.entry().total(&a.array(&xs).unwrap()).unwrap(), 499_500);
        assert_eq!(b.entry().total(&b.array(&xs).unwrap()).unwrap(), 999_000);
        let same = c.entry().make(3).unwrap();
        assert_eq!(c.entry().take(&same).unwrap(), 3000);
    }
}

#[test]
fn two_backends_share_a_binary() {
    let c = first::Context::new(&Config::new().backend(Backend::C)).unwrap();
    let multicore = first::Context::new(&Config::new().backend(Backend::Multicore)).unwrap();
    let xs: Vec<i64> = (0..100_000).collect();
    let (a, b) = (c.array(&xs).unwrap(), multicore.array(&xs).unwrap());
    assert_eq!(
        c.entry().total(&a).unwrap(),
        multicore.entry().total(&b).unwrap()
    );
    // The array of the other context has the same type, so only the call detects this.
    let error = c.entry().total(&b).unwrap_err();
    assert_eq!(error.kind(), futhark_safe::ErrorKind::WrongContext);
}

#[test]
fn a_backend_without_code_is_an_error_that_names_it() {
    let error = first::Context::new(&Config::new().backend(Backend::Cuda)).unwrap_err();
    assert_eq!(error.kind(), futhark_safe::ErrorKind::Unsupported);
    assert!(
        error.to_string().contains("cuda") && error.to_string().contains("multicore"),
        "{error}"
    );
}

#[test]
fn external_names_end_with_that_of_the_table() {
    // The build scripts wrote target/PROFILE/build/*/out/futhark/*/lib*.a.
    let deps = std::env::current_exe().unwrap();
    let build = deps.ancestors().nth(2).unwrap().join("build");
    let mut seen = 0;
    for package in std::fs::read_dir(build).unwrap().map(|e| e.unwrap().path()) {
        let ours = ["futhark-safe-typed-tests", "futhark-safe-twin"];
        let package_name = package.to_string_lossy();
        if !ours.iter().any(|name| package_name.contains(name)) {
            continue;
        }
        let out = package.join("out/futhark");
        let Ok(programs) = std::fs::read_dir(out) else {
            continue;
        };
        for file in programs.flat_map(|p| std::fs::read_dir(p.unwrap().path()).unwrap()) {
            let file = file.unwrap().path();
            if file.extension().is_none_or(|e| e != "a") {
                continue;
            }
            let bytes = std::fs::read(&file).unwrap();
            let archive = ArchiveFile::parse(&*bytes).unwrap();
            let member = archive.members().next().unwrap().unwrap();
            let object = object::File::parse(member.data(&*bytes).unwrap()).unwrap();
            let global =
                |symbol: &object::Symbol<'_, '_>| symbol.is_definition() && symbol.is_global();
            let symbols: Vec<&str> = object
                .symbols()
                .filter(global)
                .map(|symbol| symbol.name().unwrap())
                .collect();
            let name = file
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .strip_prefix("lib")
                .unwrap()
                .to_owned();
            assert!(symbols.contains(&&*name), "{}", file.display());
            for symbol in symbols {
                assert!(symbol.ends_with(&name), "{symbol} in {}", file.display());
            }
            seen += 1;
        }
    }
    // At least basics, names and opaques for three backends; first, twin and the other twin for two.
    assert!(seen >= 15, "{seen} libraries");
}
