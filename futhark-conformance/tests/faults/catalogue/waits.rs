//! Wrappers of ours that do not wait for the device, one operation at a time. The emulated
//! device delays what may be delayed: whoever does not wait reads old data, or gives up a
//! buffer that is still needed.

use super::fault;
use crate::fault::{Fault, code};

/// In the wrappers of one operation, which come after the generated code, the wait is none.
macro_rules! does_not_wait {
    ($backend:literal, $operation:literal, $program:literal, $check:literal, $what:literal) => {
        Fault {
            device: "delayed",
            cause: "misuse or mismatch",
            ..fault(
                concat!($operation, "-does-not-wait-", $backend),
                $what,
                ($backend, $program),
                $check,
                &[code(
                    "",
                    r"\z",
                    concat!(
                        "\n#define futhark_context_sync(ctx) (strncmp(__func__, \"fut_w_futhark_",
                        $operation,
                        "_\", strlen(\"fut_w_futhark_",
                        $operation,
                        "_\")) == 0 ? 0 : futhark_context_sync(ctx))\n"
                    ),
                )],
            )
        }
    };
}

macro_rules! of_backend {
    ($backend:literal) => {
        [
            does_not_wait!(
                $backend,
                "new",
                "arrays.fut",
                "arrays",
                "the wrapper of `new` does not wait: the caller's buffer is read later"
            ),
            does_not_wait!(
                $backend,
                "values",
                "arrays.fut",
                "arrays",
                "the wrapper of `values` does not wait: the copy comes later"
            ),
            does_not_wait!(
                $backend,
                "index",
                "arrays.fut",
                "index",
                "the wrapper of `index` does not wait: the element comes later"
            ),
            does_not_wait!(
                $backend,
                "store",
                "records.fut",
                "store",
                "the wrapper of `store` does not wait: the bytes come later"
            ),
            does_not_wait!(
                $backend,
                "restore",
                "records.fut",
                "store",
                "the wrapper of `restore` does not wait: the bytes are read later"
            ),
        ]
    };
}

const CUDA: [Fault; 5] = of_backend!("cuda");
const HIP: [Fault; 5] = of_backend!("hip");

pub(super) const FAULTS: &[Fault] = &[
    CUDA[0], CUDA[1], CUDA[2], CUDA[3], CUDA[4], HIP[0], HIP[1], HIP[2], HIP[3], HIP[4],
];
