//! Mistakes with values that the Rust compiler rejects. Each file in `refused` contains one; its messages show that
//! nothing else in it is wrong.
//!
//! The files declare modules of their own instead of importing those of this crate.
//! rustc shortens the path of a type to its name where no other crate in scope has a type of
//! that name, so its messages would depend on which manifests this crate was built with.

#[test]
fn mistakes_do_not_compile() {
    // Without a case that passes, `cargo check` is enough for all of them.
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/refused/*.rs");
}
