//! Tests of the command `futhark-conformance` as its users run it, and of the corpus.
//!
//! Tests that need a compiler or a device that this machine lacks are skipped, with a message on
//! the standard error. With `FUTHARK_TESTS_NEED_COMPILERS` set they fail instead.

#![forbid(unsafe_code)]

#[macro_use]
#[path = "../support/needs.rs"]
mod needs;

mod blocks;
mod bridges;
mod builds;
mod cli;
mod compilers;
mod corpus;
mod cuda13;
mod devices;
mod files;
mod hostile;
mod inputs;
mod names;
mod newer;
mod outputs;
mod prepare;
mod reports;
#[path = "../support/run.rs"]
mod run;
mod scene;
mod schema;
mod selection;
mod slow;

use hmac_sha256::Hash;
use std::fs;
use std::path::Path;

/// The first repeat command in the text, in one line.
fn repeat_command(text: &str) -> String {
    let (_, command) = text
        .split_once("repeat: ")
        .expect("a failure has a command");
    let mut words = Vec::new();
    for line in command.lines() {
        let word = line.trim();
        words.push(word.strip_suffix('\\').unwrap_or(word).trim_end());
        if !word.ends_with('\\') {
            break;
        }
    }
    words.join(" ")
}

/// Writes the list of constructs of a corpus: which test cases and operators each program has.
fn list_constructs(folder: &Path, programs: &[(&str, &[&str])]) {
    let names = ["a case", "an operator"];
    let constructs = [("Case", names[0]), ("Operator", names[1])].map(
        |(topic, name)| serde_json::json!({"topic": topic, "name": name, "scope": "Compiler"}),
    );
    let mut text = serde_json::json!(constructs).to_string();
    for (program, has) in programs {
        let source = fs::read(folder.join(program)).unwrap();
        let mut hash = Hash::new();
        hash.update((source.len() as u64).to_le_bytes());
        hash.update(&source);
        let digits = hash.finalize()[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>();
        let has: Vec<usize> = (0..names.len())
            .filter(|&number| has.contains(&names[number]))
            .collect();
        let line = serde_json::json!({
            "program": program, "source": digits, "compiles": true, "tags": [], "constructs": has,
        });
        text += &format!("\n{line}");
    }
    fs::write(folder.join("constructs.jsonl"), text).unwrap();
}
