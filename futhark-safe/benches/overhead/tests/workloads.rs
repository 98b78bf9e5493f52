//! Flags and hardening change no result.

use futhark_safe::Backend;
use futhark_safe_benches::builds::Variant;
use futhark_safe_benches::workloads::WORKLOADS;

/// Bit for bit, also of floats: no variant contracts or reorders operations. Backend c, whose order is fixed.
#[test]
fn every_variant_returns_the_result_of_plain_c() {
    for workload in &WORKLOADS {
        let plain = workload.kernel(Backend::C, Variant::Plain)(workload.small);
        for variant in [Variant::Default, Variant::Unhardened, Variant::Native] {
            let result = workload.kernel(Backend::C, variant)(workload.small);
            let (name, variant) = (workload.name, variant.name());
            assert_eq!(
                result.to_bits(),
                plain.to_bits(),
                "{name} with {variant}: {result} and {plain}"
            );
        }
    }
}
