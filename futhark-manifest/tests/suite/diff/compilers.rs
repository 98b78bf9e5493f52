//! What the installed compilers make of the same program: those that
//! `FUTHARK_TOOLCHAIN` has. Without any, the test says so and passes.

use std::path::Path;

use futhark_manifest::diff::{self, Impact};
use futhark_manifest::{Backend, Program};

use super::lines;
use crate::common::{faultless, fixtures, read};
use crate::toolchain::{compilers, generate, scratch};

fn compile(compiler: &Path, source: &Path) -> Program {
    let folder = scratch(compiler, "diff");
    let manifest = generate(compiler, Backend::C, source, &folder).expect("it compiles");
    faultless(&read(&manifest), manifest.display())
}

/// No compiler differs from itself, and from one to another none of these
/// programs breaks for users of a bridge.
#[test]
fn compilers_do_not_break_programs() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let sources = [
        fixtures().join("everything.fut"),
        corpus.join("arrays-of-opaques/abstract.fut"),
        corpus.join("arrays-of-records/rank1.fut"),
        corpus.join("names/fields.fut"),
        corpus.join("sums/payloads.fut"),
    ];
    let compilers = compilers();
    for source in sources {
        let programs: Vec<Program> = compilers
            .iter()
            .map(|compiler| compile(compiler, &source))
            .collect();
        for old in &programs {
            assert_eq!(lines(&diff::compare(old, old)), [""; 0]);
            for new in programs.iter().filter(|new| new.version > old.version) {
                let diff = diff::compare(old, new);
                let breaking: Vec<_> = diff.of(Impact::Breaking).collect();
                assert!(breaking.is_empty(), "{}: {diff}", source.display());
            }
        }
    }
}
