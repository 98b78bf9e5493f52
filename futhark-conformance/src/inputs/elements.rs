//! Generates scalars and elements of arrays.

use crate::values::HostValue;
pub use fastrand::Rng as Random;
use futhark_manifest::ElemType;
use half::f16;
use proptest::prelude::*;
use proptest::sample::select;

/// The kind of numbers in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taste {
    /// Small numbers. Sums and products of such floats are exact in any order, so a reduction has
    /// only one result.
    Tame,
    /// Also the limits of the type: extremes, infinities, subnormals, and any bit pattern except
    /// signalling NaNs. A computation may make a signalling NaN quiet or not, so its result depends on
    /// the C compiler and the backend.
    Wild,
}

/// The bits of one number. The first alternatives are the simplest.
pub fn bits(elem: ElemType, taste: Taste) -> BoxedStrategy<u64> {
    let tame = select(tame(elem));
    if taste == Taste::Tame || elem == ElemType::Bool {
        return tame.boxed();
    }
    let any = any::<u64>().prop_map(move |bits| quiet(elem, bits & mask(elem)));
    prop_oneof![4 => tame, 2 => select(edges(elem)), 2 => any].boxed()
}

/// Many elements from a seed, which do not shrink one by one. Wild ones are limits of the type or any
/// bit pattern except signalling NaNs.
#[must_use]
pub fn fill(seed: u64, elem: ElemType, shape: &[usize], taste: Taste) -> HostValue {
    let mut random = random(seed, "fill");
    let (tame, edges) = (tame(elem), edges(elem));
    generate(elem, shape, || match taste {
        Taste::Tame => pick(&mut random, &tame),
        Taste::Wild if elem == ElemType::Bool || random.bool() => pick(&mut random, &edges),
        Taste::Wild => quiet(elem, random.u64(..) & mask(elem)),
    })
}

/// Whole numbers from 0 to 3 for arrays, from 1 to 3 for scalars, which are often sizes or
/// divisors; as booleans, whether they are odd.
#[must_use]
pub fn small(random: &mut Random, elem: ElemType, shape: &[usize]) -> HostValue {
    let lowest = i64::from(shape.is_empty());
    generate(elem, shape, || {
        let number = random.i64(lowest..4);
        match elem {
            ElemType::Bool => u64::from(number % 2 == 1),
            _ => whole_bits(elem, number),
        }
    })
}

/// Random bit patterns for the elements; booleans are 0 or 1.
#[must_use]
pub fn any_bits(random: &mut Random, elem: ElemType, shape: &[usize]) -> HostValue {
    let count: usize = shape.iter().product();
    let mut bytes = vec![0; count * elem.size()];
    random.fill(&mut bytes);
    if elem == ElemType::Bool {
        bytes.iter_mut().for_each(|byte| *byte &= 1);
    }
    HostValue::new(elem, shape.to_vec(), bytes)
}

/// A value from the bits of each element.
fn generate(elem: ElemType, shape: &[usize], bits: impl FnMut() -> u64) -> HostValue {
    let count = shape.iter().product();
    HostValue::of_bits(elem, shape, std::iter::repeat_with(bits).take(count))
}

fn pick(random: &mut Random, from: &[u64]) -> u64 {
    from[random.usize(..from.len())]
}

/// A whole number as a value of the type, truncated to its width.
#[must_use]
pub fn whole_number(elem: ElemType, number: i64) -> HostValue {
    HostValue::of_bits(elem, &[], [whole_bits(elem, number)])
}

/// Whether results that depend on this value are equal in any order of evaluation.
#[must_use]
pub fn is_tame(value: &HostValue) -> bool {
    let mut floats = (0..value.count()).filter_map(|index| value.float(index));
    floats.all(|float| TAME_FLOATS.contains(&float) && (float != 0.0 || float.is_sign_positive()))
}

const TAME_FLOATS: [f64; 7] = [0.0, 1.0, 2.0, -1.0, 0.5, 3.0, -2.0];
const TAME_INTEGERS: [i64; 12] = [0, 1, 2, 3, 1, 2, -1, 4, 5, -3, 7, 17];

fn tame(elem: ElemType) -> Vec<u64> {
    match elem {
        ElemType::Bool => vec![0, 1],
        ElemType::F16 | ElemType::F32 | ElemType::F64 => {
            TAME_FLOATS.map(|number| float_bits(elem, number)).to_vec()
        }
        _ => {
            let is_signed = elem.as_str().starts_with('i');
            let numbers = TAME_INTEGERS.into_iter();
            let numbers = numbers.filter(|number| is_signed || *number >= 0);
            numbers.map(|number| whole_bits(elem, number)).collect()
        }
    }
}

/// The limits of the type, and values near them.
pub fn edges(elem: ElemType) -> Vec<u64> {
    let all = mask(elem);
    let top = (all >> 1) + 1;
    if let Some((infinity, quiet)) = special(elem) {
        let (nan, largest, normal) = (infinity | quiet, infinity - 1, 2 * quiet);
        let one = infinity >> 1 & infinity;
        // Infinity, its negative, quiet NaNs (plain, negative, with a payload), -0, the smallest
        // subnormals, the smallest normal, the largest, and the successor of 1.
        return vec![
            infinity,
            top | infinity,
            nan,
            top | nan,
            nan | 0x15,
            top,
            1,
            top | 1,
            normal - 1,
            normal,
            largest,
            top | largest,
            one + 1,
        ];
    }
    match elem {
        ElemType::Bool => vec![0, 1],
        // The largest unsigned, which is -1; the smallest and the largest signed; neighbours of these; and the
        // largest number whose upper four bits are zero.
        _ => vec![all, top, top - 1, top + 1, all - 1, all >> 4],
    }
}

/// The bits of infinity, and the bit that a quiet NaN has besides; `None` for other types than floats.
fn special(elem: ElemType) -> Option<(u64, u64)> {
    match elem {
        ElemType::F16 => Some((0x7c00, 1 << 9)),
        ElemType::F32 => Some((0x7f80_0000, 1 << 22)),
        ElemType::F64 => Some((0x7ff0_0000_0000_0000, 1 << 51)),
        _ => None,
    }
}

/// The bits, and the quiet one of the same payload instead of a signalling NaN.
fn quiet(elem: ElemType, bits: u64) -> u64 {
    let Some((infinity, quiet_bit)) = special(elem) else {
        return bits;
    };
    let sign = 1 << (8 * elem.size() - 1);
    if bits & !sign > infinity {
        bits | quiet_bit
    } else {
        bits
    }
}

fn float_bits(elem: ElemType, number: f64) -> u64 {
    match elem {
        ElemType::F16 => f16::from_f64(number).to_bits().into(),
        ElemType::F32 => (number as f32).to_bits().into(),
        _ => number.to_bits(),
    }
}

fn whole_bits(elem: ElemType, number: i64) -> u64 {
    match elem {
        ElemType::F16 | ElemType::F32 | ElemType::F64 => float_bits(elem, number as f64),
        ElemType::Bool => u64::from(number != 0),
        _ => number.cast_unsigned() & mask(elem),
    }
}

fn mask(elem: ElemType) -> u64 {
    u64::MAX >> (64 - 8 * elem.size())
}

/// A generator of numbers: the same seed gives the same ones. `salt` separates different uses of a
/// seed.
#[must_use]
pub fn random(seed: u64, salt: &str) -> Random {
    let mix = |state: u64, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    Random::with_seed(salt.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, mix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_include_nans_infinities_and_limits() {
        for elem in [ElemType::F16, ElemType::F32, ElemType::F64] {
            let edges = edges(elem);
            let value = HostValue::of_bits(elem, &[edges.len()], edges.iter().copied());
            let floats: Vec<f64> = (0..edges.len()).filter_map(|i| value.float(i)).collect();
            assert_eq!(floats.iter().filter(|x| x.is_nan()).count(), 3, "{elem}");
            assert_eq!(floats.iter().filter(|x| x.is_infinite()).count(), 2);
            assert!(floats.contains(&0.0) && !is_tame(&value));
        }
        let edges = edges(ElemType::I16);
        let texts: Vec<_> = (0..edges.len())
            .map(|i| HostValue::of_bits(ElemType::I16, &[], [edges[i]]).to_string())
            .collect();
        for text in ["-1i16", "-32768i16", "32767i16"] {
            assert!(texts.iter().any(|t| t == text), "{texts:?}");
        }
    }

    #[test]
    fn generated_nans_are_quiet() {
        use proptest::strategy::ValueTree as _;
        let mut runner = crate::inputs::runner(1, "nans");
        for (elem, infinity, quiet_bit) in [
            (ElemType::F16, 0x7c00, 0x0200),
            (ElemType::F32, 0x7f80_0000, 0x0040_0000),
            (ElemType::F64, 0x7ff0_0000_0000_0000, 0x0008_0000_0000_0000),
        ] {
            let any_nan = [infinity + 1, infinity + quiet_bit / 2, infinity | quiet_bit];
            let drawn = bits(elem, Taste::Wild);
            let drawn = (0..2000).map(|_| drawn.new_tree(&mut runner).unwrap().current());
            let all = drawn
                .chain(edges(elem))
                .chain(any_nan.map(|bits| quiet(elem, bits)));
            let nans: Vec<u64> = all
                .filter(|bits| bits & (infinity | (infinity - 1)) > infinity)
                .collect();
            assert!(
                nans.len() > 6 && nans.iter().all(|bits| bits & quiet_bit != 0),
                "{elem}: {nans:x?}"
            );
        }
    }

    #[test]
    fn sums_of_tame_floats_do_not_depend_on_the_order() {
        let value = fill(7, ElemType::F16, &[500], Taste::Tame);
        assert!(is_tame(&value));
        let numbers: Vec<f16> = (0..500)
            .filter_map(|i| value.float(i))
            .map(f16::from_f64)
            .collect();
        let forward = numbers.iter().fold(f16::ZERO, |a, b| a + b);
        let backward = numbers.iter().rev().fold(f16::ZERO, |a, b| a + b);
        assert_eq!(forward, backward);
    }

    #[test]
    fn whole_numbers_are_encoded_in_every_type() {
        for &elem in ElemType::ALL {
            let text = whole_number(elem, 1).element_text(0);
            assert!(
                ["1", "1.0", "true"].contains(&text.as_str()),
                "{elem}: {text}"
            );
        }
        assert_eq!(whole_number(ElemType::I8, -1).to_string(), "-1i8");
    }

    #[test]
    fn booleans_are_zero_or_one() {
        let mut random = random(1, "");
        for value in [
            any_bits(&mut random, ElemType::Bool, &[100]),
            small(&mut random, ElemType::Bool, &[100]),
        ] {
            assert!(value.bytes().iter().all(|&byte| byte <= 1));
        }
    }

    #[test]
    fn small_values_are_small_in_every_type() {
        let mut random = random(1, "");
        for &elem in ElemType::ALL {
            let array = small(&mut random, elem, &[20]);
            let texts: Vec<_> = (0..20).map(|i| array.element_text(i)).collect();
            let allowed = [
                "0", "1", "2", "3", "0.0", "1.0", "2.0", "3.0", "true", "false",
            ];
            assert!(
                texts.iter().all(|text| allowed.contains(&text.as_str())),
                "{texts:?}"
            );
            assert_ne!(small(&mut random, ElemType::I32, &[]).element_text(0), "0");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed, salt| random(seed, salt).u64(..);
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
    }
}
