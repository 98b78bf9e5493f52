//! Which backend, devices, copies and profiles a context reports.

use futhark_safe::{Backend, Config, ErrorKind};
use futhark_safe_typed_tests::basics;

use super::support::{BACKENDS, each, lock_device};

#[test]
#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")),
    ignore = "needs a loader of OpenCL for this target"
)]
fn the_first_backend_that_works_is_used() {
    let _device = lock_device();
    assert_eq!(basics::Context::backends().unwrap(), BACKENDS);
    let nowhere = "no such device";
    let order = [
        Backend::Cuda,
        Backend::OpenCl,
        Backend::C,
        Backend::Multicore,
    ];
    let config = Config::new().backends(order).device(nowhere);
    // The backends on the host have no devices to choose from.
    let error = basics::Context::new(&config).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Start, "{error}");
    for reason in ["requested", "OpenCL device", "select a device"] {
        assert!(error.to_string().contains(reason), "{error}");
    }
    let config = Config::new().backends(order).block_size(64);
    let ctx = basics::Context::new(&config).unwrap();
    assert_eq!(ctx.backend(), Backend::OpenCl);
    let refused: Vec<(Backend, ErrorKind)> =
        ctx.refused().iter().map(|(b, e)| (*b, e.kind())).collect();
    assert_eq!(refused, [(Backend::Cuda, ErrorKind::Unsupported)]);
    let error = basics::Context::new(&Config::new().backends([])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
}

#[test]
fn devices_of_each_backend_are_listed_without_a_context() {
    let _device = lock_device();
    for &backend in BACKENDS {
        let devices = basics::Context::devices(backend).unwrap();
        assert!(!devices.is_empty(), "{backend}");
        let source = basics::Context::device_source(backend);
        assert_eq!(source.is_ok(), backend.is_gpu(), "{backend}");
    }
    let error = basics::Context::devices(Backend::Cuda).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

#[test]
fn copies_before_consumption_are_counted() {
    each(|ctx: basics::Context| {
        let xs = ctx.array(&[1, 2, 3]).unwrap();
        let xs = ctx.entry().increment(xs).unwrap();
        assert_eq!(ctx.copies(), [], "nothing shared the memory");
        for _ in 0..3 {
            let same = ctx.entry().identity(&xs).unwrap();
            ctx.entry().increment(same).unwrap();
        }
        let same = ctx.entry().identity(&xs).unwrap();
        ctx.entry().set_first(same, 1).unwrap();
        let copies = ctx.copies();
        let counted: Vec<(&str, &str, u64)> = copies
            .iter()
            .map(|copies| (&*copies.operation, &*copies.argument, copies.count))
            .collect();
        assert_eq!(
            counted,
            [
                ("entry point increment", "xs", 3),
                ("entry point set_first", "xs", 1)
            ]
        );
    });
}

/// The names of the events of transfers since the last call.
fn transfers(ctx: &basics::Context) -> Vec<String> {
    let events = ctx.profile().unwrap().events.into_iter();
    let names = events.map(|event| event.name);
    names.filter(|name| name.starts_with("copy_")).collect()
}

#[test]
#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")),
    ignore = "needs a loader of OpenCL for this target"
)]
fn copies_before_consumption_stay_on_the_device() {
    let _device = lock_device();
    let config = Config::new().backend(Backend::OpenCl).profiling(true);
    let ctx = basics::Context::new(&config).unwrap();
    for n in [0, 1, 5, 4099] {
        let elements: Vec<i32> = (0..n).collect();
        let xs = ctx.array(&elements).unwrap();
        let same = ctx.entry().identity(&xs).unwrap();
        ctx.sync().unwrap();
        transfers(&ctx);
        let ys = ctx.entry().increment(same).unwrap();
        let copy = xs.try_clone().unwrap();
        let expected = if n == 0 { 0 } else { 2 };
        assert_eq!(transfers(&ctx), vec!["copy_dev_to_dev"; expected], "{n}");
        drop(ctx.entry().increment(xs).unwrap());
        assert_eq!(copy.to_vec().unwrap(), elements);
        let incremented: Vec<i32> = (1..=n).collect();
        assert_eq!(ys.to_vec().unwrap(), incremented);
    }
}
