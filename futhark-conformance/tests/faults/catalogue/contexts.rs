//! Faults in the creation of contexts.

use super::fault;
use crate::fault::{Fault, code};

const C: (&str, &str) = ("c", "arrays.fut");

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        cause: "error",
        ..fault(
            "one-context-only",
            "only one context can exist at a time",
            C,
            "lifecycle",
            &[
                code("", r"\A", "static int fault_alive;\n"),
                code(
                    "futhark_context_new",
                    r"assert\(!cfg->in_use\);",
                    "if (fault_alive) { free(ctx); return NULL; } fault_alive = 1;",
                ),
                code(
                    "futhark_context_free",
                    r"free\(ctx\);",
                    "free(ctx); fault_alive = 0;",
                ),
            ],
        )
    },
    fault(
        "logging-changes-result",
        "with logging, an entry point returns another result",
        C,
        "settings",
        &[code(
            "futhark_entry_matrix",
            r"(\*out0 = prim_out_\d+);",
            "${1} + ctx->logging;",
        )],
    ),
];
