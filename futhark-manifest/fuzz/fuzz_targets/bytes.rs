//! Arbitrary bytes: reading returns a manifest or an error.

#![no_main]

use futhark_manifest::Manifest;
use libfuzzer_sys::fuzz_target;

#[path = "../promises.rs"]
mod promises;

fuzz_target!(|bytes: &[u8]| {
    match Manifest::parse_bytes(bytes) {
        Ok(manifest) => {
            let _: serde_json::Value = serde_json::from_slice(bytes).expect("it was read");
            promises::of(&manifest, bytes.len());
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
        }
    }
});
