//! SHA-256 of cache keys and recorded files. The build script uses this module, too.

/// A hash of several parts. Each part is hashed with its length.
#[derive(Clone)]
pub(crate) struct Hash(hmac_sha256::Hash);

impl Hash {
    pub(crate) fn new() -> Hash {
        Hash(hmac_sha256::Hash::new())
    }

    #[must_use]
    pub(crate) fn with(mut self, part: impl AsRef<[u8]>) -> Hash {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// 64 hexadecimal digits.
    pub(crate) fn hex(self) -> String {
        let digits = self.0.finalize();
        digits.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_with_other_boundaries_have_another_hash() {
        let one = Hash::new().with("ab").with("c").hex();
        let other = Hash::new().with("a").with("bc").hex();
        assert_ne!(one, other);
        assert_eq!(one.len(), 64);
    }
}
