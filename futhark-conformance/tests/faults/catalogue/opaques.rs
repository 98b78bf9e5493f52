//! Faults in records, sums, arrays of records, and storing.

use super::fault;
use crate::fault::{Fault, code};

const RECORDS: (&str, &str) = ("c", "records.fut");
const SUMS: (&str, &str) = ("c", "sums.fut");

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "record-swapped",
        "creating a record swaps two fields",
        RECORDS,
        "opaque",
        &[
            code("futhark_new_opaque_point", r"v->v0 = f_x;", "v->v0 = f_y;"),
            code("futhark_new_opaque_point", r"v->v1 = f_y;", "v->v1 = f_x;"),
        ],
    ),
    fault(
        "record-loses-sign",
        "creating a record drops the sign of a field",
        RECORDS,
        "opaque",
        &[code(
            "futhark_new_opaque_point",
            r"v->v0 = f_x;",
            "v->v0 = fabsf(f_x);",
        )],
    ),
    fault(
        "project-other-field",
        "projecting a field returns another one",
        RECORDS,
        "opaque",
        &[code(
            "futhark_project_opaque_point_y",
            r"obj->v1",
            "obj->v0",
        )],
    ),
    Fault {
        cause: "crash or mismatch or error",
        ..fault(
            "project-uncounted",
            "projecting an array does not count a reference: freeing it frees the record's",
            RECORDS,
            "opaque",
            &[code(
                "futhark_project_opaque_columns_left",
                r"\(void\) \(\*v->mem\.references\)\+\+;",
                "",
            )],
        )
    },
    fault(
        "zip-unchecked",
        "`zip` accepts arrays of different lengths",
        RECORDS,
        "opaque",
        &[code(
            "futhark_zip_opaque_arr1d_point",
            r"!\(f_x->shape\[0\] == f_y->shape\[0\]\)",
            "0",
        )],
    ),
    fault(
        "zip-swapped",
        "`zip` swaps two fields",
        RECORDS,
        "opaque",
        &[
            code(
                "futhark_zip_opaque_arr1d_point",
                r"\*v->v0 = \*f_x",
                "*v->v0 = *f_y",
            ),
            code(
                "futhark_zip_opaque_arr1d_point",
                r"\*v->v1 = \*f_y",
                "*v->v1 = *f_x",
            ),
        ],
    ),
    fault(
        "element-other-field",
        "an element of an array of records has one field twice",
        RECORDS,
        "opaque",
        &[code(
            "futhark_index_opaque_arr1d_point",
            r"arr->v1->mem\.mem",
            "arr->v0->mem.mem",
        )],
    ),
    fault(
        "element-elsewhere",
        "indexing an array of records returns the next element",
        RECORDS,
        "opaque",
        &[code(
            "futhark_index_opaque_arr1d_point",
            r"4 \* \(i0 \* 1\)",
            "4 * (i0+1 < arr->v0->shape[0] ? i0+1 : 0)",
        )
        .times(2)],
    ),
    fault(
        "element-unchecked",
        "indexing an array of records does not check its bounds",
        RECORDS,
        "opaque",
        &[code(
            "futhark_index_opaque_arr1d_point",
            r"i0 >= 0 && i0 < arr->v0->shape\[0\]",
            "1",
        )],
    ),
    fault(
        "sum-wrong-tag",
        "creating a value of a sum sets the wrong variant",
        SUMS,
        "opaque",
        &[code(
            "futhark_new_opaque_shape_rectangle",
            r"v->v0 = 2;",
            "v->v0 = 1;",
        )],
    ),
    fault(
        "variants-swapped",
        "`variant` swaps two variants",
        SUMS,
        "opaque",
        &[code(
            "futhark_variant_opaque_shape",
            r"return v->v0;",
            "return 2 - v->v0;",
        )],
    ),
    fault(
        "payload-swapped",
        "destructing a variant swaps its parts",
        SUMS,
        "opaque",
        &[code(
            "futhark_destruct_opaque_shape_rectangle",
            r"(?s)obj->v1(.*)obj->v2",
            "obj->v2${1}obj->v1",
        )],
    ),
    fault(
        "store-forgets-dimension",
        "`store` omits a length",
        RECORDS,
        "opaque",
        &[code(
            "futhark_store_opaque_arr1d_point",
            r"memcpy\(out, futhark_shape_f32_1d\(ctx, obj->v1\), 1 \* sizeof\(int64_t\)\);",
            "memset(out, 0, sizeof(int64_t));",
        )],
    ),
    fault(
        "store-unsteady",
        "`store` writes different bytes each time",
        SUMS,
        "store",
        &[code(
            "futhark_store_opaque_shape",
            r"memcpy\(out, &obj->v2, sizeof\(obj->v2\)\);",
            "{ static float fault_calls; fault_calls++; memcpy(out, &fault_calls, sizeof(obj->v2)); }",
        )],
    ),
    fault(
        "restore-swapped",
        "`restore` swaps two arrays",
        RECORDS,
        "store",
        &[
            code(
                "futhark_restore_opaque_columns",
                r"ctx, data_0",
                "ctx, data_2",
            ),
            code(
                "futhark_restore_opaque_columns",
                r"ctx, data_1",
                "ctx, data_0",
            ),
            code(
                "futhark_restore_opaque_columns",
                r"ctx, data_2",
                "ctx, data_1",
            ),
        ],
    ),
];
