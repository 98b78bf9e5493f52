//! The binary data format, in which Futhark programs store scalars, arrays, and the components of
//! opaque values: the letter `b`, the version 2 of the format, the rank, four letters for the element
//! type, the size of each dimension as a 64-bit integer, and the elements in row-major order; all
//! numbers are little-endian.

use super::{HostValue, TextError, found};
use futhark_manifest::ElemType;
use std::ops::Range;

const VERSION: u8 = 2;

/// Encodes a value.
#[must_use]
pub fn write(value: &HostValue) -> Vec<u8> {
    let rank = u8::try_from(value.shape().len()).unwrap_or(u8::MAX);
    let mut bytes = vec![b'b', VERSION, rank];
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

impl Component {
    /// Finds the value that starts at an offset.
    ///
    /// # Errors
    /// At the first byte that does not follow the format, or where bytes are missing.
    pub fn at(bytes: &[u8], start: usize) -> Result<Component, TextError> {
        let error = |at: usize, message: String| TextError { at, message };
        let take = |at: usize, count: usize, what: &str| {
            let left = bytes.len() - at;
            match count <= left {
                true => Ok(at..at + count),
                false => Err(error(
                    at,
                    format!("truncated: expected {count} bytes for {what}, found {left}"),
                )),
            }
        };
        let head = take(start, 7, "the head of a binary value")?;
        let at = head.end;
        let [b'b', version, rank, ref name @ ..] = bytes[head.clone()] else {
            return Err(error(start, "expected a binary value".to_owned()));
        };
        if version != VERSION {
            let message = format!("expected version {VERSION} of the format, found {version}");
            return Err(error(at, message));
        }
        let name = String::from_utf8_lossy(name);
        let elem = ElemType::from_name(name.trim_start())
            .ok_or_else(|| error(at, format!("unknown element type {name:?}")))?;
        let dims = take(at, usize::from(rank) * 8, "the sizes of the dimensions")?;
        let (extents, _) = bytes[dims.clone()].as_chunks::<8>();
        let extents = extents.iter().map(|extent| {
            let extent = i64::from_le_bytes(*extent);
            let wrong = |_| error(dims.end, format!("a dimension has the size {extent}"));
            usize::try_from(extent).map_err(wrong)
        });
        let shape = extents.collect::<Result<Vec<usize>, TextError>>()?;
        let size = HostValue::size(elem, &shape).ok_or_else(|| {
            let shape = found(&format!("{shape:?}"));
            error(dims.end, format!("an array of shape {shape} is too large"))
        })?;
        let data = take(dims.end, size, "the elements")?;
        Ok(Component {
            head,
            dims,
            data,
            elem,
            shape,
        })
    }
}

/// Finds all values in the bytes. `None` if the bytes are not a sequence of complete values.
#[must_use]
pub fn components(bytes: &[u8]) -> Option<Vec<Component>> {
    let mut components = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let component = Component::at(bytes, at).ok()?;
        at = component.data.end;
        components.push(component);
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
    use super::*;
    use crate::inputs::{Taste, fill};

    #[test]
    fn values_round_trip() {
        let shapes: [&[usize]; 4] = [&[], &[3], &[2, 5], &[4, 0]];
        let mut values: Vec<HostValue> = ElemType::ALL
            .iter()
            .flat_map(|&elem| shapes.map(|shape| fill(1, elem, shape, Taste::Wild)))
            .collect();
        let signalling_nans = [0x7c01, 0xfdff];
        values.push(HostValue::of_bits(ElemType::F16, &[2], signalling_nans));
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
