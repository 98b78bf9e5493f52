//! Operations on values of each type: the functions of `struct fut_type`.

use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

use futhark_sys::table as c;

use crate::context::{Answer, Context, Failure, Transfer};
use crate::types::{POINT, TYPES};
use crate::value::{Array, Part, Value, Word};

/// The places for the results of an operation, and its arguments, as `futhark_table.h` documents them.
#[derive(Clone, Copy)]
pub(crate) struct Lists {
    pub(crate) out: *const *mut c_void,
    pub(crate) input: *const *const c_void,
}

impl Lists {
    /// Argument `i`, which the operation has.
    fn input<A>(self, i: usize) -> *const A {
        // SAFETY: T: there are as many arguments as the operation has.
        let argument = unsafe { self.input.add(i) };
        // SAFETY: T: as above.
        unsafe { argument.read() }.cast()
    }

    /// `n` items to which argument `i` points.
    fn items<'a, A>(self, i: usize, n: usize) -> &'a [A] {
        // SAFETY: T: the argument points to as many items, which stay during the call.
        unsafe { std::slice::from_raw_parts(self.input(i), n) }
    }

    /// Place `i`, which the operation has.
    fn place<R>(self, i: usize) -> *mut R {
        // SAFETY: T: there are as many places as the operation has results.
        let place = unsafe { self.out.add(i) };
        // SAFETY: T: as above.
        unsafe { place.read() }.cast()
    }

    fn write<R>(self, i: usize, result: R) {
        // SAFETY: T: the place is for a result of this type.
        unsafe { self.place::<R>(i).write(result) }
    }

    /// Writes a new value as the first result.
    fn give(self, context: &mut Context, value: Value, ty: u32) {
        // SAFETY: T: the place is for a pointer, and holds NULL.
        if !unsafe { self.place::<*mut c_void>(0).read() }.is_null() {
            let _ = context.breach("a place is not NULL".to_owned());
        }
        self.write(0, context.adopt(value, ty));
    }

    /// Argument `i`: whether a GPU completes the transfer at a later wait.
    fn later(self, context: &Context, i: usize) -> bool {
        context.gpu && self.items::<i32>(i, 1)[0] != 0
    }

    /// A value that does not change during the call, and is read without entering its context.
    fn value<'a>(self) -> &'a Value {
        // SAFETY: T and V: the first argument is a live value.
        unsafe { &*self.input::<Value>(0) }
    }
}

/// The C function of an operation on values of type `T`: runs a function below as a call.
macro_rules! operation {
    ($body:ident, $T:ident) => {{
        unsafe extern "C" fn call<const T: u32>(
            ctx: *mut c::Context,
            out: *const *mut c_void,
            input: *const *const c_void,
        ) -> i32 {
            let body = |context: &mut Context| $body::<T>(context, Lists { out, input });
            // SAFETY: T: the context lives, and the lists are as `futhark_table.h` documents them.
            unsafe { Context::enter(ctx, stringify!($body), body) }
        }
        Some(call::<$T>)
    }};
}
pub(crate) use operation;

/// # Safety
/// `value` is a live value of the fake program.
pub(crate) unsafe extern "C" fn is_shared(value: *const c_void) -> i32 {
    // SAFETY: T and V: a live value; L: no call changes the count meanwhile.
    unsafe { &*value.cast::<Value>() }.is_shared().into()
}

/// # Safety
/// As for the table's `free`. The same applies to `shape` and `raw_memory`.
pub(crate) unsafe extern "C" fn free<const T: u32>(
    ctx: *mut c::Context,
    _out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    // SAFETY: T: one argument, a value.
    let value = unsafe { input.read() };
    // SAFETY: T: the context lives.
    unsafe { Context::free(ctx, value.cast_mut(), T) }
}

/// Does not enter the context, since a shape never changes.
pub(crate) unsafe extern "C" fn shape(
    _ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let lists = Lists { out, input };
    lists.write(0, lists.value().dims().as_ptr());
    c::FUT_OK as i32
}

/// Does not enter the context, since a value's memory does not move.
pub(crate) unsafe extern "C" fn raw_memory(
    _ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let lists = Lists { out, input };
    let array = lists.value().arrays().next();
    lists.write(0, array.map_or(std::ptr::null(), |array| array.address()));
    c::FUT_OK as i32
}

pub(crate) fn duplicate<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    context.wait()?;
    let copy = read(context, "duplicate", lists.input(0), T)?.duplicate();
    context.journal.copies.fetch_add(1, Relaxed);
    context.print("copied a value\n");
    lists.give(context, copy, T);
    Ok(())
}

/// Waits before it returns, so the caller can free the data, as the table promises, unless argument 2
/// says that a later call waits.
pub(crate) fn create<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    let dims = lists.items::<i64>(1, TYPES[T as usize].rank());
    let n = dims.iter().product::<i64>();
    if n < 0 {
        return Err(context.breach(format!("an array of shape {dims:?}")));
    }
    let mut words = vec![Word::UNWRITTEN; n as usize];
    let data = lists.input::<u8>(0);
    // Without data the caller writes the elements.
    if data.is_null() && context.gpu {
        return Err(context.breach("an array without data on a GPU".to_owned()));
    }
    if n != 0 && !data.is_null() {
        // SAFETY: T: as many elements as the dimensions say, which need no alignment.
        unsafe { data.copy_to_nonoverlapping(words.as_mut_ptr().cast(), 4 * words.len()) };
    }
    if lists.later(context, 2) {
        context.start(Transfer::Upload(words.clone(), data));
    } else {
        context.wait()?;
    }
    let array = Value::new(vec![Part::Array(Array::new(dims.to_vec(), words))]);
    lists.give(context, array, T);
    Ok(())
}

pub(crate) fn values<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    let later = lists.later(context, 1);
    if !later {
        context.wait()?;
    }
    // The computation of an element that is transferred later can fail until then.
    let value = match later {
        true => context.find("values", lists.input(0), T)?,
        false => read(context, "values", lists.input(0), T)?,
    };
    let arrays = value.arrays().map(|array| array.memory.borrow());
    let words: Vec<Word> = arrays.flat_map(|memory| memory.words.clone()).collect();
    context.start(Transfer::Download(words, lists.place(0)));
    match later {
        true => Ok(()),
        false => context.wait(),
    }
}

/// A value whose content is read. Reports a violation if its computation failed.
fn read<'a>(
    context: &'a Context,
    what: &str,
    value: *const c_void,
    ty: u32,
) -> Result<&'a Value, Failure> {
    let value = context.find(what, value, ty)?;
    if value.is_invalid() {
        return Err(context.breach(format!("{what} reads the result of a failed computation")));
    }
    if value.has_unwritten() {
        return Err(context.breach(format!("{what} reads elements that were not written")));
    }
    Ok(value)
}

/// The first argument, and the indices that are argument `i`, if in bounds.
fn indexed<const T: u32>(
    context: &Context,
    lists: Lists,
    i: usize,
) -> Result<(&Value, &[i64]), Failure> {
    let value = read(context, "index", lists.input(0), T)?;
    let indices = lists.items::<i64>(i, value.dims().len());
    let inside = |(i, dim): (&i64, &i64)| (0..*dim).contains(i);
    if indices.iter().zip(value.dims()).all(inside) {
        return Ok((value, indices));
    }
    Err(Failure::new(c::FUT_FAILED, 1, "Index out of bounds."))
}

pub(crate) fn index<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    context.wait()?;
    let (value, indices) = indexed::<T>(context, lists, 1)?;
    for array in value.arrays() {
        let word = array.memory.borrow().words[array.offset(indices)];
        lists.write(0, word.0);
    }
    Ok(())
}

pub(crate) fn index_record<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    context.wait()?;
    let (value, indices) = indexed::<T>(context, lists, 1)?;
    let fields = value.arrays().map(|array| {
        let memory = array.memory.borrow();
        Part::Scalar(memory.words[array.offset(indices)])
    });
    let record = Value::new(fields.collect());
    lists.give(context, record, POINT);
    Ok(())
}

/// Changes the value in place, so nothing else may share it, as for a consumed argument.
pub(crate) fn set_record<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    context.wait()?;
    let (value, indices) = indexed::<T>(context, lists, 2)?;
    if value.is_shared() {
        return Err(context.breach("set would overwrite an array that is shared".into()));
    }
    let record = read(context, "set", lists.input(1), POINT)?;
    for (array, field) in value.arrays().zip(&record.parts) {
        if let Part::Scalar(word) = field {
            array.memory.borrow_mut().words[array.offset(indices)] = *word;
        }
    }
    Ok(())
}

/// The data of an array of records is one pointer per element.
pub(crate) fn create_records<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    context.wait()?;
    let n = lists.items::<i64>(1, 1)[0];
    let mut fields = [Vec::new(), Vec::new()];
    for &element in lists.items::<*const c_void>(0, n as usize) {
        let record = read(context, "new", element, POINT)?;
        for (field, part) in fields.iter_mut().zip(&record.parts) {
            if let Part::Scalar(word) = part {
                field.push(*word);
            }
        }
    }
    let parts = fields.map(|words| Part::Array(Array::new(vec![n], words)));
    lists.give(context, Value::new(parts.into()), T);
    Ok(())
}

/// Reads the elements in place, without a copy.
pub(crate) fn columns<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    let value = read(context, "columns", lists.input(0), T)?;
    lists.write(0, columns_of(context, value)?);
    Ok(())
}

/// The caller writes the elements.
pub(crate) fn create_columns<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    let n = lists.items::<i64>(0, 1)[0];
    // Before the runtime allocates anything, so that a failure leaves nothing.
    if n == OUT_OF_MEMORY {
        return Err(Failure::new(c::FUT_MEMORY, 1, "no memory for a column"));
    }
    let column = |_| Array::new(vec![n], vec![Word::UNWRITTEN; n as usize]);
    let parts = TYPES[T as usize].components.iter().map(column);
    let value = Value::new(parts.map(Part::Array).collect());
    lists.write(1, columns_of(context, &value)?);
    lists.give(context, value, T);
    Ok(())
}

/// An array of records of this length does not fit in memory.
pub const OUT_OF_MEMORY: i64 = 4444;

/// All arrays of records of the program have two columns.
fn columns_of(context: &Context, value: &Value) -> Result<[c::Column; 2], Failure> {
    if context.gpu {
        return Err(context.breach("columns in place on a GPU".to_owned()));
    }
    let columns = value.arrays().map(|array| c::Column {
        memory: array.address().cast_mut().cast(),
        shape: array.dims.as_ptr(),
    });
    let columns: Vec<c::Column> = columns.collect();
    Ok(columns.try_into().unwrap_or_else(|_| unreachable!()))
}

pub(crate) fn stored_size<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    let value = context.find("stored_size", lists.input(0), T)?;
    lists.write(0, to_bytes(value, T).len());
    Ok(())
}

pub(crate) fn store<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    context.wait()?;
    let bytes = to_bytes(read(context, "store", lists.input(0), T)?, T);
    // SAFETY: T: the place is for as many bytes as `stored_size` returned for this value.
    unsafe {
        lists
            .place::<u8>(0)
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
    };
    Ok(())
}

pub(crate) fn restore<const T: u32>(context: &mut Context, lists: Lists) -> Answer {
    context.wait()?;
    let mut bytes = lists.input::<u8>(0);
    let mut take = |n: usize| {
        // SAFETY: T: `store` wrote these bytes, and they contain their length.
        let taken = unsafe { std::slice::from_raw_parts(bytes, n) };
        // SAFETY: T: the `n` bytes just read belong to the stored value.
        bytes = unsafe { bytes.add(n) };
        taken.to_vec()
    };
    let mut parts = Vec::new();
    for &(elem, rank) in TYPES[T as usize].components {
        if take(7) != header(elem, rank) {
            return Err(Failure::silent());
        }
        let dims: Vec<i64> = (0..rank)
            .map(|_| i64::from_ne_bytes(take(8).try_into().expect("eight bytes")))
            .collect();
        let n = dims.iter().product::<i64>() as usize;
        let words: Vec<Word> = (0..n)
            .map(|_| Word(take(4).try_into().expect("four bytes")))
            .collect();
        parts.push(match rank {
            0 => Part::Scalar(words[0]),
            _ => Part::Array(Array::new(dims, words)),
        });
    }
    lists.give(context, Value::new(parts), T);
    Ok(())
}

/// Writes each component in the real runtime's format: `b`, version 2, rank, element type,
/// dimensions, elements.
fn to_bytes(value: &Value, ty: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (part, &(elem, rank)) in value.parts.iter().zip(TYPES[ty as usize].components) {
        bytes.extend(header(elem, rank));
        match part {
            Part::Scalar(word) => bytes.extend(word.0),
            Part::Array(array) => {
                bytes.extend(array.dims.iter().flat_map(|dim| dim.to_ne_bytes()));
                bytes.extend(array.memory.borrow().words.iter().flat_map(|word| word.0));
            }
        }
    }
    bytes
}

fn header(elem: u32, rank: u32) -> [u8; 7] {
    let [a, b, c, d] = *if elem == c::FUT_F32 { b" f32" } else { b" i32" };
    [b'b', 2, rank as u8, a, b, c, d]
}
