//! When a run starts compilers.

use super::scene::{Run, Scene, assert_has};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "-- ==\n-- input { 1 } output { 2 }\nentry main (x: i32) = x + 1\n";

/// A program that writes its command line to a file, and runs another.
const COUNTER: &str = r#"
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  FILE *log = fopen(LOG, "a");
  fprintf(log, "%s", NAME);
  for (int i = 1; i < argc; i++)
    fprintf(log, " %s", argv[i]);
  fprintf(log, "\n");
  fclose(log);
  argv[0] = REAL;
  return execvp(REAL, argv);
}
"#;

fn compile_counter(folder: &Path, name: &str, real: &Path) -> PathBuf {
    let (source, file) = (folder.join("counter.c"), folder.join(name));
    fs::write(&source, COUNTER).unwrap();
    let status = Command::new("cc")
        .arg(format!("-DREAL=\"{}\"", real.display()))
        .arg(format!("-DLOG=\"{}\"", folder.join("log").display()))
        .arg(format!("-DNAME=\"{name}\""))
        .arg(&source)
        .arg("-o")
        .arg(&file)
        .status();
    assert!(status.unwrap().success());
    file
}

#[test]
fn a_run_without_changes_starts_no_compiler() {
    needed!(crate::needs::full());
    let scene = needed!(Scene::new(&[
        ("corpus/a.fut", PROGRAM),
        ("corpus/b.fut", PROGRAM)
    ]));
    let folder = &scene.path("");
    let cc = compile_counter(folder, "cc", Path::new("cc"));
    let futhark = compile_counter(folder, "futhark", &scene.futhark);
    let run = |more: &str| -> Vec<String> {
        let arguments =
            format!("run corpus --all --backend c --check blocks --build-dir builds{more}");
        let mut command = scene.command(&arguments);
        command.arg("--futhark").arg(&futhark).env("CC", &cc);
        scene.ended(&mut command).ends_with(0);
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        let _ = fs::remove_file(folder.join("log"));
        log.lines().map(str::to_owned).collect()
    };
    let count = |log: &[String], what: &str| {
        let mut words = what.split(' ');
        let name = words.next().unwrap();
        let words: Vec<&str> = words.collect();
        let is_counted = |line: &&String| {
            let mut given = line.split(' ');
            given.next() == Some(name) && words.iter().all(|word| given.any(|one| one == *word))
        };
        log.iter().filter(is_counted).count()
    };
    let first = run(" --jobs 1");
    // The third is the program that tries the device. Each compiler is asked again when the files to look at are
    // known, so that the answer is that of these files.
    assert_eq!(count(&first, "futhark c"), 3, "{first:?}");
    assert_eq!(count(&first, "futhark --version"), 2, "{first:?}");
    assert_eq!(count(&first, "cc --version"), 2, "{first:?}");
    assert_eq!(count(&first, "futhark"), 5, "{first:?}");
    assert_eq!(count(&first, "cc -c"), 3, "{first:?}");

    let second = run("");
    assert_eq!(second, [""; 0], "nothing has changed");

    scene.write("corpus/b.fut", format!("{PROGRAM}-- Changed.\n"));
    let third = run("");
    assert_eq!(count(&third, "futhark c"), 1, "{third:?}");
    assert_eq!(count(&third, "futhark --version"), 0, "{third:?}");
    assert_eq!(count(&third, "cc --version"), 0, "{third:?}");
}

/// Runs two programs, one after the other, while the first of which a script in the place of the compiler
/// changes its own file.
fn run_while(change: &str) -> Option<(Run, PathBuf)> {
    let scene = Scene::new(&[("a.fut", PROGRAM), ("b.fut", PROGRAM)])?;
    let script = format!("case \"$*\" in *a.fut*) {change} ;; esac");
    let futhark = scene.compiler("futhark-changed", &script);
    let mut command = scene.command("run a.fut b.fut --backend c --jobs 1 --build-dir builds");
    let run = scene.ended(command.arg("--futhark").arg(&futhark));
    Some((run, futhark.canonicalize().unwrap()))
}

#[test]
fn a_compiler_that_is_replaced_during_the_run_is_a_failure() {
    needed!(crate::needs::full());
    let replace = "cp -p \"$0\" new && echo '# new' >>new && mv new \"$0\"";
    let Some((run, futhark)) = run_while(replace) else {
        return;
    };
    let said = run.ends_with(1);
    let message = format!("the Futhark compiler {} was replaced", futhark.display());
    assert_has(&said, &message);
    for name in ["a.fut", "b.fut"] {
        assert_has(&said, name);
    }
    assert!(
        !said.contains("ok a.fut") && said.contains("0 passed"),
        "{said}"
    );
}

#[test]
fn a_compiler_that_gets_another_link_or_permission_is_not_replaced() {
    needed!(crate::needs::full());
    let Some((run, _)) = run_while("ln \"$0\" link && chmod 700 \"$0\"") else {
        return;
    };
    run.ends_with(0);
}
