//! The C types that generated headers use.

use std::fmt;

use crate::backend::Backend;
use crate::elem::ElemType;

/// A C type.
///
/// `Display` writes it as generated headers do: `const int64_t *`,
/// `struct futhark_f32_1d *`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CType {
    /// `void`.
    Void,
    /// A scalar type.
    Primitive(Primitive),
    /// A struct by its tag.
    Struct(String),
    /// Any other name: a typedef such as `FILE`, `cl_mem`, `CUdeviceptr` or
    /// `hipDeviceptr_t`, or a scalar type that no generated header uses.
    Named(String),
    /// A pointer to a type.
    Pointer(Box<CType>),
    /// A `const` type. `const int *` is a pointer to a `const` type, `int *const` is a
    /// `const` pointer.
    Const(Box<CType>),
}

impl CType {
    /// `int`.
    pub const INT: CType = CType::Primitive(Primitive::Int);

    /// `int64_t`.
    pub const INT64: CType = CType::Primitive(Primitive::Int64);

    /// The C type of a scalar.
    #[must_use]
    pub const fn of_elem(elem: ElemType) -> CType {
        CType::Primitive(match elem {
            ElemType::I8 => Primitive::Int8,
            ElemType::I16 => Primitive::Int16,
            ElemType::I32 => Primitive::Int32,
            ElemType::I64 => Primitive::Int64,
            ElemType::U8 => Primitive::Uint8,
            ElemType::U16 | ElemType::F16 => Primitive::Uint16,
            ElemType::U32 => Primitive::Uint32,
            ElemType::U64 => Primitive::Uint64,
            ElemType::F32 => Primitive::Float,
            ElemType::F64 => Primitive::Double,
            ElemType::Bool => Primitive::Bool,
        })
    }

    /// The type of a backend's raw memory.
    #[must_use]
    pub fn raw_memory(backend: Backend) -> CType {
        match backend {
            Backend::C | Backend::Multicore | Backend::Ispc => {
                CType::Primitive(Primitive::UnsignedChar).pointer()
            }
            Backend::OpenCl => CType::Named("cl_mem".to_owned()),
            Backend::Cuda => CType::Named("CUdeviceptr".to_owned()),
            Backend::Hip => CType::Named("hipDeviceptr_t".to_owned()),
        }
    }

    /// The struct with this tag.
    #[must_use]
    pub fn structure(tag: impl Into<String>) -> CType {
        CType::Struct(tag.into())
    }

    /// A pointer to this type.
    #[must_use]
    pub fn pointer(self) -> CType {
        CType::Pointer(Box::new(self))
    }

    /// The `const` variant of this type; the type itself if it is `const` already.
    #[must_use]
    pub fn constant(self) -> CType {
        match self {
            CType::Const(_) => self,
            _ => CType::Const(Box::new(self)),
        }
    }

    /// The tag of this struct, or of the struct that this pointer points to.
    #[must_use]
    pub fn struct_tag(&self) -> Option<&str> {
        match self {
            CType::Struct(tag) => Some(tag),
            CType::Pointer(inner) | CType::Const(inner) => inner.struct_tag(),
            CType::Void | CType::Primitive(_) | CType::Named(_) => None,
        }
    }

    /// Writes a declaration with this type: only the type if the name is empty.
    pub(crate) fn declare(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        if name.is_empty() {
            return Ok(());
        }
        // No space between a star and the name.
        let space = if matches!(self, CType::Pointer(_)) {
            ""
        } else {
            " "
        };
        write!(f, "{space}{name}")
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CType::Void => f.write_str("void"),
            CType::Primitive(primitive) => f.write_str(primitive.as_str()),
            CType::Struct(tag) => write!(f, "struct {tag}"),
            CType::Named(name) => f.write_str(name),
            CType::Pointer(inner) if matches!(**inner, CType::Pointer(_)) => write!(f, "{inner}*"),
            CType::Pointer(inner) => write!(f, "{inner} *"),
            CType::Const(inner) if matches!(**inner, CType::Pointer(_)) => {
                write!(f, "{inner}const")
            }
            CType::Const(inner) => write!(f, "const {inner}"),
        }
    }
}

/// A scalar type of C that generated headers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Primitive {
    /// `bool`.
    Bool,
    /// `char`.
    Char,
    /// `unsigned char`.
    UnsignedChar,
    /// `int`.
    Int,
    /// `int8_t`.
    Int8,
    /// `int16_t`.
    Int16,
    /// `int32_t`.
    Int32,
    /// `int64_t`.
    Int64,
    /// `uint8_t`.
    Uint8,
    /// `uint16_t`.
    Uint16,
    /// `uint32_t`.
    Uint32,
    /// `uint64_t`.
    Uint64,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `size_t`.
    Size,
}

impl Primitive {
    /// Every primitive type, in the order of declaration.
    pub const ALL: &'static [Primitive] = &[
        Primitive::Bool,
        Primitive::Char,
        Primitive::UnsignedChar,
        Primitive::Int,
        Primitive::Int8,
        Primitive::Int16,
        Primitive::Int32,
        Primitive::Int64,
        Primitive::Uint8,
        Primitive::Uint16,
        Primitive::Uint32,
        Primitive::Uint64,
        Primitive::Float,
        Primitive::Double,
        Primitive::Size,
    ];

    /// The name in C.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Primitive::Bool => "bool",
            Primitive::Char => "char",
            Primitive::UnsignedChar => "unsigned char",
            Primitive::Int => "int",
            Primitive::Int8 => "int8_t",
            Primitive::Int16 => "int16_t",
            Primitive::Int32 => "int32_t",
            Primitive::Int64 => "int64_t",
            Primitive::Uint8 => "uint8_t",
            Primitive::Uint16 => "uint16_t",
            Primitive::Uint32 => "uint32_t",
            Primitive::Uint64 => "uint64_t",
            Primitive::Float => "float",
            Primitive::Double => "double",
            Primitive::Size => "size_t",
        }
    }

    /// The primitive type with this name in C.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Primitive> {
        let mut all = Primitive::ALL.iter().copied();
        all.find(|primitive| primitive.as_str() == name)
    }
}

/// Writes the prototype of a function as generated headers do.
pub(crate) fn write_prototype<'a>(
    f: &mut fmt::Formatter<'_>,
    result: &CType,
    name: &str,
    parameters: impl Iterator<Item = (&'a CType, &'a str)>,
) -> fmt::Result {
    result.declare(f, name)?;
    f.write_str("(")?;
    let mut separator = "";
    for (ty, name) in parameters {
        f.write_str(separator)?;
        ty.declare(f, name)?;
        separator = ", ";
    }
    if separator.is_empty() {
        f.write_str("void")?;
    }
    f.write_str(");")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_displayed_as_in_headers() {
        let int64 = CType::INT64;
        let array = CType::structure("futhark_i32_1d");
        for (ty, text) in [
            (CType::Void.pointer(), "void *"),
            (int64.clone().constant().pointer(), "const int64_t *"),
            (
                array.clone().pointer().pointer(),
                "struct futhark_i32_1d **",
            ),
            (array.constant().pointer(), "const struct futhark_i32_1d *"),
            (int64.clone().pointer().constant(), "int64_t *const"),
            (int64.constant().constant(), "const int64_t"),
            (CType::raw_memory(Backend::C), "unsigned char *"),
            (CType::raw_memory(Backend::Cuda), "CUdeviceptr"),
        ] {
            assert_eq!(ty.to_string(), text);
        }
    }

    #[test]
    fn scalars_have_the_c_types_of_their_elements() {
        for &elem in ElemType::ALL {
            assert_eq!(CType::of_elem(elem).to_string(), elem.c_type());
        }
        for &primitive in Primitive::ALL {
            assert_eq!(Primitive::from_name(primitive.as_str()), Some(primitive));
        }
    }
}
