//! Traits that generated code implements for a program, and functions and macros that it calls.
//!
//! A generated method, for `entry add_to (xs: *[]f32) (ys: []f32) : []f32`, the first function of the table:
//!
//! ```text
//! pub fn add_to(&self, xs: impl __f::Consumed<Array<f32, 1>>, ys: &Array<f32, 1>) -> Result<Array<f32, 1>> {
//!     __f::get(self.context, 0, [__f::consumed(xs), __f::observed(ys)])
//! }
//! ```
//!
//! [`consumed`] and [`observed`] make each argument an [`Input`]; [`get`] calls the function by `Core::call`
//! (`ffi/call.rs`). `ctx.entry()` (`context.rs`) is `Entries::from(ctx)`, which is generated.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::DerefMut;

use futhark_manifest::ElemType;
use half::f16;

use crate::array::{Array, ArrayIndex, for_c};
use crate::context::Context;
use crate::elem::{Element, sealed::Scalar as _};
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{self, Handle, Input, LinkedTable, NewArray, Output};
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
/// ([`ErrorKind::InvalidArgument`]) that names the call, until another
/// value is assigned to it. Its `shape` is all zeros, and it has no `view`. On a GPU a call that fails
/// later returns `Ok` first; its result is invalid then. To continue after a failure, keep a copy (`try_clone`) or
/// a [stored value](crate::stored).
#[diagnostic::on_unimplemented(
    message = "the call consumes this argument, so it cannot be `{Self}`",
    label = "expected `{T}` or `&mut {T}`",
    note = "pass the value itself, a mutable reference (`state = entry.step(&mut state)?`), or a copy \
            (`value.try_clone()?`)"
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
    fn finish(output: Output) -> Self;
}

macro_rules! receive_scalars {
    ($($scalar:ty)*) => {$(
        impl Receive for $scalar {
            fn output() -> Output {
                Output::scalar(Self::ELEM)
            }

            fn finish(output: Output) -> Self {
                Self::from_c(output.into_scalar())
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
    pub fn finish(self) -> T {
        T::finish(self.0)
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
    context.core().call(function, inputs, &mut [&mut output])?;
    Ok(T::finish(output))
}

/// Calls function number `function` on a value: reads a field, or the only part of a variant.
pub fn part<G: OpaqueTag, T: Receive>(value: &G, function: usize) -> Result<T> {
    let mut output = T::output();
    parts(value, function, &mut [&mut output])?;
    Ok(T::finish(output))
}

/// Calls function number `function` on a value: reads the parts of a variant.
pub fn parts<G: OpaqueTag>(value: &G, function: usize, outputs: &mut [&mut Output]) -> Result<()> {
    let core = value.handle().core();
    core.call(function, [observed(value)], outputs)
}

/// The error for a variant that the sum type does not have.
#[cold]
#[must_use]
pub fn no_variant<G: OpaqueTag>(number: i32) -> Error {
    let message = format!(
        "the runtime returned variant {number} of type {}, which does not exist",
        G::NAME
    );
    Error::new(ErrorKind::Backend, "variant", message)
}

/// The unit value, for compilers before 0.25.35, which have no function for it.
pub fn unit<U: OpaqueTag>(context: &Context<U::Program>) -> Result<U> {
    let handle = ffi::unit(context.core(), U::TYPE)?;
    Ok(Opaque::from_handle(handle).into())
}

/// The shape of an array of opaque values.
pub fn shape<A: OpaqueTag, const R: usize>(array: &A) -> [usize; R] {
    ffi::shape_array(array.handle())
}

/// One element of an array of opaque values.
pub fn element<A: OpaqueTag, E: OpaqueTag, const R: usize>(
    array: &A,
    index: impl ArrayIndex<R>,
) -> Result<E> {
    let handle = ffi::index_value(array.handle(), &for_c(index), ffi::Bounds::Ours)?;
    if handle.ty() != E::TYPE {
        let message = format!(
            "expected elements of type {}, but {} has others",
            E::NAME,
            A::NAME
        );
        return Err(Error::invalid("index", message));
    }
    Ok(Opaque::from_handle(handle).into())
}

/// Makes an array of opaque values from its elements.
pub fn from_elements<A: OpaqueTag, E: OpaqueTag, const R: usize>(
    context: &Context<A::Program>,
    shape: [usize; R],
    elements: &[&E],
) -> Result<A> {
    let elements: Vec<&Handle> = elements.iter().map(|element| element.handle()).collect();
    let handle = ffi::create_of_values(context.core(), A::TYPE, &shape, &elements)?;
    Ok(Opaque::from_handle(handle).into())
}

/// Replaces one element of an array of opaque values.
pub fn set_element<A: OpaqueTag, E: OpaqueTag, const R: usize>(
    array: &mut Opaque<A>,
    index: impl ArrayIndex<R>,
    element: &E,
) -> Result<()> {
    ffi::set_value(&mut array.handle, &for_c(index), element.handle())
}

/// Expects as many rows as the shape has elements, before columns are made of them.
pub fn check_rows<const R: usize>(shape: [usize; R], rows: usize) -> Result<()> {
    ffi::expect_count(&shape, ElemType::U8, rows)
}

/// The columns of an array of records of scalars, in place if the backend can.
pub struct Columns<'a>(Option<ffi::Columns<'a>>);

/// The columns of an array. Errors name function number `field`, which returns a field.
pub fn columns<A: OpaqueTag>(array: &A, field: usize) -> Result<Columns<'_>> {
    ffi::columns(array.handle(), field).map(Columns)
}

impl<'a> Columns<'a> {
    /// Column `i`, in row-major order: a part of the array of records, or a copy of the array that `array` returns.
    pub fn get<P: HasArray<T, R>, T: Element, const R: usize>(
        &self,
        i: usize,
        array: impl FnOnce() -> Result<Array<P, T, R>>,
    ) -> Result<Cow<'a, [T]>> {
        if let Some(columns) = &self.0
            && let Some(elements) = columns.get(i)?
        {
            return Ok(elements);
        }
        Ok(Cow::Owned(array()?.to_vec()?))
    }
}

/// A new array of records of scalars, which is written row by row.
pub struct NewRecords<'a, A> {
    records: ffi::NewRecords<'a>,
    array: PhantomData<A>,
}

/// Allocates an array of records.
pub fn new_records<'a, A: OpaqueTag>(
    context: &'a Context<A::Program>,
    shape: &'a [usize],
) -> Result<NewRecords<'a, A>> {
    Ok(NewRecords {
        records: ffi::NewRecords::start(context.core(), A::TYPE, shape)?,
        array: PhantomData,
    })
}

impl<A: OpaqueTag> NewRecords<'_, A> {
    /// The next column.
    pub fn column<T: Element, const R: usize>(&self) -> Result<Column<'_, A::Program, T, R>>
    where
        A::Program: HasArray<T, R>,
    {
        let number = <A::Program as HasArray<T, R>>::TYPE;
        Ok(Column {
            array: self.records.column(number)?,
            program: PhantomData,
        })
    }

    /// The array. `None` if the columns are arrays of their own. An error unless all elements are written.
    pub fn finish(&self) -> Result<Option<A>> {
        let handle = self.records.finish()?;
        Ok(handle.map(|handle| Opaque::from_handle(handle).into()))
    }
}

/// A new array of one field of rows, or a column of a new array of records.
pub struct Column<'a, P, T, const R: usize> {
    array: NewArray<'a, T>,
    program: PhantomData<P>,
}

impl<P: HasArray<T, R>, T: Element, const R: usize> Column<'_, P, T, R> {
    /// The array, if the column is one of its own. An error unless all elements are written.
    pub fn finish(self) -> Result<Array<P, T, R>> {
        self.array.finish().map(Array::from_handle)
    }
}

/// Parts of the rows that stay in the processor's first cache while their columns are written. With more
/// than two columns each row is read several times, and the columns of a large array, which begin at
/// similar addresses within a page, displace each other if all are written at once.
pub fn blocks<Row>(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    const BYTES: usize = 8 << 10;
    rows.chunks((BYTES / size_of::<Row>().max(1)).max(1))
}

/// Writes a field of each row to the next elements of a column.
pub fn fill<P, Row, T: Element, const R: usize>(
    rows: &[Row],
    column: &mut Column<'_, P, T, R>,
    field: impl Fn(&Row) -> T,
) -> Result<()> {
    ffi::fill(rows, &mut column.array, field)
}

/// As [`fill`], for two columns in one pass, which takes little longer than for one.
pub fn fill_two<P, Row, A: Element, B: Element, const R: usize>(
    rows: &[Row],
    first: &mut Column<'_, P, A, R>,
    second: &mut Column<'_, P, B, R>,
    fields: (impl Fn(&Row) -> A, impl Fn(&Row) -> B),
) -> Result<()> {
    ffi::fill_two(rows, (&mut first.array, &mut second.array), fields)
}

/// Collects `n` rows, which `row` makes of their number.
pub fn rows<Row>(n: usize, row: impl Fn(usize) -> Row) -> Result<Vec<Row>> {
    let mut rows = ffi::try_vec(n, "read array")?;
    rows.extend((0..n).map(row));
    Ok(rows)
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

/// Implements the methods of every array of opaque values.
#[doc(hidden)]
#[macro_export]
macro_rules! __array_of {
    ($array:ident, $rank:literal, $elem:ident) => {
        impl $array {
            /// The number of dimensions.
            pub const RANK: usize = $rank;

            /// The number of elements in each dimension.
            #[must_use]
            pub fn shape(&self) -> [usize; $rank] {
                $crate::__private::shape(self)
            }

            /// A copy of one element. Waits for it.
            ///
            /// # Errors
            ///
            /// `ErrorKind::InvalidArgument`: the index is out of bounds.
            pub fn index(&self, index: impl $crate::ArrayIndex<$rank>) -> $crate::Result<$elem> {
                $crate::__private::element(self, index)
            }
        }
    };
}

/// Implements the constructor of arrays of opaque values, for compilers from 0.25.36 on.
#[doc(hidden)]
#[macro_export]
macro_rules! __array_new {
    ($array:ident, 1, $elem:ident) => {
        impl $array {
            /// Makes an array from copies of elements.
            ///
            /// # Errors
            ///
            /// `ErrorKind::InvalidArgument`: no elements (the size of one is unknown then), or
            /// elements of different sizes.
            pub fn new(
                context: &$crate::Context<<$array as $crate::OpaqueTag>::Program>,
                elements: &[&$elem],
            ) -> $crate::Result<$array> {
                $crate::__private::from_elements(context, [elements.len()], elements)
            }
        }
    };
    ($array:ident, $rank:literal, $elem:ident) => {
        impl $array {
            /// Makes an array from copies of elements in row-major order.
            ///
            /// # Errors
            ///
            /// `ErrorKind::InvalidArgument`: another number of elements than the shape has, no elements
            /// (the size of one is unknown then), or elements of different sizes.
            pub fn new_nd(
                context: &$crate::Context<<$array as $crate::OpaqueTag>::Program>,
                shape: [usize; $rank],
                elements: &[&$elem],
            ) -> $crate::Result<$array> {
                $crate::__private::from_elements(context, shape, elements)
            }
        }
    };
}

/// Implements the setter of arrays of opaque values, for compilers from 0.25.36 on.
#[doc(hidden)]
#[macro_export]
macro_rules! __array_set {
    ($array:ident, $rank:literal, $elem:ident) => {
        impl $array {
            /// Replaces one element by a copy of `element`, in place. If other values share the
            /// array's memory, the array is copied first, so they do not change.
            ///
            /// # Errors
            ///
            /// `ErrorKind::InvalidArgument`: the index is out of bounds, or the element has another size;
            /// the array is unchanged. If the device fails, the element is unspecified.
            pub fn set(
                &mut self,
                index: impl $crate::ArrayIndex<$rank>,
                element: &$elem,
            ) -> $crate::Result<()> {
                $crate::__private::set_element(&mut self.__value, index, element)
            }
        }
    };
}
