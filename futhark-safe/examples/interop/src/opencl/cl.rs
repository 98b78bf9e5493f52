//! The side of opencl3: a device, a context, a queue and a kernel.

use std::error::Error;
use std::ffi::c_void;
use std::ptr;

use opencl3::command_queue::{CommandQueue, retain_command_queue};
use opencl3::context::Context;
use opencl3::context::context::retain_context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::error_codes::ClError;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, ClMem as _};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = "
kernel void add(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    out[i] = 8 * in[i] + 1;
}
";

/// The first device of the first platform.
pub fn first_device() -> Result<Device, Box<dyn Error>> {
    let platform = *get_platforms()?.first().ok_or("no OpenCL platform")?;
    let devices = platform.get_devices(CL_DEVICE_TYPE_ALL)?;
    let device = devices.first().ok_or("the OpenCL platform has no device")?;
    Ok(Device::new(*device))
}

/// What opencl3 needs. Each of the fields holds a reference, so they can be dropped in any order.
pub struct Cl {
    pub device: Device,
    pub context: Context,
    pub queue: CommandQueue,
}

impl Cl {
    /// A new context and queue on the first device.
    pub fn create() -> Result<Cl, Box<dyn Error>> {
        let device = first_device()?;
        let context = Context::from_device(&device)?;
        // No properties: Futhark needs a queue that executes in order.
        let queue = CommandQueue::create_default(&context, 0)?;
        Ok(Cl {
            device,
            context,
            queue,
        })
    }

    /// Shares a queue, with its context and its device.
    ///
    /// # Safety
    ///
    /// `queue` is a live `cl_command_queue` of the OpenCL library that opencl3 loads.
    pub unsafe fn share(queue: *mut c_void) -> Result<Cl, Box<dyn Error>> {
        // `CommandQueue` and `Context` release on drop what they wrap, so each needs a reference.
        // SAFETY: a live queue, by the contract of this function.
        unsafe { retain_command_queue(queue) }.map_err(ClError)?;
        // opencl3 compares the dimensions of a kernel's grid with this number.
        let dimensions = 1;
        let queue = CommandQueue::new(queue, dimensions);
        let device = Device::new(queue.device()?);
        let context = queue.context()?;
        // SAFETY: the context of a live queue, which holds a reference to it.
        unsafe { retain_context(context) }.map_err(ClError)?;
        let context = Context::new(context, &[device.id()]);
        Ok(Cl {
            device,
            context,
            queue,
        })
    }

    /// A buffer with these numbers. The copy is complete when it returns.
    pub fn upload(&self, numbers: &[i32]) -> Result<Buffer<i32>, Box<dyn Error>> {
        // SAFETY: the context lives, and no host memory is passed.
        let mut buffer = unsafe {
            Buffer::<i32>::create(
                &self.context,
                CL_MEM_READ_ONLY,
                numbers.len(),
                ptr::null_mut(),
            )
        }?;
        // SAFETY: the buffer has as many elements, and the call waits for the copy.
        unsafe {
            self.queue
                .enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, numbers, &[])
        }?;
        Ok(buffer)
    }

    /// Runs the kernel on the first `n` elements of a buffer. The work is complete when it returns.
    pub fn run(&self, input: &Buffer<i32>, n: usize) -> Result<Vec<i32>, Box<dyn Error>> {
        let program = Program::create_and_build_from_source(&self.context, SOURCE, "")?;
        let kernel = Kernel::create(&program, "add")?;
        // SAFETY: as in `upload`.
        let output =
            unsafe { Buffer::<i32>::create(&self.context, CL_MEM_WRITE_ONLY, n, ptr::null_mut()) }?;
        let mut call = ExecuteKernel::new(&kernel);
        call.set_global_work_size(n);
        // SAFETY: the first parameter is a buffer.
        unsafe { call.set_arg(&input.get()) };
        // SAFETY: the second one, too.
        unsafe { call.set_arg(&output.get()) };
        // SAFETY: the kernel accesses the first `n` elements of each buffer.
        unsafe { call.enqueue_nd_range(&self.queue) }?;
        let mut results = vec![0; n];
        // SAFETY: the buffer has `n` elements. The call waits for the copy and, as the queue executes
        // in order, for the kernel.
        unsafe {
            self.queue
                .enqueue_read_buffer(&output, CL_BLOCKING, 0, &mut results, &[])
        }?;
        Ok(results)
    }
}
