//! The C types that generated headers use.

use std::fmt;

use crate::backend::Backend;
use crate::elem::ElemType;

/// A C type.
///
/// `Display` writes it as generated headers do: `const int64_t *`, `struct futhark_f32_1d *`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CType {
    /// A type that C or a header names: `void`, `int`, `unsigned char`, `size_t`, `int32_t` and the like,
    /// and the raw memory of GPU backends: `cl_mem`, `CUdeviceptr`, `hipDeviceptr_t`.
    Named(&'static str),
    /// A struct by its tag.
    Struct(String),
    /// A pointer to a type.
    Pointer(Box<CType>),
    /// A `const` type: `const int *` is a pointer to a `const` type.
    Const(Box<CType>),
}

impl CType {
    /// `void`.
    pub const VOID: CType = CType::Named("void");

    /// `int`.
    pub const INT: CType = CType::Named("int");

    /// `int64_t`.
    pub const INT64: CType = CType::Named("int64_t");

    /// The C type of a scalar.
    #[must_use]
    pub const fn of_elem(elem: ElemType) -> CType {
        CType::Named(elem.c_type())
    }

    /// The type of a backend's raw memory; `void *` for [`Backend::Other`].
    #[must_use]
    pub fn raw_memory(backend: Backend) -> CType {
        match backend {
            Backend::C | Backend::Multicore | Backend::Ispc => {
                CType::Named("unsigned char").pointer()
            }
            Backend::OpenCl => CType::Named("cl_mem"),
            Backend::Cuda => CType::Named("CUdeviceptr"),
            Backend::Hip => CType::Named("hipDeviceptr_t"),
            Backend::Other => CType::VOID.pointer(),
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

    /// The `const` variant of this type.
    #[must_use]
    pub fn constant(self) -> CType {
        CType::Const(Box::new(self))
    }

    /// Writes a declaration of `name`. No space stands between a star and the name.
    fn declare(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        let is_pointer = matches!(self, CType::Pointer(_));
        write!(f, "{self}{}{name}", if is_pointer { "" } else { " " })
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CType::Named(name) => f.write_str(name),
            CType::Struct(tag) => write!(f, "struct {tag}"),
            CType::Pointer(inner) if matches!(**inner, CType::Pointer(_)) => write!(f, "{inner}*"),
            CType::Pointer(inner) => write!(f, "{inner} *"),
            CType::Const(inner) => write!(f, "const {inner}"),
        }
    }
}

/// Writes the prototype of a function as generated headers do.
pub(super) fn write_prototype<'a>(
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
    f.write_str(");")
}
