//! The manifests of the same programs by all installed compilers.

use futhark_manifest::Backend;
use futhark_manifest::diff::{self, Impact};

use super::lines;
use crate::common::{faultless, read};
use crate::corpus;
use crate::toolchain::{compilers, generate};

/// The programs whose manifest by a compiler is wrong, so that the next compiler breaks users of a
/// bridge by mending it: the old version, the program, the breaking change.
const MENDED: [((u32, u32, u32), &str, &str); 1] = [(
    (0, 25, 27),
    "arrays-of-records/rank2.fut",
    "type `[][]pixel`: its element type changed: was `[]pixel`, is `pixel`",
)];

/// A program does not differ from itself, and a newer compiler breaks no program of the corpus
/// for users of a bridge.
#[test]
fn compilers_do_not_break_programs() {
    let compilers = compilers();
    let (mut compared, mut broken) = (0, Vec::new());
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
                let breaking = diff.of(Impact::Breaking).next().is_some();
                let mended = MENDED.iter().find(|(version, program, _)| {
                    Some(*version) == old.version.number && source.ends_with(program)
                });
                let expected = match mended {
                    Some((_, _, change)) => breaking && diff.to_string().contains(change),
                    None => !breaking,
                };
                if !expected {
                    broken.push(format!("{}: {diff}", source.display()));
                }
                compared += 1;
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(
        compared > 5 || compilers.len() < 2,
        "{compared} pairs compared"
    );
}
