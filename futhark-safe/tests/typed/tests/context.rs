//! Configuration and reports of contexts.

use futhark_safe::{Backend, Config, ErrorKind, TuningClass};
use futhark_safe_typed_tests::basics;

use super::support::{BACKENDS, lock};

fn total(ctx: &basics::Context) -> f32 {
    let xs = ctx.array(&[1.0f32, 2.0, 6.0]).unwrap();
    ctx.entry().mean(&xs).unwrap()
}

#[test]
fn tuning_parameters_have_classes_and_entry_points() {
    let params = basics::Context::tuning_params_of(Backend::OpenCl).unwrap();
    for entry in ["mean", "flip"] {
        let of_entry = params.iter().filter(|p| p.entry_points().contains(&entry));
        let classes: Vec<_> = of_entry.map(|param| param.class()).collect();
        assert!(
            classes.contains(&&TuningClass::ThreadBlockSize),
            "{entry}: {params:?}"
        );
    }
    let error = basics::Context::tuning_params_of(Backend::Cuda).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

/// The runtime writes the report as JSON.
#[test]
fn a_profiled_context_reports_events() {
    for &backend in BACKENDS {
        let _device = lock(backend);
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

#[test]
fn only_listed_tuning_parameters_can_be_set() {
    for &backend in BACKENDS {
        let _device = lock(backend);
        let ctx = basics::Context::new(&Config::new().backend(backend)).unwrap();
        let names = ctx.tuning_params();
        assert_eq!(names.is_empty(), backend != Backend::OpenCl, "{backend}");
        assert_eq!(names, basics::Context::tuning_params_of(backend).unwrap());
        drop(ctx);
        let mut config = Config::new().backend(backend);
        for param in &names {
            config = config.tuning_param(param.name(), 32);
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
