//! Text of newer compilers, written into the code of an older one: it must pass.

use crate::fault::{Fault, Part, Rule, code};
use crate::needs;
use crate::plant::Nursery;
use crate::trial::{Verdict, plant_and_run};

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
