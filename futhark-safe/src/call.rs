//! Calls of generated code: their arguments and results, and the macro that includes that code.
//!
//! A generated method, for `entry add_to (xs: *[]f32) (ys: []f32) : []f32`, the first function of the table:
//!
//! ```text
//! pub fn add_to(
//!     &self,
//!     xs: impl __f::Consumed<Array<f32, 1>>,
//!     ys: &(impl __f::Observed<Array<f32, 1>> + ?Sized),
//! ) -> Result<Array<f32, 1>> {
//!     __f::get(self.context, 0, [__f::consumed(xs), __f::Observed::hold(ys, self.context)?.input()])
//! }
//! ```
//!
//! [`consumed`] and [`Observed::hold`] make each argument an [`Input`]; [`get`] calls the function by `Core::call`
//! (`ffi/call.rs`). `ctx.entry()` (`context.rs`) is `Entries::from(ctx)`, which is generated.

use std::cell::{Ref, RefMut};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::{Arc, MutexGuard, RwLockReadGuard, RwLockWriteGuard};

use half::f16;

use crate::context::{Context, Program};
use crate::elem::{Element, sealed::Scalar as _};
use crate::error::Result;
use crate::ffi::{Core, Handle, Input, Output};

/// The program has arrays with elements of type `T` and rank `R`.
///
/// Generated code implements it for every array type in the program's API.
#[diagnostic::on_unimplemented(
    message = "the program has no array type with elements `{T}` and rank {R}",
    label = "convert the elements to a type that the program has, or add an entry point with such a parameter",
    note = "only array types that its entry points mention can be made"
)]
pub trait HasArray<T: Element, const R: usize>: Program {
    /// The number of the type.
    #[doc(hidden)]
    const TYPE: u32;
}

/// A value that is not a scalar, with access to its handle for this crate. Other code can reach it through
/// `__private`, and can then exchange handles: every operation compares context, type, element and rank of a handle.
pub trait Value {
    #[doc(hidden)]
    fn handle(&self) -> &Handle;
    #[doc(hidden)]
    fn handle_mut(&mut self) -> &mut Handle;
    #[doc(hidden)]
    fn into_handle(self) -> Handle;
}

/// A value of a program.
pub trait ProgramValue: Value {
    /// The program.
    type Program: Program;
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
    note = "pass the value itself, a mutable reference (`state = entry.step(&mut state)?`), a copy \
            (`value.try_clone()?`), or an array made of host data (`ctx.array(&data)?`)"
)]
pub trait Consumed<T> {
    #[doc(hidden)]
    fn input<'a>(self) -> Input<'a>
    where
        Self: 'a;
}

impl<T: Value> Consumed<T> for T {
    fn input<'a>(self) -> Input<'a>
    where
        T: 'a,
    {
        Input::Consumed(self.into_handle())
    }
}

impl<T: Value> Consumed<T> for &mut T {
    fn input<'a>(self) -> Input<'a>
    where
        Self: 'a,
    {
        Input::ConsumedByMut(self.handle_mut())
    }
}

/// An argument for a parameter of type `T` that the call only reads: a value of that type, or host data of which the
/// call makes one.
///
/// | parameter | also takes |
/// |---|---|
/// | array of scalars, or of records of scalars, of rank 1 | a slice, `Vec` or Rust array of scalars, or of plain structs |
/// | record or tuple of scalars | its plain struct or tuple |
/// | sum | a variant |
///
/// ```text
/// let market = MarketFields { rate: 0.1, vol: 0.2 };
/// let prices = ctx.entry().ladder(&market, &[90.0, 100.0])?;
/// ```
///
/// Host data is copied to the context in each call, so make a value of what several calls read. The call also has the
/// errors of the constructor: `Context::array`, `from_slice`, `from_fields` or `new`. The type of an argument cannot follow
/// from that of the parameter: write `ctx.restore::<Market>(…)`.
#[diagnostic::on_unimplemented(
    message = "the call reads a `{T}`, so this argument cannot be `{Self}`",
    label = "expected `{T}`, or host data with its elements or fields",
    note = "a `Result` needs `?`, an array of higher rank `ctx.array_nd(shape, &elements)?`, and a smart pointer `&*`"
)]
pub trait Observed<T: ProgramValue> {
    #[doc(hidden)]
    fn hold(&self, context: &Context<T::Program>) -> Result<Held<'_, T>>;
}

/// A value during the call that reads it: the caller's, or one that was made for the call.
pub enum Held<'a, T> {
    /// The caller's value.
    Lent(&'a T),
    /// A value made of host data, which is freed after the call.
    Made(T),
}

impl<T: Value> Held<'_, T> {
    /// The argument.
    pub fn input(&self) -> Input<'_> {
        match self {
            Held::Lent(value) => observed(*value),
            Held::Made(value) => observed(value),
        }
    }
}

/// References coerce to those of the type of a parameter, but not to one of a generic type.
macro_rules! observe_target {
    ($([$($generics:tt)*] $pointer:ty => $target:ty;)*) => {$(
        // Otherwise rustc lists such impls with the mistake.
        #[diagnostic::do_not_recommend]
        impl<T: ProgramValue, $($generics)*> Observed<T> for $pointer
        where
            $target: Observed<T>,
        {
            fn hold(&self, context: &Context<T::Program>) -> Result<Held<'_, T>> {
                <$target as Observed<T>>::hold(self, context)
            }
        }
    )*};
}

observe_target! {
    [E, const N: usize] [E; N] => [E];
    [E] Vec<E> => [E];
    [A: ?Sized] &A => A;
    [A: ?Sized] &mut A => A;
    [A: ?Sized] Box<A> => A;
    [A: ?Sized] Rc<A> => A;
    [A: ?Sized] Arc<A> => A;
    [A: ?Sized] MutexGuard<'_, A> => A;
    [A: ?Sized] RwLockReadGuard<'_, A> => A;
    [A: ?Sized] RwLockWriteGuard<'_, A> => A;
    [A: ?Sized] Ref<'_, A> => A;
    [A: ?Sized] RefMut<'_, A> => A;
}

/// An argument that the call reads.
pub fn observed<V: Value>(value: &V) -> Input<'_> {
    Input::Observed(value.handle())
}

/// An argument that the call may overwrite.
pub fn consumed<'a, T>(value: impl Consumed<T> + 'a) -> Input<'a> {
    value.input()
}

/// A scalar argument.
pub fn scalar<'a, T: Element>(value: T) -> Input<'a> {
    Input::scalar(T::ELEM, value.to_c())
}

/// A type of results: a scalar, an array or an opaque value.
pub trait Receive: Sized {
    /// The place where the call writes the result.
    #[doc(hidden)]
    fn output() -> Output;
    /// The result, after a call that succeeded.
    #[doc(hidden)]
    fn finish(output: &mut Output) -> Self;
}

macro_rules! receive_scalars {
    ($($scalar:ty)*) => {$(
        impl Receive for $scalar {
            #[inline]
            fn output() -> Output {
                Output::scalar(Self::ELEM)
            }

            #[inline]
            fn finish(output: &mut Output) -> Self {
                Self::from_c(output.to_scalar())
            }
        }
    )*};
}

receive_scalars! { i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 bool }

/// The place for one result of a call.
pub struct Slot<T>(Output, PhantomData<T>);

/// A place for a result of type `T`.
#[must_use]
pub fn slot<T: Receive>() -> Slot<T> {
    Slot(T::output(), PhantomData)
}

impl<T: Receive> Slot<T> {
    /// The place, for the call.
    pub fn output(&mut self) -> &mut Output {
        &mut self.0
    }

    /// The result. Only after a call that succeeded.
    pub fn finish(mut self) -> T {
        T::finish(&mut self.0)
    }
}

/// Calls function number `function`, which has one result.
#[inline]
pub fn get<P: Program, T: Receive, const N: usize>(
    context: &Context<P>,
    function: usize,
    inputs: [Input<'_>; N],
) -> Result<T> {
    let mut output = T::output();
    Core::call(context.core(), function, inputs, &mut [&mut output])?;
    Ok(T::finish(&mut output))
}

/// Calls function number `function` on a value: reads a field, or the only part of a variant.
pub fn part<V: Value, T: Receive>(value: &V, function: usize) -> Result<T> {
    let mut output = T::output();
    parts(value, function, &mut [&mut output])?;
    Ok(T::finish(&mut output))
}

/// Calls function number `function` on a value: reads the parts of a variant.
pub fn parts<V: Value, const OUT: usize>(
    value: &V,
    function: usize,
    outputs: &mut [&mut Output; OUT],
) -> Result<()> {
    let core = value.handle().core();
    Core::call(core, function, [observed(value)], outputs)
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
            unused,
            nonstandard_style,
            unnameable_types,
            unreachable_pub,
            clippy::all,
            clippy::pedantic,
            clippy::nursery,
            clippy::restriction,
            reason = "names and shapes follow the Futhark program"
        )]
        #[doc = include_str!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".md"))]
        $visibility mod $name {
            // The name of this crate differs if a package renames its dependency.
            use $crate as __futhark_safe;
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    };
}
