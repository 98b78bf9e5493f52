//! `docs/c-api.md` has a row for every function of the C API, and names tests that exist.

use std::collections::BTreeSet;
use std::path::Path;

use futhark_safe::compile::BACKENDS;

use super::support;

/// The functions of the C API reference of Futhark 0.25.32.
const REFERENCE: &str = "
    context_config_new context_config_free context_config_set_debugging context_config_set_profiling
    context_config_set_logging context_config_set_tuning_param get_tuning_param_count get_tuning_param_name
    get_tuning_param_class context_config_set_cache_file context_new context_free context_sync
    context_pause_profiling context_unpause_profiling context_get_error context_set_logging_file
    context_report context_clear_caches new_i32_1d new_raw_i32_1d free_i32_1d values_i32_1d index_i32_1d
    shape_i32_1d values_raw_i32_1d free_opaque_foo store_opaque_foo restore_opaque_foo new_opaque_t
    project_opaque_t_bar project_opaque_t_foo variant_opaque_t new_opaque_t_foo
    destruct_opaque_contrived_foo index_opaque_arr_t shape_opaque_arr_t zip_opaque_arr1d_tup2_f32_f32
    project_opaque_arr1d_tup2_f32_f32_0 entry_sum context_config_set_device
    context_config_set_unified_memory context_config_set_default_thread_block_size
    context_config_set_default_group_size context_config_set_default_grid_size
    context_config_set_default_num_groups context_config_set_default_tile_size context_config_get_program
    context_config_set_program context_config_set_platform context_config_select_device_interactively
    context_config_set_command_queue context_get_command_queue context_config_add_build_option
    context_get_program context_config_load_binary_from context_config_add_nvrtc_option context_dump_ptx_to
    context_config_load_ptx_from context_config_set_num_threads";

/// The rows of the tables of functions: the function, its replacement, the test.
fn rows() -> Vec<[String; 3]> {
    let text = include_str!("../docs/c-api.md");
    let end = text.find("## Plain C").expect("a section");
    let rows = text[..end].lines().filter(|line| line.starts_with("| `"));
    let cells = |line: &str| {
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        cells[1..4].to_vec().try_into().expect("three cells")
    };
    rows.map(cells).collect()
}

fn functions() -> BTreeSet<String> {
    rows()
        .into_iter()
        .map(|[c, ..]| c.trim_matches('`').to_owned())
        .collect()
}

#[test]
fn every_function_of_the_reference_has_a_row() {
    let there = functions();
    assert_eq!(there.len(), rows().len(), "each function has one row");
    for function in REFERENCE.split_whitespace() {
        assert!(there.contains(function), "{function} has no row");
    }
}

/// `typed/context.rs` is `typed/tests/context.rs`.
fn file(name: &str) -> std::path::PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    match name.strip_prefix("typed/") {
        Some(rest) => tests.join("typed/tests").join(rest),
        None => tests.join(name),
    }
}

#[test]
fn every_row_names_a_test_that_exists() {
    for [function, rust, test] in rows() {
        assert!(!rust.is_empty(), "{function}");
        let names: Vec<&str> = test.split('`').skip(1).step_by(2).collect();
        let [path, name] = names[..] else {
            panic!("{function}: expected a file and a test, got {test}");
        };
        let text = std::fs::read_to_string(file(path)).unwrap();
        assert!(
            text.contains(&format!("fn {name}()")),
            "{function}: {path} has no {name}"
        );
    }
}

/// The headers are those of the installed compilers; the backends need no driver for them.
#[test]
fn every_declared_function_on_contexts_has_a_row() {
    let there = functions();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-api");
    std::fs::create_dir_all(&folder).unwrap();
    for compiler in support::compilers() {
        for backend in BACKENDS {
            let out = folder.join(format!("{backend}"));
            let made = std::process::Command::new(compiler.program())
                .args([backend.as_str(), "--library", "-o"])
                .arg(&out)
                .arg(support::program("failures.fut"))
                .output()
                .unwrap();
            assert!(made.status.success(), "{backend}: {made:?}");
            let header = std::fs::read_to_string(out.with_extension("h")).unwrap();
            let mut declared = header.split("futhark_").skip(1).filter_map(|rest| {
                let name = rest.split('(').next()?;
                let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let of_context = name.starts_with("context_") || name.starts_with("get_tuning");
                (is_name && of_context).then_some(name)
            });
            assert!(declared.clone().count() > 15, "{backend}: {header}");
            let missing = declared.find(|name| !there.contains(*name));
            assert_eq!(missing, None, "{backend}, {}", compiler.program().display());
        }
    }
}
