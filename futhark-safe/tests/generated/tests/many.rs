//! A module with two thousand entry points compiles.
#![deny(warnings)]

futhark_safe::include_program!(many);

#[test]
fn a_module_can_have_two_thousand_entry_points() {
    let text = include_str!(concat!(env!("OUT_DIR"), "/many.rs"));
    assert_eq!(text.matches("    pub fn e").count(), 2000);
    let error = many::Context::new(&many::Config::new()).unwrap_err();
    assert_eq!(error.operation(), "many");
    let _last: fn(&many::Entries<'static>, i32) -> futhark_safe::Result<i32> =
        many::Entries::e01999;
}
