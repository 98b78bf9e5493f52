//! Faults in `new`, `values`, `index` and `shape` of arrays.

use super::fault;
use crate::fault::{Fault, code};

const C: (&str, &str) = ("c", "arrays.fut");
const OPENCL: (&str, &str) = ("opencl", "arrays.fut");

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "values-drops-last",
        "`values` copies one element less",
        C,
        "arrays",
        &[code(
            "futhark_values_i64_1d",
            r"(memmove\(.*), \(size_t\) arr->shape\[0\] \* 8\);",
            "${1}, ((size_t) arr->shape[0] - 1) * 8);",
        )],
    ),
    fault(
        "values-stride",
        "`values` reads each row one element too early",
        C,
        "arrays",
        &[code(
            "futhark_values_f32_2d",
            r"memmove\(.*;",
            "for (int64_t i = 0; i < arr->shape[0]; i++) \
             memmove(data + i * arr->shape[1], arr->mem.mem + 4 * (i == 0 ? 0 : i * arr->shape[1] - 1), \
             4 * arr->shape[1]);",
        )],
    ),
    fault(
        "values-quiets-nan",
        "`values` loses the payload of a NaN",
        C,
        "arrays",
        &[code(
            "futhark_values_f32_2d",
            r"(memmove\(.*;)",
            "{ ${1} for (int64_t i = 0; i < arr->shape[0] * arr->shape[1]; i++) \
             if (data[i] != data[i]) data[i] = NAN; }",
        )],
    ),
    fault(
        "memory-differs",
        "the memory of an array is not what `values` copies",
        C,
        "raw",
        &[code(
            "futhark_values_raw_i64_1d",
            r"return arr->mem\.mem;",
            "size_t size = (size_t) arr->shape[0] * 8; unsigned char *copy = malloc(size + 1); \
             memcpy(copy, arr->mem.mem, size); if (size > 0) copy[size - 1] ^= 1; return copy;",
        )],
    ),
    fault(
        "values-too-early",
        "`sync` does not wait for the device: the copy of `values` is incomplete",
        OPENCL,
        "arrays",
        &[code(
            "futhark_context_sync",
            r"OPENCL_SUCCEED_OR_RETURN\(clFinish\(ctx->queue\)\);",
            "",
        )],
    ),
    fault(
        "new-drops-last",
        "`new` copies one element less",
        C,
        "arrays",
        &[code(
            "futhark_new_i64_1d",
            r"(memmove\(.*), \(size_t\) dim0 \* 8\);",
            "${1}, ((size_t) dim0 - 1) * 8);",
        )],
    ),
    fault(
        "new-too-early",
        "the first `sync` after `new` does not wait: the device reads the caller's buffer later",
        OPENCL,
        "arrays",
        &[
            code("", r"\A", "static int fault_is_new;\n"),
            code(
                "futhark_new_i64_1d",
                r"err = memcpy_host2gpu\(",
                "fault_is_new = 1;\n    err = memcpy_host2gpu(",
            ),
            code(
                "futhark_context_sync",
                r"cl_int failure_idx = -1;",
                "cl_int failure_idx = -1; if (fault_is_new) { fault_is_new = 0; return 0; }",
            ),
        ],
    ),
    fault(
        "new-swaps-dimensions",
        "`new` stores the dimensions in the wrong order",
        C,
        "arrays",
        &[
            code(
                "futhark_new_f32_2d",
                r"shape\[0\] = dim0;",
                "shape[0] = dim1;",
            ),
            code(
                "futhark_new_f32_2d",
                r"shape\[1\] = dim1;",
                "shape[1] = dim0;",
            ),
        ],
    ),
    fault(
        "index-transposed",
        "`index` of a matrix uses column-major order",
        C,
        "index",
        &[code(
            "futhark_index_f32_2d",
            r"i0 \* arr->shape\[1\] \+ i1 \* 1",
            "i1 * arr->shape[0] + i0 * 1",
        )],
    ),
    fault(
        "index-unchecked",
        "`index` does not check its bounds",
        C,
        "index",
        &[code(
            "futhark_index_i64_1d",
            r"i0 >= 0 && i0 < arr->shape\[0\]",
            "1",
        )],
    ),
    fault(
        "index-unchecked-columns",
        "`index` of a matrix checks the row only",
        C,
        "index",
        &[code(
            "futhark_index_f32_2d",
            r" && \(i1 >= 0 && i1 < arr->shape\[1\]\)",
            "",
        )],
    ),
    fault(
        "index-one-too-far",
        "`index` accepts the length as an index",
        C,
        "index",
        &[code(
            "futhark_index_i64_1d",
            r"i0 < arr->shape\[0\]",
            "i0 <= arr->shape[0]",
        )],
    ),
    Fault {
        cause: "error",
        ..fault(
            "index-refuses-last",
            "`index` rejects the last element",
            C,
            "index",
            &[code(
                "futhark_index_i64_1d",
                r"i0 < arr->shape\[0\]",
                "i0 < arr->shape[0] - 1",
            )],
        )
    },
    fault(
        "index-error-lost",
        "`index` out of bounds succeeds and writes no element",
        C,
        "index",
        &[code(
            "futhark_index_i64_1d",
            r#"err = 1;\s*set_error\(ctx, strdup\("Index out of bounds\."\)\);"#,
            "",
        )],
    ),
    Fault {
        cause: "crash or mismatch or error",
        ..fault(
            "free-twice",
            "`free` frees the struct of an array twice",
            C,
            "arrays",
            &[code(
                "futhark_free_i64_1d",
                r"free\(arr\);",
                "free(arr);\n    free(arr);",
            )],
        )
    },
];
