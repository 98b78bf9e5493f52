//! The tuning that the build script embeds, and tunings of a configuration.

use futhark_safe::{Backend, Config, ErrorKind, Tuning};
use futhark_safe_typed_tests::rows;

use super::support::{BACKENDS, lock};

const THRESHOLD: &str = "row_sums.suff_outer_par_0";

/// Whether the kernel that is parallel within a row runs.
fn is_segmented(config: &Config) -> bool {
    let ctx = rows::Context::new(&config.clone().profiling(true)).unwrap();
    assert_eq!(ctx.warnings(), [""; 0]);
    let xss = ctx
        .array_nd([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])
        .unwrap();
    let sums = ctx.entry().row_sums(&xss).unwrap();
    assert_eq!(sums.to_vec().unwrap(), [6.0, 15.0]);
    ctx.report().unwrap().contains("segred")
}

#[test]
fn an_embedded_tuning_is_the_default_of_gpu_backends() {
    for &backend in BACKENDS {
        let _device = lock(backend);
        let is_gpu = backend == Backend::OpenCl;
        let config = Config::new().backend(backend);
        assert!(!is_segmented(&config), "as in rows.fut.tuning");
        if is_gpu {
            let none = config.clone().tuning(&Tuning::default());
            assert!(is_segmented(&none), "the default of the runtime");
            let high = Tuning::parse(&format!("{THRESHOLD}=2000000000")).unwrap();
            assert!(is_segmented(&config.clone().tuning(&high)));
            assert!(is_segmented(&config.tuning_param(THRESHOLD, 2_000_000_000)));
        }
    }
}

#[test]
fn parameters_of_another_backend_are_warnings_and_unknown_ones_are_errors() {
    let tuning = Tuning::parse(&format!("{THRESHOLD}=16")).unwrap();
    let typo = Tuning::parse("row_sums.suff_outer_par=16").unwrap();
    for &backend in BACKENDS {
        let _device = lock(backend);
        let config = Config::new().backend(backend);
        let ctx = rows::Context::new(&config.clone().tuning(&tuning)).unwrap();
        let expected = match backend {
            Backend::OpenCl => Vec::new(),
            _ => vec![format!(
                "line 1: `{THRESHOLD}` has no effect: backend {backend} has no such tuning parameter"
            )],
        };
        assert_eq!(ctx.warnings(), expected);
        drop(ctx);
        // On host backends too, since the program has a GPU backend.
        let error = rows::Context::new(&config.tuning(&typo)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        let similar = format!("similar names: {THRESHOLD}");
        assert!(error.to_string().contains(&similar), "{error}");
    }
    // Not a failure of each backend.
    let error = rows::Context::new(&Config::new().tuning(&typo)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
}
