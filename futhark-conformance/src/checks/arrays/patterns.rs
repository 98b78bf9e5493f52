//! Bit patterns: all of a narrow type, a selection of a wide one.

use crate::harness::make::Random;
use crate::values::HostValue;
use futhark_manifest::ElemType;

/// All patterns of a narrow type. Of a wide type: extreme values, NaNs, every single bit, and
/// random patterns.
pub(super) fn every_pattern(random: &mut Random, elem: ElemType, rank: usize) -> HostValue {
    let mut bytes: Vec<u8> = match (elem, elem.size()) {
        (ElemType::Bool, _) => vec![0, 1],
        (_, 1) => (0..=u8::MAX).collect(),
        (_, 2) => (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect(),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the low bits of a pattern are a pattern, too"
        )]
        (_, 4) => wide_patterns(random)
            .into_iter()
            .flat_map(|bits| {
                [
                    (bits as u32).to_ne_bytes(),
                    ((bits >> 32) as u32).to_ne_bytes(),
                ]
                .concat()
            })
            .collect(),
        _ => wide_patterns(random)
            .into_iter()
            .flat_map(u64::to_ne_bytes)
            .collect(),
    };
    let count = bytes.len() / elem.size();
    let mut shape = vec![1; rank];
    // Use two dimensions if the rank allows it.
    let columns = if rank > 1 && count.is_multiple_of(2) {
        2
    } else {
        1
    };
    if let Some(last) = shape.last_mut() {
        *last = columns;
    }
    if let Some(first) = shape.first_mut() {
        *first = if rank > 1 { count / columns } else { count };
    }
    bytes.truncate(shape.iter().product::<usize>() * elem.size());
    HostValue::new(elem, shape, bytes)
}

fn wide_patterns(random: &mut Random) -> Vec<u64> {
    let doubles = [
        0.0f64,
        -0.0,
        1.0,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::EPSILON,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let singles = [
        0.0f32,
        -0.0,
        1.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::EPSILON,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ];
    // Quiet and signalling, with both signs and with payloads.
    let nans = [
        0x7ff8_0000_0000_0000,
        0xfff8_0000_0000_0001,
        0x7ff0_0000_0000_0001,
        0xfff0_dead_beef_0001,
        0x7fc0_0000_ffc0_0001,
        0x7f80_0001_ff80_1234,
        0x0000_0000_0000_0001,
        0x0000_0001_8000_0001,
    ];
    let mut patterns: Vec<u64> = doubles.iter().map(|x| x.to_bits()).chain(nans).collect();
    patterns.extend(
        singles
            .iter()
            .map(|x| u64::from(x.to_bits()) << 32 | u64::from((-x).to_bits())),
    );
    patterns.extend((0..64).map(|bit| 1u64 << bit));
    patterns.extend([0, u64::MAX, i64::MAX as u64, u64::from(u32::MAX)]);
    patterns.extend((0..512).map(|_| random.next()));
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_types_get_every_pattern() {
        let mut random = Random::new(1, "");
        for rank in 1..=3 {
            assert_eq!(
                every_pattern(&mut random, ElemType::F16, rank).count(),
                65536
            );
            assert_eq!(every_pattern(&mut random, ElemType::U8, rank).count(), 256);
            assert_eq!(every_pattern(&mut random, ElemType::Bool, rank).count(), 2);
        }
    }

    #[test]
    fn wide_types_get_nans_with_payloads() {
        let mut random = Random::new(1, "");
        for elem in [ElemType::F32, ElemType::F64] {
            let value = every_pattern(&mut random, elem, 1);
            let nans = (0..value.count())
                .filter(|&i| value.float(i).is_some_and(f64::is_nan))
                .count();
            assert!(nans >= 4, "{elem}: {nans}");
        }
    }
}
