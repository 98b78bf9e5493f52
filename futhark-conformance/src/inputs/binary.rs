//! The binary data format, in which Futhark programs store scalars, arrays, and the components of
//! opaque values.

use crate::values::HostValue;
use futhark_manifest::ElemType;
use std::ops::Range;

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

/// The byte ranges of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// `b`, the version, the rank, the element type.
    pub head: Range<usize>,
    /// Eight bytes for each dimension.
    pub dims: Range<usize>,
    /// The elements.
    pub data: Range<usize>,
    /// The element type.
    pub elem: ElemType,
    /// The extents.
    pub shape: Vec<usize>,
}

/// Finds all values in the bytes. `None` if the bytes are not a sequence of complete values.
#[must_use]
pub fn components(bytes: &[u8]) -> Option<Vec<Component>> {
    const HEAD: usize = 7;
    let mut components = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let [b'b', 2, rank, name @ ..] = bytes.get(at..at + HEAD)? else {
            return None;
        };
        let elem = ElemType::from_name(std::str::from_utf8(name).ok()?.trim_start())?;
        let dims = at + HEAD..at + HEAD + 8 * usize::from(*rank);
        let (extents, _) = bytes.get(dims.clone())?.as_chunks::<8>();
        let extents = extents
            .iter()
            .map(|extent| usize::try_from(i64::from_le_bytes(*extent)).ok());
        let shape: Vec<usize> = extents.collect::<Option<_>>()?;
        let count = shape.iter().try_fold(1usize, |a, &b| a.checked_mul(b))?;
        let data = dims.end..dims.end.checked_add(count.checked_mul(elem.size())?)?;
        bytes.get(data.clone())?;
        let head = at..at + HEAD;
        at = data.end;
        components.push(Component {
            head,
            dims,
            data,
            elem,
            shape,
        });
    }
    Some(components)
}

/// Decodes all values in the bytes. `None` if the bytes are not a sequence of complete values.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<Vec<HostValue>> {
    let components = components(bytes)?.into_iter();
    let values = components.map(
        |Component {
             elem, shape, data, ..
         }| { HostValue::new(elem, shape, bytes[data].to_vec()) },
    );
    Some(values.collect())
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

    #[test]
    fn components_are_found_one_after_another() {
        let mut body = b"b\x02\x00 i32\x07\x00\x00\x00b\x02\x01bool".to_vec();
        body.extend(3i64.to_le_bytes());
        body.extend([0, 1, 1]);
        let found = components(&body).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].data.clone(), found[0].elem),
            (7..11, ElemType::I32)
        );
        assert_eq!(
            (found[1].dims.clone(), found[1].data.clone()),
            (18..26, 26..29)
        );
        assert!(components(&body[..28]).is_none());
        assert!(components(&body[1..]).is_none());
        assert!(components(&[]).unwrap().is_empty());
    }
}
