//! Random numbers from a seed.

/// A generator: the same seed gives the same numbers.
///
/// The algorithm is SplitMix64, which is short and accepts every seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator; `salt` separates different uses of a seed.
    #[must_use]
    pub fn new(seed: u64, salt: &str) -> Random {
        let mix = |state: u64, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Random(salt.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, mix))
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of several numbers.
    pub fn pick(&mut self, from: &[u64]) -> u64 {
        let place = self.below(from.len() as u64);
        from[usize::try_from(place).unwrap_or(0)]
    }

    /// A number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed, salt| Random::new(seed, salt).next();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
    }
}
