//! Values on the host: parsed from test blocks, copied to arrays, compared with results.

pub mod data;
mod escape;
mod generate;
mod number;
mod text;

pub use generate::{Generator, parse_generators};
pub use text::{Span, TextError, TextValue, found, parse, parse_input, parse_one};

use futhark_manifest::ElemType;
use half::f16;
use std::fmt;

/// A scalar or an array in host memory.
///
/// A scalar has an empty shape. The bytes are the elements in row-major order and native byte
/// order, as in the C API.
#[derive(Clone, PartialEq, Eq)]
pub struct HostValue {
    elem: ElemType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl HostValue {
    /// Creates a value.
    ///
    /// # Panics
    /// If the number of bytes does not fit the shape: the caller computes both from the same
    /// source.
    #[must_use]
    pub fn new(elem: ElemType, shape: Vec<usize>, bytes: Vec<u8>) -> HostValue {
        assert_eq!(
            Some(bytes.len()),
            HostValue::size(elem, &shape),
            "{elem} of shape {shape:?} does not have {} bytes",
            bytes.len()
        );
        HostValue { elem, shape, bytes }
    }

    /// The size of the elements in bytes; `None` on overflow.
    #[must_use]
    pub fn size(elem: ElemType, shape: &[usize]) -> Option<usize> {
        // If a dimension is zero, the others may have any size.
        if shape.contains(&0) {
            return Some(0);
        }
        let mut dims = shape.iter();
        dims.try_fold(elem.size(), |size, dim| size.checked_mul(*dim))
    }

    /// The element type.
    #[must_use]
    pub fn elem(&self) -> ElemType {
        self.elem
    }

    /// The extent of each dimension, outermost first; empty for a scalar.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements in row-major order and native byte order.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of elements; 1 for a scalar.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bytes.len() / self.elem.size()
    }

    /// The bytes of the element at a row-major position.
    #[must_use]
    pub fn element(&self, index: usize) -> &[u8] {
        let size = self.elem.size();
        &self.bytes[index * size..(index + 1) * size]
    }

    /// The bits of the element at a row-major position as a hexadecimal number.
    #[must_use]
    pub fn hex(&self, index: usize) -> String {
        let mut bytes = self.element(index).to_vec();
        if cfg!(target_endian = "little") {
            bytes.reverse();
        }
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        format!("0x{}", digits.collect::<String>())
    }

    /// The element as a float, if the element type is one.
    #[must_use]
    pub fn float(&self, index: usize) -> Option<f64> {
        let bytes = self.element(index);
        match self.elem {
            ElemType::F16 => Some(f16::from_ne_bytes(fixed(bytes)).to_f64()),
            ElemType::F32 => Some(f64::from(f32::from_ne_bytes(fixed(bytes)))),
            ElemType::F64 => Some(f64::from_ne_bytes(fixed(bytes))),
            _ => None,
        }
    }

    /// The element as an integer, if the element type is signed.
    #[must_use]
    pub fn integer(&self, index: usize) -> Option<i64> {
        let bytes = self.element(index);
        match self.elem {
            ElemType::I8 => Some(i8::from_ne_bytes(fixed(bytes)).into()),
            ElemType::I16 => Some(i16::from_ne_bytes(fixed(bytes)).into()),
            ElemType::I32 => Some(i32::from_ne_bytes(fixed(bytes)).into()),
            ElemType::I64 => Some(i64::from_ne_bytes(fixed(bytes))),
            _ => None,
        }
    }

    /// The type in Futhark's notation, with sizes: `[2][3]f32`.
    #[must_use]
    pub fn type_text(&self) -> String {
        let dims: String = self.shape.iter().map(|dim| format!("[{dim}]")).collect();
        format!("{dims}{}", self.elem)
    }

    /// An element in Futhark's notation, without a suffix.
    #[must_use]
    pub fn element_text(&self, index: usize) -> String {
        let bytes = self.element(index);
        match self.elem {
            ElemType::I8 => i8::from_ne_bytes(fixed(bytes)).to_string(),
            ElemType::I16 => i16::from_ne_bytes(fixed(bytes)).to_string(),
            ElemType::I32 => i32::from_ne_bytes(fixed(bytes)).to_string(),
            ElemType::I64 => i64::from_ne_bytes(fixed(bytes)).to_string(),
            ElemType::U8 => u8::from_ne_bytes(fixed(bytes)).to_string(),
            ElemType::U16 => u16::from_ne_bytes(fixed(bytes)).to_string(),
            ElemType::U32 => u32::from_ne_bytes(fixed(bytes)).to_string(),
            ElemType::U64 => u64::from_ne_bytes(fixed(bytes)).to_string(),
            ElemType::F16 | ElemType::F32 | ElemType::F64 => self
                .float(index)
                .map_or_else(String::new, |x| self.float_text(x)),
            ElemType::Bool => (bytes[0] != 0).to_string(),
        }
    }

    fn float_text(&self, x: f64) -> String {
        let elem = self.elem;
        if x.is_nan() {
            format!("{elem}.nan")
        } else if x.is_infinite() {
            format!("{}{elem}.inf", if x < 0.0 { "-" } else { "" })
        } else {
            match elem {
                // The shortest text that parses to the same value depends on the width.
                #[expect(clippy::cast_possible_truncation, reason = "x was an f32")]
                ElemType::F32 => format!("{:?}", x as f32),
                _ => format!("{x:?}"),
            }
        }
    }
}

/// Formats the type and, of long arrays, only the first elements.
impl fmt::Display for HostValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        if self.shape.is_empty() {
            return write!(f, "{}{}", self.element_text(0), self.suffix(0));
        }
        if self.count() == 0 {
            return write!(f, "empty({})", self.type_text());
        }
        if self.count() > SHOWN {
            write!(f, "{} ", self.type_text())?;
        }
        self.write_rows(f, 0, 0, &mut 0, SHOWN)
    }
}

impl fmt::Debug for HostValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl HostValue {
    /// The suffix that an element needs for its type.
    fn suffix(&self, index: usize) -> &'static str {
        let special = self.float(index).is_some_and(|x| !x.is_finite());
        if special || self.elem == ElemType::Bool {
            ""
        } else {
            self.elem.as_str()
        }
    }

    fn write_rows(
        &self,
        f: &mut fmt::Formatter<'_>,
        dim: usize,
        first: usize,
        written: &mut usize,
        limit: usize,
    ) -> fmt::Result {
        let stride: usize = self.shape[dim + 1..].iter().product();
        f.write_str("[")?;
        for row in 0..self.shape[dim] {
            if row > 0 {
                f.write_str(", ")?;
            }
            if *written >= limit {
                f.write_str("...")?;
                break;
            }
            let start = first + row * stride;
            if dim + 1 == self.shape.len() {
                // The first element's suffix is the type of the array.
                let suffix = if *written == 0 {
                    self.suffix(start)
                } else {
                    ""
                };
                write!(f, "{}{suffix}", self.element_text(start))?;
                *written += 1;
            } else {
                self.write_rows(f, dim + 1, start, written, limit)?;
            }
        }
        f.write_str("]")
    }
}

/// The bytes of one element as an array. Callers pass exactly one element.
fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(shape: &[usize], elems: &[i32]) -> HostValue {
        let bytes = elems.iter().flat_map(|x| x.to_ne_bytes()).collect();
        HostValue::new(ElemType::I32, shape.to_vec(), bytes)
    }

    #[test]
    fn values_are_displayed_in_futhark_notation() {
        assert_eq!(ints(&[], &[-4]).to_string(), "-4i32");
        assert_eq!(
            ints(&[2, 2], &[1, 2, 3, 4]).to_string(),
            "[[1i32, 2], [3, 4]]"
        );
        assert_eq!(ints(&[0, 3], &[]).to_string(), "empty([0][3]i32)");
        let long: Vec<i32> = (0..100).collect();
        let text = ints(&[100], &long).to_string();
        assert!(text.starts_with("[100]i32 [0i32, 1, 2,"), "{text}");
        assert!(text.ends_with("15, ...]"), "{text}");
    }

    #[test]
    fn floats_are_displayed_with_the_precision_of_their_type() {
        let x = HostValue::new(ElemType::F32, vec![], 0.1f32.to_ne_bytes().to_vec());
        assert_eq!(x.to_string(), "0.1f32");
        let inf = f32::NEG_INFINITY.to_ne_bytes().to_vec();
        let x = HostValue::new(ElemType::F32, vec![], inf);
        assert_eq!(x.to_string(), "-f32.inf");
        let nan = f16::NAN.to_ne_bytes().to_vec();
        assert_eq!(
            HostValue::new(ElemType::F16, vec![], nan).to_string(),
            "f16.nan"
        );
    }

    #[test]
    #[should_panic(expected = "does not have 3 bytes")]
    fn bytes_and_shape_must_agree() {
        let _ = HostValue::new(ElemType::I32, vec![1], vec![0; 3]);
    }
}
