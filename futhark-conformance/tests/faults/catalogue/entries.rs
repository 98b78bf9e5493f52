//! Faults in entry points: errors, arguments, consumption, and their description in the manifest.

use super::fault;
use crate::fault::{Fault, Part, code};

const ERRORS: (&str, &str) = ("c", "errors.fut");
const ERRORS_OPENCL: (&str, &str) = ("opencl", "errors.fut");
const CONSUMPTION: (&str, &str) = ("c", "consumption.fut");

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "error-lost",
        "an index out of bounds in the program is not an error",
        ERRORS,
        "blocks",
        &[code("futrts_entry_at", r"if \(!bounds_check_\d+\)", "if (0)")],
    ),
    fault(
        "error-code-lost",
        "a failing entry point returns 0 and sets no message",
        ERRORS,
        "blocks",
        &[code(
            "futrts_entry_divide",
            r"set_error\(.*\s*err = FUTHARK_PROGRAM_ERROR;",
            "",
        )],
    ),
    fault(
        "error-code-alone-lost",
        "a failing entry point returns 0 and sets a message",
        ERRORS,
        "blocks",
        &[code("futrts_entry_divide", r"err = FUTHARK_PROGRAM_ERROR;", "")],
    ),
    fault(
        "error-text-lost",
        "the message of an error is lost",
        ERRORS,
        "blocks",
        &[code("set_error", r"ctx->error = error;", "free(error);")],
    ),
    Fault {
        case: "at #1",
        cause: "error",
        ..fault(
            "error-sticks",
            "fetching a message does not clear it",
            ERRORS,
            "blocks",
            &[code(
                "futhark_context_get_error",
                r"ctx->error = NULL;",
                "error = error == NULL ? NULL : strdup(error);",
            )],
        )
    },
    Fault {
        cause: "error",
        ..fault(
            "error-lasts",
            "after one error every later call fails",
            ERRORS,
            "blocks",
            &[code("futhark_entry_at", r"int ret = 0;", "static int ret = 0;")],
        )
    },
    Fault {
        case: "at #1",
        cause: "timeout",
        ..fault(
            "error-keeps-lock",
            "a failing call does not release the context's lock",
            // On c our wrappers skip this lock.
            ERRORS_OPENCL,
            "blocks",
            &[code(
                "futhark_entry_at",
                r"lock_unlock\(&ctx->lock\);",
                "if (ret == 0) lock_unlock(&ctx->lock);",
            )],
        )
    },
    fault(
        "sizes-unchecked",
        "arguments of different lengths are accepted",
        ERRORS,
        "blocks",
        &[code(
            "futhark_entry_pairs",
            r"ret = 1;\s*set_error\(.*;",
            "",
        )],
    ),
    fault(
        "result-written-on-error",
        "a failing entry point writes its result",
        ERRORS,
        "plain",
        &[code(
            "futhark_entry_divide",
            r"if \(ret == 0\) (\{\s*\*out0 =)",
            "${1}",
        )],
    ),
    fault(
        "values-writes-beyond",
        "`values` writes one element beyond the last one",
        ERRORS,
        "plain",
        &[code(
            "futhark_values_i64_1d",
            r"(memmove\(.*;)",
            "{ ${1} data[arr->shape[0]] = 0; }",
        )],
    ),
    fault(
        "refused-call-writes",
        "a call that is refused for its sizes changes an argument",
        ERRORS,
        "errors",
        &[code(
            "futhark_entry_pairs",
            r"ret = 1;",
            "ret = 1; if (in0->shape[0] > 0) *(int64_t *) in0->mem.mem += 1;",
        )],
    ),
    fault(
        "kernel-error-lost",
        "a failure on the device is not reported",
        ERRORS_OPENCL,
        "blocks",
        &[code("futhark_context_sync", r"if \(failure_idx >= 0\)", "if (0)")],
    ),
    Fault {
        cause: "error",
        ..fault(
            "kernel-error-lasts",
            "after one failure on the device every later kernel exits early",
            ERRORS_OPENCL,
            "blocks",
            &[code(
                "futhark_context_sync",
                r"cl_int no_failure = -1;",
                "cl_int no_failure = failure_idx;",
            )],
        )
    },
    Fault {
        cause: "error",
        ..fault(
            "exit",
            "an entry point ends the process",
            ERRORS,
            "blocks",
            &[code("futhark_entry_divide", r"int ret = 0;", "int ret = 0; exit(0);")],
        )
    },
    Fault {
        cause: "crash",
        ..fault(
            "wild-write",
            "an entry point writes through a null pointer",
            ERRORS,
            "blocks",
            &[code(
                "futrts_entry_divide",
                r"int err = 0;",
                "int err = 0; *(volatile int *) NULL = 1;",
            )],
        )
    },
    Fault {
        case: "divide #0",
        cause: "timeout",
        ..fault(
            "no-end",
            "an entry point does not end",
            ERRORS,
            "blocks",
            &[code(
                "futrts_entry_divide",
                r"int err = 0;",
                "int err = 0; for (volatile int forever = 1; forever;);",
            )],
        )
    },
    fault(
        "observed-overwritten",
        "an argument that is only observed is updated in place",
        CONSUMPTION,
        "blocks",
        &[code(
            "futrts_entry_observe",
            r"(?s)(\(uint64_t \*\) (xs_mem_\d+)\.mem.*?)(\(\(int64_t \*\) mem_\d+\.mem\)\[\(int64_t\) 0\] =)",
            "${1}${3} ((int64_t *) ${2}.mem)[0] =",
        )],
    ),
    Fault {
        cause: "crash or mismatch or error",
        ..fault(
            "alias-uncounted",
            "a result shares an argument's memory without counting a reference",
            CONSUMPTION,
            "consume",
            &[code(
                "futrts_entry_identity",
                r"memblock_set\(ctx, &(mem_out_\d+), &(xs_mem_\d+), .*\) != 0",
                "(${1} = ${2}, ${1}.references = (int *) strdup(\"count\"), *${1}.references = 1) != 1",
            )],
        )
    },
    fault(
        "manifest-not-unique",
        "the manifest lists a consumed argument as observed",
        CONSUMPTION,
        "blocks",
        &[code(
            "",
            r#"("cfun":"futhark_entry_overwrite","inputs":\[\{"name":"xs","type":"\[\]i64","unique":)true"#,
            "${1}false",
        )
        .of(Part::Manifest)],
    ),
    fault(
        "manifest-wrong-type",
        "the manifest lists a signed array as unsigned",
        CONSUMPTION,
        "compile",
        &[code("", r#""elemtype":"i64""#, r#""elemtype":"u64""#).of(Part::Manifest)],
    ),
    fault(
        "manifest-unknown-key",
        "the manifest has an unknown key",
        CONSUMPTION,
        "manifest",
        &[code("", r#""rank":1"#, r#""rank":1,"layout":"rows""#).of(Part::Manifest)],
    ),
    fault(
        "header-lacks-function",
        "the header does not declare a function of the manifest",
        CONSUMPTION,
        "header",
        &[code("", r"int futhark_entry_observe\([^;]*;\n", "").of(Part::Header)],
    ),
    fault(
        "function-not-declared",
        "the library defines a public function that the header does not declare",
        CONSUMPTION,
        "symbols",
        &[code(
            "",
            r"\z",
            "int futhark_context_secret(struct futhark_context *ctx)\n{\n  return ctx == NULL;\n}\n",
        )],
    ),
    fault(
        "function-of-the-system",
        "`sync` calls a function of the system that no hook replaces",
        CONSUMPTION,
        "symbols",
        &[
            code("", r"\A", "int sched_yield(void);\n"),
            code("futhark_context_sync", r"\{", "{ sched_yield();"),
        ],
    ),
    fault(
        "header-wrong-parameter",
        "the header declares a parameter with another type",
        CONSUMPTION,
        "compile",
        &[code(
            "",
            r"(int futhark_values_i64_1d\([^;]*)int64_t \*data",
            "${1}int32_t *data",
        )
        .of(Part::Header)],
    ),
];
