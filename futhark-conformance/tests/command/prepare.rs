//! `run` checks programs that `prepare` recorded, without a compiler. Recording needs a Futhark
//! compiler and a C compiler.

use super::scene::{Run, Scene, assert_has};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

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
struct Elsewhere(Scene);

impl Elsewhere {
    fn new() -> Option<Elsewhere> {
        let scene = Scene::new(&[
            ("programs/main.fut", MAIN),
            ("programs/parts/twice.fut", IMPORTED),
            ("programs/refused.fut", REFUSED),
        ])?;
        let mut prepare = scene.compiling("prepare programs --backend c --into recordings");
        scene.ended(&mut prepare).ends_with(0);
        Some(Elsewhere(scene))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
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
    fn run(&self) -> Run {
        let checks = "--check compile --check blocks --check symbols --check plain --check server";
        let run = "run programs --all --backend c --json report.jsonl --build-dir work";
        let mut command = self.0.command(&format!("{run} {checks}"));
        command.env_clear().env("PATH", self.path("nothing"));
        command.env("CC", "/nonexistent/cc");
        self.0.ended(command.arg("--futhark").arg(self.recording()))
    }
}

#[test]
fn recorded_programs_are_checked_without_compilers() {
    let elsewhere = needed!(Elsewhere::new());
    let run = elsewhere.run();
    run.ends_with(0);
    let of = |program: &str, check: &str| -> Vec<&Value> {
        let program = format!("programs/{program}");
        let fits = |record: &&Value| record["check"] == check && record["program"] == *program;
        run.records().filter(fits).collect()
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
    let elsewhere = needed!(Elsewhere::new());
    let message = || {
        let run = elsewhere.run();
        run.ends_with(1);
        let failed = run.records().find(|record| record["outcome"] == "fail");
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
    assert_has(&text, "/libfut_");
    assert_has(&text, "is not what the Futhark compiler generated");
    fs::write(&library, &bytes).expect("the file can be written");

    let imported = elsewhere.path("programs/parts/twice.fut");
    change(&imported, IMPORTED.as_bytes());
    assert!(message().contains("twice.fut has changed"));
    fs::write(&imported, IMPORTED).expect("the file can be written");

    change(&elsewhere.path("programs/main.fut"), MAIN.as_bytes());
    assert!(message().contains("is not recorded for c"));
}
