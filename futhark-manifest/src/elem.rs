//! The scalar types.

use std::fmt;

/// A scalar type: passed by value, and the element type of primitive arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElemType {
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// IEEE binary16; C passes its bits in a `uint16_t`.
    F16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// A boolean of one byte.
    Bool,
}

impl ElemType {
    /// Every scalar type, in the order of declaration.
    pub const ALL: &'static [ElemType] = &[
        ElemType::I8,
        ElemType::I16,
        ElemType::I32,
        ElemType::I64,
        ElemType::U8,
        ElemType::U16,
        ElemType::U32,
        ElemType::U64,
        ElemType::F16,
        ElemType::F32,
        ElemType::F64,
        ElemType::Bool,
    ];

    /// The name in Futhark and in manifests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ElemType::I8 => "i8",
            ElemType::I16 => "i16",
            ElemType::I32 => "i32",
            ElemType::I64 => "i64",
            ElemType::U8 => "u8",
            ElemType::U16 => "u16",
            ElemType::U32 => "u32",
            ElemType::U64 => "u64",
            ElemType::F16 => "f16",
            ElemType::F32 => "f32",
            ElemType::F64 => "f64",
            ElemType::Bool => "bool",
        }
    }

    /// The scalar type with a Futhark name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ElemType> {
        ElemType::ALL
            .iter()
            .copied()
            .find(|elem| elem.as_str() == name)
    }

    /// The C type in the prototypes of the generated header.
    #[must_use]
    pub const fn c_type(self) -> &'static str {
        match self {
            ElemType::I8 => "int8_t",
            ElemType::I16 => "int16_t",
            ElemType::I32 => "int32_t",
            ElemType::I64 => "int64_t",
            ElemType::U8 => "uint8_t",
            ElemType::U16 | ElemType::F16 => "uint16_t",
            ElemType::U32 => "uint32_t",
            ElemType::U64 => "uint64_t",
            ElemType::F32 => "float",
            ElemType::F64 => "double",
            ElemType::Bool => "bool",
        }
    }

    /// The size of one element in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            ElemType::I8 | ElemType::U8 | ElemType::Bool => 1,
            ElemType::I16 | ElemType::U16 | ElemType::F16 => 2,
            ElemType::I32 | ElemType::U32 | ElemType::F32 => 4,
            ElemType::I64 | ElemType::U64 | ElemType::F64 => 8,
        }
    }
}

impl fmt::Display for ElemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        assert_eq!(ElemType::ALL.len(), 12);
        for &elem in ElemType::ALL {
            assert_eq!(ElemType::from_name(elem.as_str()), Some(elem));
        }
        for name in ["", "I32", "int", "[]i32", "i128"] {
            assert_eq!(ElemType::from_name(name), None, "{name:?}");
        }
    }

    #[test]
    fn sizes_agree_with_the_c_types() {
        for &elem in ElemType::ALL {
            let size = match elem.c_type() {
                "bool" | "int8_t" | "uint8_t" => 1,
                "int16_t" | "uint16_t" => 2,
                "int32_t" | "uint32_t" | "float" => 4,
                "int64_t" | "uint64_t" | "double" => 8,
                other => panic!("unexpected C type {other}"),
            };
            assert_eq!(elem.size(), size, "{elem}");
        }
        assert_eq!(ElemType::F16.c_type(), "uint16_t");
    }
}
