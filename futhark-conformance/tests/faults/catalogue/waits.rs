//! Our wrappers without their wait for the device, one operation at a time. The emulated device
//! delays asynchronous work, so an operation that does not wait reads old data or frees a buffer
//! that is still in use.

use super::fault;
use crate::fault::{Fault, code};

/// Removes the wait from the wrappers of one operation, which follow the generated code.
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
                        "\nstatic int fault_sync(struct futhark_context *ctx) ",
                        // The name is a macro for a unique one.
                        "{ return futhark_context_sync(ctx); }\n#undef futhark_context_sync\n",
                        "#define futhark_context_sync(ctx) (strncmp(__func__, \"fut_w_futhark_",
                        $operation,
                        "_\", strlen(\"fut_w_futhark_",
                        $operation,
                        "_\")) == 0 ? 0 : fault_sync(ctx))\n"
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
                "the wrapper of `new` does not wait: the device reads the caller's buffer later"
            ),
            does_not_wait!(
                $backend,
                "values",
                "arrays.fut",
                "arrays",
                "the wrapper of `values` does not wait: the copy is incomplete"
            ),
            does_not_wait!(
                $backend,
                "index",
                "arrays.fut",
                "index",
                "the wrapper of `index` does not wait: the element is read too early"
            ),
            does_not_wait!(
                $backend,
                "store",
                "records.fut",
                "store",
                "the wrapper of `store` does not wait: the bytes are incomplete"
            ),
            does_not_wait!(
                $backend,
                "restore",
                "records.fut",
                "store",
                "the wrapper of `restore` does not wait: the device reads the bytes later"
            ),
        ]
    };
}

const CUDA: [Fault; 5] = of_backend!("cuda");
const HIP: [Fault; 5] = of_backend!("hip");

pub(super) const FAULTS: &[Fault] = &[
    CUDA[0], CUDA[1], CUDA[2], CUDA[3], CUDA[4], HIP[0], HIP[1], HIP[2], HIP[3], HIP[4],
];
