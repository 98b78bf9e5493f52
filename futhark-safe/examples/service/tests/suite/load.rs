//! A short run of the load generator.

use std::io::Write as _;
use std::process::Command;

use futhark_example_service::service;
use futhark_safe::Backend;
use serde_json::Value;

#[test]
fn load_on_c_is_answered_as_documented() {
    run(Backend::C);
}

#[test]
fn load_on_multicore_is_answered_as_documented() {
    run(Backend::Multicore);
}

fn run(backend: Backend) {
    if !has(backend) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Starts the server, and fails if a response is wrong or the server does not end well.
    let output = Command::new(env!("CARGO_BIN_EXE_futhark-example-load"))
        .args(["--backend", backend.as_str(), "--failures", "10"])
        .args(["--seconds", "3", "--threads", "4", "--numbers", "200"])
        .arg("--out")
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    let count = |kind: &str, verdict: &str| summary["by_kind"][kind][verdict].as_u64().unwrap();
    let kinds = ["good", "out_of_bounds", "out_of_memory", "lost_context"];

    assert_eq!(summary["passed"], true);
    assert_eq!(summary["server"]["before"]["backend"], backend.as_str());
    let requests = summary["requests"].as_u64().unwrap();
    let sum = |verdict| kinds.iter().map(|kind| count(kind, verdict)).sum::<u64>();
    assert_eq!(sum("right") + sum("refused"), requests);
    assert_eq!(sum("wrong"), 0);
    assert!(sum("refused") * 50 <= requests, "{text}");
    for kind in kinds {
        assert!(count(kind, "right") >= 5, "{text}");
    }
    let statuses: Vec<&String> = summary["by_status"].as_object().unwrap().keys().collect();
    assert_eq!(statuses, ["200", "422", "503", "507"]);

    // Every request that loses a context gets a 503, so a context is made at most once for each.
    let after = &summary["server"]["after"];
    let made = after["contexts_made"].as_u64().unwrap();
    assert!(
        made > 1 && made <= 1 + count("lost_context", "right"),
        "{text}"
    );
    assert_eq!(after["context_host_bytes"], 0, "values are freed");
    if cfg!(target_os = "linux") {
        let resident = |at: &str| summary["server"][at]["resident_bytes"].as_u64().unwrap();
        let growth = resident("after").saturating_sub(resident("before"));
        assert!(growth < 32 << 20, "{growth} bytes\n{text}");
    }
    // A title and a line per second, less one if the machine is busy.
    let lines = read("seconds.csv").lines().count();
    assert!((3..=4).contains(&lines), "{lines}");
    assert!(read("index.html").contains(&read("plot.svg")));
}

/// Whether the program was compiled for a backend. Reports a missing one.
fn has(backend: Backend) -> bool {
    let compiled = service::Context::backends().unwrap();
    let has = compiled.contains(&backend);
    if !has {
        let needed = std::env::var_os("FUTHARK_TESTS_NEED_COMPILERS").is_some();
        assert!(!needed, "the program was not compiled for {backend}");
        // Directly, since the test harness captures `eprintln!`.
        let _ = writeln!(
            std::io::stderr(),
            "skipped tests on {backend}: not compiled"
        );
    }
    has
}
