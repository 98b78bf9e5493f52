//! Operations on values of each type: the functions of `struct fut_type`.

use std::ffi::c_void;

use futhark_sys::table as c;

use crate::context::{Context, Failure, Transfer};
use crate::types::{POINT, TYPES};
use crate::value::{Array, Part, Value, Word};

/// Item `i` of a call's list of places or arguments.
///
/// # Safety
///
/// The list has more than `i` items.
unsafe fn at<T: Copy>(list: *const T, i: usize) -> T {
    // SAFETY: as the caller promises.
    let place = unsafe { list.add(i) };
    // SAFETY: the caller promises that item `i` exists.
    unsafe { place.read() }
}

/// # Safety
///
/// `value` is a live value of the fake program.
pub(crate) unsafe extern "C" fn references(value: *const c_void) -> i32 {
    // SAFETY: T and V: a live value; L: no call changes the count meanwhile.
    unsafe { &*value.cast::<Value>() }.references()
}

/// # Safety
///
/// As for the table's `free`. The same applies to every operation below.
pub(crate) unsafe extern "C" fn free<const T: u32>(
    ctx: *mut c::Context,
    _out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    // SAFETY: T: one argument, a value.
    let value = unsafe { at(input, 0) };
    // SAFETY: T: the context lives.
    unsafe { Context::free(ctx, value.cast_mut(), T) }
}

/// Does not enter the context, since a shape never changes.
pub(crate) unsafe extern "C" fn shape(
    _ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    // SAFETY: T: one argument.
    let value = unsafe { at(input, 0) };
    // SAFETY: V: a live value.
    let dims = unsafe { &*value.cast::<Value>() }.dims().as_ptr();
    // SAFETY: T: one result.
    let place = unsafe { at(out, 0) };
    // SAFETY: T: the place is for a pointer.
    unsafe { place.cast::<*const i64>().write(dims) };
    c::FUT_OK as i32
}

/// Does not enter the context, since a value's memory does not move.
pub(crate) unsafe extern "C" fn raw_memory(
    _ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    // SAFETY: T: one argument.
    let value = unsafe { at(input, 0) };
    // SAFETY: V: a live value.
    let array = unsafe { &*value.cast::<Value>() }.arrays().next();
    let memory = array.map_or(std::ptr::null(), |array| array.address());
    // SAFETY: T: one result.
    let place = unsafe { at(out, 0) };
    // SAFETY: T: the place is for a pointer.
    unsafe { place.cast::<*const c_void>().write(memory.cast()) };
    c::FUT_OK as i32
}

pub(crate) unsafe extern "C" fn duplicate<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        context.wait()?;
        // SAFETY: T: one argument.
        let value = unsafe { at(input, 0) };
        let copy = read(context, "duplicate", value, T)?.duplicate();
        context.journal.count_copy();
        context.print("copied a value\n");
        // SAFETY: T: one result.
        unsafe { give(context, out, copy, T) }
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "duplicate", body) }
}

/// Waits before it returns, so the caller can free the data, as the table promises, unless argument 2
/// says that a later call waits.
pub(crate) unsafe extern "C" fn create<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        // SAFETY: T: the second argument.
        let dims = unsafe { at(input, 1) };
        // SAFETY: T: as many dimensions as the rank says.
        let dims =
            unsafe { std::slice::from_raw_parts(dims.cast::<i64>(), TYPES[T as usize].rank()) };
        let n = dims.iter().product::<i64>();
        if n < 0 {
            return Err(context.breach(format!("an array of shape {dims:?}")));
        }
        let mut words = vec![Word::UNWRITTEN; n as usize];
        // SAFETY: T: the first argument.
        let data = unsafe { at(input, 0) }.cast::<u8>();
        // Without data the caller writes the elements.
        if data.is_null() && context.gpu {
            return Err(context.breach("an array without data on a GPU".to_owned()));
        }
        if n != 0 && !data.is_null() {
            // SAFETY: T: as many elements as the dimensions say, which need no alignment.
            unsafe { data.copy_to_nonoverlapping(words.as_mut_ptr().cast(), 4 * words.len()) };
        }
        // SAFETY: T: arrays of scalars have a third argument.
        if unsafe { later(context, input, 2) } {
            context.start(Transfer::Upload(words.clone(), data));
        } else {
            context.wait()?;
        }
        let array = Value::new(vec![Part::Array(Array::new(dims.to_vec(), words))]);
        // SAFETY: T: one result.
        unsafe { give(context, out, array, T) }
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "create", body) }
}

pub(crate) unsafe extern "C" fn values<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        // SAFETY: T: the second argument.
        let later = unsafe { later(context, input, 1) };
        if !later {
            context.wait()?;
        }
        // SAFETY: T: the first argument.
        let value = unsafe { at(input, 0) };
        // The computation of an element that is transferred later can fail until then.
        let value = match later {
            true => context.find("values", value, T)?,
            false => read(context, "values", value, T)?,
        };
        let arrays = value.arrays().map(|array| array.memory.borrow());
        let words: Vec<Word> = arrays.flat_map(|memory| memory.words.clone()).collect();
        // SAFETY: T: one result.
        let place = unsafe { at(out, 0) }.cast::<u8>();
        context.start(Transfer::Download(words, place));
        match later {
            true => Ok(()),
            false => context.wait(),
        }
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "values", body) }
}

/// Argument `i`: whether a GPU completes the transfer at a later wait.
///
/// # Safety
///
/// The call has this argument.
unsafe fn later(context: &Context, input: *const *const c_void, i: usize) -> bool {
    // SAFETY: as the caller promises.
    let later = unsafe { at(input, i) }.cast::<i32>();
    // SAFETY: T: a number.
    let later = unsafe { later.read() };
    context.gpu && later != 0
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

/// A value, and the indices that are argument `i`, if in bounds.
///
/// # Safety
///
/// The call has these arguments.
unsafe fn indexed<const T: u32>(
    context: &Context,
    input: *const *const c_void,
    i: usize,
) -> Result<(&Value, &[i64]), Failure> {
    // SAFETY: T: the first argument.
    let value = unsafe { at(input, 0) };
    let value = read(context, "index", value, T)?;
    // SAFETY: T: as the caller promises.
    let indices = unsafe { at(input, i) }.cast::<i64>();
    // SAFETY: T: as many as the rank says.
    let indices = unsafe { std::slice::from_raw_parts(indices, value.dims().len()) };
    let inside = |(i, dim): (&i64, &i64)| (0..*dim).contains(i);
    if indices.iter().zip(value.dims()).all(inside) {
        return Ok((value, indices));
    }
    Err(Failure::new(c::FUT_FAILED, 1, "Index out of bounds."))
}

pub(crate) unsafe extern "C" fn index<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        context.wait()?;
        // SAFETY: T: the second argument is the indices.
        let (value, indices) = unsafe { indexed::<T>(context, input, 1) }?;
        // SAFETY: T: one result.
        let place = unsafe { at(out, 0) }.cast::<[u8; 4]>();
        for array in value.arrays() {
            let word = array.memory.borrow().words[array.offset(indices)];
            // SAFETY: T: the place is for an element.
            unsafe { place.write(word.0) };
        }
        Ok(())
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "index", body) }
}

pub(crate) unsafe extern "C" fn index_record<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        context.wait()?;
        // SAFETY: T: the second argument is the indices.
        let (value, indices) = unsafe { indexed::<T>(context, input, 1) }?;
        let fields = value.arrays().map(|array| {
            let memory = array.memory.borrow();
            Part::Scalar(memory.words[array.offset(indices)])
        });
        let record = Value::new(fields.collect());
        // SAFETY: T: one result.
        unsafe { give(context, out, record, POINT) }
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "index", body) }
}

/// Changes the value in place, so nothing else may share it, as for a consumed argument.
pub(crate) unsafe extern "C" fn set_record<const T: u32>(
    ctx: *mut c::Context,
    _out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        context.wait()?;
        // SAFETY: T: the third argument is the indices.
        let (value, indices) = unsafe { indexed::<T>(context, input, 2) }?;
        if value.references() > 1 {
            return Err(context.breach("set would overwrite an array that is shared".into()));
        }
        // SAFETY: T: the second argument is an element.
        let record = unsafe { at(input, 1) };
        let record = read(context, "set", record, POINT)?;
        for (array, field) in value.arrays().zip(&record.parts) {
            if let Part::Scalar(word) = field {
                array.memory.borrow_mut().words[array.offset(indices)] = *word;
            }
        }
        Ok(())
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "set", body) }
}

/// The data of an array of records is one pointer per element.
pub(crate) unsafe extern "C" fn create_records<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        context.wait()?;
        // SAFETY: T: the second argument is the dimensions.
        let dims = unsafe { at(input, 1) }.cast::<i64>();
        // SAFETY: T: one dimension for rank 1.
        let n = unsafe { at(dims, 0) };
        // SAFETY: T: the first argument.
        let elements = unsafe { at(input, 0) }.cast::<*const c_void>();
        let mut fields = [Vec::new(), Vec::new()];
        for i in 0..n as usize {
            // SAFETY: T: as many elements as the dimensions say.
            let element = unsafe { at(elements, i) };
            let record = read(context, "new", element, POINT)?;
            for (field, part) in fields.iter_mut().zip(&record.parts) {
                if let Part::Scalar(word) = part {
                    field.push(*word);
                }
            }
        }
        let parts = fields.map(|words| Part::Array(Array::new(vec![n], words)));
        // SAFETY: T: one result.
        unsafe { give(context, out, Value::new(parts.into()), T) }
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "new", body) }
}

/// Reads the elements in place, without a copy.
pub(crate) unsafe extern "C" fn columns<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        // SAFETY: T: one argument.
        let value = unsafe { at(input, 0) };
        let columns = columns_of(context, read(context, "columns", value, T)?)?;
        // SAFETY: T: the place of the columns.
        unsafe { give_columns(out, 0, &columns) };
        Ok(())
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "columns", body) }
}

/// The caller writes the elements.
pub(crate) unsafe extern "C" fn create_columns<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        // SAFETY: T: one argument, the dimensions.
        let dims = unsafe { at(input, 0) }.cast::<i64>();
        // SAFETY: T: one dimension for rank 1.
        let n = unsafe { at(dims, 0) };
        // Before the runtime allocates anything, so that a failure leaves nothing.
        if n == OUT_OF_MEMORY {
            return Err(Failure::new(c::FUT_MEMORY, 1, "no memory for a column"));
        }
        let column = |_| Array::new(vec![n], vec![Word::UNWRITTEN; n as usize]);
        let parts = TYPES[T as usize].components.iter().map(column);
        let value = Value::new(parts.map(Part::Array).collect());
        let columns = columns_of(context, &value)?;
        // SAFETY: T: the place of the columns.
        unsafe { give_columns(out, 1, &columns) };
        // SAFETY: T: the place of the result.
        unsafe { give(context, out, value, T) }
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "create_columns", body) }
}

/// An array of records of this length does not fit in memory.
pub const OUT_OF_MEMORY: i64 = 4444;

fn columns_of(context: &Context, value: &Value) -> Result<Vec<c::Column>, Failure> {
    if context.gpu {
        return Err(context.breach("columns in place on a GPU".to_owned()));
    }
    let column = |array: &Array| c::Column {
        memory: array.address().cast_mut().cast(),
        shape: array.dims.as_ptr(),
    };
    Ok(value.arrays().map(column).collect())
}

/// # Safety
///
/// Item `i` of `out` is a place for these columns.
unsafe fn give_columns(out: *const *mut c_void, i: usize, columns: &[c::Column]) {
    // SAFETY: as the caller promises.
    let place = unsafe { at(out, i) }.cast::<c::Column>();
    // SAFETY: as the caller promises.
    unsafe { place.copy_from_nonoverlapping(columns.as_ptr(), columns.len()) };
}

pub(crate) unsafe extern "C" fn stored_size<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        // SAFETY: T: one argument.
        let value = unsafe { at(input, 0) };
        let size = to_bytes(context.find("stored_size", value, T)?, T).len();
        // SAFETY: T: one result.
        let place = unsafe { at(out, 0) };
        // SAFETY: T: the place is for a size.
        unsafe { place.cast::<usize>().write(size) };
        Ok(())
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "stored_size", body) }
}

pub(crate) unsafe extern "C" fn store<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        context.wait()?;
        // SAFETY: T: one argument.
        let value = unsafe { at(input, 0) };
        let bytes = to_bytes(read(context, "store", value, T)?, T);
        // SAFETY: T: one result.
        let place = unsafe { at(out, 0) }.cast::<u8>();
        // SAFETY: T: the place is for as many bytes as `stored_size` returned for this value.
        unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "store", body) }
}

pub(crate) unsafe extern "C" fn restore<const T: u32>(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        context.wait()?;
        // SAFETY: T: one argument.
        let mut bytes = unsafe { at(input, 0) }.cast::<u8>();
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
        // SAFETY: T: one result.
        unsafe { give(context, out, Value::new(parts), T) }
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "restore", body) }
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

/// Writes a new value to the place of a call's one result.
///
/// # Safety
///
/// `out` has one place, for a value.
unsafe fn give(
    context: &mut Context,
    out: *const *mut c_void,
    value: Value,
    ty: u32,
) -> Result<(), Failure> {
    let pointer = context.adopt(value, ty);
    // SAFETY: as the caller promises.
    let place = unsafe { at(out, 0) };
    // SAFETY: the caller promises that this is the place of a value.
    unsafe { place.cast::<*mut c_void>().write(pointer) };
    Ok(())
}
