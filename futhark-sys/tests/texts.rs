//! Texts of hardened libraries in a process with another locale, and of a program whose name has special characters.
#![cfg(all(feature = "library", target_os = "linux"))]

mod support;

use std::path::Path;
use std::process::Command;

use futhark_manifest::Backend;
use futhark_sys::compile::{Build, Linkage, library};

/// A trigraph in C, and characters that JSON or C writes as escapes.
const NAME: &str = "größe5??/中\\\t.fut";
const PROGRAM: &str = "entry sum [n] (xs: [n]i64) (i: i64) = i64.sum (map (+ 1) xs) + xs[i]\n";

#[test]
fn reports_are_json_in_every_locale_and_paths_are_whole() {
    let folder = support::folder("texts");
    if support::no_compiler() {
        return;
    }
    let program = folder.join(NAME);
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::write(&program, PROGRAM).unwrap();
    let locale = folder.join("de_DE.UTF-8");
    let mut localedef = Command::new("localedef");
    localedef.args(["-i", "de_DE", "-f", "UTF-8"]).arg(&locale);
    let with_comma = localedef.status().is_ok_and(|status| status.success());
    if !with_comma {
        println!("not tried in a locale with a decimal comma: localedef cannot make one");
    }
    let mut backends = vec![Backend::C, Backend::Multicore];
    if support::is_full() {
        backends.push(Backend::OpenCl);
    }
    for compiler in support::compilers() {
        for &backend in &backends {
            for hardened in [true, false] {
                let build = Build::new(&program, backend).fast(true).hardened(hardened);
                let build = build.out_dir(&folder).compiler(compiler.clone());
                let made = library(&[build], folder.join("texts"), Linkage::Static).unwrap();
                let resolved = std::fs::read(&made.resolved).unwrap();
                let resolved: serde_json::Value = serde_json::from_slice(&resolved).unwrap();
                let expected: &[&str] = if hardened { &[backend.as_str()] } else { &[] };
                assert_eq!(resolved["hardened"], serde_json::json!(expected));
                let printed = run(&folder, if with_comma { "de_DE.UTF-8" } else { "C" });
                let (report, rest) = printed.split_once('\n').unwrap();
                let (number, error) = rest.split_once('\n').unwrap();
                assert_eq!(number, if with_comma { "0,5" } else { "0.5" });
                let report: serde_json::Value = match serde_json::from_str(report) {
                    Ok(report) => report,
                    // Only the copy of a hardened unit has other JSON.
                    Err(_) if !hardened => continue,
                    Err(error) => panic!("{error}: {report}"),
                };
                let events = report["events"].as_array().unwrap();
                assert_eq!(events.is_empty(), backend == Backend::C, "{report}");
                for event in events {
                    assert!(event["duration"].is_number(), "{event}");
                }
                assert!(error.contains(&format!("{NAME}:1:")), "{error}");
            }
        }
    }
}

/// Links the client with the library, and runs it.
fn run(folder: &Path, locale: &str) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library/texts.c");
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(cc);
    command.args(["-I.", "-o", "texts"]).arg(source);
    if let Some(toolchain) = std::env::var_os("FUTHARK_TOOLCHAIN") {
        command
            .arg("-I")
            .arg(Path::new(&toolchain).join("opencl/include"));
    }
    command.args(["libtexts.a", "-lm", "-pthread"]);
    command.current_dir(folder);
    assert!(command.status().unwrap().success(), "{command:?}");
    let mut client = Command::new("./texts");
    client.env("LOCPATH", folder).env("LC_ALL", locale);
    let output = client.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
