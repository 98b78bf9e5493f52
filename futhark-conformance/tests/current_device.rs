//! Calls on cuda and hip leave the calling thread's context or device as they found it,
//! and work on any thread: on the emulated device, whose current contexts are those of
//! real drivers.

use futhark_conformance::emulated::Emulated;
use futhark_safe::compile::Build;
use futhark_safe::dynamic::{Arg, Context, Library, Value};
use futhark_safe::{Backend, Config, Kind};
use std::ffi::c_void;
use std::path::Path;
use std::process::Command;
use std::ptr;

const PROGRAM: &str = "\
entry total (xs: []i32): i32 = i32.sum xs
entry double (xs: []i32): []i32 = map (* 2) xs
entry checked (xs: []i32) (i: i64): i32 = i32.sum (map (\\x -> x + xs[i]) xs)
entry unchecked (xs: []i32) (i: i64): i32 = #[unsafe] i32.sum (map (\\x -> x + xs[i]) xs)
";

#[test]
fn cuda_leaves_the_current_context_alone() {
    if in_a_process_with_the_device("cuda_leaves_the_current_context_alone", "") {
        with_foreign_contexts();
    }
}

#[test]
fn hip_leaves_the_current_device_alone() {
    if in_a_process_with_the_device("hip_leaves_the_current_device_alone", "devices=3") {
        with_foreign_devices();
    }
}

fn with_foreign_contexts() {
    let driver = Driver::open();
    let init: unsafe extern "C" fn(u32) -> i32 = driver.function("cuInit");
    let create: unsafe extern "C" fn(*mut *mut c_void, u32, i32) -> i32 =
        driver.function("cuCtxCreate_v2");
    let get: unsafe extern "C" fn(*mut *mut c_void) -> i32 = driver.function("cuCtxGetCurrent");
    let current = || {
        let mut context = ptr::null_mut();
        // SAFETY: the driver writes one pointer.
        assert_eq!(unsafe { get(&raw mut context) }, 0);
        context
    };
    let mut foreign = ptr::null_mut();
    // SAFETY: no pointer is involved.
    assert_eq!(unsafe { init(0) }, 0);
    // SAFETY: the driver writes one pointer.
    assert_eq!(unsafe { create(&raw mut foreign, 0, 0) }, 0);
    use_everything(Backend::Cuda, &Config::new(), &|| {
        assert_eq!(current(), foreign);
    });
    // A thread without any context, on which everything is used and freed.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let get: unsafe extern "C" fn(*mut *mut c_void) -> i32 =
                driver.function("cuCtxGetCurrent");
            use_everything(Backend::Cuda, &Config::new(), &|| {
                let mut context = ptr::null_mut();
                // SAFETY: the driver writes one pointer.
                assert_eq!(unsafe { get(&raw mut context) }, 0);
                assert!(context.is_null());
            });
        });
        thread.join().unwrap();
    });
}

fn with_foreign_devices() {
    let driver = Driver::open();
    let set: unsafe extern "C" fn(i32) -> i32 = driver.function("hipSetDevice");
    let get: unsafe extern "C" fn(*mut i32) -> i32 = driver.function("hipGetDevice");
    // SAFETY: no pointer is involved.
    assert_eq!(unsafe { set(2) }, 0);
    use_everything(Backend::Hip, &Config::new().device("#1"), &|| {
        let mut device = -1;
        // SAFETY: the driver writes one number.
        assert_eq!(unsafe { get(&raw mut device) }, 0);
        assert_eq!(device, 2);
    });
}

/// Does all kinds of things, and `check`s after each.
fn use_everything(backend: Backend, config: &Config, check: &dyn Fn()) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("current.fut");
    std::fs::write(&program, PROGRAM).unwrap();
    let build = Build::new(&program, backend)
        .out_dir(folder.path())
        .fast(true);
    let library = Library::build(&build).unwrap();
    check();
    let context = Context::new(&library, config).unwrap();
    check();
    let array: Value = context.array_of(&[4], &[1i32, 2, 3, 4]).unwrap().into();
    check();
    let doubled = context.call("double", vec![Arg::Borrow(&array)]).unwrap();
    check();
    let index = |i: i64| Value::from(i);
    let at = |entry: &str, i| {
        let i = index(i);
        let result = context.call(entry, vec![Arg::Borrow(&array), Arg::Borrow(&i)]);
        check();
        result
    };
    assert!(at("checked", 2).is_ok());
    assert_eq!(at("checked", 9).unwrap_err().kind(), Kind::Program);
    // Values of another thread, freed there.
    std::thread::scope(|scope| {
        let context = &context;
        scope.spawn(move || {
            let result = context.call("total", doubled.iter().map(Arg::Borrow).collect());
            assert!(result.is_ok(), "{result:?}");
            drop(doubled);
        });
    });
    check();
    // The kernel fails, the device with it, and the call ends by a jump.
    assert_eq!(
        at("unchecked", 1 << 40).unwrap_err().kind(),
        Kind::ContextLost
    );
    drop((array, context));
    check();
    let context = Context::new(&library, config).unwrap();
    check();
    assert!(context.close().is_ok());
    check();
}

/// Whether this is the process in which the driver is the emulated one; if it is not, the
/// test is run in one that is.
fn in_a_process_with_the_device(test: &str, settings: &str) -> bool {
    if std::env::var_os("FUTHARK_LIBCUDA").is_some_and(|file| is_emulated(Path::new(&file))) {
        return true;
    }
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated");
    let emulated = Emulated::build(&kept).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .envs(emulated.environment(settings))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    false
}

fn is_emulated(file: &Path) -> bool {
    file.ends_with("libfuthark-emulated.so")
}

/// The driver, as any other library in a process would use it.
struct Driver(libloading::Library);

impl Driver {
    fn open() -> Driver {
        let file = std::env::var_os("FUTHARK_LIBCUDA").unwrap();
        // SAFETY: our own library, which does nothing when it is loaded.
        Driver(unsafe { libloading::Library::new(file) }.unwrap())
    }

    fn function<T: Copy>(&self, name: &str) -> T {
        // SAFETY: the callers' types are those of `emulated/src/{cuda,hip}.cpp`.
        *unsafe { self.0.get::<T>(name.as_bytes()) }.unwrap()
    }
}
