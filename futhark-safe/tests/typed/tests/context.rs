//! Configuration and reports of contexts.

use futhark_safe::{Backend, Config, ErrorKind, Tuning, TuningParam};
use futhark_safe_typed_tests::basics;

use super::support::{BACKENDS, lock, says};

fn total(ctx: &basics::Context) -> f32 {
    let xs = ctx.array(&[1.0f32, 2.0, 6.0]).unwrap();
    ctx.entry().mean(&xs).unwrap()
}

/// The runtime writes the report as JSON, which `profile` reads.
#[test]
fn a_profiled_context_reports_events() {
    for &backend in BACKENDS {
        let _device = lock(backend);
        let ctx = basics::Context::new(&Config::new().backend(backend).profiling(true)).unwrap();
        ctx.pause_profiling().unwrap();
        total(&ctx);
        ctx.unpause_profiling().unwrap();
        // Sequential code has no measured steps.
        let measured = backend != Backend::C;
        assert_eq!(total(&ctx), 3.0);
        let report = ctx.report().unwrap();
        assert!(report.contains("\"events\""), "{backend}: {report}");
        assert_eq!(report.contains("\"name\""), measured, "{report}");
        assert_eq!(total(&ctx), 3.0);
        let report = ctx.profile().unwrap();
        assert!(!report.peak_memory.is_empty(), "{report:?}");
        assert_eq!(!report.events.is_empty(), measured, "{report:?}");
        let are_named = report.events.iter().all(|event| !event.name.is_empty());
        let takes_time = report.events.iter().any(|event| !event.duration.is_zero());
        assert!(are_named && (takes_time || !backend.is_gpu()), "{report:?}");
        let again = ctx.profile().unwrap().events;
        assert_eq!(again, [], "events are reported once");
        ctx.clear_caches().unwrap();
        assert_eq!(total(&ctx), 3.0, "{backend}: after clearing the caches");
    }
}

#[test]
fn only_listed_tuning_parameters_can_be_set() {
    let of_opencl = basics::Context::tuning_params_of(Backend::OpenCl).unwrap();
    let known = of_opencl[0].name();
    let tuning = Tuning::parse(&format!("{known}=32")).unwrap();
    for &backend in BACKENDS {
        let _device = lock(backend);
        let base = Config::new().backend(backend);
        let names = basics::Context::tuning_params_of(backend).unwrap();
        assert_eq!(names.is_empty(), backend != Backend::OpenCl, "{backend}");
        let set = |config: Config, param: &TuningParam| config.tuning_param(param.name(), 32);
        let ctx = basics::Context::new(&names.iter().fold(base.clone(), set)).unwrap();
        assert_eq!(names, ctx.tuning_params());
        assert_eq!(total(&ctx), 3.0, "{backend}: {names:?}");
        drop(ctx);
        // A tuning can be for another backend of the program.
        let ctx = basics::Context::new(&base.clone().tuning(&tuning)).unwrap();
        let no_effect = format!(
            "line 1: `{known}` has no effect: backend {backend} has no such tuning parameter"
        );
        let expected = match names.is_empty() {
            true => vec![no_effect],
            false => vec![],
        };
        assert_eq!(ctx.warnings(), expected);
        drop(ctx);
        unknown_is_an_error(&base);
    }
    // Not a failure of each backend, if all drivers are there.
    let any = Config::new();
    says(
        basics::Context::new(&any.clone().tuning(&no_such())),
        ErrorKind::InvalidArgument,
        "no.such",
    );
    if BACKENDS.contains(&Backend::OpenCl) {
        unknown_is_an_error(&any);
    }
    let error = basics::Context::tuning_params_of(Backend::Cuda).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

fn no_such() -> Tuning {
    Tuning::parse("no.such=1").unwrap()
}

fn unknown_is_an_error(base: &Config) {
    for unknown in [
        base.clone().tuning_param("no.such", 1),
        base.clone().tuning(&no_such()),
    ] {
        says(
            basics::Context::new(&unknown),
            ErrorKind::InvalidArgument,
            "no.such",
        );
    }
}
