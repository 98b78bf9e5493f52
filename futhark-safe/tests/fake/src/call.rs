//! The beginning and the end of each function of the table: looks up the arguments in the ledger, and
//! writes the results to their places.

use std::ffi::c_void;

use futhark_sys::table::{self as c, FUT_CONSUMED, FUT_FIRST_TYPE, Slot};

use crate::context::{Answer, Context};
use crate::value::{Array, Part, Value, Word};

/// A call of an entry point, or of an operation that makes values from values.
pub(crate) struct Call<'a> {
    pub(crate) context: &'a mut Context,
    name: &'static str,
    is_entry_point: bool,
    inputs: &'a [Slot],
    outputs: &'a [Slot],
    input: &'a [*const c_void],
    out: &'a [*mut c_void],
}

pub(crate) struct Signature {
    pub(crate) name: &'static str,
    pub(crate) is_entry_point: bool,
    pub(crate) inputs: &'static [Slot],
    pub(crate) outputs: &'static [Slot],
}

/// Runs `body` as the call of a function of the table.
///
/// # Safety
/// `ctx` is a live context, and `out` and `input` are as `futhark_table.h` documents for
/// `signature`. Only breaches that the ledger shows are reported.
pub(crate) unsafe fn run(
    signature: &Signature,
    ctx: *mut c::Context,
    out: *const *mut c_void,
    input: *const *const c_void,
    body: fn(&mut Call<'_>) -> Answer,
) -> i32 {
    let (inputs, outputs) = (signature.inputs, signature.outputs);
    // SAFETY: T: as many results as the signature says.
    let out = unsafe { list(out, outputs.len()) };
    // SAFETY: T: as many arguments as the signature says.
    let input = unsafe { list(input, inputs.len()) };
    let name = signature.name;
    // SAFETY: as the caller promises.
    unsafe {
        Context::enter(ctx, name, |context| {
            let mut call = Call {
                context,
                name,
                is_entry_point: signature.is_entry_point,
                inputs,
                outputs,
                input,
                out,
            };
            call.expect_empty_places()?;
            let answer = call
                .check()
                .and_then(|()| body(&mut call))
                .and_then(|()| call.wait_for_scalars());
            if answer.is_err() {
                call.free_results()?;
            }
            answer
        })
    }
}

/// # Safety
/// `first` points to `n` pointers that live as long as the call.
unsafe fn list<'a, T>(first: *const T, n: usize) -> &'a [T] {
    match n {
        0 => &[],
        // SAFETY: as the caller promises.
        n => unsafe { std::slice::from_raw_parts(first, n) },
    }
}

fn is_value(slot: &Slot) -> bool {
    slot.type_ >= FUT_FIRST_TYPE
}

impl Call<'_> {
    pub(crate) fn int(&self, i: usize) -> i32 {
        self.scalar(i).to_int()
    }

    /// Scalar argument `i`; all scalars of the program have four bytes.
    pub(crate) fn scalar(&self, i: usize) -> Word {
        assert!(!is_value(&self.inputs[i]), "argument {i} is not a scalar");
        // SAFETY: T: this argument points to a scalar.
        unsafe { Word(self.input[i].cast::<[u8; 4]>().read()) }
    }

    /// Argument `i`. The returned value shares its memory.
    pub(crate) fn value(&self, i: usize) -> Value {
        let ty = self.inputs[i].type_ - FUT_FIRST_TYPE;
        match self.context.find(self.name, self.input[i], ty) {
            Ok(value) => value.clone(),
            Err(_) => unreachable!("`check` has found it"),
        }
    }

    /// Part `part` of argument `i`, an array.
    pub(crate) fn array(&self, i: usize, part: usize) -> Array {
        match self.value(i).parts.swap_remove(part) {
            Part::Array(array) => array,
            Part::Scalar(_) => unreachable!("part {part} of argument {i} is a scalar"),
        }
    }

    pub(crate) fn give_scalar(&mut self, i: usize, word: Word) {
        assert!(!is_value(&self.outputs[i]), "result {i} is not a scalar");
        // SAFETY: T: the place is for a scalar.
        unsafe { self.out[i].cast::<[u8; 4]>().write(word.0) }
    }

    pub(crate) fn give_int(&mut self, i: usize, value: i32) {
        self.give_scalar(i, Word::of(value));
    }

    pub(crate) fn give(&mut self, i: usize, parts: Vec<Part>) {
        assert!(is_value(&self.outputs[i]), "result {i} is a scalar");
        let ty = self.outputs[i].type_ - FUT_FIRST_TYPE;
        let pointer = self.context.adopt(Value::new(parts), ty);
        // SAFETY: T: the place is for a value.
        unsafe { self.out[i].cast::<*mut c_void>().write(pointer) }
    }

    /// Returns an array as result `i`, as computed by this call. On a GPU the computation is pending, and
    /// after a failure no more are run.
    pub(crate) fn compute(&mut self, i: usize, array: Array) {
        array.memory.borrow_mut().invalid |= self.context.failing.is_some();
        self.give(i, vec![Part::Array(array)]);
    }

    fn expect_empty_places(&self) -> Answer {
        for (place, slot) in self.out.iter().zip(self.outputs) {
            // SAFETY: T: the place is for a value, and holds NULL.
            if is_value(slot) && !unsafe { place.cast::<*mut c_void>().read() }.is_null() {
                return self.breach("got a place that is not NULL");
            }
        }
        Ok(())
    }

    fn breach(&self, what: &str) -> Answer {
        Err(self.context.breach(format!("{} {what}", self.name)))
    }

    /// Reports breaches by the caller.
    fn check(&self) -> Answer {
        let slots = self.inputs.iter().enumerate();
        for (i, slot) in slots.filter(|(_, slot)| is_value(slot)) {
            let ty = slot.type_ - FUT_FIRST_TYPE;
            let value = self.context.find(self.name, self.input[i], ty)?;
            if slot.flags & FUT_CONSUMED != 0 && value.is_shared() {
                return self.breach(&format!("would overwrite argument {i}, which is shared"));
            }
            if value.has_unwritten() {
                return self.breach("got elements that were not written");
            }
            if self.context.failing.is_none() && value.is_invalid() {
                return self.breach("got the result of a failed computation");
            }
        }
        Ok(())
    }

    /// Waits, unless all results are arrays, which can be pending.
    fn wait_for_scalars(&mut self) -> Answer {
        if self.outputs.is_empty() || !self.outputs.iter().all(is_value) {
            return self.context.wait();
        }
        self.context.leaves = self.context.gpu && self.is_entry_point;
        Ok(())
    }

    /// After a failure: frees the results and clears their places.
    fn free_results(&mut self) -> Answer {
        for (&place, slot) in self.out.iter().zip(self.outputs) {
            if is_value(slot) {
                let place = place.cast::<*mut c_void>();
                // SAFETY: T: the place holds NULL or what `give` wrote.
                let value = unsafe { place.replace(std::ptr::null_mut()) };
                if !value.is_null() {
                    let ty = slot.type_ - FUT_FIRST_TYPE;
                    self.context.release("freeing results", value, ty)?;
                }
            }
        }
        Ok(())
    }
}

/// Overwrites consumed memory, unless a pending failure prevents the computation.
pub(crate) fn overwrite(call: &Call<'_>, array: &Array, change: impl FnOnce(&mut Vec<Word>)) {
    let mut memory = array.memory.borrow_mut();
    if call.context.failing.is_some() {
        memory.invalid = true;
    } else {
        change(&mut memory.words);
    }
}
