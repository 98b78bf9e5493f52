//! Names for build results: not against attackers, only against accidents.

/// A 128-bit FNV-1a hash as 32 hexadecimal digits.
pub(super) struct Hash(u128);

impl Hash {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;

    pub(super) fn new() -> Hash {
        Hash(0x6C62_272E_07BB_0142_62B8_2175_6295_C58D)
    }

    /// Adds one part. Parts are kept apart by their length.
    #[must_use]
    pub(super) fn with(mut self, part: &[u8]) -> Hash {
        for &byte in (part.len() as u64).to_le_bytes().iter().chain(part) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(Self::PRIME);
        }
        self
    }

    pub(super) fn hex(&self) -> String {
        format!("{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Hash;

    #[test]
    fn parts_are_kept_apart() {
        let one = Hash::new().with(b"ab").with(b"c").hex();
        let other = Hash::new().with(b"a").with(b"bc").hex();
        assert_ne!(one, other);
        assert_eq!(one.len(), 32);
    }
}
