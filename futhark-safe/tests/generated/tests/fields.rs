//! The traits of structs of fields and of enums of variants.

use futhark_safe::f16;
use futhark_safe_generated_tests::golden_fields_serde as program;
use program::{DeepFields, LongFields, OuterFields, PtFields, StateVariant};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[test]
fn fields_and_variants_of_scalars_round_trip_through_serde() {
    let deep = DeepFields {
        at: PtFields { x: 0.1, y: -2.0 },
        half: f16::from_f32(1.5),
        on: true,
        pair: (-3, 7),
    };
    let text = serde_json::to_string(&deep).unwrap();
    let start = r#"{"at":{"x":0.1,"y":-2.0},"half":"#;
    assert!(text.starts_with(start), "{text}");
    assert!(text.ends_with(r#""on":true,"pair":[-3,7]}"#), "{text}");
    assert_eq!(serde_json::from_str::<DeepFields>(&text).unwrap(), deep);
    assert!(serde_json::from_str::<DeepFields>("{}").is_err());
    for (state, expected) in [
        (StateVariant::Busy(4, 0.5), r#"{"Busy":[4,0.5]}"#),
        (StateVariant::Idle, r#""Idle""#),
    ] {
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<StateVariant>(&text).unwrap(), state);
    }
}

/// The traits that exist for long tuples, too.
#[test]
fn a_struct_with_a_long_tuple_is_copied() {
    let long = LongFields {
        at: PtFields::default(),
        many: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13),
    };
    let outer = OuterFields { inner: long, n: 1 };
    let copy = outer;
    assert_eq!((outer.inner.many.12, copy.n), (13, 1));
}

#[test]
fn serde_is_derived_only_on_request() {
    fn both<T: Serialize + DeserializeOwned>() {}
    both::<PtFields>();
    let of = |name: &str| {
        let mut modules = futhark_safe_generated_tests::MODULES.iter();
        modules.find(|module| module.name == name).unwrap().text
    };
    assert!(of("golden_fields_serde").contains("::serde::"));
    assert!(!of("golden_records").contains("serde"));
}
