//! Handles and code of the driver: settings that only the caller can vouch for.

#![allow(unsafe_code, reason = "declares unsafe functions of the public API")]

use std::ffi::c_void;
use std::path::PathBuf;
use std::ptr::NonNull;

use super::Config;
use crate::ffi::{CommandQueue, Setting};

impl Config {
    /// `opencl`: uses this command queue, its context and its device instead of new ones.
    ///
    /// The queue must execute in order, and for [`profiling`](Self::profiling) have
    /// `CL_QUEUE_PROFILING_ENABLE`; otherwise creating the context fails. The context retains the
    /// queue. Work that others enqueue runs before later work of the context, and after earlier work.
    ///
    /// `futhark-safe/examples/interop` in the repository shares a queue and buffers with the crate `opencl3`.
    ///
    /// # Safety
    ///
    /// `queue` is a `cl_command_queue`, of the same OpenCL loader that the backend loads (`libOpenCL.so.1`, or
    /// the file in `FUTHARK_LIBOPENCL`), and is valid until the context is created.
    pub unsafe fn command_queue(self, queue: NonNull<c_void>) -> Config {
        // SAFETY: the caller promises the same.
        self.with(Setting::CommandQueue(unsafe { CommandQueue::new(queue) }))
    }

    /// GPU backends: compiles this source instead of the program's device code. [`Context::device_source`](crate::Context::device_source)
    /// returns the original.
    ///
    /// # Safety
    ///
    /// For every context that is created from this configuration or a clone of it, also with settings added later,
    /// and of whichever program: the source defines the program's kernels with their parameters, and they access
    /// only the memory that the original kernels access.
    pub unsafe fn device_source(self, source: impl Into<String>) -> Config {
        self.text(Setting::DeviceSource, source.into())
    }

    /// `opencl`, `cuda`: loads compiled device code from this file without the checks of
    /// [`load_device_code`](Self::load_device_code).
    ///
    /// # Safety
    ///
    /// For every context that is created from this configuration or a clone of it, also with settings added later,
    /// and of whichever program: the file contains code of the program and backend, compiled for the device and
    /// driver with the same settings.
    pub unsafe fn load_device_code_unchecked(self, path: impl Into<PathBuf>) -> Config {
        self.path(|path| Setting::LoadCode(path, false), path.into())
    }
}
