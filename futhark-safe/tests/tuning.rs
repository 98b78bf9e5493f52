//! Tuning files on real programs. `rows.fut` has a threshold that selects between two kernels.

use std::path::{Path, PathBuf};

use futhark_safe::dynamic::{Arg, Context, Value};
use futhark_safe::{Backend, Config, ErrorKind, Tuning};

use super::support::{self, each_of, says};

const THRESHOLD: &str = "row_sums.suff_outer_par_0";

/// The sums of rows, and the profiling report.
fn run(ctx: &Context) -> (Vec<f32>, String) {
    let xss: Value = ctx
        .array_nd(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])
        .unwrap()
        .into();
    let results = ctx.call("row_sums", vec![Arg::Borrow(&xss)]).unwrap();
    let [Value::Array(sums)] = &results[..] else {
        panic!("row_sums returned {results:?}");
    };
    (sums.to_vec().unwrap(), ctx.report().unwrap())
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn files_select_kernels_and_have_no_effect_on_host_backends() {
    let rows = |value: u32| {
        file(
            &format!("rows-{value}.tuning"),
            &format!("{THRESHOLD}={value}\n"),
        )
    };
    let (low, high) = (rows(1), rows(2_000_000_000));
    each_of(&support::program("rows.fut"), |library| {
        let is_gpu = library.backend() == Backend::OpenCl;
        let with = |config: Config| {
            let ctx = Context::new(library, &config.profiling(true)).unwrap();
            let (sums, report) = run(&ctx);
            assert_eq!(sums, [6.0, 15.0]);
            assert_eq!(ctx.warnings().is_empty(), is_gpu, "{:?}", ctx.warnings());
            for warning in ctx.warnings() {
                let place = format!(".tuning:1: `{THRESHOLD}` has no effect");
                assert!(warning.contains(&place), "{warning}");
            }
            // The kernel that is parallel within a row is a segmented reduction.
            report.contains("segred")
        };
        let by_text = Tuning::read(&high).unwrap();
        assert!(!with(Config::new().tuning_file(&low)));
        assert_eq!(with(Config::new().tuning_file(&high)), is_gpu);
        // The last one takes effect.
        assert_eq!(
            with(Config::new().tuning_file(&low).tuning(&by_text)),
            is_gpu
        );
        if is_gpu {
            // A single parameter takes precedence, in any order.
            assert!(!with(
                Config::new().tuning_param(THRESHOLD, 1).tuning_file(&high)
            ));
            assert!(!with(
                Config::new().tuning_file(&high).tuning_param(THRESHOLD, 1)
            ));
            let params = library.tuning_params();
            let threshold = params
                .iter()
                .find(|param| param.name() == THRESHOLD)
                .unwrap();
            assert!(threshold.class().starts_with("threshold("));
            assert_eq!(threshold.entry_points(), ["row_sums"]);
        }
        // Defaults can be in a file, too.
        let defaults = Tuning::parse("default_threshold=1\ndefault_tile_size=8\n").unwrap();
        let ctx = Context::new(library, &Config::new().tuning(&defaults)).unwrap();
        assert_eq!(ctx.warnings().len(), if is_gpu { 0 } else { 2 });
        assert_eq!(ctx.clone().warnings(), ctx.warnings());
    });
}

#[test]
fn files_with_mistakes_are_errors() {
    let typo = file("typo.tuning", "-- a comment\nrow_sums.suff_outer_par0=16\n");
    let other = file("other.tuning", "zzz=1");
    let malformed = file("malformed.tuning", "a=1\nrow_sums 16\n");
    let binary = file("binary.tuning", "");
    std::fs::write(&binary, [b'a', b'=', 0xff]).unwrap();
    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("missing.tuning");
    let fifo = support::fifo("fifo.tuning");
    let unknown = [
        (&typo, "typo.tuning:2: "),
        (&typo, "`row_sums.suff_outer_par0`"),
        (&typo, "similar names: row_sums.suff_outer_par_0"),
        (&other, "`zzz`"),
        (&other, "futhark autotune"),
    ];
    let unreadable = [
        (&malformed, "malformed.tuning:2: expected `name=value`"),
        (&malformed, "got `row_sums 16`"),
        (&binary, "binary.tuning: not UTF-8"),
        (&missing, "missing.tuning: No such file"),
        (&fifo, "fifo.tuning: not a regular file"),
    ];
    each_of(&support::program("rows.fut"), |library| {
        let mut cases = unreadable.to_vec();
        // Other backends have no names that could be meant.
        if library.backend().is_gpu() {
            cases.extend(unknown);
        }
        for (path, words) in cases {
            says(
                Context::new(library, &Config::new().tuning_file(path)),
                ErrorKind::InvalidArgument,
                words,
            );
        }
    });
}
