//! Arbitrary bytes: reading returns a manifest or an error.

#![no_main]

use futhark_manifest::{Manifest, Severity, diff, names};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match Manifest::parse_bytes(bytes) {
        Ok(manifest) => {
            let _: serde_json::Value = serde_json::from_slice(bytes).expect("it was read");
            check_promises(&manifest, bytes.len());
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
        }
    }
});

/// Checking and resolving agree, and everything can be derived from a resolved program. `length` is that of the
/// text.
fn check_promises(manifest: &Manifest, length: usize) {
    let findings = manifest.check();
    let errors = findings.iter().filter(|f| f.severity() == Severity::Error);
    assert_eq!(errors.count() == 0, manifest.resolve().is_ok());
    for finding in &findings {
        assert!(finding.to_string().len() < 10 * length + 1000);
    }
    let Ok(program) = manifest.resolve() else {
        return;
    };
    let mut done = vec![false; program.types().len()];
    for (id, ty) in program.types_in_order() {
        let parts = ty.parts().filter_map(|part| part.as_type());
        assert!(parts.into_iter().all(|part| done[part.index()]));
        done[id.index()] = true;
    }
    assert!(done.into_iter().all(|done| done));
    for entry in program.entries() {
        assert!(entry.result_form(&program).components().count() <= length);
    }
    let assertions = program.assertions("prog.h");
    let count = assertions.matches("\nFUTHARK_ASSERT(").count();
    assert!(count >= program.functions().count());
    assert_eq!(diff::compare(&program, &program).verdict(), None);
    let json = program.to_json();
    assert_eq!(
        json["types"].as_array().map(Vec::len),
        Some(program.types().len())
    );
    let names = program.types().iter().map(|ty| &*ty.name);
    let scope = names::Scope::new(&names::RUST, names::Style::Type);
    assert_eq!(scope.assign(names).iter().count(), program.types().len());
}
