//! Opaque values: all but scalars and arrays of scalars.

use std::fmt;
use std::marker::PhantomData;

use crate::error::Result;
use crate::ffi::{self, Handle, Output};
use crate::program::{OpaqueTag, Receive, Value};

/// A record, tuple, sum, abstract value or array of such, in the memory of a context.
///
/// `G` is the struct that the program's module has for the type. Arguments and results of entry
/// points are of type `G`, which has methods that depend on the type, such as one per field of a
/// record, and derefs to `Opaque<G>`, which has the methods of all opaque values.
///
/// ```text
/// let p = stats::Pt::new(&ctx, 1.0, 2.0)?;      // a record of the program `stats`
/// let q: stats::Pt = ctx.entry().mirror(&p)?;
/// println!("{} {:?}", q.x()?, q.fields()?);
/// ```
///
/// Dropping it frees it, without waiting for a running call.
pub struct Opaque<G> {
    pub(crate) handle: Handle,
    tag: PhantomData<fn() -> G>,
}

impl<G: OpaqueTag> Opaque<G> {
    pub(crate) fn from_handle(handle: Handle) -> Self {
        Opaque {
            handle,
            tag: PhantomData,
        }
    }

    /// A copy with memory of its own. On GPU backends its arrays are copied on the device.
    ///
    /// # Errors
    ///
    /// The computation of the value failed. [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn try_clone(&self) -> Result<G> {
        ffi::duplicate(&self.handle).map(|copy| Opaque::from_handle(copy).into())
    }

    /// The type's name in the manifest.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        G::NAME
    }
}

impl<G: OpaqueTag> Receive for G {
    fn output() -> Output {
        Output::value(G::TYPE)
    }

    fn finish(output: Output) -> Self {
        Opaque::from_handle(output.into_handle()).into()
    }
}

/// Lets the struct of an opaque type be an argument of a call.
impl<G: OpaqueTag> Value for G {
    fn handle(&self) -> &Handle {
        &self.deref().handle
    }

    fn handle_mut(&mut self) -> &mut Handle {
        &mut self.deref_mut().handle
    }

    fn into_handle(self) -> Handle {
        let value: Opaque<G> = self.into();
        value.handle
    }
}

impl<G: OpaqueTag> fmt::Debug for Opaque<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.debug(f, G::NAME)
    }
}

/// Declares the struct of an opaque type: `pub struct NAME: PROGRAM, NUMBER, "name in the manifest";`
///
/// For generated code. Numbers are compared with the table when a value is used. The struct has
/// a named field, since a tuple struct's constructor would clash with parameters of its name.
#[doc(hidden)]
#[macro_export]
macro_rules! __opaque {
    ($(#[$doc:meta])* pub struct $name:ident: $program:ty, $number:literal, $futhark:literal;) => {
        $(#[$doc])*
        pub struct $name {
            __value: $crate::Opaque<$name>,
        }

        impl $crate::OpaqueTag for $name {
            type Program = $program;
            const NAME: &'static str = $futhark;
            const TYPE: u32 = $number;
        }

        impl ::core::convert::From<$crate::Opaque<$name>> for $name {
            fn from(value: $crate::Opaque<$name>) -> $name {
                $name { __value: value }
            }
        }

        impl ::core::convert::From<$name> for $crate::Opaque<$name> {
            fn from(value: $name) -> $crate::Opaque<$name> {
                value.__value
            }
        }

        impl ::core::ops::Deref for $name {
            type Target = $crate::Opaque<$name>;

            fn deref(&self) -> &$crate::Opaque<$name> {
                &self.__value
            }
        }

        impl ::core::ops::DerefMut for $name {
            fn deref_mut(&mut self) -> &mut $crate::Opaque<$name> {
                &mut self.__value
            }
        }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.__value, f)
            }
        }
    };
}
