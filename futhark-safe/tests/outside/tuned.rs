//! A package with a tuning file beside the program.

use super::package::{Package, assert_says, compiler, no_futhark};

const PROGRAM: &str = "entry sums [n][m] (xss: [n][m]f32) : [n]f32 = map f32.sum xss\n";

const BUILD: &str = r#"
use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    Program::new("stats.fut")
        .vendored("futhark-generated")
        .backends([Backend::OpenCl, Backend::C])
        .compile()
}
"#;

/// Prints which of two kernels runs: with the embedded tuning, and without one.
const MAIN: &str = r#"
use futhark_safe::Tuning;

futhark_safe::include_program!(stats);

fn main() -> Result<(), futhark_safe::Error> {
    let config = stats::Config::new().backend(futhark_safe::Backend::OpenCl).profiling(true);
    for config in [config.clone(), config.tuning(&Tuning::default())] {
        let ctx = stats::Context::new(&config)?;
        let sums = ctx.entry().sums(&ctx.array_nd([2, 2], &[1.0f32, 2.0, 3.0, 4.0])?)?;
        print!("{:?} {}; ", sums.to_vec()?, ctx.report()?.contains("segred"));
    }
    Ok(())
}
"#;

#[test]
fn a_tuning_file_beside_the_program_is_embedded() {
    if compiler().is_none() {
        return;
    }
    let package = Package::new("outside-tuned");
    let _ = std::fs::remove_dir_all(package.folder.join("futhark-generated"));
    package.write("build.rs", BUILD);
    package.write("src/main.rs", MAIN);
    package.write("stats.fut", PROGRAM);
    package.write("stats.fut.tuning", "sums.suff_outer_par_0=2000000000\n");
    let prints = |environment: &[(&str, &str)], expected: &str| {
        assert_eq!(package.succeeds("run", &[], environment).trim(), expected);
    };
    let update = [("FUTHARK_VENDOR", "update")];
    prints(&update, "[3.0, 7.0] true; [3.0, 7.0] true;");
    // Without Futhark, and after a change of the file.
    package.write("stats.fut.tuning", "sums.suff_outer_par_0=1\n");
    let toolchain = std::env::var("FUTHARK_TOOLCHAIN").unwrap_or_default();
    let [path, futhark, _] = no_futhark();
    let without = [path, futhark, ("FUTHARK_TOOLCHAIN", &*toolchain)];
    prints(&without, "[3.0, 7.0] false; [3.0, 7.0] true;");

    package.write("stats.fut.tuning", "\nsums.suff_outer_par_1=1\n");
    let words = [
        "stats.fut.tuning:2: the program has no tuning parameter `sums.suff_outer_par_1`",
        "similar names: sums.suff_outer_par_0",
    ];
    assert_says(&package.fails(&[]), &words);
    package.write("stats.fut.tuning", "sums.suff_outer_par_0: 1\n");
    let words = ["stats.fut.tuning:1: expected `name=value`"];
    assert_says(&package.fails(&[]), &words);
    // Another file.
    let other = BUILD.replace(".vendored", ".tuning(\"a100.tuning\").vendored");
    package.write("build.rs", &other);
    let _ = std::fs::remove_file(package.folder.join("a100.tuning"));
    assert_says(&package.fails(&[]), &["a100.tuning: No such file"]);
    package.write(
        "a100.tuning",
        "default_threshold=1\nbuiltin#replicate_i32.tblock_size_1=64\n",
    );
    package.succeeds("build", &[], &[]);
}
