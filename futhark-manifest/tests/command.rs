//! The command as its users run it: files and standard input, exit codes, and output.
#![cfg(feature = "command")]

#[cfg(target_os = "linux")]
#[path = "suite/made.rs"]
mod made;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// The path of a fixture.
fn fixture(version: &str) -> String {
    let folder = env!("CARGO_MANIFEST_DIR");
    format!("{folder}/tests/fixtures/{version}.json")
}

fn read(version: &str) -> String {
    fs::read_to_string(fixture(version)).expect("a fixture")
}

/// Runs the command with a text as standard input.
fn run(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_futhark-manifest"))
        .args(arguments)
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built");
    // A command that needs no input may have ended already.
    let _ = child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("text")
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("text")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

/// The lines of the standard output, as JSON.
fn json_lines(output: &Output) -> Vec<Value> {
    let lines = out(output).lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[track_caller]
fn assert_has(text: &str, words: &str) {
    assert!(text.contains(words), "no {words:?} in\n{text}");
}

/// Writes a file to a folder that no other test uses.
fn file(folder: &str, name: &str, text: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("command")
        .join(folder);
    fs::create_dir_all(&folder).expect("a writable folder");
    let path = folder.join(name);
    fs::write(&path, text).expect("a writable folder");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_faultless_manifest_passes() {
    let text = read("0.26.4");
    let output = run(&["check"], &text);
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert_eq!(
        out(&output),
        "standard input: ok (schema, semantics): c, Futhark 0.26.4, 5 entry points, 10 types\n"
    );
    let path = fixture("0.26.4");
    let output = run(&["check", &path, &path], "");
    assert_eq!(out(&output).lines().count(), 2);
}

#[test]
fn findings_have_place_and_code() {
    let text = "{\"backend\": \"c\", \"version\": \"0.27.1\",\n \"types\": {}, \"entry_points\": {\"f\": {\"cfun\": \"f\",\n  \"inputs\": [], \"outputs\": [{\"type\": \"nowhere\", \"unique\": true}]}}}";
    let output = run(&["check"], text);
    assert_eq!(code(&output), 1);
    assert_eq!(
        out(&output),
        "standard input: error[dangling-type]: at /entry_points/f/outputs/0/type: \
         expected a scalar type or one that is described under /types, found \"nowhere\"\n\
         standard input: 1 error (schema, semantics)\n"
    );
    // The schema alone does not detect it.
    let output = run(&["check", "--depth", "schema"], text);
    assert_eq!(
        (code(&output), out(&output)),
        (0, "standard input: ok (schema)\n")
    );
}

#[test]
fn all_schema_violations_are_listed() {
    let text = read("0.26.4")
        .replace("\"rank\":2", "\"rank\":\"two\"")
        .replace("\"unique\":true", "\"unique\":1");
    let output = run(&["check", "--json"], &text);
    assert_eq!(code(&output), 1);
    let lines = json_lines(&output);
    assert_eq!(lines.last().expect("a summary")["errors"], 4);
    let places: Vec<&str> = lines.iter().filter_map(|l| l["pointer"].as_str()).collect();
    assert_eq!(
        places,
        [
            "/entry_points/grow/inputs/0/unique",
            "/entry_points/grow/output/unique",
            "/types/[][]i32/rank",
            "/types/[][]state/opaque_array/rank",
        ]
    );
    assert_eq!(lines[2]["schema_path"], "/$defs/rank/type");
}

#[test]
fn warnings_fail_only_with_strict() {
    let text = read("0.26.4").replacen("\"backend\"", "\"abi\": 3, \"backend\"", 1);
    let output = run(&["check"], &text);
    assert_eq!(code(&output), 0);
    assert_has(out(&output), "warning[unknown-member]: at /abi: ");
    assert_has(
        out(&output),
        "standard input: 1 warning (schema, semantics)",
    );
    assert_eq!(code(&run(&["check", "--strict"], &text)), 1);
}

#[test]
fn assertions_include_the_header_beside_the_manifest() {
    let manifest = file("beside", "prog.json", &read("0.26.4"));
    let first = |arguments: &[&str], input: &str| {
        let output = run(arguments, input);
        assert_eq!(code(&output), 0, "{}", err(&output));
        assert!(out(&output).contains("FUTHARK_ASSERT(futhark_entry_grow, int, "));
        out(&output).lines().next().map(str::to_owned)
    };
    let include = |name: &str| Some(format!("#include \"{name}\""));
    assert_eq!(
        first(&["prototypes", "--assert", &manifest], ""),
        include("prog.h")
    );
    let other = ["prototypes", "--assert=lib/other.h", &manifest];
    assert_eq!(first(&other, ""), include("lib/other.h"));
    assert_eq!(
        first(&["prototypes", "--assert"], &read("0.26.4")),
        include("prog.h")
    );
    let output = run(&["prototypes", "--assert=a\"\n#error", &manifest], "");
    assert_eq!((code(&output), out(&output)), (2, ""));
}

#[test]
fn unusable_input_is_an_error() {
    let output = run(&["show"], "no manifest");
    assert_eq!(code(&output), 3);
    assert_eq!(
        err(&output),
        "standard input: error[not-json]: not a manifest: expected a manifest in JSON, \
         found invalid JSON (expected ident at line 1 column 2)\n"
    );
    let output = run(&["check", "/nonexistent/prog.json"], "");
    assert_eq!(code(&output), 3);
    assert!(err(&output).starts_with("error: cannot read /nonexistent/prog.json: "));
    if cfg!(target_os = "linux") {
        let output = run(&["check", "/dev/zero"], "");
        assert_eq!(code(&output), 3);
        assert_has(
            err(&output),
            "cannot read /dev/zero: it has 256 MiB or more",
        );
    }
    // The other files are still checked.
    let good = fixture("0.26.4");
    let output = run(&["check", "/nonexistent/prog.json", &good], "");
    assert_eq!(code(&output), 3);
    assert_has(out(&output), "0.26.4.json: ok");
    // An unusable manifest is not a breaking change.
    let output = run(&["diff", "--fail-on", "never", "-", &good], "{}");
    assert_eq!(code(&output), 3);
    assert_has(err(&output), "error[not-a-manifest]: not a manifest: ");
    let output = run(&["check"], "\u{feff}{}");
    assert_has(out(&output), "found a byte order mark");
    assert_eq!(code(&run(&["diff", "-", "-"], "")), 2);
    assert_eq!(code(&run(&["frobnicate"], "")), 2);
    assert_eq!(code(&run(&["prototypes", "--backend", "vulkan"], "")), 2);
}

#[test]
fn a_manifest_of_an_unknown_backend_can_be_used() {
    let mut json: Value = serde_json::from_str(&read("0.26.4")).expect("JSON");
    json["backend"] = json!("webgpu");
    let manifest = file("backend", "webgpu.json", &json.to_string());
    let output = run(&["check", &manifest], "");
    assert_eq!(code(&output), 0);
    assert_has(out(&output), "warning[unknown-backend]");
    let resolved = run(&["resolve", &manifest], "");
    let resolved: Value = serde_json::from_str(out(&resolved)).expect("JSON");
    assert_eq!(resolved["backend"], "webgpu");
    assert_has(out(&run(&["show", &manifest], "")), "backend webgpu, ");
    let output = run(&["diff", &manifest, &fixture("0.26.4")], "");
    assert_eq!((code(&output), out(&output)), (0, "no change\n"));
    let prototypes = |more: &[&str]| {
        let output = run(&[&["prototypes", &manifest], more].concat(), "");
        assert_eq!(code(&output), 0, "{}", err(&output));
        out(&output).contains("futhark_new_raw_")
    };
    assert!(!prototypes(&[]), "the type of raw memory is unknown");
    assert!(prototypes(&["--backend", "cuda"]));
}

#[cfg(unix)]
#[test]
fn the_name_of_a_file_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt as _;

    let name = std::ffi::OsStr::from_bytes(b"not\xffutf8.json");
    let copy = Path::new(&file("names", "other.json", "")).with_file_name(name);
    fs::copy(fixture("0.26.4"), &copy).expect("a writable folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_futhark-manifest"));
    let output = command.arg("check").arg(copy).output().expect("it ends");
    assert_has(out(&output), "not\u{fffd}utf8.json: ok");
}

#[test]
fn show_prints_entry_points_and_types() {
    let output = run(&["show"], &read("0.26.4"));
    let text = out(&output);
    for line in [
        "  grow (cells: *[]{level: i32, tags: []i32}) (by: i32): []{level: i32, tags: []i32}",
        "      A \"cell\" has tags.",
        "      attributes: keep, cost(high, 2)",
        "  count (xs: []i32): (i32, []i32)",
        "  discard (u: ()): ()",
        "      sum #dead | #live {level: i32, tags: []i32} | #shut i32 bool",
        "      array of state, rank 2",
        "      tuple (i32, i32)",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours into a pipe");
    let coloured = run(&["show", "--color", "always"], &read("0.26.4"));
    assert!(out(&coloured).contains('\u{1b}'));
}

/// Text of the program must not move the cursor or set colours, in any output for terminals.
#[test]
fn control_characters_are_not_printed() {
    let evil = "\\u001b[31m\\u0007\\u202e\\r";
    let text = read("0.26.4")
        .replace("Grows each cell.", &format!("Grows{evil} each cell."))
        .replace("\"minmax\"", &format!("\"min{evil}max\""))
        .replace("\"0.26.4.", &format!("\"{evil}0.26.4."));
    let broken = text.replace("\"rank\":2", "\"rank\":\"two\"");
    let dangling = text.replacen("\"type\":\"i32\"", "\"type\":\"nowhere\"", 9);
    let edited = text.replacen("\"type\":\"i32\"", "\"type\":\"i64\"", 1);
    let old = file("evil", "old.json", &text);
    for (arguments, input) in [
        (&["show"][..], &text),
        (&["prototypes"], &text),
        (&["check"], &text),
        (&["check"], &broken),
        (&["check"], &dangling),
        (&["show"], &dangling),
        (&["diff", &old, "-"], &edited),
    ] {
        let arguments: Vec<&str> = [&["--color", "never"], arguments].concat();
        let output = run(&arguments, input);
        let printed = format!("{}{}", out(&output), err(&output));
        assert!(!printed.is_empty(), "{arguments:?}");
        let evil = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!printed.contains(evil), "{arguments:?}: {printed:?}");
    }
    // JSON output contains every byte.
    let deleted = read("0.26.4").replace("Grows", "Gro\u{7f}ws");
    let output = run(&["resolve"], &deleted);
    assert!(out(&output).contains("Gro\u{7f}ws"));
}

/// Warnings go to standard error, so they do not disturb the output.
#[test]
fn every_subcommand_prints_warnings() {
    let text = read("0.26.4").replacen("\"backend\"", "\"abi\": 3, \"backend\"", 1);
    for command in ["show", "prototypes", "resolve"] {
        let output = run(&[command], &text);
        assert_eq!(code(&output), 0);
        assert_has(err(&output), "warning[unknown-member]");
    }
    let output = run(&["resolve"], &text);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["unknown"]["abi"], 3);
}

/// Thousands of findings in one line of a large untrusted file are printed in linear time.
#[test]
fn thousands_of_findings_are_all_printed() {
    let entries = (0..5_000).map(|n| {
        format!(
            "\"e{n}\": {{\"cfun\": \"f{n}\", \"inputs\": [], \
             \"outputs\": [{{\"type\": \"t{n}\", \"unique\": true}}]}}"
        )
    });
    let entries: Vec<String> = entries.collect();
    let entries = entries.join(", ");
    let text = format!(
        r#"{{"backend": "c", "version": "0.27.1", "types": {{}}, "entry_points": {{{entries}}}}}"#
    );
    let output = run(&["check", "--json"], &text);
    assert_eq!(code(&output), 1);
    assert_eq!(out(&output).lines().count(), 5_001);
}

/// In C, a backslash at the end of a line also continues a comment.
#[test]
fn no_name_of_a_type_comments_out_the_next_declaration() {
    let text = r#"{"backend": "c", "version": "0.25.32", "entry_points": {}, "types": {"t\\": {
        "kind": "opaque", "ctype": "struct futhark_opaque_t *", "ops": {"free": "futhark_free_opaque_t",
        "store": "futhark_store_opaque_t", "restore": "futhark_restore_opaque_t"}}}}"#;
    let output = run(&["prototypes"], text);
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert_has(out(&output), "// t\\");
    let continues = |line: &str| line.ends_with('\\') || line.ends_with("??/");
    assert!(!out(&output).lines().any(continues), "{}", out(&output));
}

#[test]
fn prototypes_can_be_printed_for_any_backend() {
    for (backend, memory) in [("c", "unsigned char *data"), ("opencl", "cl_mem data")] {
        let output = run(&["prototypes", "--backend", backend], &read("0.25.14"));
        let is_raw = |line: &str| line.contains("new_raw") && line.contains(memory);
        assert!(out(&output).lines().any(is_raw), "{}", out(&output));
    }
}

#[test]
fn the_resolved_form_is_versioned_json() {
    let output = run(&["resolve"], &read("0.25.19"));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["format"], "futhark-manifest-resolved");
    assert_eq!(json["format_version"], 2);
    let types = json["types"].as_array().expect("types");
    for (place, ty) in types.iter().enumerate() {
        let element = ty["element"]["type"].as_u64();
        assert!(
            element.is_none_or(|part| (part as usize) < place),
            "parts first"
        );
    }
}

#[test]
fn differences_decide_the_exit_code() {
    let (old, new) = (fixture("0.25.36"), fixture("0.26.1"));
    let output = run(&["diff", &old, &new], "");
    assert_eq!(code(&output), 0, "{}", out(&output));
    assert_eq!(out(&output), "no change\n");

    let edited = read("0.26.1").replacen(
        "\"name\":\"by\",\"type\":\"i32\"",
        "\"name\":\"by\",\"type\":\"i64\"",
        1,
    );
    let output = run(&["diff", &new, "-"], &edited);
    assert_eq!(code(&output), 1);
    assert_has(out(&output), "\nbreaking for callers of: grow\n");
    let output = run(&["diff", "--json", &new, "-"], &edited);
    assert_eq!(code(&output), 1);
    let lines = json_lines(&output);
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["change"], "changed");
    assert_eq!(lines[0]["pointer"], "/entry_points/grow");
    assert_eq!(
        lines[1],
        json!({"verdict": "breaking", "affected": ["grow"]})
    );
    let never = ["diff", "--fail-on", "never", &new, "-"];
    assert_eq!(code(&run(&never, &edited)), 0);

    // An addition fails only on request.
    let mut both: Value = serde_json::from_str(&read("0.26.1")).expect("JSON");
    both["entry_points"]["breadth"] = both["entry_points"]["range"].clone();
    both["entry_points"]["breadth"]["cfun"] = json!("futhark_entry_breadth");
    let both = both.to_string();
    assert_eq!(code(&run(&["diff", &new, "-"], &both)), 0);
    let compatible = ["diff", "--fail-on", "compatible", &new, "-"];
    assert_eq!(code(&run(&compatible, &both)), 1);
}

/// Limits the memory of the whole process, so that every copy of the manifest counts.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_at_most_ten_times_the_text() {
    let text = made::manifest(2_000);
    let path = file("big", "big.json", &text);
    // The process itself takes less than 16 MiB.
    let limit = 10 * text.len() / 1024 + (16 << 10);
    let command = env!("CARGO_BIN_EXE_futhark-manifest");
    for (arguments, lines) in [
        (&["resolve", &path][..], 500_000),
        (&["check", &path], 1),
        (&["show", &path], 5_000),
        (&["prototypes", &path], 15_000),
        (&["diff", &path, &path], 1),
    ] {
        let output = Command::new("sh")
            .args(["-c", "ulimit -v $0; exec \"$@\""])
            .args([&limit.to_string(), command])
            .args(arguments)
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{arguments:?}: {}", err(&output));
        assert!(out(&output).lines().count() >= lines, "{arguments:?}");
    }
}

#[test]
fn the_schema_is_printed_whole() {
    for (arguments, place, expected) in [
        (
            &["schema"][..],
            "/$schema",
            "https://json-schema.org/draft/2020-12/schema",
        ),
        (
            &["schema", "--resolved"],
            "/properties/format/const",
            "futhark-manifest-resolved",
        ),
    ] {
        let schema: Value = serde_json::from_slice(&run(arguments, "").stdout).expect("JSON");
        assert_eq!(schema.pointer(place), Some(&json!(expected)));
    }
}

/// The commands of UPGRADING.md that compare the manifests of two compilers, with one compiler as both.
#[test]
fn the_manifests_of_two_compilers_are_compared_as_documented() {
    let toolchain = std::env::var_os("FUTHARK_TOOLCHAIN").map(PathBuf::from);
    let compiler = toolchain.map(|folder| folder.join("bin/futhark"));
    let Some(compiler) = compiler.filter(|path| path.is_file()) else {
        let needed = std::env::var_os("FUTHARK_TESTS_NEED_COMPILERS").is_some();
        assert!(!needed, "no bin/futhark in FUTHARK_TOOLCHAIN");
        println!("skipped: no bin/futhark in FUTHARK_TOOLCHAIN");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("UPGRADING.md")).expect("a page");
    let (_, step) = page.split_once("\n2. The manifest.").expect("a step");
    let (_, commands) = step.split_once("```sh\n").expect("commands");
    let (commands, _) = commands.split_once("```").expect("their end");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("upgrading");
    fs::create_dir_all(&folder).expect("a writable folder");
    let script = commands
        .replace("/tmp", "\"$folder\"")
        .replace(".toolchain/bin/futhark", "$FUTHARK")
        .replace(
            "cargo run -p futhark-manifest --features command --",
            env!("CARGO_BIN_EXE_futhark-manifest"),
        );
    let output = Command::new("sh")
        .args(["-euc", &script])
        .current_dir(root)
        .env("FUTHARK", compiler)
        .env("folder", folder)
        .output()
        .expect("a shell");
    assert_eq!(code(&output), 0, "{}", err(&output));
    let shown = out(&output);
    assert!(
        shown.contains("12 entry points") && !shown.contains("removed"),
        "{shown}"
    );
}
