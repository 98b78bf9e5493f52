//! Mistakes with values that the Rust compiler rejects. Each file in `refused` is one, in the
//! same words as its neighbour in `accepted` except for the mistake.
//!
//! The files declare the golden modules that they use instead of taking them from this crate.
//! rustc shortens the path of a type to its name where no other crate in scope has a type of
//! that name, so its messages would depend on which manifests this crate was built with.

#[test]
fn the_type_system_refuses_it() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/accepted/*.rs");
    cases.compile_fail("tests/refused/*.rs");
}
