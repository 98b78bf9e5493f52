//! Starts of contexts that fail, or that must not block, on emulated devices. The tests of
//! futhark-safe have the same for opencl.

use crate::{child, support};
use futhark_safe::dynamic::{Arg, Context, Library, Scalar, Value};
use futhark_safe::{Backend, Config, ErrorKind};

#[test]
fn starts_that_fail_are_errors() {
    support::on_cuda_and_hip("", starts_fail);
}

fn starts_fail(backend: Backend) {
    let compiler = support::needs::compiler().expect("the parent process found it");
    let library = child::build(backend, compiler).library();
    // SAFETY: it was built from a program of this test.
    let library = unsafe { Library::open(library) }.expect("the library can be loaded");
    // On cuda the runtime would use another device if none matches, so that is refused before.
    // The runtime of hip would read the number into an `int`.
    let expected = match backend {
        Backend::Hip => [
            (ErrorKind::InvalidArgument, "no device has the number"),
            (ErrorKind::Start, "device found"),
        ],
        _ => [(ErrorKind::Start, "no device matches"); 2],
    };
    for (device, (kind, words)) in ["#99999999999", "no such device"].into_iter().zip(expected) {
        let config = Config::new().device(device);
        let error = Context::new(&library, &config).expect_err("there is no such device");
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        works(&library, &Config::new());
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let fifo = folder.path().join("cache");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo can be run").success());
    works(&library, &Config::new().cache_file(&fifo));
}

fn works(library: &Library, config: &Config) {
    let context = Context::new(library, config).expect("the context starts");
    let index = Arg::Consume(3i64.into());
    let element = context.call("at", vec![index]).expect("the call succeeds");
    assert!(matches!(element[0], Value::Scalar(Scalar::I64(18))));
}
