//! What a program, a context and its device tell about themselves.

use std::ffi::{CStr, c_char, c_void};

use futhark_sys::table::{self as c, Table};

use super::core::{Copied, Core, required};
use super::host::WRITE;
use super::setting::Setting;
use crate::error::{Error, ErrorKind, Result};
use crate::observe::Copies;

impl Core {
    /// Calls an operation that has no arguments and writes one result, to `out`.
    ///
    /// # Safety
    ///
    /// The operation of this context's table writes a `T`.
    unsafe fn ask<T>(&self, call: c::Call, operation: &'static str, out: &mut T) -> Result<()> {
        let mut locked = self.locked();
        locked.check([])?;
        let out = std::ptr::from_mut(out).cast();
        // SAFETY: T and L; the caller promises the result.
        unsafe { locked.call(call, &[out], &[], || operation.into()) }
    }

    /// The runtime's profiling report, a JSON text.
    pub(crate) fn report(&self) -> Result<String> {
        let call = required(self.table().raw().report);
        let mut text: *mut c_char = std::ptr::null_mut();
        // SAFETY: T: the operation writes one pointer.
        unsafe { self.ask(call, "report", &mut text) }?;
        // SAFETY: T: on success it is a text that the caller owns.
        Ok(unsafe { take_text(self.table(), text) }.unwrap_or_default())
    }

    /// The copies so far of values that would have been overwritten.
    pub(crate) fn copies(&self) -> Vec<Copies> {
        let copies = self.locked().copies();
        let of_array = |operation: &str, ty: u32, count| Copies {
            operation: operation.to_owned(),
            argument: self.table().types()[ty as usize].name().to_owned(),
            count,
        };
        let describe = |(copied, count)| match copied {
            Copied::Argument(function, i) => {
                let function = &self.table().functions()[function];
                let name = function.parameter_names().nth(i).flatten();
                Copies {
                    operation: function.label().to_owned(),
                    argument: name.map_or_else(|| i.to_string(), str::to_owned),
                    count,
                }
            }
            Copied::Array(ty) => of_array("set", ty, count),
            Copied::Elements(ty) => of_array(WRITE, ty, count),
        };
        copies.into_iter().map(describe).collect()
    }

    /// Bytes in use on the host and their maximum, and the same for the device.
    pub(crate) fn memory(&self) -> Result<[i64; 4]> {
        let call = required(self.table().raw().memory);
        let mut bytes = [0i64; 4];
        // SAFETY: T: the operation writes four numbers.
        unsafe { self.ask(call, "memory", &mut bytes) }?;
        Ok(bytes)
    }

    /// The description of the context's device. `None`: the backend runs on the host.
    pub(crate) fn device(&self) -> Result<Option<String>> {
        let Some(call) = self.table().raw().context_device else {
            return Ok(None);
        };
        let mut text: *mut c_char = std::ptr::null_mut();
        // SAFETY: T: the operation writes one pointer.
        unsafe { self.ask(call, "device", &mut text) }?;
        // SAFETY: T: a text that the caller owns, or NULL.
        let text = unsafe { take_text(self.table(), text) };
        text.ok_or_else(|| no_memory("device")).map(Some)
    }

    /// The context's `cl_command_queue`. `None`: the backend is not opencl.
    pub(crate) fn command_queue(&self) -> Result<Option<*mut c_void>> {
        let Some(call) = self.table().raw().command_queue else {
            return Ok(None);
        };
        let mut queue: *mut c_void = std::ptr::null_mut();
        // SAFETY: T: the operation writes one pointer.
        unsafe { self.ask(call, "command queue", &mut queue) }?;
        Ok(Some(queue))
    }
}

/// The driver's description of the device that a context with these settings would use, if the
/// backend provides one. `futhark_table.h` documents its lines.
pub(crate) fn describe_device(table: &Table, settings: &[Setting]) -> Option<String> {
    let device = table.raw().device?;
    let for_c: Vec<c::Setting> = settings.iter().map(Setting::to_c).collect();
    // SAFETY: T; `for_c` has this length, and its text lives in `settings`.
    let text = unsafe { device(for_c.as_ptr(), for_c.len() as u32) };
    // SAFETY: T: a text that the caller owns, or NULL.
    unsafe { take_text(table, text) }
}

/// The descriptions of all devices of the backend. `None`: the backend runs on the host.
pub(crate) fn devices(table: &Table) -> Result<Option<String>> {
    let Some(devices) = table.raw().devices else {
        return Ok(None);
    };
    let mut text: *mut c_char = std::ptr::null_mut();
    // SAFETY: T; it writes one pointer.
    let status = unsafe { devices(&raw mut text) };
    // SAFETY: T: a text that the caller owns, or NULL.
    let text = unsafe { take_text(table, text) };
    if status as u32 == c::FUT_OK {
        return Ok(Some(text.unwrap_or_default()));
    }
    let kind = match status as u32 {
        c::FUT_MEMORY => ErrorKind::OutOfMemory,
        _ => ErrorKind::Load,
    };
    let why = text.unwrap_or_else(|| "no memory".to_owned());
    Err(Error::new(
        kind,
        format!("{} devices", table.backend()),
        why,
    ))
}

/// The source of the device code. `None`: the backend has none.
pub(crate) fn device_source(table: &Table) -> Result<Option<String>> {
    let Some(source) = table.raw().device_source else {
        return Ok(None);
    };
    // SAFETY: T; it has no arguments.
    let text = unsafe { source() };
    // SAFETY: T: a text that the caller owns, or NULL.
    let text = unsafe { take_text(table, text) };
    text.ok_or_else(|| no_memory("device source")).map(Some)
}

fn no_memory(operation: &'static str) -> Error {
    Error::new(ErrorKind::OutOfMemory, operation, "no memory")
}

/// Copies a text of the C side.
///
/// # Safety
///
/// A NUL-terminated text that lives meanwhile, or NULL.
pub(super) unsafe fn copy_text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not NULL, so it is NUL-terminated text.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// Copies and frees a text of the C side.
///
/// # Safety
///
/// A NUL-terminated text that the table made for its caller, or NULL.
unsafe fn take_text(table: &Table, text: *mut c_char) -> Option<String> {
    // SAFETY: as the caller promises.
    let copy = unsafe { copy_text(text) }?;
    // SAFETY: T: such texts are freed by `free_text`, once.
    unsafe { required(table.raw().free_text)(text) };
    Some(copy)
}
