//! File names in the build folder.

use hmac_sha256::Hash;

/// The first 16 hexadecimal digits of a SHA-256 hash over several parts and their lengths.
#[must_use]
pub fn key(parts: &[&[u8]]) -> String {
    let mut hash = Hash::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize()[..8])
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_depend_on_the_boundaries_of_parts() {
        assert_ne!(key(&[b"ab", b"c"]), key(&[b"a", b"bc"]));
        // The names must not change: files of older versions of this program use them.
        assert_eq!(key(&[]), "e3b0c44298fc1c14");
    }
}
