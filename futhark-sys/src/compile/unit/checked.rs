//! The text that we compile in place of `name.c`, for hardened units: each rule adds its checks.

use std::collections::BTreeSet;

use futhark_manifest::Version;

use super::bounds::Bounds;
use super::constants::Blocks;
use super::edits::Edits;
use super::{concat, constants, divisions, launches, operations, sizes};
use crate::compile::error::Error;
use crate::compile::generated::Source;
use crate::compile::generated::statement::{Function, functions, is_of_program};
use crate::compile::generated::token::place;

/// The generated C with the checks of all rules; an error if a function is in an unknown form. If that is `allowed`, it is
/// added to the list, and the function gets no checks.
pub(in crate::compile) fn checked(
    source: &Source<'_>,
    version: &Version,
    mut allowed: Option<&mut Vec<String>>,
) -> Result<String, Error> {
    let is_allowed = allowed.is_some();
    let mut or_missing = |result: Result<(), Error>, what: &str| match (result, &mut allowed) {
        (Err(error), Some(missing)) => {
            missing.push(format!("{what}{error}"));
            Ok(())
        }
        (result, _) => result,
    };
    let mut known = Vec::new();
    let names = source.functions.iter();
    for (name, _) in names.filter(|(name, function)| is_of_program(name, &function.parameters)) {
        let own = functions(source, version, |other, _| other == *name).and_then(|own| {
            divisions::check(&own[0], version)?;
            operations::check(&own[0], source, version)?;
            if is_allowed {
                with_rules(&own, source, version)?;
            }
            Ok(own)
        });
        let own = own.map(|own| known.extend(own));
        or_missing(own, &format!("`{name}` has no checks: "))?;
    }
    or_missing(divisions::check_rest(source, version), "")?;
    with_rules(&known, source, version)
}

/// The text with the checks of the rules.
fn with_rules(
    of_program: &[Function<'_>],
    source: &Source<'_>,
    version: &Version,
) -> Result<String, Error> {
    let mut edits = Edits::of(source.text);
    let blocks = Blocks::of(of_program);
    let mut offsets = BTreeSet::new();
    for function in of_program {
        offsets.extend(concat::write(function, &mut edits));
        for statement in &function.body {
            blocks.write(statement, &mut edits);
        }
        constants::write_constants(function, &mut edits);
        launches::write(function, version, &mut edits)?;
        divisions::write(function, &mut edits);
        let mut bounds = Bounds::of(function);
        for statement in function.statements() {
            bounds.write(statement, &mut edits);
        }
    }
    let new = functions(source, version, |name, _| name.starts_with("futhark_new_"))?;
    sizes::write(of_program, &new, &offsets, source, version, &mut edits)?;
    // Behind a condition or `else`, a line would take the place of the statement.
    let bare = edits.beside_lines.iter().find(|text| {
        let is_before = |token: &&str| place(source.text, token) < place(source.text, text);
        let next = source.tokens.partition_point(is_before);
        matches!(source.tokens[..next].last(), Some(&(")" | "else")))
    });
    if let Some(bare) = bare {
        let why = "no check can be added to a statement without braces";
        return Err(Error::unsupported(version, bare, why));
    }
    Ok(edits.apply())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    /// Functions of numbers that the texts call.
    const NUMBERS: &str = "static int64_t mul64(int64_t x, int64_t y) {\n}\nstatic int64_t squot64(int64_t x, int64_t y) {\n}\n\
         static int64_t smax64(int64_t x, int64_t y) {\n}\nstatic int64_t smin64(int64_t x, int64_t y) {\n}\n\
         static bool slt64(int64_t x, int64_t y) {\n}\n\
         static int gpu_kernel_f_2(struct futhark_context *ctx, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, \
         unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes)\n{\n    \
         if (grid_x * grid_y * grid_z * block_x * block_y * block_z != 0) {\n    }\n}\n";

    fn checked(text: &str) -> Result<String, Error> {
        let text = format!("{NUMBERS}{text}");
        super::checked(&Source::read(&text), &Version::new("0.26.1"), None)
    }

    /// A function with this statement.
    fn with(statement: &str) -> String {
        format!("static int futrts_f(struct futhark_context *ctx)\n{{\n    {statement}\n}}\n")
    }

    /// A function in which `n_1` becomes a size.
    fn function(lines: &str) -> String {
        let alloc = "if (memblock_alloc(ctx, &mem_9, n_1, \"mem_9\")) {\n    }";
        format!("int futrts_f(struct futhark_context *ctx)\n{{\n{lines}\n    {alloc}\n}}\n")
    }

    #[test]
    fn an_assigned_size_is_computed_like_a_defined_one() {
        let text = function(
            "    int64_t n_1;\n    int64_t k_2 = a_3 * b_4;\n    if (a_3 == b_4) {\n        n_1 = k_2;\n    } else {\n        n_1 = a_3;\n    }",
        );
        let checked = checked(&text).unwrap();
        for line in [
            "    int64_t fut_n_1;",
            "    int64_t fut_k_2 = fut_times(a_3, b_4);",
            "        fut_n_1 = fut_k_2;",
            "        fut_n_1 = a_3;",
            "    if (memblock_alloc(ctx, &mem_9, fut_size(fut_n_1), \"mem_9\")) {",
        ] {
            assert!(checked.lines().any(|l| l == line), "{line}: {checked}");
        }
    }

    /// As newer compilers compute sizes that a tuning parameter can set.
    #[test]
    fn both_values_of_a_chosen_size_are_checked() {
        let set = "ctx->cfg->tuning_params[tuning_param_indexes.n_1].set";
        let text = function(&format!(
            "    int64_t n_1;\n    n_1 = {set} ? a_2 * b_3 : smax64((int64_t) 1, a_2 - (c_4 == 0 ? b_3 : (int64_t) 8));"
        ));
        let checked = checked(&text).unwrap();
        let line = format!(
            "    fut_n_1 = ({set} ? fut_times(a_2, b_3) : fut_size_max((int64_t) 1, fut_minus(a_2, (c_4 == 0 ? b_3 : (int64_t) 8))));"
        );
        assert!(checked.lines().any(|l| l == line), "{line}: {checked}");
    }

    #[test]
    fn negative_constants_are_sizes_too() {
        for (size, checked_size) in [
            ("(int64_t) 64", "(int64_t) 64"),
            ("(int64_t) -16", "fut_size((int64_t) -16)"),
            (
                "(int64_t) -9223372036854775807 - 1",
                "fut_size(fut_minus((int64_t) -9223372036854775807, 1))",
            ),
            (
                "mul64(n_2, (int64_t) -8)",
                "fut_size(mul64(n_2, (int64_t) -8))",
            ),
            ("n_2 - (int64_t) 4", "fut_size(fut_minus(n_2, (int64_t) 4))"),
            ("n_2 * (int64_t) 8", "fut_times(n_2, (int64_t) 8)"),
        ] {
            let lines = "if (mem_1_cached_sizze_2 < SIZE) {\n        \
                 err = lexical_realloc(ctx, &mem_1, &mem_1_cached_sizze_2, SIZE);\n    }";
            let text = checked(&with(&lines.replace("SIZE", size))).unwrap();
            assert!(
                text.contains(&lines.replace("SIZE", checked_size)),
                "{text}"
            );
        }
        let copy = |dims: &str| {
            let line = format!(
                "lmad_copy_4b(ctx, 1, (uint32_t *) mem_1.mem, (int64_t) 0, (int64_t []) {{(int64_t) 1}}, (uint32_t *) mem_2.mem, (int64_t) 0, (int64_t []) {{(int64_t) 1}}, (int64_t []) {{{dims}}});"
            );
            checked(&with(&line)).unwrap()
        };
        assert!(!copy("(int64_t) 3, (int64_t) 2").contains("FUT_CHECK_COUNT"));
        assert!(
            copy("(int64_t) -3, (int64_t) -2")
                .contains("FUT_CHECK_COUNT(fut_times((int64_t) -3, (int64_t) -2))")
        );
        assert!(
            copy("n_3, (int64_t) -2").contains("FUT_CHECK_COUNT(fut_times(n_3, (int64_t) -2))")
        );
    }

    #[test]
    fn nothing_is_appended_to_an_argument() {
        let append = |parameter: &str| {
            let head = format!("int futrts_f(struct futhark_context *ctx{parameter})");
            let copy = "lmad_copy_4b(ctx, 1, (uint32_t *) mem_1.mem, n_5 * tmp_offs_2, (int64_t []) {n_5}, (uint32_t *) mem_1.mem, (int64_t) 0, (int64_t []) {n_5}, (int64_t []) {n_3})";
            format!(
                "{head}\n{{\n    int64_t tmp_offs_2 = (int64_t) 0;\n    \n    if (!(n_5 * tmp_offs_2 == (int64_t) 0)) {{\n        {copy};\n    }}\n    tmp_offs_2 += n_3;\n    tmp_offs_2 += m_4;\n}}\n"
            )
        };
        let check = "    FUT_REFUSE_IF(m_4 != 0, FUT_NO_ROOM)\n";
        for memory in ["struct memblock mem_1", "struct memblock_device mem_1"] {
            let text = checked(&append(&format!(", {memory}"))).unwrap();
            let at = text.find(check).expect(&text);
            assert!(at < text.find("lmad_copy_4b").unwrap(), "{text}");
        }
        let text = checked(&append(", struct memblock mem_9")).unwrap();
        assert!(!text.contains("FUT_NO_ROOM"), "{text}");
        assert!(
            text.contains("FUT_REFUSE_IF(n_3 < 0 || m_4 < 0, FUT_NEGATIVE_PART)"),
            "{text}"
        );
    }

    #[test]
    fn parts_are_checked_before_parallel_loops_write_them() {
        let start = "int task_err_2 = scheduler_prepare_task(&ctx->scheduler, &task_1);";
        let offset =
            "int64_t offs_3 = (int64_t) 0;\n    int64_t place_4 = offs_3;\n    offs_3 += n_5;";
        let text = checked(&with(&format!(
            "mem_6.references = NULL;\n    {start}\n    task_1.nested_fn = NULL;\n    {offset}"
        )));
        let text = text.unwrap();
        let check = text.find("FUT_REFUSE_IF(n_5 < 0, FUT_NEGATIVE_PART)");
        let after = text.find("mem_6.references = NULL;");
        let before = text.find("fut_prepare_task");
        assert!(after < check && check < before, "{text}");
    }

    #[test]
    fn parts_are_checked_when_functions_have_returned_them() {
        let call = "if (futrts_g(ctx, &n_5) != 0) {\n        goto cleanup;\n    }";
        let offset =
            "int64_t offs_3 = (int64_t) 0;\n    int64_t place_4 = offs_3;\n    offs_3 += n_5;";
        let called = "int futrts_g(struct futhark_context *ctx, int64_t *n_1)\n{\n}\n";
        let statements = with(&format!("int64_t n_5;\n    {call}\n    {offset}"));
        let text = checked(&(called.to_owned() + &statements)).unwrap();
        let check = text.find("FUT_REFUSE_IF(n_5 < 0, FUT_NEGATIVE_PART)");
        assert!(text.find("if (futrts_g(") < check, "{text}");
        assert!(check < text.find("int64_t offs_3"), "{text}");
    }

    #[test]
    fn a_copy_on_a_gpu_stays_in_its_memory() {
        let copy = |name: &str| {
            let line = format!(
                "    if ((err = {name}(ctx, \"a.fut:1\", 1, mem_1.mem, n_3, (int64_t []) {{(int64_t) 1}}, mem_2.mem, i_4, (int64_t []) {{s_5}}, (int64_t []) {{n_3}})) != 0)\n        goto cleanup;"
            );
            checked(&function(&line)).unwrap()
        };
        let text = copy("lmad_copy_gpu2gpu_8b");
        for check in [
            "FUT_REFUSE_IF(fut_is_outside(mem_1.size / 8, 1, n_3, (int64_t []) {(int64_t) 1}, (int64_t []) {n_3}), FUT_OUTSIDE)",
            "FUT_REFUSE_IF(fut_is_outside(mem_2.size / 8, 1, i_4, (int64_t []) {s_5}, (int64_t []) {n_3}), FUT_OUTSIDE)",
        ] {
            assert!(text.find(check).expect(&text) < text.find("lmad_copy").unwrap());
        }
        assert!(!copy("lmad_copy_8b").contains("fut_is_outside"));
    }

    #[test]
    fn a_size_may_be_computed_by_the_program_in_any_way() {
        for value in [
            "a_3 & b_4",
            "a_3 + 7 | ~b_4",
            "a_3 ^ (int64_t) 1",
            "-a_3",
            "smax64((int64_t) 0, -a_3)",
            "((int64_t *) mem_5.mem)[i_6 * m_7]",
        ] {
            let text = function(&format!("    int64_t n_1 = {value};"));
            let checked = checked(&text).unwrap();
            assert!(
                checked.contains("memblock_alloc(ctx, &mem_9, fut_size(n_1), "),
                "{checked}"
            );
        }
    }

    #[test]
    fn names_and_strings_of_the_program_are_no_calls() {
        for statement in [
            "if (futrts_lmad_copy_all_46(ctx, &n_1, a_3) != 0)\n        goto cleanup;",
            "set_error(ctx, msgprintf(\"memblock_alloc(ctx, &x_1, a << b, c)\", 1));",
            "set_error(ctx, msgprintf(\"scheduler_prepare_task(\", 1));",
        ] {
            let called = "int futrts_lmad_copy_all_46(struct futhark_context *ctx, int64_t *n_1, int64_t a_3)\n{\n}\n";
            let text = checked(&(called.to_owned() + &with(statement))).unwrap();
            assert!(text.contains(statement), "{text}");
        }
        let entry = "int futhark_entry_scheduler_execute_task(struct futhark_context *ctx, const int64_t in0)\n{\n}\n";
        assert!(checked(entry).unwrap().contains(entry));
    }

    #[test]
    fn a_size_of_unknown_form_is_refused() {
        let product = "    int64_t n_1;\n    n_1 = a_3 * b_4;";
        assert!(checked(&function(product)).is_ok());
        for lines in [
            "    int64_t n_1 = a_3 < 0 ? 0 : b_4 << 2;",
            "    int64_t n_1 = a_3 << 2 ? 0 : b_4;",
            "    int64_t n_1;\n    n_1 = a_3 << 2;",
            "    int64_t n_1 = a_3;\n    n_1 += b_4;",
            "    int64_t n_1 = a_3;\n    n_1 *= b_4;",
            "    int64_t n_1 = a_3 * b_4;\n    task.result = &n_1;",
            "    int64_t n_1;\n    if (a_3 < 0)\n        n_1 = a_3 * b_4;",
        ] {
            let error = checked(&function(lines)).unwrap_err();
            error.refuses_a_form_of_0_26_1(&["n_1"]);
        }
    }

    #[test]
    fn a_function_of_the_runtime_that_cannot_be_checked_is_refused() {
        const LAUNCH: &str = "static int gpu_kernel_f(struct futhark_context *ctx, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, int64_t arg0)\n{\n    if (grid_x * grid_y * grid_z * block_x * block_y * block_z != 0) {\n    }\n}\n";
        const FILL: &str = "FUTHARK_FUN_ATTR int futrts_builtinzhreplicate_unit(struct futhark_context *ctx, struct memblock_device mem_1, int64_t count_2, bool val_3)\n{\n    int err = 0;\n}\n";
        const TASK: &str = "int futrts_f(struct futhark_context *ctx)\n{\n    int err = scheduler_prepare_task(&ctx->scheduler, &task_1);\n}\n";
        let fill = "FUT_CHECK_COUNT(count_2)\n    goto cleanup;";
        let launch = "fut_check_launch(ctx, grid_x, grid_y";
        let shared = "int64_t shared_bytes, int64_t arg0";
        let task = "fut_prepare_task(ctx, &task_1)";
        for (text, check, known, unknown) in [
            (LAUNCH, launch, "unsigned int block_y", "size_t block_y"),
            (LAUNCH, shared, "grid_x * grid_y", "grid_x + grid_y"),
            (LAUNCH, shared, "grid_x * grid_y", "grid_y * grid_y"),
            (FILL, fill, "int64_t count_2", "size_t count_2"),
            (FILL, fill, "int err = 0;", "int error = 0;"),
            (TASK, task, "&ctx->scheduler", "ctx->scheduler"),
        ] {
            let ok = checked(text).unwrap();
            assert!(ok.contains(check), "{ok}");
            assert!(text.contains(known));
            let error = checked(&text.replace(known, unknown)).unwrap_err();
            error.refuses_a_form_of_0_26_1(&[]);
        }
    }

    #[test]
    fn fills_without_memory_and_loops_over_products_are_checked() {
        let text = "int futrts_f(struct futhark_context *ctx)\n{\n    int64_t k_2 = a_3 * b_4;\n    \
             for (int64_t nest_i_5 = 0; nest_i_5 < a_3; nest_i_5++) {\n        \
             for (int64_t nest_i_6 = 0; nest_i_6 < b_4; nest_i_6++) { }\n    }\n    \
             for (int64_t i_7 = 0; i_7 < k_2; i_7++) {\n        x_8 = i_7;\n    }\n}\n";
        let checked = checked(text).unwrap();
        assert!(checked.contains(
            "    FUT_CHECK_COUNT(fut_times(b_4, a_3))\n    FUT_CHECK_ITERATIONS(fut_k_2)\n"
        ));
        assert!(!checked.contains("nest_i"), "{checked}");
    }

    #[test]
    fn a_check_fails_if_arithmetic_that_it_depends_on_wraps() {
        let text = "int futrts_f(struct futhark_context *ctx)\n{\n    int64_t flat_1 = a_2 * b_3;\n    \
             int64_t m_4 = squot64(flat_1 - (int64_t) 1, mul64(a_2, a_2));\n    bool c_5 = slt64(i_6, m_4);\n    \
             bool c_7 = d_8 && c_5;\n    if (!c_7) {\n        \
             set_error(ctx, msgprintf(\"%s\", \"Index [\", (long long) i_6, \"].\"));\n    }\n}\n";
        let checked = checked(text).unwrap();
        let terms =
            "if (!c_7 || fut_difference_wraps(flat_1, (int64_t) 1) || fut_wraps(a_2, b_3)) {";
        assert!(checked.contains(terms), "{checked}");
    }

    /// The functions of programs as a compiler wrote them that cannot be installed, in files of `FUTHARK_EXTRA_FORMS`
    /// (`VERSION/BACKEND/NAME.txt.gz`).
    #[test]
    fn every_statement_of_other_compilers_is_read() {
        const VARIABLE: &str = "FUTHARK_EXTRA_FORMS";
        let Some(folder) = std::env::var_os(VARIABLE) else {
            return println!("no extra forms: {VARIABLE} is not set");
        };
        let entries = |folder: PathBuf| -> Vec<PathBuf> {
            let all = std::fs::read_dir(folder).expect("a folder");
            all.map(|entry| entry.expect("an entry").path()).collect()
        };
        let folders = |all: Vec<PathBuf>| all.into_iter().filter(|path| path.is_dir());
        let mut count = 0;
        for version in folders(entries(folder.into())) {
            let number = version.file_name().and_then(|name| name.to_str());
            let number = Version::new(number.expect("a version"));
            for file in folders(entries(version)).flat_map(entries) {
                let output = Command::new("gzip").arg("-dc").arg(&file).output();
                let text = String::from_utf8(output.expect("gzip runs").stdout).expect("UTF-8");
                // The text is without the functions of numbers and of the runtime that it calls.
                let source = Source::read(&text);
                let mut missing = source.calls.clone();
                missing.retain(|name| {
                    !source.functions.contains_key(name) && !is_of_program(name, &[])
                });
                let missing = missing.iter();
                let missing = missing.map(|name| format!("static int {name}(int x) {{\n}}\n"));
                let all = text.clone() + &missing.collect::<String>();
                let checked = super::checked(&Source::read(&all), &number, None);
                let checked = checked.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                assert!(checked.len() > text.len() / 2, "{}", file.display());
                count += 1;
            }
        }
        assert!(count > 0, "{VARIABLE} names a folder without files");
    }

    #[test]
    fn an_unknown_statement_or_call_is_refused() {
        for statement in [
            "asm(\"nop\");",
            "x_1 += y_2, z_3 += 1;",
            "for (int64_t i_1 = 9; i_1 > 0; i_1--) { }",
            "do { x_1 = 1; } while (x_1);",
            "int64_t n_2 = other(ctx, n_1);",
            "memset(p_5, 0, n_1);",
            "lmad_copy_4b(c->ctx, (int64_t []) {n_1});",
            "lmad_copy_4b(ctx, shape_6);",
            "if (futrts_builtinzhreplicate_i32(ctx, mem_3, m_2 << 1, 0) != 0) {\n    }",
            "if (memblock_alloc(ctx, &mem_1, n_2 << 3, \"mem_1\")) {\n    }",
            "if (memblock_alloc_device(ctx, &mem_1)) {\n    }",
            "lexical_realloc(ctx, &mem_1);",
        ] {
            let error = checked(&with(statement)).unwrap_err();
            error.refuses_a_form_of_0_26_1(&[]);
        }
        checked(&with("double x_7 = futrts_cond_f64(n_1 == m_2, 0.0, 1.0);")).unwrap();
    }

    #[test]
    fn a_broken_statement_is_one() {
        let launch = "err = gpu_kernel_f_2(ctx, n_3, 1, 1, n_4 *\n        m_5, 1, 1, (int64_t) 0, n_6,\n        mem_7.mem);";
        let text = checked(&with(launch)).unwrap();
        assert!(text.contains("ctx, n_3, 1, 1, fut_times(n_4, m_5), 1, 1, (int64_t) 0, n_6,"));
    }

    #[test]
    fn a_statement_without_braces_gets_no_check() {
        let check = "if (!(n_1 == a_2 * b_3)) {\n        set_error(ctx, msgprintf(\"%s\", \"Value of (desugared) shape [\"));\n    }";
        let copy = "lmad_copy_8b(ctx, 1, (int64_t []) {n_1 * m_2});";
        let fill = "for (int64_t i_4 = 0; i_4 < (int64_t) 4611686018427387904; i_4++) {\n        \
             ((int64_t *) mem_5.mem)[i_4] = x_6;\n    }";
        let block = "if (memblock_alloc(ctx, &mem_5, (int64_t) 0, \"mem_5\")) {\n    }\n    ";
        for statement in [check, copy, fill] {
            let text = checked(&with(&format!(
                "{block}if (x_7) {{\n    {statement}\n    }}"
            )));
            assert!(text.unwrap().contains("FUT_"));
            for bare in ["if (x_7)", "if (x_7) {\n    } else"] {
                let error = checked(&with(&format!("{block}{bare} {statement}"))).expect_err(bare);
                error.refuses_a_form_of_0_26_1(&["without braces"]);
            }
        }
    }

    #[test]
    fn a_parallel_loop_that_does_not_end_is_refused_when_it_starts() {
        let start = "err = scheduler_prepare_task(&ctx->scheduler, &task_1);";
        for (count, is_refused) in [("2305843009213693953", true), ("1099511627776", false)] {
            for statement in [
                format!("task_1.iterations = (int64_t) {count};"),
                format!(
                    "for (int64_t i_1 = 0; i_1 < (int64_t) {count}; i_1++) {{\n        {start}\n    }}"
                ),
            ] {
                let text = checked(&with(&statement)).unwrap();
                let check = "FUT_REFUSE_IF(true, FUT_CONSTANT_SHAPE)";
                assert_eq!(text.contains(check), is_refused, "{text}");
            }
        }
    }

    #[test]
    fn a_constant_negative_index_is_refused_when_it_is_used() {
        const CHECK: &str = ", FUT_NEGATIVE_INDEX)\n";
        let copy = |place: &str, shape: &str| {
            format!(
                "lmad_copy_8b(ctx, 1, (uint64_t *) mem_1.mem, (int64_t) 0, (int64_t []) {{(int64_t) 1}}, (uint64_t *) xs_2.mem, {place}, (int64_t []) {{(int64_t) 1}}, (int64_t []) {{{shape}}});"
            )
        };
        let lowered = |compared: &str| {
            format!(
                "int64_t i_4 = (int64_t) -16 + i_3;\n    {compared}int64_t x_5 = ((int64_t *) mem_2.mem)[i_4];"
            )
        };
        for (statement, is_refused) in [
            ("int64_t x_1 = ((int64_t *) mem_2.mem)[(int64_t) -1];".to_owned(), true),
            ("((int64_t *) mem_2)[(int64_t) -9223372036854775807 - 1] = x_1;".to_owned(), true),
            (copy("(int64_t) -1", "(int64_t) 3"), true),
            (copy("(int64_t) -1", "n_3"), true),
            (copy("(int64_t) 1", "n_3"), false),
            ("if ((err = gpu_scalar_from_device(ctx, \"\", &x_1, mem_2.mem, (int64_t) -1 * sizeof(int64_t), sizeof(int64_t))) != 0)\n        goto cleanup;".to_owned(), true),
            ("int64_t x_1 = ((int64_t *) mem_2.mem)[(int64_t) -1 * i_3 + (int64_t) 4];".to_owned(), false),
            ("int64_t x_1 = ((int64_t *) mem_2.mem)[(int64_t) -16 + i_3];".to_owned(), true),
            (lowered(""), true),
            (lowered("bool is_6 = slt64(i_4, (int64_t) 3);\n    "), false),
        ] {
            let text = checked(&with(&statement)).unwrap();
            assert_eq!(text.contains(CHECK), is_refused, "{text}");
        }
    }

    #[test]
    fn a_size_may_depend_on_itself() {
        for value in ["n_1 + m_2", "n_1 * n_1", "smax64(n_1, n_1 * m_2)"] {
            let text = function(&format!("    int64_t n_1;\n    n_1 = {value};"));
            assert!(checked(&text).unwrap().contains("fut_n_1 = fut_"));
        }
    }

    #[test]
    fn only_unknown_functions_have_no_checks_if_they_are_allowed() {
        let size = "int64_t n_1 = a_2 * b_3;\n    if (memblock_alloc(ctx, &mem_4, n_1, \"mem_4\")) {\n    }";
        let text = NUMBERS.to_owned()
            + &with(size)
            + &with(&format!("asm(\"nop\");\n    {size}")).replace("futrts_f", "futrts_g")
            + &with("x_1 = other(n_1);").replace("futrts_f", "futrts_h")
            + "int division(int x)\n{\n    return 1 / x;\n}\n";
        let (source, version) = (Source::read(&text), Version::new("9.9.9"));
        assert!(super::checked(&source, &version, None).is_err());
        let mut missing = Vec::new();
        let text = super::checked(&source, &version, Some(&mut missing)).unwrap();
        assert_eq!(text.matches("fut_size(fut_n_1)").count(), 1, "{text}");
        for (missing, words) in missing.iter().zip(["`futrts_g`", "`futrts_h`", "/ x;"]) {
            assert!(missing.contains(words), "{missing}");
        }
        assert_eq!(missing.len(), 3);
    }

    /// `bounds`: the limits of the loops of a fill, outermost first.
    fn fill(size: &str, bounds: [&str; 2], place: &str) -> String {
        let [outer, inner] = bounds;
        with(&format!(
            "if (memblock_alloc(ctx, &mem_1, {size}, \"mem_1\")) {{\n    }}\n    \
             for (int64_t i_2 = 0; i_2 < {outer}; i_2++) {{\n        \
             for (int64_t i_3 = 0; i_3 < {inner}; i_3++) {{\n            \
             ((int32_t *) mem_1.mem)[{place}] = x_4;\n        }}\n    }}"
        ))
    }

    #[test]
    fn a_fill_of_an_impossible_constant_shape_is_refused_when_it_runs() {
        const CHECK: &str = "FUT_REFUSE_IF(true, FUT_CONSTANT_SHAPE)";
        for (size, bounds, place) in [
            (
                "(int64_t) 24",
                ["(int64_t) -2", "(int64_t) -3"],
                "i_2 * (int64_t) -3 + i_3",
            ),
            (
                "(int64_t) 24",
                ["(int64_t) -2", "(int64_t) -3"],
                "i_3 + (int64_t) -3 * i_2",
            ),
            (
                "(int64_t) 48",
                ["(int64_t) -2", "(int64_t) -3"],
                "i_5 * (int64_t) 6 + i_2 * (int64_t) -3 + i_3",
            ),
            (
                "(int64_t) 24 * n_6",
                ["(int64_t) -2", "(int64_t) -3"],
                "i_2 * (int64_t) -3 + i_3",
            ),
            (
                "(int64_t) 0",
                ["(int64_t) 3458764513820540928", "n_6"],
                "i_2 * n_6 + i_3",
            ),
            (
                "(int64_t) 0",
                ["(int64_t) 4611686018427387904", "(int64_t) 4"],
                "i_2 * (int64_t) 4 + i_3",
            ),
        ] {
            let text = checked(&fill(size, bounds, place)).unwrap();
            // In front of all loops of the fill: none runs.
            let outside = format!("    {CHECK}\n    for (int64_t i_2 = 0;");
            assert!(text.contains(&outside), "{text}");
        }
        for (size, bounds, place) in [
            // A loop of the program, in an array of another size, or whose strides are positive.
            (
                "(int64_t) 400",
                ["(int64_t) -2", "(int64_t) -3"],
                "i_2 + i_3",
            ),
            (
                "(int64_t) 24",
                ["(int64_t) -2", "(int64_t) -3"],
                "i_2 + i_3",
            ),
            (
                "(int64_t) 20",
                ["(int64_t) -2", "(int64_t) -3"],
                "i_2 * (int64_t) -3 + i_3",
            ),
            (
                "(int64_t) 24",
                ["(int64_t) 2", "(int64_t) 3"],
                "i_2 * (int64_t) 3 + i_3",
            ),
            // A loop of the program that has no iterations.
            (
                "(int64_t) 400",
                ["(int64_t) -9223372036854775807 - 1", "(int64_t) 3"],
                "i_2 * (int64_t) 3 + i_3",
            ),
            // A checked size.
            (
                "(int64_t) -24",
                ["(int64_t) 2", "(int64_t) -3"],
                "i_2 * (int64_t) -3 + i_3",
            ),
        ] {
            let text = checked(&fill(size, bounds, place)).unwrap();
            assert!(!text.contains(CHECK), "{text}");
        }
    }
}
