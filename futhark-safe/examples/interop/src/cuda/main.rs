//! Shares device memory between Futhark and the crate cudarc.
//!
//! A Futhark context has a CUDA context of its own, and cudarc usually works in the primary context of
//! the device. Kernels access only memory of their own context, so there are two ways:
//!
//! * `copy` stays in the primary context and copies a result of Futhark on the device.
//! * `share` lets cudarc work in the context of Futhark, where nothing is copied.

mod shared;

use std::error::Error;

use cudarc::driver::{CudaContext, DevicePtr as _, LaunchConfig, PushKernelArg as _, result, sys};
use futhark_safe::{Backend, Config, RawMemory};
use shared::{Lent, Shared};

futhark_safe::include_program!(interop);

/// The number of elements.
const N: i32 = 1000;

const SOURCE: &str = r#"
extern "C" __global__ void add(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 8 * in[i] + 1;
}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    // A number, so that cudarc uses the same device.
    let config = Config::new().backend(Backend::Cuda).device_number(0);
    let ctx = interop::Context::new(&config)?;
    println!("device: {}", ctx.device()?.name);
    copy(&ctx)?;
    share(&ctx)?;
    // It reports values that are still in use.
    ctx.close().map_err(|(_, error)| error)?;
    println!("Futhark ended last");
    Ok(())
}

/// Copies a result of Futhark to memory of the primary context.
fn copy(ctx: &interop::Context) -> Result<(), Box<dyn Error>> {
    let sums = ctx.entry().prefix_sums(&ctx.array_from_iter(1..=N)?)?;
    let cuda = CudaContext::new(0)?;
    let stream = cuda.default_stream();
    // SAFETY: the copy below writes each element before it is read.
    let copied = unsafe { stream.alloc::<i32>(sums.len()) }?;
    {
        let (to, _guard) = copied.device_ptr(&stream);
        // SAFETY: only read, before `sums` is dropped.
        let from = unsafe { address(&sums) }?;
        // SAFETY: both allocations have as many elements, and `sums` lives until the stream is
        // synchronized. With unified virtual addressing (every 64-bit system), the driver infers the
        // context of each address, so that `cuMemcpy` copies between contexts.
        unsafe { sys::cuMemcpy(to, from, copied.num_bytes()) }.result()?;
    }
    let numbers = stream.clone_dtoh(&copied)?;
    stream.synchronize()?;
    if numbers != sums.to_vec()? {
        return Err("the copy differs from the array".into());
    }
    println!(
        "copied {} prefix sums to the primary context",
        numbers.len()
    );
    Ok(())
}

/// Uses memory of both sides in the context of Futhark.
fn share(ctx: &interop::Context) -> Result<(), Box<dyn Error>> {
    // Dropped last: the other variables belong to this context.
    let cuda = {
        // The driver knows which context owns the memory of an array.
        let array = ctx.array(&[0i32])?;
        // SAFETY: the memory is not accessed.
        let owner = owner_of(unsafe { address(&array) }?)?;
        // SAFETY: device 0 is that of `ctx`, which lives longer than `cuda`.
        unsafe { Shared::new(owner, 0) }?
    };
    let stream = cuda.context().default_stream();
    let uploaded = stream.clone_htod(&(1..=N).collect::<Vec<i32>>())?;
    stream.synchronize()?;
    let (uploaded_at, guard) = uploaded.device_ptr(&stream);
    drop(guard);
    // SAFETY: the upload is complete and wrote `N` elements, in the context of `ctx`. They are not
    // written any more, and freed after the wait at the end of this function.
    let xs = unsafe { ctx.array_from_raw([N as usize], RawMemory::Cuda(uploaded_at)) }?;
    println!("cudarc uploaded {N} numbers, Futhark borrows them");

    let sums = ctx.entry().prefix_sums(&xs)?;
    // SAFETY: only read, by a kernel that is complete before `sums` is dropped.
    let sums_at = unsafe { address(&sums) }?;
    // SAFETY: memory of this context with as many elements, not written; dropped before `sums`.
    let lent = unsafe { Lent::new(&stream, sums_at, sums.len()) };
    let module = cuda
        .context()
        .load_module(cudarc::nvrtc::compile_ptx(SOURCE)?)?;
    let kernel = module.load_function("add")?;
    // SAFETY: the kernel writes each element before it is read.
    let mut output = unsafe { stream.alloc::<i32>(sums.len()) }?;
    let mut call = stream.launch_builder(&kernel);
    call.arg(lent.slice()).arg(&mut output).arg(&N);
    // SAFETY: the arguments are those of the kernel, which accesses `N` elements of each array.
    unsafe { call.launch(LaunchConfig::for_num_elems(N as u32)) }?;
    let results = stream.clone_dtoh(&output)?;
    stream.synchronize()?;
    // 8 s + 1 is a square for each sum s of the first numbers.
    for (i, &result) in (1..).zip(&results) {
        let wanted = (2 * i + 1) * (2 * i + 1);
        if result != wanted {
            return Err(format!("element {i}: expected {wanted}, got {result}").into());
        }
    }
    let last = results.last().ok_or("no results")?;
    println!("cudarc ran a kernel on the prefix sums: {N} results, the last one is {last}");

    drop(lent);
    // Results can share the memory of arguments, so all values go before the borrowed memory.
    drop((xs, sums));
    ctx.sync()?;
    drop(uploaded);
    // cudarc keeps errors of drops until the next call.
    cuda.context().check_err()?;
    Ok(())
}

/// The device address of an array.
///
/// # Safety
///
/// As for [`futhark_safe::Array::raw_memory`]: the memory is not written, and used only while the array exists.
unsafe fn address(array: &interop::Array<i32, 1>) -> Result<sys::CUdeviceptr, Box<dyn Error>> {
    // SAFETY: the caller promises what it requires.
    match unsafe { array.raw_memory() }? {
        RawMemory::Cuda(address) => Ok(address),
        other => Err(format!("expected memory of backend cuda, got {other:?}").into()),
    }
}

/// The CUDA context that owns the memory at an address.
fn owner_of(address: sys::CUdeviceptr) -> Result<sys::CUcontext, result::DriverError> {
    let mut owner: sys::CUcontext = std::ptr::null_mut();
    let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT;
    // SAFETY: the value of this attribute is one pointer.
    unsafe { sys::cuPointerGetAttribute((&raw mut owner).cast(), attribute, address) }.result()?;
    Ok(owner)
}
