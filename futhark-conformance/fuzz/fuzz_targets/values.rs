//! Data files, values in test blocks, and scripts: what was read and is written again reads as the same.

#![no_main]

use futhark_conformance::blocks::script;
use futhark_conformance::manifest::ElemType::{Bool, F16, F32, I64, U8};
use futhark_conformance::values::{self, Generator, HostValue, TextError, data};
use futhark_conformance_fuzz::bounded;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: drop(values::parse("1.5f32")), |bytes: &[u8]| {
    let length = bytes.len();
    for elems in [&[][..], &[I64, F32], &[F16, Bool, U8]] {
        let read = bounded(50_000, length, || data::parse(bytes, elems));
        check_result(length, read).iter().for_each(check_value);
    }
    if let Some(values) = bounded(50_000, length, || data::read(bytes)) {
        let written: Vec<u8> = values.iter().flat_map(data::write).collect();
        assert_eq!(data::read(&written), Some(values));
    }
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let read = bounded(50_000, length, || values::parse(text));
    check_result(length, read).iter().for_each(check_value);
    for generator in check_result(length, values::parse_generators(text)) {
        match generator {
            Generator::Value(value) => check_value(&value),
            Generator::Type(text) => assert!(values::parse_generators(&text).is_ok()),
        }
    }
    let script = bounded(50_000, length, || script::parse(text));
    check_result(length, script.map(|exp| vec![exp]));
});

/// The values; none after an error, whose position and message are checked.
fn check_result<T>(length: usize, read: Result<Vec<T>, TextError>) -> Vec<T> {
    read.unwrap_or_else(|error| {
        assert!(error.at <= length, "{error:?}");
        assert!((1..500).contains(&error.message.len()), "{error:?}");
        Vec::new()
    })
}

fn check_value(value: &HostValue) {
    let binary = data::write(value);
    let same = vec![value.clone()];
    assert_eq!(data::parse(&binary, &[]).as_ref(), Ok(&same));
    assert_eq!(data::read(&binary).as_ref(), Some(&same));
    let json = serde_json::to_string(value).expect("text");
    assert_eq!(
        serde_json::from_str::<HostValue>(&json).ok().as_ref(),
        Some(value)
    );
    let shown = value.to_string();
    if value.count() <= 16 {
        let again = values::parse(&shown).unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!((again.len(), again[0].to_string()), (1, shown.clone()));
        assert!(again == same || shown.contains("nan"), "{shown}");
    }
}
