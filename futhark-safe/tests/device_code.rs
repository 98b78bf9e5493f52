//! The source of device code, and files of compiled device code.

use std::path::Path;

use futhark_safe::dynamic::{Context, Library};
use futhark_safe::{Config, Error, ErrorKind};

use super::support::{self, each, each_on_opencl, fresh, says, sum};

/// Creates a context, and makes a call.
fn run(library: &Library, config: &Config) -> Result<(), Error> {
    support::works(&Context::new(library, config)?)
}

#[test]
fn dumped_code_is_loaded() {
    each_on_opencl(|library| {
        let file = fresh(&format!("device-code/{}.bin", library.program().version));
        run(library, &Config::new().dump_device_code(&file)).unwrap();
        let code = std::fs::read(&file).unwrap();
        assert!(!code.is_empty());

        let load = Config::new().load_device_code(&file);
        let (log, text) = support::log();
        run(library, &load.clone().logging(true).log_to(log)).unwrap();
        let text = text.text();
        assert!(text.contains("Loading OpenCL binary"), "{text}");
        assert!(!text.contains("Creating OpenCL program"), "{text}");

        // The code depends on the size of blocks.
        let error = run(library, &load.clone().block_size(32)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Load, "{error}");
        let dump = Config::new().block_size(32).dump_device_code(&file);
        run(library, &dump).unwrap();
        run(library, &load.clone().block_size(32)).unwrap();
        run(library, &Config::new().dump_device_code(&file)).unwrap();

        let refused = |why: &str| {
            let error = run(library, &load).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Load, "{why}: {error}");
            for part in [&*file.to_string_lossy(), "dump_device_code"] {
                assert!(error.to_string().contains(part), "{why}: {error}");
            }
        };
        for at in [0, code.len() / 2, code.len() - 1] {
            let mut bad = code.clone();
            bad[at] ^= 1;
            std::fs::write(&file, bad).unwrap();
            refused("a changed byte");
        }
        for bad in [
            &code[..0],
            &code[..code.len() - 1],
            &[&code[..], b"x"].concat(),
        ] {
            std::fs::write(&file, bad).unwrap();
            refused("another length");
        }
        std::fs::write(&file, &code).unwrap();
        let seal = std::fs::read_to_string(sum(&file)).unwrap();
        for bad in ["", "0000000000000000\n", &seal[..seal.len() - 2]] {
            std::fs::write(sum(&file), bad).unwrap();
            refused("another seal");
        }
        std::fs::remove_file(sum(&file)).unwrap();
        refused("no seal");
        // SAFETY: the code that this program dumped, on the same device.
        let unchecked = unsafe { Config::new().load_device_code_unchecked(&file) };
        run(library, &unchecked).unwrap();
        std::fs::write(sum(&file), &seal).unwrap();
        run(library, &load).unwrap();
    });
}

#[test]
fn code_can_be_cached_and_dumped() {
    each_on_opencl(|library| {
        let version = &library.program().version;
        let [cache, dump] = ["c", "d"].map(|end| fresh(&format!("device-code/{version}.{end}")));
        let with = |cache: &Path, dump: &Path| {
            run(
                library,
                &Config::new().cache_file(cache).dump_device_code(dump),
            )
            .unwrap();
        };
        for _ in 0..2 {
            with(&cache, &dump);
            with(&dump, &cache);
        }
        with(&cache, &dump);
        let load = Config::new().cache_file(&cache).load_device_code(&dump);
        run(library, &load).unwrap();
        // One file for both.
        with(&dump, &dump);
    });
}

#[test]
fn missing_files_of_device_code_are_errors() {
    each(|library| {
        // Other backends refuse the setting.
        let kind = match library.device_source().unwrap() {
            Some(_) => ErrorKind::Load,
            None => ErrorKind::InvalidArgument,
        };
        for path in ["/nonexistent/code", "/", "/dev/null", "/dev/zero"] {
            let error = run(library, &Config::new().load_device_code(path)).unwrap_err();
            assert_eq!(error.kind(), kind, "{path}: {error}");
            let names_it = error.to_string().contains(path);
            assert!(names_it || kind != ErrorKind::Load, "{error}");
        }
        let fifo = support::fifo("device-code/fifo");
        let error = run(library, &Config::new().load_device_code(&fifo)).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        let error = run(library, &Config::new().dump_device_code(&fifo)).unwrap_err();
        assert!(!error.to_string().is_empty());
        std::fs::remove_file(&fifo).unwrap();
    });
}

#[test]
fn device_code_that_cannot_be_written_is_an_error() {
    each(|library| {
        let has_code = library.device_source().unwrap().is_some();
        for path in ["/nonexistent/code", "/", "/dev/full"] {
            let error = run(library, &Config::new().dump_device_code(path)).unwrap_err();
            if has_code {
                assert_eq!(error.kind(), ErrorKind::Start, "{path}: {error}");
                assert!(error.to_string().contains(path), "{error}");
            } else {
                assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{path}: {error}");
            }
        }
        run(library, &Config::new()).unwrap();
    });
}

#[test]
fn device_source_can_be_replaced() {
    each_on_opencl(|library| {
        let source = library.device_source().unwrap().unwrap();
        assert!(source.contains("FUTHARK_KERNEL"), "{} bytes", source.len());
        // SAFETY: the same kernels.
        let same = unsafe { Config::new().device_source(format!("{source}\n// more\n")) };
        run(library, &same).unwrap();
        // SAFETY: does not compile, so nothing runs.
        let broken = unsafe { Config::new().device_source("this is not OpenCL C;") };
        let words = "Compilation of OpenCL program failed";
        says(run(library, &broken), ErrorKind::Start, words);
        run(library, &Config::new()).unwrap();
    });
}
