//! The manifests of the same programs by all installed compilers.

use futhark_manifest::Backend;
use futhark_manifest::diff::{self, Impact};

use super::lines;
use crate::common::{faultless, read};
use crate::corpus;
use crate::toolchain::{compilers, generate};

/// A program does not differ from itself, and a newer compiler breaks no program of the corpus
/// for users of a bridge.
#[test]
fn compilers_do_not_break_programs() {
    let compilers = compilers();
    let mut compared = 0;
    for source in corpus::sources() {
        let manifests = compilers
            .iter()
            .map(|compiler| generate(compiler, Backend::C, &source));
        let programs: Vec<_> = manifests
            .flatten()
            .map(|manifest| faultless(&read(&manifest), manifest.display()))
            .collect();
        for old in &programs {
            assert_eq!(lines(&diff::compare(old, old)), [""; 0]);
            for new in programs.iter().filter(|new| new.version > old.version) {
                let diff = diff::compare(old, new);
                let breaking: Vec<_> = diff.of(Impact::Breaking).collect();
                assert!(breaking.is_empty(), "{}: {diff}", source.display());
                compared += 1;
            }
        }
    }
    assert!(
        compared > 5 || compilers.len() < 2,
        "{compared} pairs compared"
    );
}
