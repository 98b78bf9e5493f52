//! Contexts: what they are told, and what they tell.

mod support;

use futhark_safe::{Backend, Config, ErrorKind};
use futhark_safe_typed_tests::basics;
use support::{BACKENDS, alone};

fn total(ctx: &basics::Context) -> f32 {
    let xs = ctx.array(&[1.0f32, 2.0, 6.0]).unwrap();
    ctx.entry().mean(&xs).unwrap()
}

/// A report is JSON of the runtime's own making; while profiling is paused, and where it was
/// never asked for, nothing is collected.
#[test]
fn profiling() {
    for backend in BACKENDS {
        let _device = alone(backend);
        let ctx = basics::Context::new(&Config::new().backend(backend).profiling(true)).unwrap();
        ctx.pause_profiling().unwrap();
        total(&ctx);
        ctx.unpause_profiling().unwrap();
        assert_eq!(total(&ctx), 3.0);
        let report = ctx.report().unwrap();
        assert!(report.trim_start().starts_with('{'), "{backend}: {report}");
        assert!(report.contains("\"events\""), "{backend}: {report}");
        if backend == Backend::OpenCl {
            assert!(report.contains("\"name\""), "a kernel ran: {report}");
        }
        ctx.clear_caches().unwrap();
        assert_eq!(total(&ctx), 3.0, "{backend}: after clearing the caches");
    }
}

/// Each tuning parameter that a context names can be set; no other can.
#[test]
fn tuning_parameters() {
    for backend in BACKENDS {
        let _device = alone(backend);
        let ctx = basics::Context::new(&Config::new().backend(backend)).unwrap();
        let names = ctx.tuning_params();
        assert_eq!(names.is_empty(), backend != Backend::OpenCl, "{backend}");
        drop(ctx);
        let mut config = Config::new().backend(backend);
        for (name, class) in &names {
            assert!(!class.is_empty(), "{name}");
            config = config.tuning_param(name, 32);
        }
        let ctx = basics::Context::new(&config).unwrap();
        assert_eq!(total(&ctx), 3.0, "{backend}: {names:?}");
        let unknown = Config::new().backend(backend).tuning_param("no.such", 1);
        let error = basics::Context::new(&unknown).unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::InvalidArgument,
            "{backend}: {error}"
        );
        assert!(error.to_string().contains("no.such"), "{backend}: {error}");
    }
}
