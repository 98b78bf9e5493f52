//! Calls on cuda and hip work on any thread and restore its current context or device. The
//! tests run on the emulated device, which tracks the current context like a real driver.

mod support;

use futhark_safe::compile::Build;
use futhark_safe::dynamic::{Arg, Context, Library, Value};
use futhark_safe::{Backend, Config, ErrorKind};
use futhark_sys::table::SYMBOL;
use std::ffi::c_void;
use std::path::Path;
use std::ptr;

const PROGRAM: &str = "\
entry total (xs: []i32): i32 = i32.sum xs
entry double (xs: []i32): []i32 = map (* 2) xs
entry checked (xs: []i32) (i: i64): i32 = i32.sum (map (\\x -> x + xs[i]) xs)
entry late (xs: []i32): []i32 = map (\\x -> xs[x]) xs
entry unchecked (xs: []i32) (i: i64): i32 = #[unsafe] i32.sum (map (\\x -> x + xs[i]) xs)
";

/// The evaluation of its constant fails after the first kernels have run.
const FAILING: &str = "\
def table: []i32 = map (\\i -> 100 / (i32.i64 i - 3)) (iota 10)
entry at (i: i64): i32 = table[i]
";

#[test]
fn cuda_restores_the_current_context() {
    if support::in_a_process_with_the_device("") {
        with_foreign_contexts();
    }
}

#[test]
fn hip_restores_the_current_device() {
    if support::in_a_process_with_the_device("devices=3") {
        with_foreign_devices();
    }
}

#[test]
fn a_failed_hip_set_device_is_an_error() {
    // The transfer makes the fourth call of hipSetDevice. The test makes the first; creating the
    // context makes the next two, which set and restore the device.
    let settings = "devices=3,fail-set-device=4";
    if !support::in_a_process_with_the_device(settings) {
        return;
    }
    let driver = Driver::open();
    driver.set_device(2);
    let library = Library::build(&build(Backend::Hip, "current", PROGRAM)).unwrap();
    let context = Context::new(&library, &Config::new().device("#1")).unwrap();
    let error = context.array(&[1i32, 2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextLost);
    let words = "cannot make the context's device current";
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(driver.device(), 2);
}

fn with_foreign_contexts() {
    let driver = Driver::open();
    let foreign = driver.create_context();
    use_everything(Backend::Cuda, &Config::new(), &|| {
        assert_eq!(driver.context(), foreign);
    });
    lend(Backend::Cuda, &|| {
        let own = driver.context();
        assert!(own != foreign && !own.is_null());
        // As a failing call does.
        driver.push(own);
    });
    assert_eq!(driver.context(), foreign);
    // A thread without a current context.
    std::thread::scope(|scope| {
        let check = || assert!(driver.context().is_null());
        let thread = scope.spawn(move || use_everything(Backend::Cuda, &Config::new(), &check));
        thread.join().unwrap();
    });
}

fn with_foreign_devices() {
    let driver = Driver::open();
    driver.set_device(2);
    use_everything(Backend::Hip, &Config::new().device("#1"), &|| {
        assert_eq!(driver.device(), 2);
    });
    lend(Backend::Hip, &|| assert_eq!(driver.device(), 0));
    assert_eq!(driver.device(), 2);
}

/// Uses a context in many ways and calls `check` after each.
fn use_everything(backend: Backend, config: &Config, check: &dyn Fn()) {
    let library = Library::build(&build(backend, "current", PROGRAM)).unwrap();
    check();
    let context = Context::new(&library, config).unwrap();
    check();
    let array: Value = context.array(&[1i32, 2, 3, 4]).unwrap().into();
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
    assert_eq!(at("checked", 9).unwrap_err().kind(), ErrorKind::Program);
    // Another thread frees the values.
    std::thread::scope(|scope| {
        let context = &context;
        scope.spawn(move || {
            let result = context.call("total", doubled.iter().map(Arg::Borrow).collect());
            assert!(result.is_ok(), "{result:?}");
            drop(doubled);
        });
    });
    check();
    // A failure that no call has reported when the context is freed.
    let other = Context::new(&library, config).unwrap();
    let xs: Value = other.array(&[0i32, 9]).unwrap().into();
    let late = other.call("late", vec![Arg::Borrow(&xs)]);
    check();
    drop((late.unwrap(), xs, other));
    check();
    let failing = Library::build(&build(backend, "failing", FAILING)).unwrap();
    let error = Context::new(&failing, config).unwrap_err();
    assert!(error.to_string().contains("division by zero"), "{error}");
    check();
    // The kernel breaks the device, and the call ends by a jump.
    assert_eq!(
        at("unchecked", 1 << 40).unwrap_err().kind(),
        ErrorKind::ContextLost
    );
    drop((array, context));
    check();
    let context = Context::new(&library, config).unwrap();
    check();
    assert!(context.close().is_ok());
    check();
}

/// Lends a context to plain C calls, here `calls`, which expect its device to be current.
fn lend(backend: Backend, calls: &dyn Fn()) {
    let artifact = build(backend, "current", PROGRAM).run().unwrap();
    // SAFETY: built just now.
    let table = unsafe { futhark_sys::load::open(&artifact.library(), SYMBOL) }.unwrap();
    let table = table.raw();
    let mut status = -1;
    // SAFETY: no settings, and a valid pointer for the status.
    let context = unsafe { table.context_new.unwrap()(ptr::null(), 0, &raw mut status) };
    assert_eq!(status, 0);
    let mut lent: *mut c_void = ptr::null_mut();
    let out = [(&raw mut lent).cast::<c_void>()];
    // SAFETY: the context lives, and `out` has a valid pointer for one pointer.
    let status = unsafe { table.enter.unwrap()(table.lend, 0, context, out.as_ptr(), ptr::null()) };
    assert_eq!(status, 0);
    calls();
    // SAFETY: the context was lent on this thread.
    let status = unsafe { table.take_back.unwrap()(context, 0) };
    assert_eq!(status, 0);
    // SAFETY: the context is not used again, and has no values.
    unsafe { table.context_free.unwrap()(context) };
}

/// A build at a fixed place, where later tests and runs find it.
fn build(backend: Backend, name: &str, program: &str) -> Build {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("current_device");
    let source = support::source(&folder, &format!("{name}.fut"), program);
    Build::new(&source, backend).out_dir(folder).fast(true)
}

/// The driver, called directly, as by another library in the process.
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

    /// Makes a context of CUDA current.
    fn create_context(&self) -> *mut c_void {
        let init: unsafe extern "C" fn(u32) -> i32 = self.function("cuInit");
        let create: unsafe extern "C" fn(*mut *mut c_void, u32, i32) -> i32 =
            self.function("cuCtxCreate_v2");
        // SAFETY: no pointer is involved.
        assert_eq!(unsafe { init(0) }, 0);
        let mut context = ptr::null_mut();
        // SAFETY: the driver writes one pointer.
        assert_eq!(unsafe { create(&raw mut context, 0, 0) }, 0);
        context
    }

    /// Pushes a context of CUDA that lives.
    fn push(&self, context: *mut c_void) {
        let push: unsafe extern "C" fn(*mut c_void) -> i32 = self.function("cuCtxPushCurrent_v2");
        // SAFETY: the callers promise that it lives.
        assert_eq!(unsafe { push(context) }, 0);
    }

    /// The current context of CUDA.
    fn context(&self) -> *mut c_void {
        let get: unsafe extern "C" fn(*mut *mut c_void) -> i32 = self.function("cuCtxGetCurrent");
        let mut context = ptr::null_mut();
        // SAFETY: the driver writes one pointer.
        assert_eq!(unsafe { get(&raw mut context) }, 0);
        context
    }

    fn set_device(&self, number: i32) {
        let set: unsafe extern "C" fn(i32) -> i32 = self.function("hipSetDevice");
        // SAFETY: no pointer is involved.
        assert_eq!(unsafe { set(number) }, 0);
    }

    /// The current device of HIP.
    fn device(&self) -> i32 {
        let get: unsafe extern "C" fn(*mut i32) -> i32 = self.function("hipGetDevice");
        let mut device = -1;
        // SAFETY: the driver writes one number.
        assert_eq!(unsafe { get(&raw mut device) }, 0);
        device
    }
}
