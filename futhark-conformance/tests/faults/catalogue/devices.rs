//! Misuse of a device that drivers do not report. The emulated device does, and the case fails.

use super::fault;
use crate::fault::{Fault, Part, code};

/// `$free`: the driver's function that frees memory.
macro_rules! of_backend {
    ($backend:literal, $free:literal) => {
        [
            Fault {
                cause: "misuse",
                ..fault(
                    concat!("kernel-writes-outside-", $backend),
                    "a kernel writes outside of its arrays",
                    ($backend, "parallel.fut"),
                    "blocks",
                    &[code(
                        r"turnedzisegmap_\d+",
                        r"(mem_\d+\)\[\w+)\] = ",
                        "${1} - ((int64_t) 1 << 36)] = ",
                    )
                    .of(Part::Kernels)],
                )
            },
            Fault {
                cause: "misuse",
                ..fault(
                    concat!("half-a-barrier-", $backend),
                    "only half of a block's threads reach a barrier",
                    ($backend, "parallel.fut"),
                    "blocks",
                    &[code(
                        r"sumzisegred_nonseg_\d+",
                        r"barrier\(CLK_GLOBAL_MEM_FENCE \| CLK_LOCAL_MEM_FENCE\);",
                        "if (get_local_id(0) % 2 == 0) { barrier(CLK_LOCAL_MEM_FENCE); }",
                    )
                    .of(Part::Kernels)],
                )
            },
            Fault {
                device: "seconds=1",
                cause: "misuse",
                ..fault(
                    concat!("kernel-without-end-", $backend),
                    "a kernel does not end",
                    ($backend, "parallel.fut"),
                    "blocks",
                    &[code(
                        r"turnedzisegmap_\d+",
                        r"barrier\(CLK_GLOBAL_MEM_FENCE \| CLK_LOCAL_MEM_FENCE\);",
                        "while (*(volatile __global int *) global_failure < 0) { }",
                    )
                    .of(Part::Kernels)],
                )
            },
            Fault {
                cause: "misuse",
                ..fault(
                    concat!("freed-before-the-launch-", $backend),
                    "memory is freed before the launch of a kernel that writes to it",
                    ($backend, "parallel.fut"),
                    "blocks",
                    &[code(
                        "futrts_entry_turned",
                        r"(err = gpu_kernel_turnedzisegmap_\d+\([^;]*, (mem_\d+)\.mem\);)",
                        "(void) (gpu_free_actual)(ctx, ${2}.mem); ${1}",
                    )],
                )
            },
            Fault {
                device: "delayed",
                cause: "misuse",
                ..fault(
                    concat!("buffer-changes-under-the-copy-", $backend),
                    "the source buffer of `new` is overwritten before the copy is complete",
                    ($backend, "arrays.fut"),
                    "arrays",
                    &[code(
                        "futhark_new_i64_1d",
                        r"(err = memcpy_host2gpu\([^;]*)\(const unsigned char \*\) data([^;]*;)",
                        "unsigned char *fault = malloc(dim0 * 8 + 1); memcpy(fault, data, dim0 * 8); \
                         ${1}fault${2} memset(fault, 0, dim0 * 8); free(fault);",
                    )],
                )
            },
            Fault {
                cause: "misuse",
                ..fault(
                    concat!("context-keeps-memory-", $backend),
                    "freeing a context does not free all memory of the device",
                    ($backend, "arrays.fut"),
                    "lifecycle",
                    &[code(
                        "backend_context_teardown",
                        concat!($free, r"\(ctx->global_failure_args\);"),
                        "",
                    )],
                )
            },
        ]
    };
}

const CUDA: [Fault; 6] = of_backend!("cuda", "cuMemFree");
const HIP: [Fault; 6] = of_backend!("hip", "hipFree");

pub(super) const FAULTS: &[Fault] = &[
    CUDA[0], CUDA[1], CUDA[2], CUDA[3], CUDA[4], CUDA[5], HIP[0], HIP[1], HIP[2], HIP[3], HIP[4],
    HIP[5],
];
