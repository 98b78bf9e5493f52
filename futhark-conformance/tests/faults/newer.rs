//! Text that a newer compiler writes, or could write, in the code of an older one: what we support
//! must pass, and what we do not know must be reported by its name.

use crate::fault::{Fault, Part, Rule, code};
use crate::needs;
use crate::plant::Nursery;
use crate::trial::{Verdict, plant_and_run};
use futhark_conformance::parallel;

/// Since 0.27 kernels for HIP use its half floats.
const HIP_HALVES: &[Rule] = &[
    code(
        "",
        r"&& !\(defined\(ISPC\)\)\n#define EMULATE_F16",
        "&& !defined(ISPC) && !defined(__HIP_DEVICE_COMPILE__)\n#define EMULATE_F16",
    )
    .of(Part::Kernels),
    code(
        "",
        r"#ifdef __CUDA_ARCH__\n#include <cuda_fp16\.h>",
        "#if defined(__HIP_DEVICE_COMPILE__)\n#include <hip/hip_fp16.h>\n#elif defined(__CUDA_ARCH__)\n#include <cuda_fp16.h>",
    )
    .of(Part::Kernels),
    code("cmplt16", r"x < y", "__hlt(x, y)").of(Part::Kernels),
    code("cmple16", r"x <= y", "__hle(x, y)").of(Part::Kernels),
    code(
        "",
        r"#ifdef __CUDA_ARCH__(\nSCALAR_FUN_ATTR int16_t fptobits_f16_i16)",
        "#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)${1}",
    )
    .of(Part::Kernels),
];

#[test]
fn the_emulated_device_has_the_half_floats_of_hip() {
    let Some(compiler) = needs::compiler() else {
        return;
    };
    let text = Fault {
        name: "hip-halves",
        what: "",
        backend: "hip",
        device: "",
        program: "halves.fut",
        rules: HIP_HALVES,
        check: "blocks",
        cause: "",
        case: "",
    };
    match plant_and_run(&Nursery::new(compiler), &text) {
        Verdict::NotPlanted(why) => panic!("{why}"),
        Verdict::Ran(run) => {
            assert!(run.failures().is_empty(), "{:#?}", run.failures());
            let ran = (run.passed() > 0)
                .then_some(())
                .ok_or_else(|| run.shown().to_owned());
            needs::or_skip(ran);
        }
    }
}

/// A change without an effect on the C API, such as a new version of the runtime could have.
const fn unknown(
    name: &'static str,
    (backend, program): (&'static str, &'static str),
    check: &'static str,
    rules: &'static [Rule],
) -> Fault {
    Fault {
        name,
        what: "",
        backend,
        device: "",
        program,
        rules,
        check,
        cause: "mismatch or error",
        case: "",
    }
}

/// Each change with the words that the message must have. UPGRADING.md explains the messages.
const UNKNOWN: &[(Fault, &[&str])] = &[
    (
        unknown(
            "new-allocator",
            ("c", "arrays.fut"),
            "symbols",
            &[code(
                "host_alloc",
                r"\*mem_out = malloc\(size\)",
                "*mem_out = aligned_alloc(64, size)",
            )],
        ),
        &["aligned_alloc"],
    ),
    (
        unknown(
            "new-exit",
            ("c", "arrays.fut"),
            "symbols",
            &[code("futhark_panic", r"exit\(eval\)", "_exit(eval)")],
        ),
        &["_exit"],
    ),
    (
        unknown(
            "trap",
            ("c", "arrays.fut"),
            "symbols",
            &[code("futhark_panic", r"exit\(eval\)", "__builtin_trap()")],
        ),
        &["__builtin_trap"],
    ),
    (
        unknown(
            "new-wait",
            ("multicore", "parallel.fut"),
            "symbols",
            &[
                code("", r"#include <pthread\.h>", "${0}\n#include <semaphore.h>").times(3),
                code(
                    "subtask_queue_dequeue",
                    r"(\s)pthread_cond_wait\(",
                    "${1}static sem_t turn; sem_post(&turn); sem_wait(&turn); pthread_cond_wait(",
                ),
            ],
        ),
        &["sem_wait"],
    ),
    (
        unknown(
            "new-driver-function",
            ("opencl", "parallel.fut"),
            "symbols",
            &[code(
                "gpu_alloc_actual",
                r"\*mem_out = clCreateBuffer\(",
                "clFlush(ctx->queue); ${0}",
            )],
        ),
        &["clFlush"],
    ),
    (
        unknown(
            "state-in-another-form",
            ("cuda", "parallel.fut"),
            "compile",
            &[code(
                "init_constants",
                r"futrts_builtinzhreplicate_i32\(ctx, (counters_mem_\d+), \(int64_t\) 20, 0\)",
                "gpu_memset(ctx, ${1}, 0, 80)",
            )],
        ),
        &["counters_mem_", "init_constants", "UPGRADING.md"],
    ),
    (
        unknown(
            "hook-renamed",
            ("cuda", "arrays.fut"),
            "compile",
            &[code("", r"\bget_failure_msg\b", "failure_text").times(3)],
        ),
        &["get_failure_msg", "not defined", "UPGRADING.md"],
    ),
    (
        unknown(
            "new-borrows",
            ("c", "arrays.fut"),
            "compile",
            &[code(
                "futhark_new_i64_1d",
                r"memmove\(.*;",
                "{ arr->mem.mem = (unsigned char *) data; arr->mem.references = NULL; }",
            )],
        ),
        &["futhark_new_i64_1d", "copy its data", "UPGRADING.md"],
    ),
    (
        unknown(
            "hook-unused",
            ("c", "arrays.fut"),
            "compile",
            &[code("", r"(\s)host_alloc\(ctx", "${1}host_take(ctx")],
        ),
        &["host_alloc", "no function calls it", "UPGRADING.md"],
    ),
    (
        unknown(
            "new-function-of-the-runtime",
            ("multicore", "parallel.fut"),
            "compile",
            &[code(
                "futrts_entry_sum",
                r"scheduler_prepare_task\(",
                "scheduler_start_task(",
            )],
        ),
        &["scheduler_start_task", "gets a size", "UPGRADING.md"],
    ),
    (
        unknown(
            "size-in-another-form",
            ("c", "parallel.fut"),
            "compile",
            &[code(
                "futrts_entry_running",
                r"(int64_t bytes_\d+) = \(int64_t\) 8 \* (\w+);",
                "${1} = ${2} << 3;",
            )],
        ),
        &[
            "bytes_",
            "what becomes of its result is not known",
            "UPGRADING.md",
        ],
    ),
];

#[test]
fn unknown_text_is_reported_by_name() {
    let Some(compiler) = needs::compiler() else {
        return;
    };
    let nursery = Nursery::new(compiler);
    let wrong = parallel::map(UNKNOWN, parallel::processors(), |(change, words)| {
        let verdict = plant_and_run(&nursery, change);
        let Some([.., message]) = verdict.found(change) else {
            return verdict.complaint(change);
        };
        println!("{}: {message}", change.name);
        let missing = words.iter().find(|word| !message.contains(*word))?;
        Some(format!("{}: `{missing}` is not in: {message}", change.name))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
