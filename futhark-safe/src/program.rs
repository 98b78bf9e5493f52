//! Traits that generated code implements for a program, and the parts of its calls.

use std::ops::DerefMut;

use crate::context::Context;
use crate::elem::{Element, Scalar8, sealed};
use crate::ffi::{Handle, Input, LinkedTable, Output};
use crate::opaque::Opaque;

/// A program with a generated module. It is compiled into this binary, or opened as a
/// library (`Context::with_library`, feature `dynamic`).
///
/// Implemented by the module that [`include_program!`](crate::include_program) includes, for its type
/// `Program`. Do not implement it.
pub trait Program: Linked {
    /// The program's name: the name of its source file.
    const NAME: &'static str;
    /// The entry points, as methods.
    type Entries<'c>: From<&'c Context<Self>>;
}

/// The tables of a program, and hashes by which they are verified. For generated code.
pub trait Linked: Sized + Send + Sync + 'static {
    /// The hash of the program's API. Tables with another one are rejected.
    const INTERFACE: u64;
    /// The hash of the functions that generated code refers to by number. Tables with another one
    /// are rejected.
    const FUNCTIONS: u64;
    /// The tuning that the build script found, in the format of files.
    const TUNING: &'static str = "";
    /// The tables that are linked into this binary, one per backend, the preferred one first.
    fn tables() -> Vec<LinkedTable>;
}

/// The program has arrays with elements of type `T` and rank `R`.
///
/// Generated code implements it for every array type in the program's API.
#[diagnostic::on_unimplemented(
    message = "the program has no array type with elements `{T}` and rank {R}",
    note = "only array types that its entry points mention can be made"
)]
pub trait HasArray<T: Element, const R: usize>: Program {
    /// The number of the type.
    #[doc(hidden)]
    const TYPE: u32;
}

/// An opaque type of a program: a struct around [`Opaque`]. Generated code implements it.
///
/// The conversions are for code that is generic over opaque types, such as
/// [`Context::restore`](crate::Context::restore).
pub trait OpaqueTag:
    From<Opaque<Self>> + Into<Opaque<Self>> + DerefMut<Target = Opaque<Self>> + Send + Sync + 'static
{
    /// The program.
    type Program: Program;
    /// The type's name in the manifest.
    const NAME: &'static str;
    /// The number of the type.
    #[doc(hidden)]
    const TYPE: u32;
}

/// A value that is not a scalar.
pub trait Value: handle::HasHandle {}

impl<T: handle::HasHandle> Value for T {}

/// A value that is not a scalar and can be the result of a call: an array or an opaque value.
pub trait ResultValue: Value + Receive<Place = Option<Handle>> {}

impl<T: Value + Receive<Place = Option<Handle>>> ResultValue for T {}

pub(crate) mod handle {
    use crate::ffi::{Handle, Input};

    /// Access to the handle of a value, for this crate. Other code can reach it through `__private`, and can then
    /// exchange handles: every operation compares context, type, element and rank of a handle.
    pub trait HasHandle {
        #[doc(hidden)]
        fn handle(&self) -> &Handle;
        #[doc(hidden)]
        fn handle_mut(&mut self) -> &mut Handle;
        #[doc(hidden)]
        fn into_handle(self) -> Handle;
    }

    /// An argument that a call consumes, for this crate.
    pub trait ToConsume<T> {
        #[doc(hidden)]
        fn input<'a>(self) -> Input<'a>
        where
            Self: 'a;
    }
}

/// An argument for a parameter of type `T` that the call consumes: `T` itself, or `&mut T`.
///
/// By value, the argument is freed even if the call fails or is refused.
///
/// By mutable reference, a call that is refused before it starts leaves the value as it is: an argument
/// of another context or of a wrong size, a lost context, no memory to copy a shared argument, or an
/// [earlier call's failure](crate::Error::is_from_earlier_call) that is known by then. So a state can
/// live in a struct:
///
/// ```text
/// fn step(&mut self, dt: f32) -> Result<()> {
///     self.state = self.ctx.entry().step(&mut self.state, dt)?;
///     Ok(())
/// }
/// ```
///
/// Once the call has started, the value is *spent*, whether the call succeeds or fails: the program may have
/// overwritten it. Its memory is freed. Every use of a spent value is an error
/// ([`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument)) that names the call, until another
/// value is assigned to it. Its `shape` is all zeros, and it has no `view`. On a GPU a call that fails
/// later returns `Ok` first; its result is invalid then. To continue after a failure, keep a copy (`try_clone`) or
/// a [stored value](crate::stored).
#[diagnostic::on_unimplemented(
    message = "the call consumes this argument, so it cannot be `{Self}`",
    label = "expected `{T}` or `&mut {T}`",
    note = "pass the value itself, a mutable reference (`state = entry.step(&mut state)?`), or a copy \
            (`value.try_clone()?`)"
)]
pub trait Consumed<T>: handle::ToConsume<T> {}

impl<T: Value> Consumed<T> for T {}

impl<T: Value> Consumed<T> for &mut T {}

impl<T: Value> handle::ToConsume<T> for T {
    fn input<'a>(self) -> Input<'a>
    where
        T: 'a,
    {
        Input::consumed(self.into_handle())
    }
}

impl<T: Value> handle::ToConsume<T> for &mut T {
    fn input<'a>(self) -> Input<'a>
    where
        Self: 'a,
    {
        Input::consumed_in_place(self.handle_mut())
    }
}

/// An argument that the call reads.
pub fn observed<V: Value>(value: &V) -> Input<'_> {
    Input::observed(value.handle())
}

/// An argument that the call may overwrite.
pub fn consumed<'a, T>(value: impl Consumed<T> + 'a) -> Input<'a> {
    value.input()
}

/// A scalar argument.
pub fn scalar<'a, T: Element>(value: T) -> Input<'a> {
    Input::scalar(value)
}

/// A type of results: a scalar, an array or an opaque value.
pub trait Receive: Sized {
    /// The place where the call writes the result.
    #[doc(hidden)]
    type Place: Default;
    #[doc(hidden)]
    fn output(place: &mut Self::Place) -> Output<'_>;
    /// The result, after a call that succeeded.
    #[doc(hidden)]
    fn finish(place: Self::Place) -> Self;
}

impl<T: Element> Receive for T {
    type Place = Scalar8;

    fn output(place: &mut Scalar8) -> Output<'_> {
        Output::scalar(T::ELEM, place)
    }

    fn finish(place: Scalar8) -> T {
        <T as sealed::Scalar>::from_c(place)
    }
}

/// The value in a place. A call that succeeded has filled it.
pub(crate) fn filled(place: Option<Handle>) -> Handle {
    place.expect("`finish` is called after a successful call")
}

/// The place for one result of a call.
pub struct Slot<T: Receive>(T::Place);

/// A place for a result of type `T`.
#[must_use]
pub fn slot<T: Receive>() -> Slot<T> {
    Slot(T::Place::default())
}

impl<T: Receive> Slot<T> {
    /// The place, for the call.
    pub fn output(&mut self) -> Output<'_> {
        T::output(&mut self.0)
    }

    /// The result. Only after a call that succeeded.
    pub fn finish(self) -> T {
        T::finish(self.0)
    }
}

/// Includes the program `$name` that the build script compiled, as module `$name`.
///
/// ```text
/// futhark_safe::include_program!(stats);      // a private module
/// futhark_safe::include_program!(pub stats);  // a public one
/// ```
///
/// The name is that of the program that the build script compiles, `stats.fut`; if it compiles no such program, the
/// error is that `stats.rs` cannot be read.
///
/// In a package that is called `stats`, too, write `crate::stats`: `stats` alone is ambiguous (E0659)
/// in its documentation tests and its binaries.
#[macro_export]
macro_rules! include_program {
    ($visibility:vis $name:ident) => {
        #[allow(
            dead_code,
            unused_imports,
            non_snake_case,
            non_camel_case_types,
            clippy::all,
            clippy::pedantic,
            reason = "names and shapes follow the Futhark program"
        )]
        #[doc = concat!("The Futhark program `", stringify!($name), "`.")]
        $visibility mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    };
}
