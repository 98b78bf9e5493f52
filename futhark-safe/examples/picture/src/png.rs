//! Writes PNG files with 8-bit RGB pixels.

use std::io::{self, Write};

/// Writes a picture of `width` × `height` pixels, each red, green and blue.
pub fn write(mut to: impl Write, width: usize, height: usize, pixels: &[u8]) -> io::Result<()> {
    let too_large = |_| io::Error::new(io::ErrorKind::InvalidInput, "the picture is too large");
    let mut header = Vec::new();
    header.extend(u32::try_from(width).map_err(too_large)?.to_be_bytes());
    header.extend(u32::try_from(height).map_err(too_large)?.to_be_bytes());
    // Eight bits per channel, RGB, compression 0, filter method 0, not interlaced.
    header.extend([8, 2, 0, 0, 0]);

    to.write_all(b"\x89PNG\r\n\x1a\n")?;
    chunk(&mut to, b"IHDR", &header)?;
    let rows = filtered(width, pixels);
    chunk(
        &mut to,
        b"IDAT",
        &miniz_oxide::deflate::compress_to_vec_zlib(&rows, 6),
    )?;
    chunk(&mut to, b"IEND", &[])
}

/// Filters every row by filter 1, the difference to the pixel on the left, which makes smooth
/// pictures smaller.
fn filtered(width: usize, pixels: &[u8]) -> Vec<u8> {
    let mut rows = Vec::with_capacity(pixels.len() + pixels.len() / (3 * width).max(1));
    for row in pixels.chunks_exact((3 * width).max(1)) {
        rows.push(1);
        rows.extend(&row[..3]);
        rows.extend(
            row.iter()
                .zip(&row[3..])
                .map(|(left, here)| here.wrapping_sub(*left)),
        );
    }
    rows
}

/// Writes a chunk: length, name, data, and checksum of name and data.
fn chunk(to: &mut impl Write, name: &[u8; 4], data: &[u8]) -> io::Result<()> {
    let length = u32::try_from(data.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(name)?;
    to.write_all(data)?;
    let sum = crc(crc(u32::MAX, name), data) ^ u32::MAX;
    to.write_all(&sum.to_be_bytes())
}

/// The CRC-32 of PNG, bit by bit: fast enough for one file.
fn crc(mut sum: u32, bytes: &[u8]) -> u32 {
    for &byte in bytes {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_crc32() {
        assert_eq!(crc(u32::MAX, b"123456789") ^ u32::MAX, 0xcbf4_3926);
    }

    #[test]
    fn pixels_round_trip() {
        let pixels: Vec<u8> = (0..5 * 4 * 3).map(|i| (i * i % 251) as u8).collect();
        let mut file = Vec::new();
        write(&mut file, 5, 4, &pixels).unwrap();
        // Signature, then IHDR: 12 bytes around 13, then IDAT.
        let at = 8 + 12 + 13;
        let length = u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(&file[at + 4..at + 8], b"IDAT");
        let rows = miniz_oxide::inflate::decompress_to_vec_zlib(&file[at + 8..][..length]).unwrap();
        let mut back = Vec::new();
        for row in rows.chunks_exact(1 + 5 * 3) {
            assert_eq!(row[0], 1, "the filter");
            for (i, byte) in row[1..].iter().enumerate() {
                let left = if i < 3 { 0 } else { back[back.len() - 3] };
                back.push(byte.wrapping_add(left));
            }
        }
        assert_eq!(back, pixels);
        assert!(file.ends_with(b"IEND\xae\x42\x60\x82"));
    }
}
