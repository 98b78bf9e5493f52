//! The frame of stored values, as the documentation of `futhark_safe::stored` defines it. This
//! second implementation writes valid frames around damaged bodies.

use crate::harness::steps::{StepResult, Stop};
use std::ops::Range;

const HEAD: usize = 32;
const SUM: Range<usize> = 24..32;

/// The lengths in the header, and the ranges of the parts.
pub(super) struct Frame {
    pub(super) program: Range<usize>,
    pub(super) type_name: Range<usize>,
    pub(super) body: Range<usize>,
}

impl Frame {
    /// Finds the parts of a stored value.
    pub(super) fn of(bytes: &[u8]) -> StepResult<Frame> {
        let number = |range: Range<usize>| {
            let bytes = bytes.get(range)?;
            let mut all = [0; 8];
            all[..bytes.len()].copy_from_slice(bytes);
            usize::try_from(u64::from_le_bytes(all)).ok()
        };
        let lengths = (|| Some((number(10..12)?, number(12..16)?, number(16..24)?)))();
        let frame = lengths.map(|(program, name, body)| Frame {
            program: HEAD..HEAD + program,
            type_name: HEAD + program..HEAD + program + name,
            body: HEAD + program + name..HEAD + program + name + body,
        });
        frame
            .filter(|frame| frame.body.end == bytes.len())
            .ok_or_else(|| Stop::mismatch("the frame does not have the documented format"))
    }
}

/// Replaces the body of a frame.
pub(super) fn with_body(good: &[u8], frame: &Frame, body: &[u8]) -> Vec<u8> {
    let mut bytes = good[..frame.body.start].to_vec();
    bytes[16..24].copy_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(body);
    seal(&mut bytes);
    bytes
}

/// Writes the correct checksum.
pub(super) fn seal(bytes: &mut [u8]) {
    let sum = [&bytes[..SUM.start], &bytes[SUM.end..]]
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, add);
    bytes[SUM].copy_from_slice(&sum.to_le_bytes());
}

fn add(sum: u64, part: &[u8]) -> u64 {
    let step = |sum: u64, word: u64| {
        let mixed = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    };
    let (words, rest) = part.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words
        .iter()
        .chain([&last])
        .map(|word| u64::from_le_bytes(*word));
    words.chain([part.len() as u64]).fold(sum, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example frame of the documentation of futhark-safe, with its checksum.
    fn documented() -> Vec<u8> {
        let mut bytes =
            b"\x89FUT\r\n\x1a\n\x01\x00\x20\x00\x04\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x00"
                .to_vec();
        bytes.extend(0xac5a_b6af_13b1_15a2_u64.to_le_bytes());
        bytes.extend(b"0123456789abcdef0123456789abcdef[]ptb\x02\x00 i32\x07\x00\x00\x00");
        bytes
    }

    #[test]
    fn the_checksum_is_the_documented_one() {
        let good = documented();
        let mut again = good.clone();
        again[SUM].fill(0);
        seal(&mut again);
        assert!(again == good);
        let frame = Frame::of(&good).unwrap();
        assert_eq!(&good[frame.type_name.clone()], b"[]pt");
        assert!(with_body(&good, &frame, &good[frame.body.clone()]) == good);
        assert!(Frame::of(&good[..70]).is_err());
        assert!(futhark_safe::Untrusted::from_bytes(&again).is_ok());
    }
}
