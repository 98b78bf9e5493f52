//! FNV-1a: short, portable, and sufficient to distinguish names. All users handle collisions.

/// The 64-bit FNV-1a hash.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Folds a hash into 32 bits by the exclusive or of its halves, as its authors advise.
pub(crate) fn folded(hash: u64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "truncation is intended")]
    let low = hash as u32;
    (hash >> 32) as u32 ^ low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_equal_the_published_values() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(folded(fnv1a(b"foobar")), 0x8594_4171 ^ 0xf739_67e8);
    }
}
