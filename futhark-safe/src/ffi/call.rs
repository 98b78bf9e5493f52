//! Calls of entry points and of operations on values, checked.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use futhark_manifest::ElemType;
use futhark_sys::table::{self as c, FUT_CONSUMED, FUT_CONSUMES, FUT_FIRST_TYPE};

use super::array::describe;
use super::context::{Core, Failed, Locked};
use super::progress::order;
use super::sync::Arc;
use super::trace::{self, Copied};
use super::value::{Handle, returned};
use crate::elem::Scalar8;
use crate::error::{Error, ErrorKind, Result, counted};

/// An argument of a call. A call checks its type and its context.
pub enum Input<'a> {
    /// A scalar.
    Scalar(ScalarInput),
    /// A value that the call only reads.
    Observed(&'a Handle),
    /// A value that the call may overwrite. It is freed after the call, also on errors.
    Consumed(Handle),
    /// A value that the call may overwrite, which the caller keeps if the call is refused before it
    /// starts. Otherwise it is spent after the call, also on errors.
    ConsumedByMut(&'a mut Handle),
}

/// A scalar and its type. Only this crate makes one, so the bytes are a value of the type: C may assume that a `bool`
/// is 0 or 1.
pub struct ScalarInput {
    elem: ElemType,
    bytes: Scalar8,
}

impl Input<'_> {
    /// The bytes are a value of the type.
    #[inline]
    pub(crate) fn scalar(elem: ElemType, bytes: Scalar8) -> Self {
        Input::Scalar(ScalarInput { elem, bytes })
    }

    fn handle(&self) -> Option<&Handle> {
        match self {
            Input::Scalar(..) => None,
            Input::Observed(handle) => Some(handle),
            Input::Consumed(handle) => Some(handle),
            Input::ConsumedByMut(handle) => Some(handle),
        }
    }

    /// The pointer for C of a value. `None`: the call refuses the argument.
    #[inline(never)] // The caller finds scalars by one test, where the compiler would make a table of jumps.
    fn value(&self, core: &Core, slot: &c::Slot) -> Option<NonNull<c_void>> {
        let handle = match self {
            Input::Scalar(_) => return None,
            Input::Observed(_) if slot.flags & FUT_CONSUMED != 0 => return None,
            Input::Observed(handle) => handle,
            Input::Consumed(handle) => handle,
            Input::ConsumedByMut(handle) => &**handle,
        };
        let is_expected = ptr::eq(&**handle.core(), core) && handle.ty() == type_of(slot);
        if is_expected { handle.live() } else { None }
    }

    /// Why argument `i` is refused.
    #[cold]
    fn refusal(&self, core: &Core, function: &c::Function, i: usize) -> Error {
        let slot = &function.inputs()[i];
        let what = || match function.is_entry_point() || function.inputs().len() > 1 {
            true => format!("argument {i}"),
            // A method of the value, such as a field.
            false => "the value".to_owned(),
        };
        let label = || function.label();
        if let Input::Scalar(scalar) = self {
            return core.wrong_type(label(), &what(), slot.type_, scalar.elem as u32);
        }
        let handle = self.handle();
        let checked = handle.map(|handle| handle.expect(core, type_of(slot), label, what));
        if let Some(Err(error)) = checked {
            return error;
        }
        let message = format!(
            "the call consumes argument {i}: pass it by value or by mutable reference, not by reference"
        );
        Error::invalid(label(), message)
    }
}

/// A result of a call, empty before it.
pub struct Output {
    ty: u32,
    /// The place where C writes the result, a pointer or a scalar of at most eight bytes.
    place: *mut c_void,
    handle: Option<Handle>,
}

/// The index of the slot's type; for a scalar, a number that no type has.
#[inline]
fn type_of(slot: &c::Slot) -> u32 {
    slot.type_.wrapping_sub(FUT_FIRST_TYPE)
}

impl Output {
    #[inline]
    fn new(ty: u32) -> Output {
        Output {
            ty,
            place: ptr::null_mut(),
            handle: None,
        }
    }

    #[inline]
    pub(crate) fn scalar(elem: ElemType) -> Output {
        Output::new(elem as u32)
    }

    /// A value of type `types()[ty]`.
    pub(crate) fn value(ty: u32) -> Output {
        Output::new(FUT_FIRST_TYPE + ty)
    }

    /// The result of a call of C code.
    pub(crate) fn of(value: Handle) -> Output {
        let mut output = Output::new(0);
        output.handle = Some(value);
        output
    }

    /// After a call that succeeded.
    #[inline]
    pub(crate) fn to_scalar(&self) -> Scalar8 {
        const { assert!(size_of::<*mut c_void>() == size_of::<Scalar8>()) };
        Scalar8(self.place.addr().to_ne_bytes())
    }

    pub(crate) fn take_handle(&mut self) -> Handle {
        let handle = self.handle.take();
        handle.expect("a call that succeeded has its results")
    }

    fn is_value(&self) -> bool {
        self.ty >= FUT_FIRST_TYPE
    }
}

impl Core {
    /// Calls function number `function` of the table.
    ///
    /// The C side copies consumed arguments that share memory with other values (see `value`).
    /// Those passed by value are freed when `inputs` is dropped (`Drop for Handle`, `Core::free`), without the lock, also on
    /// errors; those [through `&mut`](Input::ConsumedByMut) under the lock (`spend`), unless the call is refused before it
    /// starts.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`]: a wrong number or type of arguments, or one that is spent.
    /// [`ErrorKind::WrongContext`]. Otherwise the failure of the call.
    #[inline]
    pub(crate) fn call<const IN: usize, const OUT: usize>(
        core: &Arc<Core>,
        function: usize,
        mut inputs: [Input<'_>; IN],
        outputs: &mut [&mut Output; OUT],
    ) -> Result<()> {
        let lists: [&mut [_]; 2] = [&mut [ptr::null(); IN], &mut [ptr::null(); IN]];
        let places = &mut [ptr::null_mut(); OUT];
        Core::call_with(core, function, &mut inputs, outputs, lists, places)
    }

    /// As [`call`](Self::call), with lists of any length.
    #[cfg(feature = "dynamic")]
    pub(crate) fn call_dynamic(
        core: &Arc<Core>,
        function: usize,
        mut inputs: Vec<Input<'_>>,
        outputs: &mut [&mut Output],
    ) -> Result<()> {
        let [mut arguments, mut copies] = [0; 2].map(|_| vec![ptr::null(); inputs.len()]);
        let lists: [&mut [_]; 2] = [&mut arguments, &mut copies];
        let places = &mut vec![ptr::null_mut(); outputs.len()];
        Core::call_with(core, function, &mut inputs, outputs, lists, places)
    }

    /// The lists have the lengths of `inputs` and `outputs`. Not null in `copies` after the call: the argument was copied.
    fn call_with(
        core: &Arc<Core>,
        number: usize,
        inputs: &mut [Input<'_>],
        outputs: &mut [&mut Output],
        [arguments, copies]: [&mut [*const c_void]; 2],
        places: &mut [*mut c_void],
    ) -> Result<()> {
        // Records a copy when it is dropped; declared first, so that this happens after the lock is released.
        let mut copied = Copied::default();
        let Some(function) = core.table().functions().get(number) else {
            let message = "the program has no function of this number";
            return Err(Error::invalid("call", message));
        };
        if inputs.len() != function.inputs().len() || outputs.len() != function.outputs().len() {
            return Err(wrong_number(function, inputs.len(), outputs.len()));
        }
        let (arguments, places) = (&mut arguments[..inputs.len()], &mut places[..outputs.len()]);
        let pairs = arguments.iter_mut().zip(&*inputs);
        for (i, ((argument, input), slot)) in pairs.zip(function.inputs()).enumerate() {
            *argument = match input {
                Input::Scalar(scalar) if scalar.elem as u32 == slot.type_ => {
                    ptr::from_ref(&scalar.bytes).cast()
                }
                _ => match input.value(core, slot) {
                    Some(value) => value.as_ptr(),
                    None => return Err(input.refusal(core, function, i)),
                },
            };
        }
        let consumes = function.raw().flags & FUT_CONSUMES != 0;
        let mut has_values = false;
        let results = places.iter_mut().zip(outputs.iter_mut());
        for (i, ((place, output), slot)) in results.zip(function.outputs()).enumerate() {
            if output.ty != slot.type_ {
                let what = format!("result {i}");
                return Err(core.wrong_type(function.label(), &what, slot.type_, output.ty));
            }
            if output.is_value() {
                has_values = true;
                // Before the lock is taken: the result of another call, if there is one, is freed.
                output.handle = None;
            }
            output.place = ptr::null_mut();
            *place = ptr::from_mut(&mut output.place).cast();
        }
        let handles = || inputs.iter().filter_map(Input::handle);
        let label = || function.label();
        let _span = trace::call(core.table(), label, || handles().map(describe));

        let mut locked = core.locked();
        locked.expect_valid(handles().map(Handle::outcome))?;
        // SAFETY: T and L. The number and types of all arguments are the function's: scalars point to
        // eight bytes, values are live (V) and belong to this context, and each result has a place of its
        // type.
        let called =
            unsafe { locked.call_function(number as u32, places, arguments, copies, label) };
        if consumes {
            count_copies(&mut locked, function, &copies[..inputs.len()], &mut copied);
        }
        if let Err(failed) = called {
            return Err(after_failure(&mut locked, number, inputs, failed));
        }
        let received = match has_values {
            // SAFETY: T: after success each place for a value holds a new one of the slot's type, which is the
            // output's.
            true => unsafe { receive(core, &mut locked, function, inputs, outputs) },
            false => Ok(()),
        };
        if consumes {
            // Last: it frees values, and a failure of that concerns the results too.
            spend(&mut locked, number, inputs, received.is_err());
        }
        received
    }

    fn type_name(&self, number: u32) -> &'static str {
        let name = match number.checked_sub(FUT_FIRST_TYPE) {
            None => ElemType::ALL.get(number as usize).map(|elem| elem.as_str()),
            Some(i) => self.table().types().get(i as usize).map(c::Type::name),
        };
        name.unwrap_or("?")
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

/// Takes the values among the results.
///
/// # Safety
/// The place of each output for a value holds a new one of its type, or is null.
#[inline(never)] // It would take registers from calls that return scalars.
unsafe fn receive(
    core: &Arc<Core>,
    locked: &mut Locked<'_>,
    function: &'static c::Function,
    inputs: &[Input<'_>],
    outputs: &mut [&mut Output],
) -> Result<()> {
    // Parts of values, or values made of them, are complete when those are: values_made_from_invalid_ones_are_invalid.
    let pending = locked.pending();
    let outcomes = inputs.iter().filter_map(Input::handle).map(Handle::outcome);
    let outcome = outcomes.chain([&pending]).max_by_key(|of| order(of));
    let mut received = Ok(());
    for output in outputs.iter_mut().filter(|output| output.is_value()) {
        match returned(output.place, || function.label().into()) {
            Ok(value) => {
                let (core, ty) = (Arc::clone(core), output.ty - FUT_FIRST_TYPE);
                let outcome = outcome.cloned().flatten();
                // SAFETY: the caller promises it.
                output.handle = Some(unsafe { Handle::new(core, value, ty, outcome) });
            }
            Err(error) => received = Err(error),
        }
    }
    received
}

/// Counts the arguments that the call has copied, whose places in the list are not null.
#[inline(never)] // It would take registers from calls that consume nothing.
fn count_copies(
    locked: &mut Locked<'_>,
    function: &'static c::Function,
    copies: &[*const c_void],
    copied: &mut Copied,
) {
    let names = function.parameter_names().enumerate().zip(copies);
    for ((i, name), _) in names.filter(|(_, copy)| !copy.is_null()) {
        let name = name.map_or_else(|| i.to_string(), str::to_owned);
        locked.count_copy(function.label(), &name);
        copied.0 = Some(function.label());
    }
}

#[cold]
fn wrong_number(function: &c::Function, inputs: usize, outputs: usize) -> Error {
    let message = format!(
        "expected {} and {}, got {inputs} and {outputs}",
        counted(function.inputs().len(), "argument"),
        counted(function.outputs().len(), "result"),
    );
    Error::invalid(function.label(), message)
}

/// Frees the values that the call of `function` has consumed through `&mut`. Comes while the lock is still
/// held, so the results share no memory with them when the next call counts references.
#[inline(never)] // It would take registers from calls that consume nothing.
fn spend(locked: &mut Locked<'_>, function: usize, inputs: &mut [Input<'_>], failed: bool) {
    let slots = locked.table().functions()[function].inputs();
    for (input, slot) in inputs.iter_mut().zip(slots) {
        if slot.flags & FUT_CONSUMED != 0
            && let Input::ConsumedByMut(handle) = input
        {
            handle.spend(locked, function, failed);
        }
    }
}

/// The error of a call that failed, after which it spends what the call has consumed through `&mut`.
#[cold]
fn after_failure(
    locked: &mut Locked<'_>,
    number: usize,
    inputs: &mut [Input<'_>],
    failed: Failed,
) -> Error {
    let function = &locked.table().functions()[number];
    let Failed {
        error,
        cause,
        started,
    } = failed;
    let error = match error.kind() {
        ErrorKind::Backend if !function.is_entry_point() => {
            error.into_kind_if_silent(ErrorKind::InvalidArgument)
        }
        ErrorKind::Program if cause == c::FUT_CAUSE_SIZES => {
            error.with_words(sizes(function, inputs))
        }
        _ => error,
    };
    if started {
        spend(locked, number, inputs, true);
    }
    error
}

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
