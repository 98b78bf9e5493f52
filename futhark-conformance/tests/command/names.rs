//! Names of files and texts of compilers that would do harm in a terminal, a log, a shell or a page.

use super::scene::{PROGRAM, Scene, assert_has};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// Fails if a terminal or a CI system would take something in the text as a command.
fn assert_harmless(text: &str) {
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("::"), "{line:?}");
        assert!(!line.contains("##["), "{line:?}");
    }
    let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    assert!(
        !text.contains(harmful) && !text.contains('\u{202e}'),
        "{text:?}"
    );
}

#[test]
fn names_and_messages_are_escaped_and_repeat_commands_work() {
    let mut scene = needed!(Scene::new(&[]));
    // Only the program, not the one that tries the device.
    let script = r#"case "$1 $3" in
'c '*probe.fut) ;;
'c '*) printf 'wrong\n::error::from a compiler\n  ##[error]x\033[31mred\n' >&2; exit 2 ;;
esac"#;
    scene.futhark = scene.compiler("futhark", script);
    let name = "it's \"$HOME\"\n::error::a file\u{202e}\x1b[1m##[error].fut";
    scene.write(name, PROGRAM);
    let shown = scene
        .run(". --all --backend c --check compile --junit junit.xml --html page.html")
        .ends_with(1);
    assert_harmless(&shown);
    assert_has(&shown, r"\::error::from a compiler");
    for file in ["junit.xml", "page.html"] {
        let file = scene.read(file);
        assert!(file.contains("from a compiler"), "{file}");
        let harmful = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(
            !file.contains(harmful) && !file.contains('\u{202e}'),
            "{file:?}"
        );
    }

    // A long command has several lines, which end with a backslash.
    let (_, repeat) = shown
        .split_once("repeat: ")
        .expect("a failure has a command");
    let end = repeat.find("\n\n").unwrap_or(repeat.len());
    let repeat = &repeat[..end];
    let shown = scene.ended(&mut scene.shell(repeat)).ends_with(1);
    assert_has(&shown, "1 check: 0 passed, 1 failed");
}

#[test]
fn programs_whose_names_are_not_utf8_are_skipped() {
    let scene = needed!(Scene::new(&[]));
    for name in [&b"a\xff.fut"[..], br"a\xff.fut"] {
        scene.write(OsStr::from_bytes(name), PROGRAM);
    }
    let run = scene.run(". --all --backend c --check compile");
    assert_harmless(&run.ends_with(0));
    let not_utf8 = "the path is not UTF-8";
    let expected = [
        ["a\u{fffd}.fut", "skip", not_utf8],
        [r"a\xff.fut", "pass", ""],
    ];
    assert_eq!(run.texts(["program", "outcome", "message"]), expected);
}
