//! Settings, devices and files of device code on cuda and hip, on the emulated device.

mod support;

use futhark_safe::dynamic::{Arg, Context, Library, Scalar, Value};
use futhark_safe::{Backend, Config, Device, ErrorKind, Result};

const PROGRAM: &str = "\
entry total (xs: []i32): i32 = i32.sum xs
entry checked (xs: []i32): i32 = i32.sum (map (\\x -> xs[x]) xs)
";

fn library(backend: Backend) -> Library {
    support::library("settings.fut", PROGRAM, backend)
}

fn run(library: &Library, config: &Config) -> Result<Device> {
    let context = Context::new(library, config)?;
    let xs = context.array(&[1i32, 2, 3])?;
    assert_eq!(xs.to_vec::<i32>()?, [1, 2, 3]);
    let memory = context.memory()?;
    assert!(memory.device >= 12, "{memory:?}");
    context.device()
}

#[test]
fn devices_are_described() {
    support::on_cuda_and_hip("devices=2", |backend| {
        let library = library(backend);
        let devices = library.devices().unwrap();
        assert_eq!(devices.len(), 2, "{devices:?}");
        for (i, device) in devices.iter().enumerate() {
            assert!(device.name.ends_with(&format!("device {i}")), "{device}");
            assert_eq!(device.memory, Some(1 << 30), "{device}");
            let used = run(&library, &Config::new().device_number(i)).unwrap();
            assert_eq!(used, *device);
        }
        // Both devices at the same time.
        let contexts: Vec<Context> = (0..2)
            .map(|i| Context::new(&library, &Config::new().device_number(i)).unwrap())
            .collect();
        std::thread::scope(|scope| {
            for (i, context) in contexts.iter().enumerate() {
                let device = &devices[i];
                scope.spawn(move || {
                    let xs = Value::from(context.array(&[1i32, 2, 3]).unwrap());
                    let sum = context.call("total", vec![Arg::Borrow(&xs)]).unwrap();
                    assert!(matches!(sum[0], Value::Scalar(Scalar::I32(6))));
                    assert_eq!(context.device().unwrap(), *device);
                });
            }
        });
        for missing in ["#2", "no such device"] {
            let error = run(&library, &Config::new().device(missing)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Start, "{missing}: {error}");
        }
        assert!(
            library
                .device_source()
                .unwrap()
                .unwrap()
                .contains("__global__")
        );
    });
}

#[test]
fn missing_devices_are_errors() {
    support::on_cuda_and_hip("devices=0", |backend| {
        let library = library(backend);
        let error = library.devices().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Load, "{error}");
        let error = run(&library, &Config::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Load, "{error}");
    });
}

#[test]
fn sizes_and_options_are_applied_or_refused() {
    support::on_cuda_and_hip("", |backend| {
        let library = library(backend);
        let sizes: [fn(Config, u32) -> Config; 7] = [
            Config::block_size,
            Config::grid_size,
            Config::tile_size,
            Config::reg_tile_size,
            Config::registers,
            Config::cache_size,
            Config::threshold,
        ];
        for set in sizes {
            for n in [0, 1, 64, i32::MAX as u32] {
                if let Err(error) = run(&library, &set(Config::new(), n)) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
        run(&library, &Config::new().unified_memory(true)).unwrap();
        // SAFETY: the device code does not have this name, and no compiler knows such an option.
        let with = |option: &str| unsafe { Config::new().build_option(option) };
        run(&library, &with("-DSOME=1")).unwrap();
        let unknown = run(&library, &with("--no-such-option"));
        // The emulated compiler of HIP ignores unknown options.
        if backend == Backend::Cuda {
            let error = unknown.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Start, "{error}");
        }
        for refused in [Config::new().platform("CUDA"), Config::new().num_threads(2)] {
            let error = run(&library, &refused).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        }
    });
}

#[test]
fn ptx_is_dumped_and_loaded() {
    if !support::in_a_process_with_the_device("") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("code.ptx");
    let library_ = library(Backend::Cuda);
    run(&library_, &Config::new().dump_device_code(&file)).unwrap();
    let load = Config::new().load_device_code(&file);
    run(&library_, &load).unwrap();
    let code = std::fs::read(&file).unwrap();
    std::fs::write(&file, &code[..code.len() - 1]).unwrap();
    let error = run(&library_, &load).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Load, "{error}");
    std::fs::remove_file(&file).unwrap();
    let error = run(&library_, &load).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Load, "{error}");
    // The driver refuses what is not PTX.
    std::fs::write(&file, "not PTX").unwrap();
    // SAFETY: the driver loads no code from this file.
    let unchecked = unsafe { Config::new().load_device_code_unchecked(&file) };
    let error = run(&library_, &unchecked).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Start, "{error}");
    let error = run(&library(Backend::Hip), &load).unwrap_err();
    assert_ne!(error.kind(), ErrorKind::Program, "{error}");
}

/// The state is filled by kernels, which take long on simulated devices.
#[test]
fn only_failed_kernels_reset_the_state_on_the_device() {
    support::on_cuda_and_hip("", |backend| {
        let library = library(backend);
        let context = Context::new(&library, &Config::new().profiling(true)).unwrap();
        let fills = || context.report().unwrap().matches("replicate").count();
        let xs = Value::from(context.array(&[1i32, 2, 3]).unwrap());
        let Value::Array(array) = &xs else {
            unreachable!("it was created as an array")
        };
        let total = || context.call("total", vec![Arg::Borrow(&xs)]).unwrap();
        assert!(fills() > 0, "creating the context fills the state");
        total();
        let error = array.index_checked_by_c(&[3]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert_eq!(fills(), 0, "after a refused index");
        let error = context.call("checked", vec![Arg::Borrow(&xs)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Program, "{error}");
        assert!(fills() > 0, "after a failed check of a kernel");
        assert!(matches!(total()[..], [Value::Scalar(Scalar::I32(6))]));
    });
}
