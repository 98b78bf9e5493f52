//! The generator of `examples/` writes a Python module from the resolved form, and the
//! module calls compiled programs.
//!
//! Without Python or without a compiler, the tests are skipped with a message.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use futhark_manifest::{Backend, Program, ResultForm};

use crate::common::{faultless, fixture, read};
use crate::samples;
use crate::toolchain::{compilers, generate};

/// The same values with every compiler, on both backends that need no device.
#[test]
fn the_generated_module_calls_compiled_programs() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = crate_folder.join("../programs/bridges/everything.fut");
    if !has_python() {
        return;
    }
    for compiler in compilers() {
        for backend in [Backend::C, Backend::Multicore] {
            let manifest = generate(&compiler, backend, &source)
                .unwrap_or_else(|text| panic!("{} {backend}: {text}", compiler.display()));
            let library = library(&manifest);
            let program = faultless(&read(&manifest), manifest.display());
            let module = manifest.with_extension("py");
            let text = modules(std::slice::from_ref(&program)).remove(0);
            fs::write(&module, text).expect("a writable folder");

            let mut python = python();
            python.arg(crate_folder.join("tests/bridge/drive.py"));
            println!("{} {backend}", compiler.display());
            output_of(python.arg(&module).arg(&library), "");
        }
    }
}

/// Covers all versions and both forms of tuple results.
#[test]
fn a_module_is_generated_for_every_manifest() {
    if !has_python() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bridge");
    fs::create_dir_all(&folder).expect("a writable folder");
    let programs = samples::programs().into_iter();
    let programs: Vec<_> = programs.map(|(_, program)| program).collect();
    let mut paths = Vec::new();
    for (number, text) in modules(&programs).iter().enumerate() {
        paths.push(folder.join(format!("{number}.py")));
        fs::write(&paths[number], text).expect("a writable folder");
    }
    let check = "import ast, sys\nfor path in sys.argv[1:]: ast.parse(open(path).read(), path)";
    output_of(python().args(["-c", check]).args(&paths), "");
    println!("{} modules", paths.len());
}

/// One program, compiled by versions before and since 0.26.1, returns the same tuple.
#[test]
fn a_tuple_result_is_a_tuple_in_both_forms() {
    if !has_python() {
        return;
    }
    let body = |version: &str| {
        let program = faultless(&fixture(version), version);
        let count = program.entry("count").expect("it is listed");
        let form = matches!(count.result_form(&program), ResultForm::Tuple { .. });
        let module = modules(std::slice::from_ref(&program)).remove(0);
        let start = module.find("    def count(").expect("it is a method");
        let body: Vec<_> = module[start..].lines().take(3).map(str::to_owned).collect();
        (form, body)
    };
    let call = |outputs: &str| {
        format!("self._call(\"futhark_entry_count\", {outputs}, ArrayI32.argument(self, xs))")
    };
    let head = [
        "    def count(self, xs):",
        "        \"\"\"count (xs: []i32) : (i32, []i32)\"\"\"",
    ];
    let several = format!("        return {}", call("[I32, ArrayI32]"));
    let tuple = format!("        return tuple({}[0])", call("[TupleI32ArrayI32]"));
    assert_eq!(
        body("0.25.36"),
        (
            false,
            [head[0], head[1], &several].map(str::to_owned).into()
        )
    );
    assert_eq!(
        body("0.26.4"),
        (true, [head[0], head[1], &tuple].map(str::to_owned).into())
    );
}

/// Names of a program do not replace names that the runtime needs.
#[test]
fn names_that_the_runtime_uses_are_reserved() {
    const CHECK: &str = r#"
import re, sys
sys.path.insert(0, sys.argv[1])
import ctypes_from_json as generator

text = open(sys.argv[1] + "/ctypes_runtime.py").read()
runtime = {}
exec(text, runtime)
classes = {name for name in runtime if name[0].isupper() and (name.isupper() or isinstance(runtime[name], type))}
values = {name for base in ("Tuple", "Sum", "OpaqueArray") for name in dir(runtime[base])}
program = set(re.findall(r"self\.(\w+)", text[text.index("class Program") : text.index("class Value")]))
for used, reserved in (classes, generator.CLASSES), (values, generator.MEMBERS), (program, generator.METHODS):
    missing = {name for name in used if not name.startswith("__")} - set(reserved)
    assert not missing, missing
"#;
    if has_python() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        output_of(python().args(["-c", CHECK]).arg(examples), "");
    }
}

/// The modules of programs.
fn modules(programs: &[Program]) -> Vec<String> {
    // One process for all: it takes longer to start than to generate a module.
    const GENERATE: &str = r#"
import io, sys
sys.path.insert(0, sys.argv[1])
import ctypes_from_json as generator

for line in sys.stdin.read().split("\n"):
    sys.stdin = io.StringIO(line)
    generator.main()
    sys.stdout.buffer.write(b"\0")
"#;
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let lines: Vec<String> = programs.iter().map(|p| p.to_json().to_string()).collect();
    let mut generate = python();
    generate.args(["-c", GENERATE]).arg(examples);
    let text = output_of(&mut generate, &lines.join("\n"));
    let modules: Vec<String> = text.split_terminator('\0').map(str::to_owned).collect();
    assert_eq!(modules.len(), programs.len());
    modules
}

/// Compiles the C code beside a manifest.
fn library(manifest: &Path) -> PathBuf {
    let library = manifest.with_extension("so");
    let mut cc = Command::new("cc");
    cc.args(["-O0", "-std=c99", "-w", "-fPIC", "-shared", "-o"]);
    cc.arg(&library).arg(manifest.with_extension("c"));
    output_of(cc.args(["-lm", "-lpthread"]), "");
    library
}

fn python() -> Command {
    let mut python = Command::new("python3");
    // Do not write bytecode beside the sources.
    python.arg("-B").env("PYTHONIOENCODING", "utf-8");
    python
}

fn has_python() -> bool {
    let found = python().arg("--version").output().is_ok();
    if !found {
        println!("skipped: no python3");
    }
    found
}

/// The output of a command, which must succeed.
fn output_of(command: &mut Command, input: &str) -> String {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().expect("it is piped");
    // The command reads all input before it prints, so this cannot deadlock.
    let written = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    written.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    String::from_utf8(output.stdout).expect("UTF-8")
}
