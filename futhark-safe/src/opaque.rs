//! Opaque values, which are all but scalars and arrays of scalars, and arrays of them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::DerefMut;

use futhark_manifest::ElemType;

use crate::array::{Array, ArrayIndex, for_c};
use crate::call::{HasArray, ProgramValue, Receive, Value};
use crate::context::{Context, Program};
use crate::elem::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{self, Handle, NewArray, Output};

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

    fn finish(output: &mut Output) -> Self {
        Opaque::from_handle(output.take_handle()).into()
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

impl<G: OpaqueTag> ProgramValue for G {
    type Program = G::Program;
}

impl<G: OpaqueTag> fmt::Debug for Opaque<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.debug(f, G::NAME)
    }
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

        #[diagnostic::do_not_recommend]
        impl $crate::Observed<$name> for $name {
            fn hold(&self, _: &$crate::Context<$program>) -> $crate::Result<$crate::__private::Held<'_, $name>> {
                Ok($crate::__private::Held::Lent(self))
            }
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

/// Lets calls that read a value of a type take host data, of which a constructor of the type makes one.
#[doc(hidden)]
#[macro_export]
macro_rules! __observed_as {
    ($data:ty, $value:ident, $make:ident, $($copy:tt)?) => {
        #[diagnostic::do_not_recommend]
        impl $crate::Observed<$value> for $data {
            fn hold(
                &self,
                context: &$crate::Context<<$value as $crate::OpaqueTag>::Program>,
            ) -> $crate::Result<$crate::__private::Held<'_, $value>> {
                $value::$make(context, $($copy)? self).map($crate::__private::Held::Made)
            }
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
