//! The frame around the bytes of a stored value in files and messages, as defined in
//! [`crate::stored`].

use super::fail;
use crate::error::{Error, ErrorKind, Result, counted};
use futhark_sys::checksum::{checksum, little_endian};

const MAGIC: [u8; 8] = *b"\x89FUT\r\n\x1a\n";
const VERSION: u8 = 1;
const HEAD: usize = 32;
/// The position of the checksum.
const SUM: std::ops::Range<usize> = 24..32;

/// A stored value with a consistent frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) program: &'a str,
    pub(super) type_name: &'a str,
    pub(super) body: &'a [u8],
}

impl<'a> Frame<'a> {
    pub(super) fn write(&self) -> Result<Vec<u8>> {
        let size = HEAD + self.program.len() + self.type_name.len() + self.body.len();
        let too_long = || fail("the name of the program or type is too long for the frame");
        let program = u16::try_from(self.program.len()).map_err(|_| too_long())?;
        let name = u32::try_from(self.type_name.len()).map_err(|_| too_long())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|error| {
            let message = format!("cannot allocate {}", counted(size, "byte"));
            Error::new(ErrorKind::OutOfMemory, "store", message).with_source(error)
        })?;
        bytes.extend(MAGIC);
        bytes.extend([VERSION, u8::from(cfg!(target_endian = "big"))]);
        bytes.extend(program.to_le_bytes());
        bytes.extend(name.to_le_bytes());
        bytes.extend((self.body.len() as u64).to_le_bytes());
        bytes.extend([0; SUM.end - SUM.start]);
        bytes.extend(self.program.as_bytes());
        bytes.extend(self.type_name.as_bytes());
        bytes.extend(self.body);
        let sum = checksum(&[&bytes[..SUM.start], &bytes[SUM.end..]]);
        bytes[SUM].copy_from_slice(&sum.to_le_bytes());
        Ok(bytes)
    }

    /// Parses and validates the output of [`write`](Self::write).
    pub(super) fn read(bytes: &'a [u8]) -> Result<Frame<'a>> {
        let Some((head, rest)) = bytes.split_at_checked(HEAD) else {
            return Err(fail(format!(
                "not a stored value: expected more than {HEAD} bytes, got {}",
                bytes.len()
            )));
        };
        if head[..8] != MAGIC {
            return Err(fail("not a stored value: the magic number is missing"));
        }
        if head[8] != VERSION {
            return Err(fail(format!(
                "expected frame version {VERSION}, got {}",
                head[8]
            )));
        }
        let lengths = [
            little_endian(&head[10..12]),
            little_endian(&head[12..16]),
            little_endian(&head[16..24]),
        ];
        let wanted = lengths.iter().try_fold(0u64, |sum, &n| sum.checked_add(n));
        if wanted != Some(rest.len() as u64) {
            return Err(fail(format!(
                "truncated or too long: expected {} after the header, got {}",
                wanted.map_or_else(|| "2^64 or more bytes".into(), |n| counted(n, "byte")),
                rest.len()
            )));
        }
        if checksum(&[&head[..SUM.start], rest]) != little_endian(&head[SUM]) {
            return Err(fail("the checksum does not match: the bytes were changed"));
        }
        if head[9] != u8::from(cfg!(target_endian = "big")) {
            return Err(fail("the value was stored with another byte order"));
        }
        // Their sum is the length of `rest`.
        let (program, rest) = rest.split_at(lengths[0] as usize);
        let (type_name, body) = rest.split_at(lengths[1] as usize);
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| fail("a name is not UTF-8"));
        Ok(Frame {
            program: text(program)?,
            type_name: text(type_name)?,
            body,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame<'_> = Frame {
        program: "0123456789abcdef0123456789abcdef",
        type_name: "[]pt",
        body: b"b\x02\x00 i32\x07\x00\x00\x00",
    };

    #[test]
    fn a_frame_is_read_as_written() {
        let bytes = FRAME.write().unwrap();
        assert_eq!(bytes.len(), 64 + 4 + 11);
        assert!(Frame::read(&bytes).unwrap() == FRAME);
        let empty = Frame {
            program: "",
            type_name: "",
            body: &[],
        };
        assert!(Frame::read(&empty.write().unwrap()).unwrap() == empty);
    }

    /// Compares with the documented table byte by byte. Only a new version may change this test.
    #[test]
    #[cfg(target_endian = "little")]
    fn the_frame_is_as_documented() {
        let bytes = FRAME.write().unwrap();
        assert_eq!(
            bytes[..24],
            *b"\x89FUT\r\n\x1a\n\x01\x00\x20\x00\x04\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x00"
        );
        // Computed from the documentation by another implementation.
        assert_eq!(little_endian(&bytes[SUM]), 0xac5a_b6af_13b1_15a2);
        assert_eq!(&bytes[32..64], FRAME.program.as_bytes());
        assert_eq!(&bytes[64..68], b"[]pt");
        assert_eq!(&bytes[68..], FRAME.body);
    }

    #[test]
    fn every_changed_byte_is_rejected() {
        let good = FRAME.write().unwrap();
        for i in 0..good.len() {
            for change in 1..=255 {
                let mut bad = good.clone();
                bad[i] ^= change;
                let error = Frame::read(&bad).err().unwrap();
                assert_eq!(error.kind(), ErrorKind::Restore, "byte {i}: {error}");
            }
        }
    }

    #[test]
    fn truncated_extended_and_zeroed_frames_are_rejected() {
        let good = FRAME.write().unwrap();
        for n in 0..good.len() {
            assert!(Frame::read(&good[..n]).is_err(), "{n} bytes");
            let mut zeroed = good.clone();
            zeroed[n..].fill(0);
            assert!(
                zeroed == good || Frame::read(&zeroed).is_err(),
                "zeros from {n} on"
            );
        }
        let longer = [&good[..], &[0]].concat();
        assert!(Frame::read(&longer).is_err());
        assert!(Frame::read(&[0; 200]).is_err());
    }

    /// A plain sum or product misses two flips of one bit in two words.
    #[test]
    fn pairs_of_bit_flips_are_rejected() {
        let body: Vec<u8> = (0..64).collect();
        let good = Frame {
            body: &body,
            ..FRAME
        }
        .write()
        .unwrap();
        let bits = good.len() * 8;
        let flip = |bytes: &mut [u8], bit: usize| bytes[bit / 8] ^= 1 << (bit % 8);
        for one in 0..bits {
            for other in one + 1..bits {
                let mut bad = good.clone();
                flip(&mut bad, one);
                flip(&mut bad, other);
                assert!(Frame::read(&bad).is_err(), "bits {one} and {other}");
            }
        }
    }
}
