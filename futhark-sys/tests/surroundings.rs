//! The command `futhark-library` with full disks, odd names, lying compilers and other processes at the same folders; and
//! libraries of which a part is missing.
#![cfg(all(feature = "command", feature = "load", target_os = "linux"))]

mod support;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use futhark_manifest::Backend;
use futhark_sys::compile::{Build, Compiler, ErrorKind, Recording};
use futhark_sys::load;

const PROGRAM: &str = "entry f (xs: []i32) = i32.sum xs\n";

/// An empty folder with a program, `a.fut`. `None` if the test is skipped.
fn place(name: &str) -> Option<PathBuf> {
    let folder = support::folder(&format!("surroundings-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.fut"), PROGRAM).unwrap();
    (!support::no_compiler()).then_some(folder)
}

/// Makes `out/a` of `a.fut` in a folder, with a cache of its own.
fn command(folder: &Path) -> Command {
    command_for(folder, "a.fut".as_ref())
}

fn command_for(folder: &Path, program: &OsStr) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_futhark-library"));
    command
        .args(["c", "--flag=-O0", "-o", "out/a", "--"])
        .arg(program);
    command
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .current_dir(folder);
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", text(&output));
}

/// The files in a folder, without the temporary folders that a killed process leaves behind.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_library_without_its_end_is_an_error() {
    let Some(source) = support::Source::to_compile("surroundings-cut", PROGRAM) else {
        return;
    };
    let artifact = source.build(Backend::C).run().unwrap();
    let whole = fs::read(artifact.library()).unwrap();
    let cut = source.folder.join("cut.so");
    let ends = (0..whole.len()).step_by(509).chain([1, 63, 64, 65]);
    for end in ends.chain([whole.len() - 64, whole.len() - 1]) {
        let _ = fs::remove_file(&cut);
        fs::write(&cut, &whole[..end]).unwrap();
        // SAFETY: an unchanged part of a library of ours. Without its end, the loader does not see it.
        let error = unsafe { load::open(&cut, artifact.symbol()) }.unwrap_err();
        assert_eq!(error.kind(), load::ErrorKind::File);
        // The loader itself notices incomplete first bytes.
        let is_seen = error.to_string().contains("cut.so: its end is missing");
        assert!(is_seen || (1..64).contains(&end), "{end}: {error}");
    }
    fs::write(&cut, &whole).unwrap();
    // SAFETY: a copy of a library of ours.
    unsafe { load::open(&cut, artifact.symbol()) }.unwrap();
}

#[test]
fn names_of_folders_and_programs_are_not_interpreted() {
    let Some(home) = place("names") else { return };
    succeeds(&mut command(&home));
    let expected = files(&home.join("out"));
    let long = "l".repeat(200);
    let odd = "-o a=b,c:\n$HOME 'q' \"d\" `e` \\f %s";
    for name in [odd.as_bytes(), long.as_bytes(), b"not\xffutf8"].map(OsStr::from_bytes) {
        let folder = home.join("folders").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::copy(home.join("a.fut"), folder.join("a.fut")).unwrap();
        succeeds(&mut command(&folder));
        // Options of the C compiler hide the folder in results.
        let is_same = files(&folder.join("out")) == expected;
        assert_eq!(is_same, name.to_str().is_some(), "{name:?}");
        let program = [name.as_bytes(), b".fut"].concat();
        let program = OsStr::from_bytes(&program);
        fs::copy(home.join("a.fut"), home.join(program)).unwrap();
        succeeds(&mut command_for(&home, program));
    }
}

#[test]
fn results_replace_links_and_not_what_they_refer_to() {
    let Some(home) = place("links") else { return };
    fs::create_dir(home.join("out")).unwrap();
    for file in ["liba.so", "a.h", "a.json", "a.resolved.json"] {
        fs::write(home.join(file), "of the user").unwrap();
        symlink(home.join(file), home.join("out").join(file)).unwrap();
    }
    succeeds(&mut command(&home));
    for file in ["liba.so", "a.h", "a.json", "a.resolved.json"] {
        assert_eq!(fs::read(home.join(file)).unwrap(), b"of the user");
        assert!(!home.join("out").join(file).is_symlink(), "{file}");
    }
}

#[test]
fn a_c_compiler_that_lies_is_an_error() {
    let Some(home) = place("liars") else { return };
    let cc = home.join("cc");
    let script = "#!/bin/sh
for word; do
    [ \"$last\" != -o ] || out=$word
    [ \"$word\" != -c ] || compiles=yes
    last=$word
done
[ -n \"$compiles\" ] || exec cc \"$@\"
eval \"$LIE\"
";
    fs::write(&cc, script).unwrap();
    fs::set_permissions(&cc, fs::Permissions::from_mode(0o755)).unwrap();
    let no_object = "it wrote no whole object";
    let no_room = "lacks memory or disk space";
    for (script, expected) in [
        ("exit 0", no_object),
        ("cc \"$@\"; truncate -s -1 \"$out\"", no_object),
        ("exit 1", no_room),
        ("kill -9 $$", no_room),
        ("echo 'Killed signal terminated cc1' >&2; exit 1", no_room),
        ("kill -SEGV $$", "SIGSEGV"),
        ("printf 'a\\377\\0b' >&2; exit 1", "a\u{fffd}\0b"),
    ] {
        let mut run = command(&home);
        let output = run.env("CC", &cc).env("LIE", script).output().unwrap();
        let said = text(&output);
        assert_eq!(output.status.code(), Some(1), "{script}: {said}");
        assert!(said.contains(expected), "{script}: {said}");
    }
    assert!(!home.join("out").exists());
    // Nothing of it was kept.
    let mut run = command(&home);
    succeeds(run.env("CC", &cc).env("LIE", "exec cc \"$@\""));
}

#[test]
fn a_program_is_not_recorded_as_refused_for_lack_of_room() {
    let Some(home) = place("room") else { return };
    let (futhark, real) = (home.join("futhark"), Compiler::find().unwrap());
    let real = real.program().display();
    for script in [
        "echo 'futhark: a.c: resource exhausted (No space left on device)' >&2; exit 1",
        "exit 1",
        "kill -9 $$",
        "mkfifo \"$5.c\" \"$5.h\" \"$5.json\"",
    ] {
        let script = format!("#!/bin/sh\n[ \"$1\" = c ] || exec '{real}' \"$@\"\n{script}\n");
        fs::write(&futhark, script).unwrap();
        fs::set_permissions(&futhark, fs::Permissions::from_mode(0o755)).unwrap();
        let compiler = Compiler::at(&futhark).unwrap();
        let recording = Recording::create(home.join("recording"), &compiler).unwrap();
        let build = Build::new(home.join("a.fut"), Backend::C).compiler(compiler);
        let error = build
            .out_dir(home.join("out"))
            .record(&recording)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    }
    let builds = fs::read_dir(home.join("recording/builds")).unwrap();
    assert_eq!(builds.count(), 0);
    // The version of the compiler did not fit either.
    fs::write(home.join("recording/futhark-recording"), "").unwrap();
    let compiler = Compiler::at(&futhark).unwrap();
    Recording::create(home.join("recording"), &compiler).unwrap();
}

#[test]
fn results_of_two_runs_are_not_mixed() {
    let Some(home) = place("turns") else { return };
    let out = home.join("out");
    fs::create_dir(&out).unwrap();
    // As another run holds it, which puts its files into place.
    let turn = File::open(&out).unwrap();
    turn.lock().unwrap();
    let mut run = command(&home);
    let mut run = run.stdout(Stdio::null()).spawn().unwrap();
    let is_made = || {
        let mut entries = fs::read_dir(&out)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        entries.any(|folder| folder.join("results/a.resolved.json").exists())
    };
    while !is_made() {
        assert!(run.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    assert!(run.try_wait().unwrap().is_none() && !out.join("liba.so").exists());
    drop(turn);
    assert!(run.wait().unwrap().success());
    assert_eq!(files(&out).len(), 5);
}

#[test]
fn a_build_that_is_killed_does_not_spoil_one_at_the_same_time_or_a_later_one() {
    let Some(home) = place("killed") else { return };
    succeeds(&mut command(&home));
    let expected = files(&home.join("out"));
    let count = if support::is_full() { 100 } else { 2 };
    for number in 0..count {
        for folder in ["cache", "out"] {
            fs::remove_dir_all(home.join(folder)).unwrap();
        }
        let [mut killed, mut other] = [0, 1].map(|_| {
            let mut command = command(&home);
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        });
        std::thread::sleep(Duration::from_millis(number * 600 / count));
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert!(other.wait().unwrap().success());
        succeeds(&mut command(&home));
        assert!(files(&home.join("out")) == expected);
    }
}

/// Builds on a disk of `$SIZE`, in a namespace of its own. Afterwards the same build succeeds on a larger one.
const ON_A_SMALL_DISK: &str = r#"
mount -t tmpfs -o size="$SIZE"k disk "$DISK"
cd "$DISK"
mkdir tmp
build() { TMPDIR=$DISK/tmp XDG_CACHE_HOME=$DISK/cache "$COMMAND" c "$PROGRAM" --flag=-O0 -o out/a 2>&1; }
if said=$(build); then diff -r out "$EXPECTED"; exit; fi
case $said in
*"$DISK/"*"No space left on device"* | *"lacks memory or disk space"*) ;;
*) echo "$said"; exit 1 ;;
esac
[ ! -e out ] || [ -z "$(ls -A out)" ]
mount -o remount,size=64m disk "$DISK"
build
diff -r out "$EXPECTED"
exit 77
"#;

/// Runs a script in a namespace, where it can mount a file system at `$DISK`, the folder `disk` in `home`.
fn in_namespace(home: &Path, script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-ec", script]);
    command.env("DISK", home.join("disk"));
    command
}

/// Creates the folder `disk`. `false`, and a line on stderr, if the test is skipped.
fn can_mount(home: &Path) -> bool {
    fs::create_dir(home.join("disk")).unwrap();
    let mount = in_namespace(home, "mount -t tmpfs -o size=64k disk \"$DISK\"").output();
    let can_mount = mount.is_ok_and(|output| output.status.success());
    if !can_mount {
        eprintln!("skipped: this machine cannot mount a file system in a namespace");
    }
    can_mount
}

/// A compiler behind a script, after which `$BREAK` makes the folder for temporary files unusable.
const BREAKING: &str = r#"#!/bin/sh
"$FUTHARK_REAL" "$@" || exit
[ "$1" = --version ] || eval "$BREAK"
"#;

#[test]
fn an_unusable_folder_for_temporary_files_is_named() {
    let Some(home) = place("temporary") else {
        return;
    };
    if !can_mount(&home) {
        return;
    }
    let futhark = home.join("futhark");
    fs::write(&futhark, BREAKING).unwrap();
    fs::set_permissions(&futhark, fs::Permissions::from_mode(0o755)).unwrap();
    let run = "mount -t tmpfs -o size=16k disk \"$DISK\"; eval \"$BEFORE\"; \"$COMMAND\" c a.fut --flag=-O0 -o out/a";
    let fill = "head -c 16k /dev/zero > \"$DISK/fill\" 2>/dev/null; true";
    let (read_only, missing) = (
        "mount -t tmpfs -o ro disk \"$DISK\"",
        "umount -l \"$DISK\"; rmdir \"$DISK\"",
    );
    for (script, cause) in [
        (fill, "No space left on device"),
        (read_only, "Read-only file system"),
        (missing, "No such file or directory"),
    ] {
        // Before the first process, and between the Futhark and the C compiler.
        for (before, after) in [(script, ""), ("", script)] {
            let output = in_namespace(&home, run)
                .env("BEFORE", before)
                .env("BREAK", after)
                .env("TMPDIR", home.join("disk"))
                .env("XDG_CACHE_HOME", home.join("cache"))
                .env("COMMAND", env!("CARGO_BIN_EXE_futhark-library"))
                .env("FUTHARK_REAL", Compiler::find().unwrap().program())
                .env("FUTHARK", &futhark)
                .current_dir(&home)
                .output()
                .unwrap();
            let said = text(&output);
            assert_eq!(output.status.code(), Some(1), "{script}: {said}");
            for words in [home.join("disk").to_str().unwrap(), "TMPDIR", cause] {
                assert!(said.contains(words), "{script}: no {words} in: {said}");
            }
            assert!(!said.contains("install"), "{script}: {said}");
            fs::create_dir_all(home.join("disk")).unwrap();
        }
    }
}

#[test]
fn a_disk_that_is_full_is_an_error_and_leaves_nothing() {
    let Some(home) = place("disk") else { return };
    if !can_mount(&home) {
        return;
    }
    succeeds(&mut command_for(&home, home.join("a.fut").as_os_str()));
    let (first, step) = if support::is_full() {
        (16, 16)
    } else {
        (450, 700)
    };
    let mut sizes = (first..).step_by(step);
    let is_enough = |size: usize| {
        let mut command = in_namespace(&home, ON_A_SMALL_DISK);
        command.env("SIZE", size.to_string());
        command.env("COMMAND", env!("CARGO_BIN_EXE_futhark-library"));
        command
            .env("PROGRAM", home.join("a.fut"))
            .env("EXPECTED", home.join("out"));
        let output = command.output().unwrap();
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 77)), "{size} KiB: {output:?}");
        code == Some(0)
    };
    let enough = sizes.find(|&size| is_enough(size)).unwrap();
    assert!(enough > first, "the first disk is too large for the test");
}
