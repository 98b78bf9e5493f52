//! Element types.

use futhark_manifest::ElemType;
use half::f16;

/// A Rust type that is a Futhark element type, as a scalar and in arrays.
///
/// Implemented for the twelve types that the C API has: `i8` … `i64`, `u8` … `u64`,
/// [`half::f16`], `f32`, `f64` and `bool`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of Futhark",
    label = "expected `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `f32`, `f64` or `bool`",
    note = "a size is an `i64` in Futhark; an array of arrays is `ctx.array_nd([rows, columns], &elements)?`"
)]
pub trait Element:
    Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + sealed::Scalar + 'static
{
    /// The Futhark type.
    const ELEM: ElemType;
}

// The core passes `elem as u32` as the number of a type in the table.
const _: () = {
    use futhark_sys::table as c;
    assert!(ElemType::I8 as u32 == c::FUT_I8 && ElemType::I16 as u32 == c::FUT_I16);
    assert!(ElemType::I32 as u32 == c::FUT_I32 && ElemType::I64 as u32 == c::FUT_I64);
    assert!(ElemType::U8 as u32 == c::FUT_U8 && ElemType::U16 as u32 == c::FUT_U16);
    assert!(ElemType::U32 as u32 == c::FUT_U32 && ElemType::U64 as u32 == c::FUT_U64);
    assert!(ElemType::F16 as u32 == c::FUT_F16 && ElemType::F32 as u32 == c::FUT_F32);
    assert!(ElemType::F64 as u32 == c::FUT_F64 && ElemType::Bool as u32 == c::FUT_BOOL);
};

/// A scalar in the form of the C side: its bytes in native order, then padding.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(8))]
pub struct Scalar8(pub(crate) [u8; 8]);

pub(crate) mod sealed {
    use super::Scalar8;

    pub trait Scalar: Sized {
        fn to_c(self) -> Scalar8;
        fn from_c(bytes: Scalar8) -> Self;
    }
}

macro_rules! element {
    ($($rust:ty => $elem:ident, $to:expr, $from:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Element for $rust {
            const ELEM: ElemType = ElemType::$elem;
        }

        impl sealed::Scalar for $rust {
            #[inline]
            fn to_c(self) -> Scalar8 {
                let bytes = ($to)(self);
                let mut all = [0; 8];
                all[..bytes.len()].copy_from_slice(&bytes);
                Scalar8(all)
            }

            #[inline]
            fn from_c(all: Scalar8) -> $rust {
                let mut bytes = [0; size_of::<$rust>()];
                bytes.copy_from_slice(&all.0[..size_of::<$rust>()]);
                ($from)(bytes)
            }
        }
    )*};
}

element! {
    i8 => I8, i8::to_ne_bytes, i8::from_ne_bytes;
    i16 => I16, i16::to_ne_bytes, i16::from_ne_bytes;
    i32 => I32, i32::to_ne_bytes, i32::from_ne_bytes;
    i64 => I64, i64::to_ne_bytes, i64::from_ne_bytes;
    u8 => U8, u8::to_ne_bytes, u8::from_ne_bytes;
    u16 => U16, u16::to_ne_bytes, u16::from_ne_bytes;
    u32 => U32, u32::to_ne_bytes, u32::from_ne_bytes;
    u64 => U64, u64::to_ne_bytes, u64::from_ne_bytes;
    f16 => F16, f16::to_ne_bytes, f16::from_ne_bytes;
    f32 => F32, f32::to_ne_bytes, f32::from_ne_bytes;
    f64 => F64, f64::to_ne_bytes, f64::from_ne_bytes;
    // C may store any byte but 0 for true, which is not a valid Rust bool.
    bool => Bool, |b: bool| [u8::from(b)], |b: [u8; 1]| b[0] != 0;
}

#[cfg(test)]
mod tests {
    use super::sealed::Scalar;
    use super::*;

    #[test]
    fn scalars_keep_every_bit() {
        assert_eq!(
            f32::from_c(f32::from_bits(0x7fc0_1234).to_c()).to_bits(),
            0x7fc0_1234
        );
        assert_eq!(f16::from_c(f16::from_bits(0xfe01).to_c()).to_bits(), 0xfe01);
        assert_eq!(i64::from_c(i64::MIN.to_c()), i64::MIN);
        assert_eq!(u8::from_c(0xa5u8.to_c()), 0xa5);
    }

    #[test]
    fn any_nonzero_byte_is_true() {
        assert!(bool::from_c(Scalar8([2, 0, 0, 0, 0, 0, 0, 0])));
        assert!(!bool::from_c(Scalar8([0, 1, 0, 0, 0, 0, 0, 0])));
    }
}
