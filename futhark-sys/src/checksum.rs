//! The checksum of the stored values and cache files of futhark-safe, whose module `stored` documents it.
//!
//! It detects accidents, not attacks: anyone can compute it.

/// The checksum of several parts and their lengths.
///
/// Each step is a bijection of the state, and different words lead to different states, so a
/// change within one word of eight bytes is always detected.
#[must_use]
pub fn checksum(parts: &[&[u8]]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        let words = part.chunks_exact(8);
        let rest = words.remainder();
        for word in words {
            state = step(state, little_endian(word));
        }
        state = step(state, little_endian(rest));
        state = step(state, part.len() as u64);
    }
    state
}

/// At most eight bytes as a number; panics if there are more.
#[must_use]
pub fn little_endian(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

fn step(state: u64, word: u64) -> u64 {
    // The odd factor carries bits up, the shift carries them down.
    let mixed = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}
