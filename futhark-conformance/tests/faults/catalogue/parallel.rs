//! Faults in parallel code.

use super::fault;
use crate::fault::{Fault, Part, code};

const C: (&str, &str) = ("c", "parallel.fut");
const MULTICORE: (&str, &str) = ("multicore", "parallel.fut");
const OPENCL: (&str, &str) = ("opencl", "parallel.fut");

const SUM_RESULT: &str = r"(\*out0 = prim_out_\d+);";
const SUM_WRONG_FOR_TWO: &str = "${1} + (in0 == 2);";

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "sum-drops-last",
        "a reduction skips the last element",
        C,
        "blocks",
        &[code(
            "futrts_entry_sum",
            r"(for \(int64_t (i_\d+) = 0; i_\d+) < n_",
            "${1}+1 < n_",
        )],
    ),
    fault(
        "sum-goes-on",
        "a reduction starts with the result of the previous call",
        C,
        "blocks",
        &[code(
            "futrts_entry_sum",
            r"(int64_t redout_\d+ = \(int64_t\) 0;)",
            "static ${1}",
        )],
    ),
    fault(
        "sum-wrong-for-two",
        "a reduction is wrong for a length that no test block has",
        C,
        "server",
        &[code("futhark_entry_sum", SUM_RESULT, SUM_WRONG_FOR_TWO)],
    ),
    fault(
        "thread-wrong-for-two",
        "a reduction is wrong on multicore for a length that no test block has",
        MULTICORE,
        "differential",
        &[code("futhark_entry_sum", SUM_RESULT, SUM_WRONG_FOR_TWO)],
    ),
    fault(
        "scatter-drops-last",
        "a scatter skips its last write",
        C,
        "blocks",
        &[code(
            "futrts_entry_turned",
            r"(for \(int64_t write_iter_\d+ = 0; write_iter_\d+) < n_",
            "${1}+1 < n_",
        )],
    ),
    fault(
        "constant-rounded",
        "a constant of the program is rounded",
        C,
        "blocks",
        &[code("futrts_entry_circumference", r"6\.2831855F", "6.3F")],
    ),
    fault(
        "thread-drops-last",
        "in a reduction each thread skips its last element",
        MULTICORE,
        "blocks",
        &[code(
            r"futhark_mc_segred_stage_1_parloop_\d+",
            r"(end_\d+ = end);",
            "${1} - 1;",
        )],
    ),
    fault(
        "thread-result-lost",
        "a reduction skips the result of the last thread",
        MULTICORE,
        "blocks",
        &[code(
            r"futhark_mc_segred_task_\d+",
            r"(for \(int32_t (i_\d+) = 0; i_\d+) < nsubtasks",
            "${1}+1 < nsubtasks",
        )],
    ),
    fault(
        "thread-carry-lost",
        "in a scan the carry into each thread lacks the last element",
        MULTICORE,
        "blocks",
        &[code(
            r"futhark_mc_segscan_task_\d+",
            r"(\[offset_index_\d+) - \(int64_t\) 1\]",
            "${1} - (int64_t) 2]",
        )],
    ),
    fault(
        "group-drops-last",
        "in a reduction each block of threads skips its last element",
        OPENCL,
        "blocks",
        &[code(
            r"sumzisegred_nonseg_\d+",
            r"if \(slt64\(gtid_(\d+), n_(\d+)\)\) \{",
            "if (slt64(gtid_${1}, n_${2}) && get_local_id(0) + 1 < get_local_size(0)) {",
        )
        .of(Part::Kernels)],
    ),
    fault(
        "group-counter-stays",
        "the counter of finished blocks is not reset: only the first reduction is correct",
        OPENCL,
        "blocks",
        &[code(
            r"sumzisegred_nonseg_\d+",
            r"old_counter_\d+ = atomic_add_i32_global\([^;]*num_tblocks_\d+\)\);",
            "",
        )
        .of(Part::Kernels)],
    ),
    fault(
        "scan-forgets-carry",
        "a scan restarts in each block of threads",
        OPENCL,
        "blocks",
        &[code(
            "futrts_entry_running",
            r"err = gpu_kernel_runningziscan_stage3_\d+\([^;]*;",
            "",
        )],
    ),
];
