//! Arbitrary bytes: reading returns a manifest or an error with a position. A manifest
//! is written again without loss.

#![no_main]

use futhark_manifest::Manifest;
use libfuzzer_sys::fuzz_target;

#[path = "../promises.rs"]
mod promises;

fuzz_target!(|bytes: &[u8]| {
    match Manifest::parse_bytes(bytes) {
        Ok(manifest) => {
            let json: serde_json::Value = serde_json::from_slice(bytes).expect("it was read");
            assert_eq!(manifest.to_json(), json);
            promises::of(&manifest);
        }
        Err(error) => {
            assert!(error.position().is_some(), "{error}");
        }
    }
});
