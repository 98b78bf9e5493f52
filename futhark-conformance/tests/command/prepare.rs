//! `run` checks programs that `prepare` recorded, without a compiler. Recording needs a Futhark
//! compiler and a C compiler.

use super::{build_dir, command, needs, text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

const MAIN: &str = "\
import \"parts/twice\"

-- ==
-- entry: total
-- input { [1, 2, 3] } output { 12 }
-- random input { [20]i32 } auto output
entry total (xs: []i32): i32 = i32.sum (map twice xs)
";

const IMPORTED: &str = "def twice (x: i32): i32 = x + x\n";

const REFUSED: &str = "\
-- ==
-- error: Unknown name
entry wrong = nowhere
";

/// Programs and a recording of them, as unpacked on another machine.
struct Elsewhere(TempDir);

impl Elsewhere {
    fn new() -> Option<Elsewhere> {
        let compiler = needs::compiler_path()?;
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let here = Elsewhere(folder);
        fs::create_dir_all(here.path("programs/parts")).expect("the folder can be written");
        for (name, text) in [
            ("main.fut", MAIN),
            ("parts/twice.fut", IMPORTED),
            ("refused.fut", REFUSED),
        ] {
            fs::write(here.path("programs").join(name), text).expect("the folder can be written");
        }
        let output = command(here.0.path())
            .args(["prepare", "programs", "--backend", "c"])
            .args(["--into", "recordings", "--futhark"])
            .arg(compiler)
            .arg("--build-dir")
            .arg(build_dir())
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{}", text(&output));
        Some(here)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// One of the recorded compilers.
    fn recording(&self) -> PathBuf {
        let mut found = fs::read_dir(self.path("recordings")).expect("recordings were made");
        let entry = found.next().expect("one compiler at least");
        entry.expect("the folder can be read").path()
    }

    /// The folder of the only build of `main.fut` by that compiler.
    fn build(&self) -> PathBuf {
        let builds = fs::read_dir(self.recording().join("builds")).expect("there are builds");
        let mut paths = builds.map(|entry| entry.expect("the folder can be read").path());
        let is_main = |path: &PathBuf| path.to_string_lossy().contains("/main-c-");
        paths.find(is_main).expect("main.fut was recorded")
    }

    /// Runs with the recording instead of a compiler, and no compiler in the environment.
    fn run(&self) -> (Output, Vec<Value>) {
        let report = self.path("report.jsonl");
        let output = command(self.0.path())
            .env_clear()
            .env("PATH", self.path("nothing"))
            .env("CC", "/nonexistent/cc")
            .args(["run", "programs", "--all", "--backend", "c"])
            .args(["--check", "compile"])
            .args("--check blocks --check symbols --check plain".split(' '))
            .args(["--check", "server", "--json"])
            .arg(&report)
            .arg("--futhark")
            .arg(self.recording())
            .arg("--build-dir")
            .arg(self.path("work"))
            .output()
            .expect("the program starts");
        let text = fs::read_to_string(report).unwrap_or_default();
        let lines = text.lines().skip(1);
        let records = lines.map(|line| serde_json::from_str(line).expect("each line is JSON"));
        (output, records.collect())
    }
}

#[test]
fn recorded_programs_are_checked_without_compilers() {
    let Some(elsewhere) = Elsewhere::new() else {
        return;
    };
    let (output, records) = elsewhere.run();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let of = |program: &str, check: &str| -> Vec<&Value> {
        let fits = |record: &&Value| {
            record["check"] == check && record["program"] == format!("programs/{program}")
        };
        records.iter().filter(fits).collect()
    };
    assert_eq!(of("main.fut", "compile")[0]["outcome"], "pass");
    let refused = of("refused.fut", "compile");
    assert_eq!(refused[0]["outcome"], "pass", "as its test block says");
    let blocks = of("main.fut", "blocks");
    assert!(
        blocks.len() == 2 && blocks.iter().all(|record| record["outcome"] == "pass"),
        "{blocks:?}"
    );
    for (check, reason) in [
        ("plain", "no generated C"),
        ("server", "install the compiler"),
    ] {
        let found = of("main.fut", check);
        let message = found[0]["message"].as_str().unwrap_or_default();
        assert_eq!(found[0]["outcome"], "skip", "{check}");
        assert!(message.contains(reason), "{check}: {message}");
    }
}

#[test]
fn changed_files_invalidate_a_recording() {
    let Some(elsewhere) = Elsewhere::new() else {
        return;
    };
    let message = || {
        let (output, records) = elsewhere.run();
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let failed = records.iter().find(|record| record["outcome"] == "fail");
        let failed = failed.expect("something failed");
        assert_eq!(failed["check"], "compile");
        failed["message"].as_str().unwrap_or_default().to_owned()
    };
    let change = |path: &Path, from: &[u8]| {
        fs::write(path, [from, b"\n"].concat()).expect("the file can be written");
    };

    let library = fs::read_dir(elsewhere.build()).expect("there are files");
    let mut files = library.map(|entry| entry.expect("the folder can be read").path());
    let library = files
        .find(|path| path.to_string_lossy().contains("/libfut_"))
        .expect("there is a library");
    let bytes = fs::read(&library).expect("the file can be read");
    change(&library, &bytes);
    let text = message();
    assert!(
        text.contains("/libfut_") && text.contains("is not what the Futhark compiler generated"),
        "{text}"
    );
    fs::write(&library, &bytes).expect("the file can be written");

    let imported = elsewhere.path("programs/parts/twice.fut");
    change(&imported, IMPORTED.as_bytes());
    assert!(message().contains("twice.fut has changed"));
    fs::write(&imported, IMPORTED).expect("the file can be written");

    change(&elsewhere.path("programs/main.fut"), MAIN.as_bytes());
    assert!(message().contains("is not recorded for c"));
}
