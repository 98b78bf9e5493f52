//! The binary data format, in which Futhark programs store scalars, arrays, and the components of
//! opaque values.

use crate::values::HostValue;
use futhark_manifest::ElemType;

/// Encodes a value.
#[must_use]
pub fn write(value: &HostValue) -> Vec<u8> {
    let rank = u8::try_from(value.shape().len()).unwrap_or(u8::MAX);
    let mut bytes = vec![b'b', 2, rank];
    bytes.extend(format!("{:>4}", value.elem().as_str()).bytes());
    for &extent in value.shape() {
        let extent = i64::try_from(extent).unwrap_or(i64::MAX);
        bytes.extend(extent.to_le_bytes());
    }
    bytes.extend(value.bytes());
    bytes
}

/// Decodes all values in the bytes. `None` if the bytes are not a sequence of complete values.
#[must_use]
pub fn read(mut bytes: &[u8]) -> Option<Vec<HostValue>> {
    let mut values = Vec::new();
    while !bytes.is_empty() {
        let (head, rest) = bytes.split_first_chunk::<7>()?;
        let [b'b', 2, rank, name @ ..] = head else {
            return None;
        };
        let elem = ElemType::from_name(std::str::from_utf8(name).ok()?.trim_start())?;
        let mut shape = Vec::new();
        bytes = rest;
        for _ in 0..*rank {
            let (extent, rest) = bytes.split_first_chunk::<8>()?;
            shape.push(usize::try_from(i64::from_le_bytes(*extent)).ok()?);
            bytes = rest;
        }
        let count = shape.iter().try_fold(1usize, |a, &b| a.checked_mul(b))?;
        let (data, rest) = bytes.split_at_checked(count.checked_mul(elem.size())?)?;
        bytes = rest;
        values.push(HostValue::new(elem, shape, data.to_vec()));
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::super::elements::{Taste, fill, host};
    use super::*;

    #[test]
    fn values_round_trip() {
        let shapes: [&[usize]; 4] = [&[], &[3], &[2, 5], &[4, 0]];
        let mut values: Vec<HostValue> = ElemType::ALL
            .iter()
            .flat_map(|&elem| shapes.map(|shape| fill(1, elem, shape, Taste::Wild)))
            .collect();
        let signalling_nans = [0x7c01, 0xfdff];
        values.push(host(ElemType::F16, &[2], &signalling_nans));
        let bytes: Vec<u8> = values.iter().flat_map(write).collect();
        assert_eq!(read(&bytes), Some(values));
        assert_eq!(read(&bytes[..bytes.len() - 1]), None);
        assert_eq!(read(&bytes[1..]), None);
        assert_eq!(read(&[]), Some(vec![]));
    }

    #[test]
    fn the_format_is_that_of_futhark_programs() {
        let value = fill(1, ElemType::I8, &[1], Taste::Tame);
        let bytes = write(&value);
        assert_eq!(&bytes[..15], b"b\x02\x01  i8\x01\0\0\0\0\0\0\0");
        assert_eq!(bytes.len(), 16);
    }
}
