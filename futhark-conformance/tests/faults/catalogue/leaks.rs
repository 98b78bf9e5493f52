//! Leaks of memory.

use super::fault;
use crate::fault::{Fault, Rule, code};

pub(super) const FAULTS: &[Fault] = &[
    leak(
        "free-leaks",
        "freeing an array frees only its handle",
        "arrays.fut",
        &[code(
            "futhark_free_i64_1d",
            r"if \(memblock_unref\(ctx, &arr->mem, .*\) != 0\)\s*return 1;",
            "",
        )],
    ),
    leak(
        "context-leaks",
        "freeing a context does not free a part of it",
        "arrays.fut",
        &[code("futhark_context_free", r"free\(ctx->constants\);", "")],
    ),
    leak(
        "call-leaks",
        "a call leaks a reference to its result",
        "errors.fut",
        &[code(
            "futrts_entry_pairs",
            r"if \(memblock_unref\(ctx, &mem_out_\d+, .*\) != 0\)\s*return 1;",
            "",
        )],
    ),
    leak(
        "error-leaks",
        "fetching a message returns a copy and does not free the original",
        "errors.fut",
        &[code(
            "futhark_context_get_error",
            r"return error;",
            "return error == NULL ? NULL : strdup(error);",
        )],
    ),
    leak(
        "project-leaks",
        "a projected array is counted twice",
        "records.fut",
        &[code(
            "futhark_project_opaque_columns_left",
            r"\(void\) \(\*v->mem\.references\)\+\+;",
            "*v->mem.references += 2;",
        )],
    ),
    leak(
        "restore-leaks",
        "`restore` allocates a part twice",
        "records.fut",
        &[code(
            "futhark_restore_opaque_columns",
            r"(obj->v1 = futhark_new_i64_1d\(ctx, data_1, shape_1\[0\]\);)",
            "${1} ${1}",
        )],
    ),
];

/// A leak on the sequential backend.
const fn leak(
    name: &'static str,
    what: &'static str,
    program: &'static str,
    rules: &'static [Rule],
) -> Fault {
    Fault {
        cause: "leak",
        ..fault(name, what, ("c", program), "leaks", rules)
    }
}
