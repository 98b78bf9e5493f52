//! A package that contains its generated code, built without a Futhark compiler.

use std::fs;
use std::process::Command;

use super::package::{Package, assert_says, compiler, no_futhark};

const BUILD: &str = r#"
use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    Program::new("stats.fut")
        .vendored("futhark-generated")
        .backends([Backend::Multicore, Backend::C])
        .compile()
}
"#;

const PROGRAM: &str = "\
import \"lib/sums\"
entry mean [n] (xs: [n]f32) : f32 = sum xs / f32.i64 n
entry normalise [n] (xs: *[n]f32) : *[n]f32 =
  let total = sum xs in map (/ total) xs
";

/// As a checkout by git with `core.autocrlf`.
#[test]
fn line_ends_do_not_matter() {
    if compiler().is_none() {
        return;
    }
    let package = Package::new("outside-checked-out");
    let generated = package.folder.join("futhark-generated");
    let _ = fs::remove_dir_all(&generated);
    package.write("build.rs", BUILD);
    let documented = PROGRAM.replace("entry mean", "-- | The\n-- mean.\nentry mean");
    package.write("stats.fut", &format!("-- | Of a\n-- file.\n\n{documented}"));
    package.write("lib/sums.fut", "def sum = f32.sum\n");
    package.succeeds("build", &[], &[UPDATE]);
    let expected = package.succeeds("run", &[], &no_futhark());
    let attributes = generated.join("stats-c/.gitattributes");
    assert_eq!(fs::read_to_string(attributes).unwrap(), "* -text\n");
    let folders = ["stats-c", "stats-multicore"].map(|name| generated.join(name));
    let files = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = files.map(|file| file.unwrap().path());
    let sources = ["stats.fut", "lib/sums.fut"].map(|name| package.folder.join(name));
    for file in files.chain(sources) {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace('\n', "\r\n")).unwrap();
    }
    assert_eq!(package.succeeds("run", &[], &no_futhark()), expected);
    // Tools that copy packages leave out files of git.
    for folder in folders {
        fs::remove_file(folder.join(".gitattributes")).unwrap();
    }
    assert_eq!(package.succeeds("run", &[], &no_futhark()), expected);
    // Another change is still found; who has no compiler gets an advice.
    fs::write(generated.join("stats-c/stats.h"), "\r\n").unwrap();
    let words = ["stats-c/stats.h", "report it to its authors"];
    assert_says(&package.fails(&no_futhark()), &words);
}

const UPDATE: (&str, &str) = ("FUTHARK_VENDOR", "update");
const CHECK: (&str, &str) = ("FUTHARK_VENDOR", "check");

#[test]
fn generated_code_replaces_the_compiler_while_the_source_is_the_same() {
    if compiler().is_none() {
        return;
    }
    let package = Package::new("outside-vendored");
    let generated = package.folder.join("futhark-generated");
    let _ = fs::remove_dir_all(&generated);
    package.write("build.rs", BUILD);
    package.write("stats.fut", PROGRAM);
    package.write("lib/sums.fut", "def sum = f32.sum\n");
    let without = no_futhark();
    let succeeds = |action: &str, environment: &[(&str, &str)]| -> String {
        package.succeeds(action, &[], environment)
    };
    let refused = |environment: &[(&str, &str)], words: &[&str]| {
        assert_says(&package.fails(environment), words);
    };

    let words = [
        "found no generated code of stats.fut in futhark-generated/stats-multicore",
        "run `FUTHARK_VENDOR=update cargo build`",
    ];
    refused(&without, &words);
    succeeds("build", &[UPDATE]);
    for file in ["stats-c/stats.c", "stats-multicore/stats.json"] {
        assert!(generated.join(file).is_file(), "{file}");
    }
    let answer = succeeds("run", &without);
    assert_says(&answer, &["multicore 2.6666667 [0.125, 0.25, 0.625]"]);
    succeeds("build", &[CHECK]);

    // A change of an import. It is never generated again without the request.
    package.write("lib/sums.fut", "def sum (xs: []f32) = 2 * f32.sum xs\n");
    for environment in [&without[..], &[]] {
        refused(environment, &["lib/sums.fut has changed", words[1]]);
    }
    succeeds("build", &[UPDATE]);
    assert_says(&succeeds("run", &without), &["multicore 5.3333335"]);

    // The module alone needs no C compiler, the code of one backend, and in an editor not even current code.
    let face = [("FUTHARK_SAFE_FACE_ONLY", "1"), ("CC", "/nonexistent/cc")];
    succeeds("check", &face);
    let backends = ("FUTHARK_BACKENDS", "opencl,c");
    succeeds(
        "doc",
        &[&without[..], &[("DOCS_RS", "1"), face[1], backends]].concat(),
    );
    let symbol = "futhark_not_compiled_because_FUTHARK_SAFE_FACE_ONLY_was_set_c";
    refused(&face[..1], &[symbol]);
    package.write("stats.fut", &format!("{PROGRAM}entry one = 1i32\n"));
    succeeds("check", &face);
    package.write("stats.fut", PROGRAM);

    let safe = BUILD.replace(".vendored", ".option(\"--safe\").vendored");
    package.write("build.rs", &safe);
    refused(&without, &["expected `options --safe`", words[1]]);
    package.write("build.rs", BUILD);

    // A changed file, one of another version or backend, an additional and a missing file, and what is no file.
    let folder = generated.join("stats-c");
    let c = folder.join("stats.c");
    let text = fs::read(&c).unwrap();
    let not_generated = "is not what the Futhark compiler generated for this program";
    let multicore = fs::read(generated.join("stats-multicore/stats.c")).unwrap();
    for changed in [[&text[..], b"// Changed by hand.\n"].concat(), multicore] {
        fs::write(&c, changed).unwrap();
        for environment in [&[CHECK][..], &without] {
            refused(environment, &["stats-c/stats.c", not_generated]);
        }
        // Also if only the module is needed.
        let output = package.cargo("check", &[], &[CHECK, ("FUTHARK_SAFE_FACE_ONLY", "1")]);
        assert!(!output.status.success());
        assert_says(&String::from_utf8_lossy(&output.stderr), &[not_generated]);
    }
    fs::remove_file(&c).unwrap();
    refused(&without, &["stats-c/stats.c is missing"]);
    Command::new("mkfifo").arg(&c).status().unwrap();
    refused(&without, &["stats-c/stats.c is not a regular file"]);
    fs::remove_file(&c).unwrap();
    fs::write(&c, text).unwrap();
    // The manifest tells the version, and is not read before it is known to be the generated one.
    let manifest = folder.join("stats.json");
    let text = fs::read(&manifest).unwrap();
    fs::write(&manifest, "{").unwrap();
    refused(&without, &["stats-c/stats.json", not_generated]);
    fs::write(&manifest, text).unwrap();
    fs::write(folder.join("more.h"), "").unwrap();
    refused(&without, &["stats-c/more.h is not what"]);
    fs::remove_file(folder.join("more.h")).unwrap();
    // A backend that is named twice counts once.
    let twice = [&without[..], &[("FUTHARK_BACKENDS", "c,c")]].concat();
    assert_says(&succeeds("run", &twice), &["c 5.3333335"]);
    let words = "FUTHARK_VENDOR is `yes`; expected `update`, `check`";
    refused(&[("FUTHARK_VENDOR", "yes")], &[words]);
}
