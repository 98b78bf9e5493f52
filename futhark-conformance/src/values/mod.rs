//! Values on the host: parsed from test blocks, copied to arrays, compared with results.

pub mod data;
mod text;

pub(crate) use text::Cursor;
pub use text::{Generator, TextError, found, parse, parse_generators, parse_input};

#[cfg(target_endian = "big")]
compile_error!("futhark-conformance needs a little-endian processor");

use futhark_manifest::ElemType;
use half::f16;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A scalar or an array in host memory.
///
/// A scalar has an empty shape. The bytes are the elements in row-major order and little-endian
/// byte order, as in the C API.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
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

    /// Creates a value from the bits of its elements, of which those above its width are ignored.
    ///
    /// # Panics
    /// As [`HostValue::new`].
    #[must_use]
    pub fn of_bits(
        elem: ElemType,
        shape: &[usize],
        elements: impl IntoIterator<Item = u64>,
    ) -> HostValue {
        let mut bytes = Vec::new();
        for bits in elements {
            bytes.extend(&bits.to_le_bytes()[..elem.size()]);
        }
        HostValue::new(elem, shape.to_vec(), bytes)
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

    /// The elements in row-major order and little-endian byte order.
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

    /// The bits of an element as a number.
    #[must_use]
    pub fn bits(&self, index: usize) -> u64 {
        let mut bits = [0; 8];
        bits[..self.elem.size()].copy_from_slice(self.element(index));
        u64::from_le_bytes(bits)
    }

    /// The bits of an element as a hexadecimal number with all digits of its type.
    #[must_use]
    pub fn hex(&self, index: usize) -> String {
        format!(
            "0x{:0width$x}",
            self.bits(index),
            width = 2 * self.elem.size()
        )
    }

    /// The element as a float, if the element type is one.
    #[must_use]
    pub fn float(&self, index: usize) -> Option<f64> {
        let bits = self.bits(index);
        match self.elem {
            ElemType::F16 => Some(f16::from_bits(bits as u16).to_f64()),
            ElemType::F32 => Some(f32::from_bits(bits as u32).into()),
            ElemType::F64 => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// The element as a whole number, signed or not; a boolean is 0 or 1.
    #[must_use]
    pub fn whole(&self, index: usize) -> i128 {
        let bits = self.bits(index);
        if !self.elem.as_str().starts_with('i') {
            return bits.into();
        }
        let unused = 64 - 8 * self.elem.size();
        ((bits << unused).cast_signed() >> unused).into()
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
        let elem = self.elem;
        match self.float(index) {
            Some(x) if x.is_nan() => format!("{elem}.nan"),
            Some(x) if x.is_infinite() => {
                let sign = if x < 0.0 { "-" } else { "" };
                format!("{sign}{elem}.inf")
            }
            // The shortest text that parses to the same value depends on the width.
            Some(x) if elem == ElemType::F32 => format!("{:?}", x as f32),
            Some(x) => format!("{x:?}"),
            None if elem == ElemType::Bool => (self.bits(index) != 0).to_string(),
            None => self.whole(index).to_string(),
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
        // The elements in each row of each dimension.
        let dims = 0..self.shape.len();
        let rows: Vec<usize> = dims.map(|dim| self.shape[dim..].iter().product()).collect();
        let at_end_of_rows = |index: usize| {
            let whole = rows.iter().filter(|row| index.is_multiple_of(**row));
            whole.count()
        };
        let is_mixed = (0..self.count().min(SHOWN)).any(|index| self.suffix(index).is_empty());
        for index in 0..self.count().min(SHOWN) {
            let separator = if index > 0 { ", " } else { "" };
            // The first element's suffix is the type of the array; also that of a row in which `f32.nan` can follow.
            let is_first = index == 0 || is_mixed && at_end_of_rows(index) > 0;
            let suffix = if is_first { self.suffix(index) } else { "" };
            let brackets = "[".repeat(at_end_of_rows(index));
            let element = self.element_text(index);
            let closing = "]".repeat(at_end_of_rows(index + 1));
            write!(f, "{separator}{brackets}{element}{suffix}{closing}")?;
        }
        match self.count() > SHOWN {
            true => write!(f, ", ...{}", "]".repeat(rows.len() - at_end_of_rows(SHOWN))),
            false => Ok(()),
        }
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
}

/// The form of a scalar or an array in a file. Elements are bits, because text cannot represent every
/// NaN; `shown` is for people.
#[derive(Serialize, Deserialize)]
struct Form {
    value: String,
    shape: Vec<usize>,
    bits: Vec<String>,
    shown: String,
}

impl From<HostValue> for Form {
    fn from(value: HostValue) -> Form {
        Form {
            value: value.elem.to_string(),
            shape: value.shape.clone(),
            bits: (0..value.count()).map(|index| value.hex(index)).collect(),
            shown: value.to_string(),
        }
    }
}

impl TryFrom<Form> for HostValue {
    type Error = &'static str;

    fn try_from(form: Form) -> Result<HostValue, &'static str> {
        let elem = ElemType::from_name(&form.value).ok_or("a value has no type")?;
        let bits = form.bits.iter();
        let bits = bits.map(|bits| u64::from_str_radix(bits.trim_start_matches("0x"), 16).ok());
        let bits = bits
            .collect::<Option<Vec<u64>>>()
            .ok_or("an element is not a number")?;
        let size = HostValue::size(elem, &form.shape);
        if size != Some(bits.len() * elem.size())
            || elem == ElemType::Bool && bits.iter().any(|&b| b > 1)
        {
            return Err("the elements do not fit the type");
        }
        Ok(HostValue::of_bits(elem, &form.shape, bits))
    }
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
    fn rows_that_begin_with_a_number_and_have_other_floats_can_be_read() {
        let floats = [[f32::NAN, 0.0], [1.75, f32::INFINITY]].map(|row| row.map(f32::to_ne_bytes));
        let value = HostValue::new(ElemType::F32, vec![2, 2], floats.concat().concat());
        let text = value.to_string();
        assert_eq!(text, "[[f32.nan, 0.0], [1.75f32, f32.inf]]");
        assert_eq!(parse(&text).unwrap(), [value]);
    }

    #[test]
    #[should_panic(expected = "does not have 3 bytes")]
    fn bytes_and_shape_must_agree() {
        let _ = HostValue::new(ElemType::I32, vec![1], vec![0; 3]);
    }
}
