//! Properties of all generated modules. That they compile is tested by building this crate.

use futhark_safe::ErrorKind;
use futhark_safe_generated_tests::{
    MODULES, Module, golden_entries, golden_nothing, golden_records, golden_sums,
};

/// Its error names the program.
#[test]
fn a_program_without_tables_cannot_start() {
    assert!(MODULES.iter().all(|module| (module.tables)() == 0));
    let error = golden_entries::Context::new(&golden_entries::Config::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Start);
    let error = golden_nothing::Context::new(&golden_nothing::Config::new()).unwrap_err();
    assert!(error.to_string().contains("golden_nothing"), "{error}");
}

#[test]
fn generated_code_is_short() {
    let all: Vec<usize> = MODULES.iter().flat_map(entry_points).collect();
    let (entries, lines) = (all.len(), all.iter().sum::<usize>());
    assert!(
        lines <= 12 * entries,
        "{lines} lines for {entries} entry points"
    );
}

/// The number of lines of each entry point, with generated documentation.
fn entry_points(module: &Module) -> Vec<usize> {
    let (_, entries) = module.text.split_once("impl Entries<'_> {\n").unwrap();
    let body = entries.strip_suffix("}\n").unwrap();
    let items = body.split("\n\n").filter(|item| !item.is_empty());
    items.map(|item| item.lines().count()).collect()
}

#[test]
fn the_page_of_a_module_has_an_example() {
    let page = include_str!(concat!(env!("OUT_DIR"), "/golden_opaque_arrays_0_26.md"));
    // Of the entry point with a comment.
    assert_eq!(
        page,
        "The Futhark program `golden_opaque_arrays_0_26`.\n\n```text\n\
         let ctx = golden_opaque_arrays_0_26::Context::new(&golden_opaque_arrays_0_26::Config::new())?;\n\
         let result = ctx.entry().code(&c)?;\n```\n"
    );
    let page = include_str!(concat!(env!("OUT_DIR"), "/golden_nothing.md"));
    assert_eq!(page, "The Futhark program `golden_nothing`.\n");
}

#[test]
fn generated_code_has_no_unsafe() {
    for module in MODULES {
        let text = module
            .text
            .replace("__futhark_safe::__unsafe_tables!()", "");
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("///"));
        for line in code {
            assert!(!line.contains("unsafe"), "{}: {line}", module.name);
        }
    }
}

#[test]
fn values_are_send_and_sync() {
    fn go<T: Send + Sync>() {}
    go::<golden_records::Mixed>();
    go::<golden_sums::ShapeVariant>();
}
