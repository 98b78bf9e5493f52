//! When a build runs compilers again, and when it does not.
#![cfg(all(feature = "compile", feature = "load", unix))]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_manifest::Backend;
use futhark_sys::compile::{self, Artifact, Build, Compiler, ErrorKind};
use futhark_sys::table::Hardening;

/// A tree of sources, a folder of results, and a compiler that counts how often it runs.
struct Place {
    folder: PathBuf,
    compiler: Compiler,
}

/// The C program of the compiler. Scripts are not trusted to stay the same.
const COUNTER: &str = r#"
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  FILE *log = fopen(LOG, "a");
  fprintf(log, "%s\n", argc > 1 ? argv[1] : "");
  fclose(log);
  argv[0] = REAL;
  return execv(REAL, argv);
}
"#;

impl Place {
    /// A place with this program. `None` if the test is skipped.
    fn new(name: &str, main: &str) -> Option<Place> {
        if support::no_compiler() {
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cached-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("src/lib")).unwrap();
        let futhark = folder.join("futhark");
        compile_counter(&futhark, "");
        let compiler = Compiler::at(futhark).unwrap();
        let place = Place { folder, compiler };
        place.write("main.fut", main);
        Some(place)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.folder.join("src").join(file), text).unwrap();
    }

    fn build(&self) -> Build {
        Build::new(self.folder.join("src/main.fut"), Backend::C)
            .compiler(self.compiler.clone())
            .out_dir(self.folder.join("out"))
            .fast(true)
    }

    fn run(&self) -> Artifact {
        self.build().run().unwrap()
    }

    /// The commands that the compiler has run since the last call.
    fn commands(&self) -> Vec<String> {
        let log = self.folder.join("futhark.log");
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let _ = std::fs::remove_file(log);
        text.lines().map(str::to_owned).collect()
    }

    /// Asserts that the build compiles, and that the next one does not.
    fn compiles(&self, why: &str) -> Artifact {
        self.commands();
        let artifact = self.run();
        assert_eq!(self.commands(), ["c"], "{why}");
        let again = self.run();
        assert_eq!(self.commands(), [""; 0], "{why}: nothing changed");
        assert_eq!(artifact.folder(), again.folder(), "{why}");
        assert_eq!(artifact.sources(), again.sources(), "{why}");
        artifact
    }
}

fn compile_counter(file: &Path, about: &str) {
    // The default compiler can be found by PATH.
    let real = Compiler::find().unwrap();
    let real = match real.program().components().count() {
        1 => which(real.program()),
        _ => real.program().to_owned(),
    };
    compile_counter_of(&real, file, about);
}

fn compile_counter_of(real: &Path, file: &Path, about: &str) {
    let source = file.with_extension("c");
    std::fs::write(
        &source,
        format!("{COUNTER}/* {about} */\nconst char about[] = \"{about}\";\n"),
    )
    .unwrap();
    let define = |name: &str, path: &Path| format!("-D{name}=\"{}\"", path.display());
    let status = Command::new("cc")
        .arg(define("REAL", real))
        .arg(define("LOG", &file.with_extension("log")))
        .arg(&source)
        .arg("-o")
        .arg(file)
        .status()
        .unwrap();
    assert!(status.success());
}

fn which(name: &Path) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| file.is_file()).unwrap()
}

const MAIN: &str = "import \"lib/one\"\nentry f (x: i32) : i32 = one x\n";

#[test]
fn a_build_runs_again_only_after_a_change() {
    let Some(place) = Place::new("changes", MAIN) else {
        return;
    };
    place.write("lib/one.fut", "import \"two\"\ndef one x = two x\n");
    place.write("lib/two.fut", "def two (x: i32) = x + 2\n");
    let first = place.compiles("the first build");
    let names: Vec<_> = first
        .sources()
        .iter()
        .map(|file| file.file_name().unwrap())
        .collect();
    assert_eq!(names, ["main.fut", "one.fut", "two.fut"]);

    place.write("lib/one.fut", "import \"two\"\ndef one x = two (x + 1)\n");
    let second = place.compiles("an import");
    place.write("lib/two.fut", "def two (x: i32) = x + 3\n");
    let third = place.compiles("an import of an import");
    // Places in messages and warnings change.
    place.write("lib/two.fut", "-- A comment.\ndef two (x: i32) = x + 3\n");
    let commented = place.compiles("a comment");
    place.write("main.fut", &format!("import \"more\"\n{MAIN}"));
    place.write("more.fut", "def more = 1i32\n");
    let added = place.compiles("an added import");
    assert_eq!(added.sources().len(), 4);
    let all = [&first, &second, &third, &commented, &added];
    let mut symbols: Vec<&str> = all.iter().map(|artifact| artifact.symbol()).collect();
    symbols.dedup();
    assert_eq!(symbols.len(), 5);

    std::fs::remove_file(place.folder.join("src/more.fut")).unwrap();
    let error = place.build().run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Program, "{error}");
    assert!(error.to_string().contains("more"), "{error}");
    place.commands();
    place.write("more.fut", "def more = 1i32\n");
    assert_eq!(place.run().folder(), added.folder());
    assert_eq!(place.commands(), [""; 0], "the file has its old content");

    let flagged = place.build().flag("-DX=1").run().unwrap();
    assert_ne!(flagged.symbol(), added.symbol());
    let safe = place.build().option("--safe").run().unwrap();
    assert_ne!(safe.symbol(), added.symbol());
    assert_eq!(place.commands(), ["c", "c"]);
    let plain = place.build().hardened(false).run().unwrap();
    assert_ne!(plain.symbol(), added.symbol());
    assert_eq!(plain.open().unwrap().hardening(), Hardening::Off);
}

#[test]
fn a_replaced_compiler_compiles_again() {
    let Some(mut place) = Place::new("replaced", "entry f (x: i32) = x\n") else {
        return;
    };
    let first = place.compiles("the first build");
    let (version, stamp) = (
        place.compiler.version().text.clone(),
        place.compiler.stamp(),
    );
    let file = place.compiler.program().to_owned();
    let seen = || Compiler::as_seen(&file, &version, &stamp);
    place.build().compiler(seen().unwrap()).run().unwrap();
    assert_eq!(place.commands(), [""; 0]);

    // Of the same version.
    compile_counter(&file, "another");
    let error = seen().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoCompiler);
    let text = error.to_string();
    assert!(
        text.contains("was replaced") && text.contains("cached-replaced/futhark"),
        "{text}"
    );
    place.compiler = Compiler::at(file).unwrap();
    let second = place.compiles("another compiler");
    assert_ne!(first.folder(), second.folder());
    // The content is equal.
    assert_eq!(first.symbol(), second.symbol());
    let programs = second.programs();
    assert!(programs.iter().any(|path| path == place.compiler.program()));
    let is_archiver = |path: &PathBuf| path.is_absolute() && path.ends_with("ar");
    assert!(programs.iter().any(is_archiver), "{programs:?}");
}

#[test]
fn child_builds_with_the_default_compilers() {
    // Only the child builds.
    if let Some(folder) = std::env::var_os("FUTHARK_SYS_TEST_FOLDER") {
        let folder = Path::new(&folder);
        let build = Build::new(folder.join("src/main.fut"), Backend::C);
        build.out_dir(folder.join("out")).fast(true).run().unwrap();
    }
}

#[test]
fn a_cached_build_runs_no_compiler() {
    let Some(place) = Place::new("no-process", "entry f (x: i32) = x\n") else {
        return;
    };
    let cc = place.folder.join("cc");
    compile_counter_of(&which(Path::new("cc")), &cc, "");
    // How often each compiler runs.
    let run = || {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_builds_with_the_default_compilers"])
            .env("FUTHARK_SYS_TEST_FOLDER", &place.folder)
            .env("FUTHARK", place.compiler.program())
            .env("CC", &cc)
            .status()
            .unwrap();
        assert!(status.success());
        let log = std::fs::read_to_string(cc.with_extension("log")).unwrap_or_default();
        let _ = std::fs::remove_file(cc.with_extension("log"));
        [place.commands().len(), log.lines().count()]
    };
    assert!(run().iter().all(|&count| count > 1));
    assert_eq!(run(), [0, 0]);
    compile_counter_of(&which(Path::new("cc")), &cc, "another");
    let [futhark, cc] = run();
    assert!(futhark == 1 && cc > 1, "{futhark} {cc}");
    assert_eq!(run(), [0, 0]);
}

#[test]
fn an_incomplete_result_is_built_again() {
    let Some(place) = Place::new("incomplete", "entry f (x: i32) = x\n") else {
        return;
    };
    let first = place.compiles("the first build");
    let remove = |file: &Path| std::fs::remove_file(file).unwrap();
    remove(&first.folder().join("done"));
    remove(&first.library());
    // What a build that was killed leaves behind.
    let left = first.folder().with_extension("tmp1-0");
    std::fs::create_dir(&left).unwrap();
    let first = place.compiles("an incomplete folder");
    first.open().unwrap();
    // What a copy that was interrupted leaves.
    for (file, kept) in [
        (first.library(), 0),
        (first.library(), 4096),
        (first.header().with_extension("json"), 20),
        (first.folder().join("done"), 0),
        (first.folder().join("done"), 60),
    ] {
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.truncate(kept);
        // The old file can be loaded.
        remove(&file);
        std::fs::write(&file, bytes).unwrap();
        let why = format!("{} bytes are left of {}", kept, file.display());
        place.compiles(&why);
    }
}

#[test]
fn concurrent_builds_have_the_same_result() {
    let Some(place) = Place::new("concurrent", "entry f (x: i32) = x\n") else {
        return;
    };
    let folders: Vec<PathBuf> = std::thread::scope(|scope| {
        let builds: Vec<_> = (0..3).map(|_| scope.spawn(|| place.run())).collect();
        let folders = builds
            .into_iter()
            .map(|build| build.join().unwrap().folder().to_owned());
        folders.collect()
    });
    assert!(
        folders.iter().all(|folder| *folder == folders[0]),
        "{folders:?}"
    );
    place.commands();
    place.run().open().unwrap();
    assert_eq!(place.commands(), [""; 0]);
    let out = std::fs::read_dir(place.folder.join("out")).unwrap();
    let names = out.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = names.filter(|name| name.contains(".tmp")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A compiler that runs a shell command before it compiles.
fn interfering(place: &Place, command: &str) -> Compiler {
    let file = place.folder.join("interfering");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = c ] && {{ cd '{}/src'; {command}; }}\nexec '{}' \"$@\"\n",
        place.folder.display(),
        place.compiler.program().display()
    );
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    Compiler::at(file).unwrap()
}

#[test]
fn a_change_during_a_build_does_not_enter_the_cache() {
    let (old, new) = ("entry f (x: i32) = x\n", "entry g (x: i32) = x\n");
    let Some(place) = Place::new("during", old) else {
        return;
    };
    let entry = |artifact: &Artifact| artifact.program().entries()[0].name.clone();
    // Once: the second attempt compiles the new text.
    let once = interfering(
        &place,
        "[ -e new ] || echo 'entry g (x: i32) = x' >main.fut; : >new",
    );
    let build = place.build().compiler(once);
    assert_eq!(entry(&build.run().unwrap()), "g");
    place.write("main.fut", old);
    assert_eq!(entry(&build.run().unwrap()), "f");
    place.write("main.fut", new);
    assert_eq!(entry(&build.run().unwrap()), "g");
    // Changed back before the end: the compiler may have read the other text.
    place.write("main.fut", old);
    let always = interfering(
        &place,
        "cp main.fut was; echo 'entry g = 1i32' >main.fut; cp was main.fut",
    );
    let error = place.build().compiler(always).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("changed while"), "{error}");
}

/// Sources whose imports have unusual forms.
const UNUSUAL: [(&str, &str); 8] = [
    (
        "a/b/main.fut",
        "module d = import \"../../lib/d\"\nlocal open import -- \"no\"\n\n  \"../c\"\nentry f (x: i32) = x + d.y + z\n",
    ),
    ("a/c.fut", "import \"b/./e\"\ndef z = e"),
    ("a/b/e.fut", "import\"../b//g\" def e = g"),
    ("a/b/g.fut", "-- import \"no\"\ndef g = 1i32"),
    ("a/b/no.fut", "def no = 1i32"),
    (
        "lib/d.fut",
        "import \"sub/../x\"\nimport \"sub/h\"\ndef y = x + h",
    ),
    ("lib/x.fut", "import \"sub//h\"\ndef x = h"),
    ("lib/sub/h.fut", "def h = 1i32"),
];

#[test]
fn the_files_of_a_program_are_those_that_the_compiler_reads() {
    if support::no_compiler() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cached-imports");
    let _ = std::fs::remove_dir_all(&folder);
    for (file, text) in UNUSUAL {
        let file = folder.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let packaged = repository.join("programs");
    let mut sources = ["a/b/main.fut", "a/b/e.fut", "lib/x.fut"]
        .map(|file| folder.join(file))
        .to_vec();
    sources.extend(importing(&packaged));
    for compiler in support::compilers() {
        for source in &sources {
            let output = Command::new(compiler.program())
                .arg("imports")
                .arg(source)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            let found = compile::sources(source).unwrap();
            let found: Vec<PathBuf> = found
                .iter()
                .map(|file| file.canonicalize().unwrap())
                .collect();
            let text = String::from_utf8(output.stdout).unwrap();
            for file in text.lines() {
                let file = Path::new(file).canonicalize().unwrap();
                assert!(
                    found.contains(&file),
                    "{}: {} of {found:?}",
                    source.display(),
                    file.display()
                );
            }
            assert_eq!(
                found.len(),
                text.lines().count(),
                "{}: {found:?}",
                source.display()
            );
        }
    }
}

/// The programs below a folder that import files.
fn importing(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(importing(&path));
        } else if path.extension().is_some_and(|extension| extension == "fut") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let imports = |line: &str| !line.starts_with("--") && line.contains("import \"");
            found.extend(text.lines().any(imports).then_some(path));
        }
    }
    found
}
