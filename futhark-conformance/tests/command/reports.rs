//! The subcommands `report` and `diff`, on files as `run --json` writes them.

use super::scene::{Run, Scene, assert_has};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HEADER: &str = r#"{"schema":3,"generator":"test","seed":1,"compilers":[{"version":"0.25.32","path":"/x/futhark"}],"devices":[{"backend":"c","device":"cpu","kind":"real","usable":true,"reason":""}]}"#;

fn folder() -> Scene {
    Scene::without_compiler(&[])
}

/// Writes a report: a header, for part `shard` unless that is empty, records, and an end.
fn part(folder: &Scene, name: &str, shard: &str, records: &[String]) {
    let mut header = HEADER.to_owned();
    if !shard.is_empty() {
        let field = format!(r#""seed":1,"shard":"{shard}","#);
        header = header.replace(r#""seed":1,"#, &field);
    }
    let end = format!(r#"{{"records":{}}}"#, records.len());
    let lines = [&[header], records, &[end]].concat().join("\n");
    folder.write(name, lines + "\n");
}

fn whole(folder: &Scene, name: &str, records: &[String]) {
    part(folder, name, "", records);
}

/// Runs `report`, or another subcommand, with arguments separated by spaces.
fn report(folder: &Scene, arguments: &str) -> Run {
    run(folder, &format!("report {arguments}"))
}

fn run(folder: &Scene, arguments: &str) -> Run {
    folder.ended(&mut folder.command(arguments))
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

#[test]
fn parts_are_merged_in_every_format() {
    let folder = folder();
    part(&folder, "1", "1/2", &[record("a.fut", "pass", "")]);
    part(
        &folder,
        "2",
        "2/2",
        &[record("b.fut", "fail", "died & <left>")],
    );
    let shown = report(
        &folder,
        "1 2 --json out/all.jsonl --junit out/j.xml --html out/h.html",
    )
    .ends_with(1);
    assert_has(
        &shown,
        "FAIL (crash) b.fut [c, cpu, 0.25.32] blocks main #0",
    );
    assert_has(
        &shown,
        "repeat: futhark-conformance run b.fut --backend c --futhark /x/futhark",
    );
    let junit = folder.read("out/j.xml");
    assert_has(
        &junit,
        r#"name="c, 0.25.32" tests="2" skipped="0" errors="1" failures="0""#,
    );
    assert_has(&junit, "died &amp; &lt;left&gt;");
    let html = folder.read("out/h.html");
    assert_has(
        &html,
        "<pre class=\"message\">died &#38; &#60;left&#62;</pre>",
    );
    // The merged report can be read, and is not a part.
    let again = report(&folder, "out/all.jsonl");
    again.ends_with(1);
    assert_eq!(again.shown(), shown);
}

#[test]
fn the_exit_code_is_that_of_the_merged_run() {
    let folder = folder();
    whole(&folder, "held", &[record("a.fut", "pass", "")]);
    report(&folder, "held").ends_with(0);
    whole(&folder, "nothing", &[record("a.fut", "skip", "why")]);
    report(&folder, "nothing").ends_with(3);
    part(&folder, "half", "2/2", &[record("a.fut", "pass", "")]);
    let said = report(&folder, "half").ends_with(3);
    assert_has(&said, "missing: part 1/2");
}

#[test]
fn damaged_files_are_named_with_the_line() {
    let folder = folder();
    whole(
        &folder,
        "bad",
        &[record("a.fut", "pass", ""), "{\"program\":".into()],
    );
    let said = report(&folder, "bad --html h.html").ends_with(2);
    assert_has(&said, "failed to read bad, line 3: invalid record");
    assert!(!folder.path("h.html").exists(), "nothing is written");
    report(&folder, "nowhere").ends_with(2);
    run(&folder, "report").ends_with(2);
    whole(&folder, "good", &[record("a.fut", "pass", "")]);
    report(&folder, "good --junit good/under/a/file").ends_with(2);
}

#[test]
fn two_runs_are_compared() {
    let folder = folder();
    let was = [
        record("a.fut", "pass", ""),
        record("b.fut", "skip", "why"),
        record("c.fut", "fail", "passed, but").replace("crash", "unexpected-pass"),
    ];
    whole(&folder, "old", &was);
    let is = [
        record("a.fut", "fail", "died & <left>"),
        record("b.fut", "pass", ""),
        record("c.fut", "expected-fail", "known"),
    ];
    whole(&folder, "new", &is);
    let broken = run(&folder, "diff old new");
    let shown = broken.ends_with(1);
    for words in [
        "broken:\n  a.fut on c blocks:main #0: died & <left>\n",
        "gained coverage:\n  b.fut on c blocks:main #0: why\n",
        "old (Futhark 0.25.32) -> new (Futhark 0.25.32): \
         1 broken, 1 failing as expected, 1 gained coverage,",
    ] {
        assert_has(&shown, words);
    }

    let fixed = run(&folder, "diff new old");
    let shown = fixed.ends_with(0);
    assert_has(&shown, "fixed:\n  a.fut");
    assert_has(&shown, "lost coverage:\n  b.fut");
    assert_has(
        &shown,
        "passing unexpectedly:\n  c.fut on c blocks:main #0: passed, but",
    );

    let alone = run(&folder, "diff old");
    alone.ends_with(3);
    assert!(alone.shown().contains("nothing to compare"));
    run(&folder, "diff none old").ends_with(2);
}

#[test]
fn a_difference_names_every_program_and_backend() {
    let folder = folder();
    let both = |outcome: &str| -> Vec<String> {
        let programs = ["a.fut", "b.fut"].map(|program| record(program, outcome, "it died"));
        let other =
            |record: &String| record.replace(r#""backend":"c""#, r#""backend":"multicore""#);
        let others = programs.each_ref().map(other);
        [&programs[..], &others[..1]].concat()
    };
    whole(&folder, "old", &both("pass"));
    whole(&folder, "new", &both("fail"));
    let shown = run(&folder, "diff old new").shown();
    let expected = "broken:\n  a.fut on c, multicore blocks:main #0 and 1 more: it died\n    \
                    b.fut on c blocks:main #0\n";
    assert_has(&shown, expected);
}

#[test]
fn a_missing_result_has_the_reason_of_the_newer_run() {
    let folder = folder();
    let of_check = |program: &str, check: &str, outcome: &str, message: &str| {
        let record = record(program, outcome, message);
        record.replace("blocks", check).replace("main #0", "")
    };
    let programs = ["a.fut", "b.fut", "c.fut", "d.fut"];
    whole(
        &folder,
        "old",
        &programs.map(|name| record(name, "pass", "")),
    );
    let news = [
        of_check("a.fut", "compile", "fail", "a type error"),
        of_check("a.fut", "blocks", "skip", "the program did not compile"),
        of_check("b.fut", "blocks", "skip", "tagged no_c"),
        of_check("c.fut", "compile", "pass", ""),
    ];
    whole(&folder, "new", &news);
    let shown = run(&folder, "diff old new").shown();
    for words in [
        "a.fut on c blocks:main #0: the program did not compile\n",
        "b.fut on c blocks:main #0: tagged no_c\n",
        "c.fut on c blocks:main #0: no result\n",
        "d.fut on c blocks:main #0\n",
    ] {
        assert_has(&shown, words);
    }
}

#[test]
fn two_reports_cannot_have_one_file() {
    let folder = folder();
    whole(&folder, "a", &[record("a.fut", "pass", "")]);
    folder.write("out", "old");
    std::os::unix::fs::symlink("out", folder.path("link")).unwrap();
    for files in [
        "--json out --html out",
        "--json new --html ./x/../new",
        "--junit out --html link",
    ] {
        fs::create_dir_all(folder.path("x")).unwrap();
        let said = report(&folder, &format!("a {files}")).ends_with(2);
        assert_has(&said, "name the same file");
    }
    assert_eq!(folder.read("out"), "old");
    // A device takes any number of reports, and stays one.
    report(&folder, "a --junit /dev/null --html /dev/null").ends_with(0);
    let shown = report(&folder, "a --json /dev/stdout").shown();
    assert_has(&shown, "{\"records\":1}");
    // A report can replace its own file.
    report(&folder, "a --json a").ends_with(0);
    report(&folder, "a").ends_with(0);
}

/// A limit of the size of files stands in for a full disk.
#[test]
fn a_report_that_cannot_be_written_leaves_the_old_one() {
    let folder = folder();
    let records: Vec<String> = (0..50)
        .map(|n| record(&format!("{n}.fut"), "pass", ""))
        .collect();
    whole(&folder, "a", &records);
    folder.write("out", "old");
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" report a --json out";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_futhark-conformance")]);
    let said = folder
        .ended(command.current_dir(folder.path(".")))
        .ends_with(3);
    assert_eq!(said.matches("out: File too large").count(), 1, "{said}");
    assert_eq!(folder.read("out"), "old");
}

#[test]
fn a_program_is_not_replaced_by_a_report() {
    let folder = folder();
    whole(&folder, "a", &[record("a.fut", "pass", "")]);
    folder.write("a.fut", "entry f = 1i32");
    for option in ["--json", "--junit", "--html"] {
        let said = report(&folder, &format!("a {option} a.fut")).ends_with(2);
        assert_has(&said, "its name is that of a program");
    }
    assert_eq!(folder.read("a.fut"), "entry f = 1i32");
}

#[test]
fn a_baseline_shows_what_is_new_and_what_is_fixed() {
    let folder = folder();
    let old_failure = record("known.fut", "fail", "died before");
    let was_broken = record("fixed.fut", "fail", "died before");
    let was_good = record("new.fut", "pass", "");
    whole(&folder, "old", &[old_failure.clone(), was_broken, was_good]);
    let new_failure = record("new.fut", "fail", "died of 5,\\n::error::x");
    let now_good = record("fixed.fut", "pass", "");
    whole(&folder, "new", &[old_failure, now_good, new_failure]);
    let shown = report(&folder, "new --baseline old --summary s.md --html h.html").ends_with(1);
    for words in [
        "1) FAIL (crash) new new.fut [c, cpu, 0.25.32] blocks main #0\n",
        "fixed since the baseline:\n     1  fixed.fut on c blocks:main #0: died before\n",
        "since old: 1 broken, 1 fixed, 1 unchanged\n",
    ] {
        assert_has(&shown, words);
    }
    // Nothing that a message could inject.
    let mut lines = shown.lines();
    assert!(
        !lines.any(|line| line.trim_start().starts_with("::")),
        "{shown}"
    );

    let summary = folder.read("s.md");
    assert_has(&summary, "<b>1 new</b>");
    let (first, second) = (summary.find("died of 5"), summary.find("died before"));
    assert!(first.unwrap() < second.unwrap(), "{summary}");
    assert_has(&summary, "| c | cpu | 0.25.32 | 1 | **2**");
    let html = folder.read("h.html");
    assert_has(&html, "1 broken, 1 fixed");
    assert_eq!(html.matches("1 new</span>").count(), 1, "{html}");

    let damaged = report(&folder, "new --baseline s.md");
    damaged.ends_with(2);
    assert!(damaged.shown().contains("failed to read s.md, line 1"));
}

#[test]
fn a_report_may_have_lines_of_later_versions() {
    let folder = folder();
    let later = r#"{"kind":"later"}"#.to_owned();
    whole(&folder, "old", &[record("a.fut", "pass", "")]);
    let text_of = folder.read("old");
    let lines: Vec<&str> = text_of.lines().collect();
    let with = [lines[0], &later, lines[1], lines[2]].join("\n");
    folder.write("later", with);
    let shown = report(&folder, "old --baseline later").shown();
    assert_has(&shown, "1 unchanged");
    report(&folder, "later").ends_with(0);
}

/// Absolute paths, relative paths, and files without a folder, in each pair. Without Chromium, a browser
/// cannot be asked.
#[test]
fn the_page_is_drawn_for_programs_in_all_kinds_of_folders() {
    needed!(crate::needs::full());
    let names = ["/a/b/p.fut", "/c.fut", "a/b/q.fut", "../r.fut", "s.fut"];
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(browser) = browser else {
        return eprintln!("skipped: needs chromium");
    };
    for (i, first) in names.iter().enumerate() {
        for second in &names[i..] {
            let folder = folder();
            let records = [first, second].map(|name| record(name, "pass", ""));
            whole(&folder, "a.jsonl", &records);
            let output = report(&folder, "a.jsonl --html a.html");
            output.ends_with(0);
            let profile = folder.path("profile");
            let mut child = Command::new(browser)
                .args("--headless --no-sandbox --disable-gpu --no-first-run".split(' '))
                .args("--disable-background-networking --disable-sync --dump-dom".split(' '))
                .arg(format!("--user-data-dir={}", profile.display()))
                .arg(format!("file://{}", folder.path("a.html").display()))
                .stdout(fs::File::create(folder.path("dom")).unwrap())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let begun = Instant::now();
            while child.try_wait().unwrap().is_none() {
                if begun.elapsed() > Duration::from_secs(600) {
                    child.kill().unwrap();
                    panic!("{first} and {second}: the page hangs");
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            let dom = folder.read("dom");
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
    let folder = folder();
    part(&folder, "shards.jsonl", "1/4000000000", &[]);
    whole(
        &folder,
        "line.jsonl",
        &[record("p.fut", "fail", &"x".repeat(2 << 20))],
    );
    // As long as a line can be.
    let lines: Vec<String> = (0..40)
        .map(|i| record(&format!("p{i}.fut"), "fail", &"<&[`".repeat(240 << 10)))
        .collect();
    whole(&folder, "long.jsonl", &lines);
    for (file, said) in [
        ("shards.jsonl", "N up to 10000"),
        ("line.jsonl", "line 2: the line is longer than"),
        ("long.jsonl", ""),
    ] {
        for arguments in [
            format!("report {file} --html h.html"),
            format!("diff {file} {file}"),
        ] {
            let shown = run(&folder, &arguments).shown();
            assert!(shown.contains(said), "{arguments}: {shown:.2000}");
        }
    }
}
