//! Test blocks: cases lie where they say, have different names, and their texts can be read again.

#![no_main]

use futhark_conformance::blocks::{Expected, MOST_CASES, Source, TestBlocks, script};
use futhark_conformance::values;
use futhark_conformance_fuzz::bounded;
use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;

/// A regular expression needs more memory than its text.
const REGEX: usize = 20_000_000;

fuzz_target!(|source: &str| {
    match bounded(REGEX, source.len(), || TestBlocks::parse(source)) {
        Ok(blocks) => check_promises(source, &blocks),
        Err(error) => {
            assert!((1..=source.matches('\n').count() + 1).contains(&error.line));
            assert!((1..2000).contains(&error.message.len()), "{error}");
        }
    }
});

fn check_promises(source: &str, blocks: &TestBlocks) {
    assert!(blocks.cases.len() <= MOST_CASES);
    let mut titles = HashSet::new();
    for case in &blocks.cases {
        let before = source
            .get(..case.span.start)
            .expect("a position in the text");
        assert_eq!(case.line, before.matches('\n').count() + 1);
        assert!(source.get(case.span.clone()).is_some());
        assert!((case.span.start..=case.span.end).contains(&case.result_at));
        assert!(
            titles.insert((&case.entry, &case.name)),
            "twice: {}",
            case.title()
        );
        check_source(&case.input);
        if let Expected::Values(source) = &case.expected {
            check_source(source);
        }
        if let Some(pattern) = case.expected_error() {
            let _ = pattern.matches("Error: Index [1] out of bounds for array of shape [1].\n");
        }
    }
}

fn check_source(source: &Source) {
    match source {
        Source::Text(text) => assert!(values::parse(text).is_ok(), "{text}"),
        Source::Random(text) => assert!(values::parse_generators(text).is_ok(), "{text}"),
        Source::Script(text) => assert!(script::parse(text).is_ok(), "{text}"),
        Source::File(_) | Source::ScriptFile(_) => {}
    }
}
