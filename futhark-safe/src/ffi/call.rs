//! Calls of entry points and of operations on values, checked.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use futhark_manifest::ElemType;
use futhark_sys::table::{self as c, FUT_CONSUMED, FUT_FIRST_TYPE};

use super::array::describe;
use super::context::{Core, Failed, Locked, Stage};
use super::progress::Serial;
use super::trace;
use super::value::{Handle, make_unique, returned};
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
}

/// A result of a call, empty before it.
pub struct Output {
    ty: u32,
    scalar: Scalar8,
    value: *mut c_void,
    handle: Option<Handle>,
}

impl Output {
    fn new(ty: u32) -> Output {
        Output {
            ty,
            scalar: Scalar8::default(),
            value: ptr::null_mut(),
            handle: None,
        }
    }

    pub(crate) fn scalar(elem: ElemType) -> Output {
        Output::new(elem as u32)
    }

    /// A value of type `types()[ty]`.
    pub(crate) fn value(ty: u32) -> Output {
        Output::new(FUT_FIRST_TYPE + ty)
    }

    /// The result of a call of C code.
    pub(crate) fn of(value: Handle) -> Output {
        Output {
            handle: Some(value),
            ..Output::new(0)
        }
    }

    /// After a call that succeeded.
    pub(crate) fn into_scalar(self) -> Scalar8 {
        self.scalar
    }

    pub(crate) fn into_handle(self) -> Handle {
        self.handle.expect("a call that succeeded has its results")
    }

    fn is_value(&self) -> bool {
        self.ty >= FUT_FIRST_TYPE
    }
}

/// The lists of a call with at most this many arguments and results are not on the heap, whose use would take longer
/// than all checks.
const FEW: usize = 8;

/// A list of `n` null pointers for C.
fn list<'l, P: Copy>(few: &'l mut [P; FEW], many: &'l mut Vec<P>, n: usize) -> &'l mut [P] {
    if n > FEW {
        many.resize(n, few[0]);
        return many;
    }
    &mut few[..n]
}

impl Core {
    /// Calls function number `function` of the table.
    ///
    /// Consumed arguments that share memory with other values are copied first (see `value`).
    /// They are freed afterwards, also on errors, except those
    /// [through `&mut`](Input::ConsumedByMut) of a call that is refused before it starts.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: a wrong number or type of arguments, or one that is spent.
    /// [`ErrorKind::WrongContext`]. Otherwise the failure of the call.
    #[inline]
    pub(crate) fn call<'a>(
        self: &Arc<Core>,
        function: usize,
        mut inputs: impl AsMut<[Input<'a>]>,
        outputs: &mut [&mut Output],
    ) -> Result<()> {
        let mut copied = false;
        let result = self.call_with(function, inputs.as_mut(), outputs, &mut copied);
        if copied {
            trace::copied(self.table().functions()[function].label());
        }
        result
    }

    fn call_with(
        self: &Arc<Core>,
        number: usize,
        inputs: &mut [Input<'_>],
        outputs: &mut [&mut Output],
        copied: &mut bool,
    ) -> Result<()> {
        let Some(function) = self.table().functions().get(number) else {
            let message = "the program has no function of this number";
            return Err(Error::invalid("call", message));
        };
        if inputs.len() != function.inputs().len() || outputs.len() != function.outputs().len() {
            let message = format!(
                "expected {} and {}, got {} and {}",
                counted(function.inputs().len(), "argument"),
                counted(function.outputs().len(), "result"),
                inputs.len(),
                outputs.len()
            );
            return Err(Error::invalid(function.label(), message));
        }
        let (mut few, mut many) = ([ptr::null(); FEW], Vec::new());
        let arguments = list(&mut few, &mut many, inputs.len());
        self.check_inputs(function, inputs, arguments)?;
        let (mut few, mut many) = ([ptr::null_mut(); FEW], Vec::new());
        let places = list(&mut few, &mut many, outputs.len());
        for (i, (output, slot)) in outputs.iter_mut().zip(function.outputs()).enumerate() {
            if output.ty != slot.type_ {
                let what = format!("result {i}");
                return Err(self.wrong_type(function.label(), &what, slot.type_, output.ty));
            }
            // Before the lock is taken: the result of another call, if there is one, is freed.
            **output = Output::new(slot.type_);
            places[i] = match output.is_value() {
                true => ptr::from_mut(&mut output.value).cast(),
                false => ptr::from_mut(&mut output.scalar).cast::<c_void>(),
            };
        }
        let handles = || inputs.iter().filter_map(Input::handle);
        let _span = trace::call(
            self.table(),
            || function.label(),
            || handles().map(describe),
        );

        let mut locked = self.locked();
        locked.expect_valid(handles().map(Handle::serial))?;
        let consumes = |slot: &c::Slot| slot.flags & FUT_CONSUMED != 0;
        let consumes = function.inputs().iter().any(consumes);
        if consumes {
            make_all_unique(&mut locked, function, inputs, copied)?;
            // Copies have other pointers.
            self.check_inputs(function, inputs, arguments)?;
        }
        let call = function.raw().call.expect("every function can be called");
        // SAFETY: T and L. The number and types of all arguments are the function's: scalars point to
        // eight bytes, values are live (V) and belong to this context, and each result has a place of its
        // type.
        let called = unsafe { locked.call(call, places, arguments, || function.label().into()) };
        if let Err(failed) = called {
            return Err(after_failure(&mut locked, number, inputs, failed));
        }
        let serial = match self.table().is_gpu() {
            true => serial_of_results(&mut locked, function, inputs),
            false => 0,
        };
        for output in outputs.iter_mut().filter(|output| output.is_value()) {
            let value = returned(output.value, || function.label().into())?;
            locked.progress().hold(serial);
            // SAFETY: T: after success each place for a value holds a new one of the slot's
            // type, which is the output's.
            let handle =
                unsafe { Handle::new(Arc::clone(self), value, output.ty - FUT_FIRST_TYPE, serial) };
            output.handle = Some(handle);
        }
        if consumes {
            // Last: it frees values, and a failure of that concerns the results too.
            spend(&mut locked, number, inputs, false);
        }
        Ok(())
    }

    /// Checks all arguments, and writes their pointers for C.
    #[inline]
    fn check_inputs(
        self: &Arc<Core>,
        function: &c::Function,
        inputs: &[Input<'_>],
        arguments: &mut [*const c_void],
    ) -> Result<()> {
        for (i, (input, slot)) in inputs.iter().zip(function.inputs()).enumerate() {
            let what = || match function.is_entry_point() || inputs.len() > 1 {
                true => format!("argument {i}"),
                // A method of the value, such as a field.
                false => "the value".to_owned(),
            };
            let label = || function.label();
            let handle = match input {
                Input::Scalar(scalar) if scalar.elem as u32 == slot.type_ => {
                    arguments[i] = ptr::from_ref(&scalar.bytes).cast();
                    continue;
                }
                Input::Scalar(scalar) => {
                    let got = scalar.elem as u32;
                    return Err(self.wrong_type(label(), &what(), slot.type_, got));
                }
                Input::Observed(handle) => handle,
                Input::Consumed(handle) => handle,
                Input::ConsumedByMut(handle) => &**handle,
            };
            // Of a scalar, which no value is, this is another number than that of any type.
            let ty = slot.type_.wrapping_sub(FUT_FIRST_TYPE);
            arguments[i] = handle.expect(self, ty, label, what)?;
            if matches!(input, Input::Observed(_)) && slot.flags & FUT_CONSUMED != 0 {
                let message = format!(
                    "the call consumes argument {i}: pass it by value or by mutable reference, not by reference"
                );
                return Err(Error::invalid(label(), message));
            }
        }
        Ok(())
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

/// Makes each argument that the call may overwrite the only reference to its memory. `copied`: at least one
/// was copied.
#[inline(never)] // It would take registers from calls that consume nothing.
fn make_all_unique(
    locked: &mut Locked<'_>,
    function: &'static c::Function,
    inputs: &mut [Input<'_>],
    copied: &mut bool,
) -> Result<()> {
    for (i, (input, slot)) in inputs.iter_mut().zip(function.inputs()).enumerate() {
        let handle = match input {
            Input::Consumed(handle) if slot.flags & FUT_CONSUMED != 0 => handle,
            Input::ConsumedByMut(handle) if slot.flags & FUT_CONSUMED != 0 => handle,
            _ => continue,
        };
        if make_unique(locked, handle, || function.label().into())? {
            let name = function.parameter_names().nth(i).flatten();
            match name {
                Some(name) => locked.count_copy(function.label(), name),
                None => locked.count_copy(function.label(), &i.to_string()),
            }
            *copied = true;
        }
    }
    Ok(())
}

/// On GPU backends: the serial of the results of a call that succeeded (see `progress`).
#[inline(never)] // It would take registers from calls on host backends.
fn serial_of_results(
    locked: &mut Locked<'_>,
    function: &'static c::Function,
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
    locked.record_pending(function.label())
}

/// Frees the values that the call of `function` has consumed through `&mut`. Comes while the lock is still
/// held, so the results share no memory with them when the next call counts references.
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
