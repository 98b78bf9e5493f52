//! The parts of a manifest that the interface text covers.

use crate::common::{self, faultless, fixture};
use futhark_manifest::Manifest;
use serde_json::{Value, json};

fn hash(json: &Value) -> u64 {
    faultless(&json.to_string(), "changed").interface_hash()
}

/// The text must not change, because other languages compute the hash from it.
#[test]
fn the_interface_text_and_hash_are_stable() {
    let program = faultless(&fixture("0.25.12"), "0.25.12");
    assert_eq!(
        program.interface_text(),
        "futhark-interface 1\n\
         array 4:[]u8 u8 1\n\
         sum 5:pixel 4 5:clear 0 4:grey 1 2:u8 3:rgb 3 2:u8 2:u8 2:u8 3:row 1 4:[]u8\n\
         entry 10:brightness 1 observes 5:pixel 1 3:f16\n\
         entry 6:invert 1 observes 5:pixel 1 5:pixel\n"
    );
    assert_eq!(program.interface_hash(), 0xc12e_8637_5a88_5964);

    let program = faultless(&fixture("0.25.19"), "0.25.19");
    assert_eq!(
        program.interface_text(),
        "futhark-interface 1\n\
         array 7:[][]i32 i32 2\n\
         opaque_array 9:[][]state 2 5:state\n\
         array 6:[]bool bool 1\n\
         array 5:[]i32 i32 1\n\
         record_array 25:[]{level:i32, tags:[]i32} 1 23:{level:i32, tags:[]i32} \
         2 5:level 5:[]i32 4:tags 7:[][]i32\n\
         sum 5:state 3 4:dead 0 4:live 1 23:{level:i32, tags:[]i32} 4:shut 2 3:i32 4:bool\n\
         record 23:{level:i32, tags:[]i32} 2 5:level 3:i32 4:tags 5:[]i32\n\
         entry 8:classify 2 observes 3:i64 observes 25:[]{level:i32, tags:[]i32} \
         2 9:[][]state 6:[]bool\n\
         entry 4:grow 2 consumes 25:[]{level:i32, tags:[]i32} observes 3:i32 \
         1 25:[]{level:i32, tags:[]i32}\n"
    );
}

#[test]
fn the_interface_ignores_details_of_c() {
    let original = hash(&common::json("0.26.4"));
    for (pointer, value) in [
        ("/backend", json!("cuda")),
        ("/version", json!("0.27.0")),
        ("/entry_points/grow/cfun", json!("elsewhere")),
        ("/entry_points/grow/inputs/1/name", json!("amount")),
        ("/entry_points/grow/output/unique", json!(false)),
        ("/entry_points/grow/tuning_params", json!(["grow.tile"])),
        ("/entry_points/grow/attributes", json!([])),
        ("/entry_points/grow/doc", json!("Other words.")),
        ("/types/state/ctype", json!("struct other *")),
        ("/types/state/ops/free", json!("free_other")),
    ] {
        let mut changed = common::json("0.26.4");
        *changed.pointer_mut(pointer).expect(pointer) = value;
        assert_eq!(hash(&changed), original, "{pointer}");
    }
}

#[test]
fn the_interface_covers_entry_points_and_types() {
    let mut hashes = vec![hash(&common::json("0.26.4"))];
    for (pointer, value) in [
        ("/entry_points/grow/inputs/0/unique", json!(false)),
        ("/entry_points/grow/inputs/1/type", json!("i64")),
        ("/entry_points/grow/output/type", json!("[]i32")),
        ("/entry_points/grow/inputs", json!([])),
        ("/types/[]bool/rank", json!(2)),
        ("/types/[]bool/elemtype", json!("u8")),
        ("/types/state/sum/variants/0/name", json!("gone")),
        ("/types/state/sum/variants/2/payload", json!(["i32"])),
        ("/types/minmax/record/fields/0/type", json!("i64")),
        ("/types/minmax/record/fields/1/name", json!("2")),
        ("/types/[][]state/opaque_array/rank", json!(3)),
    ] {
        let mut changed = common::json("0.26.4");
        *changed.pointer_mut(pointer).expect(pointer) = value;
        hashes.push(hash(&changed));
    }
    let count = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), count, "each change gives another hash");
}

/// Members of the JSON text can be in any order.
#[test]
fn the_order_of_members_does_not_matter() {
    let text = fixture("0.25.36");
    let reordered = common::json("0.25.36").to_string();
    assert_ne!(text, reordered);
    assert_eq!(
        Manifest::parse(&text).unwrap().resolve(),
        Manifest::parse(&reordered).unwrap().resolve()
    );
}
