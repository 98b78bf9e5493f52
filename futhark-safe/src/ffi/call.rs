//! Calls of entry points and of operations on values, checked.

use std::borrow::Cow;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::Arc;

use futhark_sys::table::{self as c, FUT_CONSUMED, FUT_FIRST_TYPE};

use super::consume::make_unique;
use super::core::{Copied, Core, Failed, Locked, Stage};
use super::failure::Serial;
use super::handle::{Handle, returned};
use super::shape::describe;
use super::trace;
use crate::elem::{Element, Scalar8};
use crate::error::{Error, ErrorKind, Result, counted};

/// An argument of a call.
pub struct Input<'a>(In<'a>);

// With a tag of its own. One in unused bits of the handle takes more instructions to read, for every
// argument of every call.
#[repr(u32)]
enum In<'a> {
    Scalar(u32, Scalar8),
    Observed(&'a Handle),
    Consumed(Handle),
    /// Consumed like `Consumed`, but only by a call that starts; spent afterwards.
    ByMut(&'a mut Handle),
    /// The place of a `Consumed` after its call.
    Gone,
}

impl<'a> Input<'a> {
    #[must_use]
    pub(crate) fn scalar<T: Element>(value: T) -> Input<'a> {
        Input(In::Scalar(T::ELEM as u32, value.to_c()))
    }

    /// A scalar whose type is known at run time.
    #[cfg(feature = "dynamic")]
    pub(crate) fn scalar_bytes(elem: futhark_manifest::ElemType, bytes: Scalar8) -> Input<'a> {
        Input(In::Scalar(elem as u32, bytes))
    }

    /// A value that the call only reads.
    #[must_use]
    pub(crate) fn observed(value: &'a Handle) -> Input<'a> {
        Input(In::Observed(value))
    }

    /// A value that the call may overwrite. It is freed after the call, also on errors.
    #[must_use]
    pub(crate) fn consumed(value: Handle) -> Input<'a> {
        Input(In::Consumed(value))
    }

    /// A value that the call may overwrite, which the caller keeps if the call is refused before it
    /// starts. Otherwise it is spent after the call, also on errors.
    #[must_use]
    pub(crate) fn consumed_in_place(value: &'a mut Handle) -> Input<'a> {
        Input(In::ByMut(value))
    }

    fn type_number(&self) -> u32 {
        match (&self.0, self.handle()) {
            (In::Scalar(elem, _), _) => *elem,
            (_, Some(handle)) => FUT_FIRST_TYPE + handle.ty(),
            (_, None) => u32::MAX,
        }
    }

    fn handle(&self) -> Option<&Handle> {
        match &self.0 {
            In::Scalar(..) | In::Gone => None,
            In::Observed(handle) => Some(handle),
            In::Consumed(handle) => Some(handle),
            In::ByMut(handle) => Some(handle),
        }
    }

    /// The handle, if the call may overwrite its value.
    fn handle_to_consume(&mut self) -> Option<&mut Handle> {
        match &mut self.0 {
            In::Scalar(..) | In::Gone | In::Observed(_) => None,
            In::Consumed(handle) => Some(handle),
            In::ByMut(handle) => Some(handle),
        }
    }

    /// The sizes of its arrays, for traces.
    #[cfg(feature = "tracing")]
    pub(super) fn sizes(&self) -> Option<String> {
        self.handle().map(describe)
    }

    /// The pointer for C, of an argument for `slot` of a function of `core`. Null if `Core::refusal` has an
    /// error for it.
    #[inline]
    fn pointer(&self, slot: &c::Slot, core: &Arc<Core>) -> *const c_void {
        let handle = match &self.0 {
            In::Scalar(ty, bytes) if *ty == slot.type_ => return std::ptr::from_ref(bytes).cast(),
            In::Observed(handle) if slot.flags & FUT_CONSUMED == 0 => *handle,
            In::Consumed(handle) => handle,
            In::ByMut(handle) => &**handle,
            In::Scalar(..) | In::Observed(_) | In::Gone => return std::ptr::null(),
        };
        if FUT_FIRST_TYPE + handle.ty() != slot.type_ || !Arc::ptr_eq(handle.core(), core) {
            return std::ptr::null();
        }
        handle.value_or_null()
    }
}

/// The place for a result of a call.
pub struct Output<'a>(Out<'a>);

#[repr(u32)] // as for `In`
enum Out<'a> {
    Scalar(u32, *mut c_void, PhantomData<&'a mut Scalar8>),
    Value(u32, &'a mut Option<Handle>),
}

impl<'a> Output<'a> {
    pub(crate) fn scalar(elem: futhark_manifest::ElemType, place: &'a mut Scalar8) -> Output<'a> {
        Output(Out::Scalar(
            elem as u32,
            std::ptr::from_mut(place).cast(),
            PhantomData,
        ))
    }

    /// A place for a value of type `types()[ty]`, which is `Some` after the call succeeded.
    pub(crate) fn value(ty: u32, place: &'a mut Option<Handle>) -> Output<'a> {
        Output(Out::Value(ty, place))
    }

    fn type_number(&self) -> u32 {
        match self.0 {
            Out::Scalar(elem, ..) => elem,
            Out::Value(ty, _) => FUT_FIRST_TYPE + ty,
        }
    }
}

/// The lists of a call with at most this many arguments and results are not on the heap. They are not initialised,
/// since writing them takes as long as checking the arguments.
const FEW: usize = 8;

/// The arguments of a call. When it ends, in whatever way, this frees those that the call owns, so the list
/// needs no destructor.
struct Inputs<'l, 'a> {
    list: &'l mut [Input<'a>],
    /// Arguments are owned, or may be.
    owned: bool,
    copied: bool,
}

impl Drop for Inputs<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if self.owned {
            clear_owned(self.list);
        }
    }
}

impl Core {
    /// Calls function number `function` of the table.
    ///
    /// Consumed arguments that share memory with other values are copied first (see `consume`).
    /// They are freed afterwards, also on errors, except those
    /// [in place](Input::consumed_in_place) of a call that is refused before it starts.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: a wrong number or type of arguments, or one that is spent.
    /// [`ErrorKind::WrongContext`]. Otherwise the failure of the call.
    pub(crate) fn call(
        self: &Arc<Core>,
        function: usize,
        inputs: &mut [Input<'_>],
        outputs: &mut [Output<'_>],
    ) -> Result<()> {
        let mut inputs = Inputs {
            list: inputs,
            owned: true,
            copied: false,
        };
        let n_in = inputs.list.len();
        let result = match n_in > FEW || outputs.len() > FEW {
            true => self.call_with_long_lists(function, &mut inputs, outputs),
            false => {
                let mut arguments = [const { MaybeUninit::uninit() }; FEW];
                let mut places = [const { MaybeUninit::uninit() }; FEW];
                let mut values = [const { MaybeUninit::uninit() }; FEW];
                let n_out = outputs.len();
                let arguments = &mut arguments[..n_in];
                let (places, values) = (&mut places[..n_out], &mut values[..n_out]);
                self.call_with(function, &mut inputs, outputs, arguments, places, values)
            }
        };
        let copied = inputs.copied;
        drop(inputs);
        if copied {
            trace::copied(self.table().functions()[function].label());
        }
        result
    }

    /// As [`call`](Self::call). The arguments are not looked at after the call, which takes as long as its check
    /// for errors.
    #[inline]
    pub(crate) fn call_by_value<const N: usize>(
        self: &Arc<Core>,
        function: usize,
        inputs: [Input<'_>; N],
        outputs: &mut [Output<'_>],
    ) -> Result<()> {
        // `Inputs` frees what they own.
        self.call(function, &mut *ManuallyDrop::new(inputs), outputs)
    }

    #[cold]
    fn call_with_long_lists(
        self: &Arc<Core>,
        function: usize,
        inputs: &mut Inputs<'_, '_>,
        outputs: &mut [Output<'_>],
    ) -> Result<()> {
        let arguments = &mut Box::new_uninit_slice(inputs.list.len());
        let places = &mut Box::new_uninit_slice(outputs.len());
        let values = &mut Box::new_uninit_slice(outputs.len());
        self.call_with(function, inputs, outputs, arguments, places, values)
    }

    /// For C, `arguments` has the pointers to the arguments, and `places` those to the places of the results: scalars
    /// are written directly to theirs, and values to `values`. The lists are as long as `all` and `outputs`.
    #[inline(always)] // Two callers, one of them cold.
    fn call_with(
        self: &Arc<Core>,
        number: usize,
        all: &mut Inputs<'_, '_>,
        outputs: &mut [Output<'_>],
        arguments: &mut [MaybeUninit<*const c_void>],
        places: &mut [MaybeUninit<*mut c_void>],
        values: &mut [MaybeUninit<*mut c_void>],
    ) -> Result<()> {
        let Some(function) = self.table().functions().get(number) else {
            return Err(no_function());
        };
        let inputs = &mut *all.list;
        let (parameters, results) = (function.inputs(), function.outputs());
        if inputs.len() != parameters.len() || outputs.len() != results.len() {
            return Err(wrong_number(function, inputs.len(), outputs.len()));
        }
        // All checks, in one pass over the arguments and one over the places.
        let (mut fine, mut owned, mut consumes, mut has_values) = (true, false, false, false);
        for ((place, input), slot) in arguments.iter_mut().zip(&*inputs).zip(parameters) {
            let pointer = input.pointer(slot, self);
            place.write(pointer);
            fine &= !pointer.is_null();
            if !matches!(input.0, In::Scalar(..)) {
                owned |= matches!(input.0, In::Consumed(_));
                consumes |= slot.flags & FUT_CONSUMED != 0;
            }
        }
        let slots = outputs.iter_mut().zip(results).zip(&mut *values);
        for (place, ((output, slot), value)) in places.iter_mut().zip(slots) {
            fine &= output.type_number() == slot.type_;
            place.write(match &mut output.0 {
                Out::Scalar(_, place, _) => *place,
                Out::Value(_, old) => {
                    has_values = true;
                    fine &= old.is_none();
                    std::ptr::from_mut::<*mut c_void>(value.write(std::ptr::null_mut())).cast()
                }
            });
        }
        if !fine {
            return Err(self.refusal(function, inputs, outputs));
        }
        all.owned = owned;
        let _span = trace::call(self, || function.label(), inputs);

        let mut locked = self.locked();
        locked.check(inputs.iter().filter_map(Input::handle))?;
        if consumes {
            self.make_all_unique(&mut locked, number, inputs, arguments, &mut all.copied)?;
        }

        let call = function.raw().call.expect("every function can be called");
        // SAFETY: T and L. The number and types of all arguments are the function's: scalars point to
        // eight bytes, values are live (V) and belong to this context, and each result has a place of its
        // type.
        let called = unsafe {
            locked.try_call(
                call,
                places.as_ptr().cast(),
                arguments.as_ptr().cast(),
                || Cow::Borrowed(function.label()),
            )
        };
        if let Err(failed) = called {
            return Err(failure(&mut locked, number, inputs, failed));
        }
        let serial = match self.table().is_gpu() {
            true => self.serial_of_results(&mut locked, function, inputs),
            false => 0,
        };
        if has_values {
            for (output, value) in outputs.iter_mut().zip(values) {
                if let Out::Value(ty, place) = &mut output.0 {
                    // SAFETY: the place of a value was written above.
                    let value = unsafe { value.assume_init_read() };
                    let value = returned(value, || function.label().into())?;
                    locked.hold(serial);
                    // SAFETY: T: after success each place for a value holds a new one of the slot's
                    // type, which is equal to `ty`.
                    let handle = unsafe { Handle::new(Arc::clone(self), value, *ty, serial) };
                    // The place was empty before the call. To free a value here would take other locks.
                    std::mem::forget(place.replace(handle));
                }
            }
        }
        if consumes {
            // Last: it frees values, and a failure of that concerns the results too.
            spend(&mut locked, number, inputs, false);
        }
        Ok(())
    }

    /// Makes each argument that the call may overwrite the only reference to its memory, and writes the
    /// pointers to the arguments again.
    #[inline(never)] // It would take registers from calls that consume nothing.
    fn make_all_unique(
        self: &Arc<Core>,
        locked: &mut Locked<'_>,
        number: usize,
        inputs: &mut [Input<'_>],
        arguments: &mut [MaybeUninit<*const c_void>],
        copied: &mut bool,
    ) -> Result<()> {
        let function = &self.table().functions()[number];
        let operation = || Cow::Borrowed(function.label());
        let parameters = function.inputs();
        for (i, (input, slot)) in inputs.iter_mut().zip(parameters).enumerate() {
            if slot.flags & FUT_CONSUMED != 0
                && let Some(handle) = input.handle_to_consume()
            {
                *copied |= make_unique(locked, handle, Copied::Argument(number, i), operation)?;
            }
        }
        // Copies have other pointers.
        for ((place, input), slot) in arguments.iter_mut().zip(inputs).zip(parameters) {
            let pointer = input.pointer(slot, self);
            debug_assert!(!pointer.is_null(), "a copy fits where its original did");
            place.write(pointer);
        }
        Ok(())
    }

    /// On GPU backends: the serial of the results of a call that succeeded (see `failure`).
    #[inline(never)] // It would take registers from calls on host backends.
    fn serial_of_results(
        &self,
        locked: &mut Locked<'_>,
        function: &c::Function,
        inputs: &[Input<'_>],
    ) -> Serial {
        if !function.is_entry_point() {
            // Parts of values, or values made of them: complete when those are.
            let serials = inputs.iter().filter_map(Input::handle).map(Handle::serial);
            return serials.max().unwrap_or(0);
        }
        let outputs = function.outputs();
        if outputs.is_empty() || outputs.iter().any(|slot| slot.type_ < FUT_FIRST_TYPE) {
            // The C side has waited for them.
            return 0;
        }
        locked.start(function.label())
    }

    /// The error for the first argument or place that does not fit the function.
    #[cold]
    fn refusal(
        &self,
        function: &c::Function,
        inputs: &[Input<'_>],
        outputs: &[Output<'_>],
    ) -> Error {
        let (parameters, results) = (function.inputs(), function.outputs());
        let label = function.label();
        for (i, (input, slot)) in inputs.iter().zip(parameters).enumerate() {
            let got = input.type_number();
            if got != slot.type_ {
                return self.wrong_type(label, &format!("argument {i}"), slot.type_, got);
            }
            if let Some(handle) = input.handle() {
                if handle.is_spent() {
                    let what = match function.is_entry_point() || inputs.len() > 1 {
                        true => format!("argument {i}"),
                        // A method of the value, such as a field.
                        false => "the value".to_owned(),
                    };
                    return handle.spent(label, &what);
                }
                if !std::ptr::eq(Arc::as_ptr(handle.core()), self) {
                    return wrong_context(label, &format!("argument {i}"));
                }
                if slot.flags & FUT_CONSUMED != 0 && matches!(input.0, In::Observed(_)) {
                    return not_consumed(function, i);
                }
            }
        }
        for (i, (output, slot)) in outputs.iter().zip(results).enumerate() {
            let got = output.type_number();
            if got != slot.type_ {
                return self.wrong_type(label, &format!("result {i}"), slot.type_, got);
            }
        }
        // All else fits. To free it here could take other locks.
        Error::invalid(label, "the place of a result has a value already")
    }

    fn type_name(&self, number: u32) -> &'static str {
        match number.checked_sub(FUT_FIRST_TYPE) {
            None => futhark_manifest::ElemType::ALL
                .get(number as usize)
                .map_or("?", |elem| elem.as_str()),
            Some(i) => self
                .table()
                .types()
                .get(i as usize)
                .map_or("?", c::Type::name),
        }
    }

    #[cold]
    pub(super) fn wrong_type(
        &self,
        operation: &'static str,
        what: &str,
        expected: u32,
        got: u32,
    ) -> Error {
        let message = format!(
            "expected {what} of type {}, got {}",
            self.type_name(expected),
            self.type_name(got)
        );
        Error::invalid(operation, message)
    }
}

/// Frees the values that the call of `function` has consumed in place. Comes while the lock is still
/// held, so the results share no memory with them when the next call counts references.
fn spend(locked: &mut Locked<'_>, function: usize, inputs: &mut [Input<'_>], failed: bool) {
    let slots = locked.table().functions()[function].inputs();
    for (input, slot) in inputs.iter_mut().zip(slots) {
        if slot.flags & FUT_CONSUMED != 0
            && let In::ByMut(handle) = &mut input.0
        {
            handle.spend(locked, function, failed);
        }
    }
}

/// The error of a call that failed, after which it spends what the call has consumed in place.
#[cold]
fn failure(
    locked: &mut Locked<'_>,
    number: usize,
    inputs: &mut [Input<'_>],
    failed: Failed,
) -> Error {
    let function = &locked.table().functions()[number];
    let Failed { error, stage } = failed;
    let error = match error.kind() {
        ErrorKind::Backend if !function.is_entry_point() => {
            error.into_kind_if_silent(ErrorKind::InvalidArgument)
        }
        ErrorKind::Program if stage == Stage::Sizes => error.with_words(sizes(function, inputs)),
        _ => error,
    };
    if stage == Stage::Started {
        spend(locked, number, inputs, true);
    }
    error
}

/// Drops the arguments that the call owned: the caller keeps the list, and could pass it again.
#[inline(never)]
fn clear_owned(inputs: &mut [Input<'_>]) {
    for input in inputs {
        if let In::Consumed(_) = input.0 {
            input.0 = In::Gone;
        }
    }
}

#[cold]
fn no_function() -> Error {
    Error::invalid("call", "the program has no function of this number")
}

#[cold]
fn wrong_number(function: &c::Function, inputs: usize, outputs: usize) -> Error {
    let message = format!(
        "expected {} and {}, got {inputs} and {outputs}",
        counted(function.inputs().len(), "argument"),
        counted(function.outputs().len(), "result")
    );
    Error::invalid(function.label(), message)
}

/// The message for arguments whose sizes disagree.
#[cold]
fn sizes(function: &c::Function, inputs: &[Input<'_>]) -> String {
    let arguments = inputs.iter().zip(function.parameter_names()).enumerate();
    let sizes = arguments.filter_map(|(i, (input, name))| {
        let shapes = describe(input.handle()?);
        let name = name.map_or(String::new(), |name| format!(" `{name}`"));
        (!shapes.is_empty()).then(|| format!("argument {i}{name} is {shapes}"))
    });
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    format!("the sizes of the arguments do not match ({sizes})")
}

#[cold]
pub(super) fn wrong_context(operation: &'static str, what: &str) -> Error {
    let message = format!("{what} belongs to another context; values cannot pass between contexts");
    Error::new(ErrorKind::WrongContext, operation, message)
}

#[cold]
fn not_consumed(function: &c::Function, i: usize) -> Error {
    let message = format!(
        "the call consumes argument {i}: pass it by value or by mutable reference, not by reference"
    );
    Error::invalid(function.label(), message)
}
