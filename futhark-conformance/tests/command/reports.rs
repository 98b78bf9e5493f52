//! The subcommands `report` and `diff`, on files as `run --json` writes them.

use super::command;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const HEADER: &str = r#"{"schema":3,"generator":"test","seed":1,"compilers":[{"version":"0.25.32","path":"/x/futhark"}],"devices":[{"backend":"c","device":"cpu","kind":"real","usable":true,"reason":""}]}"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a report: a header, for part `shard` unless that is empty, records, and an end.
    fn part(&self, name: &str, shard: &str, records: &[String]) {
        let mut header = HEADER.to_owned();
        if !shard.is_empty() {
            let field = format!(r#""seed":1,"shard":"{shard}","#);
            header = header.replace(r#""seed":1,"#, &field);
        }
        let end = format!(r#"{{"records":{}}}"#, records.len());
        let lines = [&[header], records, &[end]].concat().join("\n");
        fs::write(self.path(name), lines + "\n").unwrap();
    }

    fn report(&self, arguments: &[&str]) -> Output {
        self.run("report", arguments)
    }

    fn run(&self, subcommand: &str, arguments: &[&str]) -> Output {
        command(self.0.path())
            .arg(subcommand)
            .args(arguments)
            .output()
            .expect("the program starts")
    }
}

fn record(program: &str, outcome: &str, message: &str) -> String {
    let cause = if outcome == "fail" {
        "\"crash\""
    } else {
        "null"
    };
    format!(
        r#"{{"program":"{program}","backend":"c","device":"cpu","compiler":"0.25.32","check":"blocks","case":"main #0","outcome":"{outcome}","cause":{cause},"message":"{message}","seconds":0.1}}"#
    )
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn parts_are_merged_in_every_format() {
    let folder = Folder::new();
    folder.part("1", "1/2", &[record("a.fut", "pass", "")]);
    folder.part("2", "2/2", &[record("b.fut", "fail", "died & <left>")]);
    let output = folder.report(&[
        "1",
        "2",
        "--json",
        "out/all.jsonl",
        "--junit",
        "out/j.xml",
        "--html",
        "out/h.html",
    ]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let shown = text(&output.stdout);
    assert!(
        shown.contains("FAIL (crash) b.fut [c, cpu, 0.25.32] blocks main #0"),
        "{shown}"
    );
    assert!(
        shown.contains("repeat: futhark-conformance run b.fut --backend c --futhark /x/futhark"),
        "{shown}"
    );
    let junit = fs::read_to_string(folder.path("out/j.xml")).unwrap();
    assert!(
        junit.contains(r#"name="c, 0.25.32" tests="2" skipped="0" errors="1" failures="0""#),
        "{junit}"
    );
    assert!(junit.contains("died &amp; &lt;left&gt;"), "{junit}");
    let html = fs::read_to_string(folder.path("out/h.html")).unwrap();
    assert!(
        html.contains("<pre class=\"message\">died &#38; &#60;left&#62;</pre>"),
        "{html}"
    );
    // The merged report can be read, and is not a part.
    let again = folder.report(&["out/all.jsonl"]);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(text(&again.stdout), shown);
}

#[test]
fn the_exit_code_is_that_of_the_merged_run() {
    let folder = Folder::new();
    folder.part("held", "", &[record("a.fut", "pass", "")]);
    assert_eq!(folder.report(&["held"]).status.code(), Some(0));
    folder.part("nothing", "", &[record("a.fut", "skip", "why")]);
    assert_eq!(folder.report(&["nothing"]).status.code(), Some(3));
    folder.part("half", "2/2", &[record("a.fut", "pass", "")]);
    let half = folder.report(&["half"]);
    assert_eq!(half.status.code(), Some(3));
    let said = text(&half.stderr);
    assert!(said.contains("missing: part 1/2"), "{said}");
}

#[test]
fn an_interrupted_run_is_reported_as_incomplete() {
    let folder = Folder::new();
    folder.part("cut", "", &[record("a.fut", "pass", "")]);
    let text_of = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    let whole = text_of("cut");
    let (cut, end) = whole.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(end, r#"{"records":1}"#);
    fs::write(folder.path("cut"), cut).unwrap();
    let output = folder.report(&["cut", "--json", "again"]);
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stderr);
    assert!(said.contains("missing: the end of cut"), "{said}");
    // A merged report of an incomplete run is incomplete, too.
    assert_eq!(folder.report(&["again"]).status.code(), Some(3));
}

#[test]
fn damaged_files_are_named_with_the_line() {
    let folder = Folder::new();
    folder.part(
        "bad",
        "",
        &[record("a.fut", "pass", ""), "{\"program\":".into()],
    );
    let output = folder.report(&["bad", "--html", "h.html"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.contains("failed to read bad, line 3: invalid record"),
        "{said}"
    );
    assert!(!folder.path("h.html").exists(), "nothing is written");
    assert_eq!(folder.report(&["nowhere"]).status.code(), Some(2));
    assert_eq!(folder.report(&[]).status.code(), Some(2));
    folder.part("good", "", &[record("a.fut", "pass", "")]);
    let output = folder.report(&["good", "--junit", "good/under/a/file"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn two_runs_are_compared() {
    let folder = Folder::new();
    let (pass, skip) = (record("a.fut", "pass", ""), record("b.fut", "skip", "why"));
    folder.part("old", "", &[pass, skip]);
    let (fail, pass) = (
        record("a.fut", "fail", "died & <left>"),
        record("b.fut", "pass", ""),
    );
    folder.part("new", "", &[fail, pass]);
    let broken = folder.run("diff", &["old", "new"]);
    assert_eq!(broken.status.code(), Some(1), "{broken:?}");
    let shown = text(&broken.stdout);
    for words in [
        "broken:\n  a.fut on c blocks:main #0: died & <left>\n",
        "gained coverage:\n  b.fut on c blocks:main #0: why\n",
        "old (Futhark 0.25.32) -> new (Futhark 0.25.32): 1 broken, 1 gained coverage,",
    ] {
        assert!(shown.contains(words), "no {words:?} in\n{shown}");
    }

    let fixed = folder.run("diff", &["new", "old"]);
    assert_eq!(fixed.status.code(), Some(0), "{fixed:?}");
    let shown = text(&fixed.stdout);
    assert!(
        shown.contains("fixed:\n  a.fut") && shown.contains("lost coverage:\n  b.fut"),
        "{shown}"
    );

    let alone = folder.run("diff", &["old"]);
    assert_eq!(alone.status.code(), Some(3), "{alone:?}");
    assert!(text(&alone.stderr).contains("nothing to compare"));
    assert_eq!(folder.run("diff", &["none", "old"]).status.code(), Some(2));
}

#[test]
fn an_unexpected_pass_is_not_broken() {
    let folder = Folder::new();
    let known = record("a.fut", "expected-fail", "known");
    let passes = record("a.fut", "fail", "passed, but was expected to fail: known");
    folder.part("old", "", &[known]);
    folder.part("new", "", &[passes.replace("crash", "unexpected-pass")]);
    let output = folder.run("diff", &["old", "new"]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(
        shown.contains("passing unexpectedly:\n  a.fut on c blocks:main #0: passed, but"),
        "{shown}"
    );
    assert!(shown.contains("0 broken"), "{shown}");
}

#[test]
fn a_difference_names_every_program_and_backend() {
    let folder = Folder::new();
    let both = |outcome: &str| -> Vec<String> {
        let programs = ["a.fut", "b.fut"].map(|program| record(program, outcome, "it died"));
        let other =
            |record: &String| record.replace(r#""backend":"c""#, r#""backend":"multicore""#);
        let others = programs.each_ref().map(other);
        [&programs[..], &others[..1]].concat()
    };
    folder.part("old", "", &both("pass"));
    folder.part("new", "", &both("fail"));
    let output = folder.run("diff", &["old", "new"]);
    let shown = text(&output.stdout);
    let expected = "broken:\n  a.fut on c, multicore blocks:main #0 and 1 more: it died\n    \
                    b.fut on c blocks:main #0\n";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn a_missing_result_has_the_reason_of_the_newer_run() {
    let folder = Folder::new();
    let whole = |program: &str, check: &str, outcome: &str, message: &str| {
        let record = record(program, outcome, message);
        record.replace("blocks", check).replace("main #0", "")
    };
    let programs = ["a.fut", "b.fut", "c.fut", "d.fut"];
    folder.part("old", "", &programs.map(|name| record(name, "pass", "")));
    let news = [
        whole("a.fut", "compile", "fail", "a type error"),
        whole("a.fut", "blocks", "skip", "the program did not compile"),
        whole("b.fut", "blocks", "skip", "tagged no_c"),
        whole("c.fut", "compile", "pass", ""),
    ];
    folder.part("new", "", &news);
    let shown = text(&folder.run("diff", &["old", "new"]).stdout);
    for words in [
        "a.fut on c blocks:main #0: the program did not compile\n",
        "b.fut on c blocks:main #0: tagged no_c\n",
        "c.fut on c blocks:main #0: no result\n",
        "d.fut on c blocks:main #0\n",
    ] {
        assert!(shown.contains(words), "no {words:?} in\n{shown}");
    }
}

#[test]
fn a_report_that_is_given_twice_is_refused() {
    let folder = Folder::new();
    folder.part("a", "", &[record("a.fut", "fail", "died")]);
    fs::copy(folder.path("a"), folder.path("copy")).unwrap();
    std::os::unix::fs::symlink("a", folder.path("link")).unwrap();
    for other in ["a", "./a", "copy", "link"] {
        let output = folder.report(&["a", other]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = text(&output.stderr);
        assert!(
            said.contains("blocks main #0, too; give each report once"),
            "{said}"
        );
    }
}

#[test]
fn two_reports_cannot_have_one_file() {
    let folder = Folder::new();
    folder.part("a", "", &[record("a.fut", "pass", "")]);
    fs::write(folder.path("out"), "old").unwrap();
    std::os::unix::fs::symlink("out", folder.path("link")).unwrap();
    for files in [
        ["--json", "out", "--html", "out"],
        ["--json", "new", "--html", "./x/../new"],
        ["--junit", "out", "--html", "link"],
    ] {
        fs::create_dir_all(folder.path("x")).unwrap();
        let output = folder.report(&[&["a"], &files[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{files:?}: {output:?}");
        let said = text(&output.stderr);
        assert!(said.contains("name the same file"), "{said}");
    }
    assert_eq!(fs::read_to_string(folder.path("out")).unwrap(), "old");
    // A device takes any number of reports, and stays one.
    let both = folder.report(&["a", "--junit", "/dev/null", "--html", "/dev/null"]);
    assert_eq!(both.status.code(), Some(0), "{both:?}");
    let stdout = folder.report(&["a", "--json", "/dev/stdout"]);
    assert!(
        text(&stdout.stdout).contains("{\"records\":1}"),
        "{stdout:?}"
    );
    // A report can replace its own file.
    assert_eq!(folder.report(&["a", "--json", "a"]).status.code(), Some(0));
    assert_eq!(folder.report(&["a"]).status.code(), Some(0));
}

/// A limit of the size of files stands in for a full disk.
#[test]
fn a_report_that_cannot_be_written_leaves_the_old_one() {
    let folder = Folder::new();
    let records: Vec<String> = (0..50)
        .map(|n| record(&format!("{n}.fut"), "pass", ""))
        .collect();
    folder.part("a", "", &records);
    fs::write(folder.path("out"), "old").unwrap();
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" report a --json out";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_futhark-conformance")])
        .current_dir(folder.path("."))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said = text(&output.stderr);
    assert_eq!(said.matches("out: File too large").count(), 1, "{said}");
    assert_eq!(fs::read_to_string(folder.path("out")).unwrap(), "old");
}

#[test]
fn a_program_is_not_replaced_by_a_report() {
    let folder = Folder::new();
    folder.part("a", "", &[record("a.fut", "pass", "")]);
    fs::write(folder.path("a.fut"), "entry f = 1i32").unwrap();
    for option in ["--json", "--junit", "--html"] {
        let output = folder.report(&["a", option, "a.fut"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(
            text(&output.stderr).contains("its name is that of a program"),
            "{output:?}"
        );
    }
    assert_eq!(
        fs::read_to_string(folder.path("a.fut")).unwrap(),
        "entry f = 1i32"
    );
}

#[test]
fn a_baseline_shows_what_is_new_and_what_is_fixed() {
    let folder = Folder::new();
    let old_failure = record("known.fut", "fail", "died before");
    let was_broken = record("fixed.fut", "fail", "died before");
    let was_good = record("new.fut", "pass", "");
    folder.part("old", "", &[old_failure.clone(), was_broken, was_good]);
    let new_failure = record("new.fut", "fail", "died of 5,\\n::error::x");
    let now_good = record("fixed.fut", "pass", "");
    folder.part("new", "", &[old_failure, now_good, new_failure]);
    let arguments = "new --baseline old --summary s.md --html h.html";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let output = folder.report(&arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let shown = text(&output.stdout);
    let expected = [
        "1) FAIL (crash) new new.fut [c, cpu, 0.25.32] blocks main #0\n",
        "fixed since the baseline:\n     1  fixed.fut on c blocks:main #0: died before\n",
        "since old: 1 broken, 1 fixed, 1 unchanged\n",
    ];
    for words in expected {
        assert!(shown.contains(words), "no {words:?} in\n{shown}");
    }
    // Nothing that a message could inject.
    let mut lines = shown.lines();
    assert!(
        !lines.any(|line| line.trim_start().starts_with("::")),
        "{shown}"
    );

    let summary = fs::read_to_string(folder.path("s.md")).unwrap();
    let (first, second) = (summary.find("died of 5"), summary.find("died before"));
    assert!(first.unwrap() < second.unwrap(), "{summary}");
    assert!(
        summary.contains("| c | cpu | 0.25.32 | 1 | **2**"),
        "{summary}"
    );
    let html = fs::read_to_string(folder.path("h.html")).unwrap();
    assert!(html.contains("1 broken, 1 fixed"), "{html}");
    assert_eq!(html.matches("1 new</span>").count(), 1, "{html}");

    let damaged = folder.report(&["new", "--baseline", "s.md"]);
    assert_eq!(damaged.status.code(), Some(2), "{damaged:?}");
    assert!(text(&damaged.stderr).contains("failed to read s.md, line 1"));
}

#[test]
fn a_report_may_have_lines_of_later_versions() {
    let folder = Folder::new();
    let later = r#"{"kind":"later"}"#.to_owned();
    folder.part("old", "", &[record("a.fut", "pass", "")]);
    let text_of = fs::read_to_string(folder.path("old")).unwrap();
    let lines: Vec<&str> = text_of.lines().collect();
    let with = [lines[0], &later, lines[1], lines[2]].join("\n");
    fs::write(folder.path("later"), with).unwrap();
    let output = folder.report(&["old", "--baseline", "later"]);
    assert!(text(&output.stdout).contains("1 unchanged"), "{output:?}");
    assert_eq!(folder.report(&["later"]).status.code(), Some(0));
}

/// Absolute paths, relative paths, and files without a folder, in each pair. Without Chromium, a browser
/// cannot be asked.
#[test]
fn the_page_is_drawn_for_programs_in_all_kinds_of_folders() {
    let names = ["/a/b/p.fut", "/c.fut", "a/b/q.fut", "../r.fut", "s.fut"];
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(browser) = browser else {
        return eprintln!("skipped: needs chromium");
    };
    for (i, first) in names.iter().enumerate() {
        for second in &names[i..] {
            let folder = Folder::new();
            let records = [first, second].map(|name| record(name, "pass", ""));
            folder.part("a.jsonl", "", &records);
            let output = folder.report(&["a.jsonl", "--html", "a.html"]);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            let profile = folder.path("profile");
            let mut child = Command::new(browser)
                .args([
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--no-first-run",
                ])
                .args([
                    "--disable-background-networking",
                    "--disable-sync",
                    "--dump-dom",
                ])
                .arg(format!("--user-data-dir={}", profile.display()))
                .arg(format!("file://{}", folder.path("a.html").display()))
                .stdout(fs::File::create(folder.path("dom")).unwrap())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let begun = Instant::now();
            while child.try_wait().unwrap().is_none() {
                if begun.elapsed() > Duration::from_secs(60) {
                    child.kill().unwrap();
                    panic!("{first} and {second}: the page hangs");
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            let dom = fs::read_to_string(folder.path("dom")).unwrap();
            for name in [first, second] {
                let file = name.rsplit('/').next().unwrap();
                let drawn = dom.split("<tbody>").nth(1).unwrap_or_default();
                assert!(drawn.contains(file), "{first} and {second}: {name}");
            }
        }
    }
}

#[test]
fn reports_that_would_exhaust_memory_are_refused() {
    let folder = Folder::new();
    folder.part("shards.jsonl", "1/4000000000", &[]);
    folder.part(
        "line.jsonl",
        "",
        &[record("p.fut", "fail", &"x".repeat(2 << 20))],
    );
    // As long as a line can be.
    let lines: Vec<String> = (0..40)
        .map(|i| record(&format!("p{i}.fut"), "fail", &"<&[`".repeat(240 << 10)))
        .collect();
    folder.part("long.jsonl", "", &lines);
    for (file, said) in [
        ("shards.jsonl", "N up to 10000"),
        ("line.jsonl", "line 2: the line is longer than"),
        ("long.jsonl", ""),
    ] {
        for arguments in [
            &["report", file, "--html", "h.html"][..],
            &["diff", file, file],
        ] {
            let begun = Instant::now();
            let output = folder.run(arguments[0], &arguments[1..]);
            let stderr = text(&output.stderr);
            assert!(stderr.contains(said), "{arguments:?}: {stderr}");
            assert!(begun.elapsed() < Duration::from_secs(60), "{arguments:?}");
        }
    }
}
