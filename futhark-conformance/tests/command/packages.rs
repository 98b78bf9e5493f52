//! A corpus of projects with packages below `lib`.

use super::{build_dir, command, needs, text};
use std::fs;

#[test]
fn copies_run_once_and_missing_packages_are_reported_once() {
    let Some(compiler) = needs::compiler_path() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let write = |name: &str, contents: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it has a parent")).expect("it is writable");
        fs::write(path, contents).expect("it is writable");
    };
    let package = "lib/github.com/diku-dk/sorts/bubble_sort.fut";
    for project in ["a", "b", "c"] {
        write(&format!("{project}/{package}"), "entry same (x: i32) = x\n");
    }
    write("d/futhark.pkg", "require {}\n");
    for program in ["d/one.fut", "d/two.fut"] {
        write(
            program,
            "import \"lib/github.com/diku-dk/segmented/segmented\"\nentry f = 1i32\n",
        );
    }
    let mut command = command(folder.path());
    command.args([
        "run",
        ".",
        "--backend",
        "c",
        "--check",
        "compile",
        "--futhark",
    ]);
    command.arg(compiler).arg("--build-dir").arg(build_dir());
    let output = command.output().expect("the program starts");
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 job"), "{said}");
    for line in [
        "     2  a copy of a file of the same package, which runs once (2 programs)",
        "     2  the packages of d/futhark.pkg are not installed: run `futhark pkg sync` in d (2 programs)",
    ] {
        assert!(said.lines().any(|shown| shown == line), "{line}: {said}");
    }
}
