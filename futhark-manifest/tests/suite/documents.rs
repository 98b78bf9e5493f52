//! The versions of the compiler in documents, which are generated from `known`.

use std::path::Path;
use std::{env, fs};

use futhark_manifest::known;

use crate::common::read;

/// If set, the test updates the documents instead of comparing them.
const UPDATE: &str = "FUTHARK_UPDATE_DOCS";

const BEGIN: &str = "<!-- versions -->\n";
const END: &str = "<!-- end -->";

fn text((major, minor, patch): (u32, u32, u32)) -> String {
    format!("{major}.{minor}.{patch}")
}

fn table() -> String {
    let tested = known::TESTED.map(text).join(", ");
    let [oldest, newest] = [known::OLDEST, known::NEWEST].map(text);
    let manifest = text(known::OLDEST_MANIFEST);
    let run = known::RUN.map(|(version, day)| {
        format!(
            "| {} | [run by hand](UPGRADING.md#what-was-run) on {day} |\n",
            text(version)
        )
    });
    let run = run.concat();
    format!(
        "| Futhark | |\n|---|---|\n\
         | {tested} | tested |\n\
         {run}\
         | others from {oldest} to {newest} | not run: their changes are known, and imitated in tests |\n\
         | before {oldest} | refused; `futhark-manifest` reads manifests from {manifest} on |\n\
         | after {newest} | a warning; [refused](UPGRADING.md#a-runtime-that-is-not-known) \
         if the runtime in the C code has changed, unless `FUTHARK_UNKNOWN_COMPILER=allow` |\n"
    )
}

#[test]
fn the_versions_in_the_documents_are_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let old = read(&path);
    let (before, rest) = old.split_once(BEGIN).expect("the table has a beginning");
    let (_, after) = rest.split_once(END).expect("the table has an end");
    let new = format!("{before}{BEGIN}{}{END}{after}", table());
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, new).expect("the file can be written");
    } else {
        assert!(
            old == new,
            "the table of versions in {} is out of date: run this test with {UPDATE}=1",
            path.display()
        );
    }
}
