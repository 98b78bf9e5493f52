//! What the Rust compiler refuses: mistakes with values that cannot be written. Each file in
//! `refused` is one, in the same words as its neighbour in `accepted` but for the mistake.

#[test]
fn the_type_system_refuses_it() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/accepted/*.rs");
    cases.compile_fail("tests/refused/*.rs");
}
