//! Shares a command queue and device memory between Futhark and the crate opencl3.
//!
//! opencl3 uploads numbers to a `cl_mem`, Futhark computes their prefix sums, and a kernel of opencl3
//! reads the result. All of it runs on one command queue, and nothing is copied between the two. The
//! queue is made first by opencl3, then by Futhark. Each holds references of its own, so either can end first.

mod cl;

use std::env;
use std::error::Error;
use std::ptr::NonNull;

use cl::Cl;
use futhark_safe::{Backend, Config, RawMemory};
use opencl3::error_codes::ClError;
use opencl3::memory::{Buffer, ClMem as _, retain_mem_object};

futhark_safe::include_program!(interop);

/// The number of elements.
const N: i32 = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: the process has no other thread yet.
    unsafe { select_library() };
    // The error of a missing library says what to install.
    interop::Context::devices(Backend::OpenCl)?;
    queue_of_opencl3()?;
    queue_of_futhark()
}

/// Makes opencl3 load the library that Futhark loads, because handles of one are not valid in another.
/// Both load `libOpenCL.so.1` unless a variable names another file.
///
/// # Safety
///
/// No other thread reads or writes the environment, as for [`env::set_var`].
unsafe fn select_library() {
    match env::var_os("FUTHARK_LIBOPENCL").filter(|file| !file.is_empty()) {
        // SAFETY: the caller promises what it requires.
        Some(file) => unsafe { env::set_var("OPENCL_DYLIB_PATH", file) },
        // SAFETY: as above.
        None => unsafe { env::remove_var("OPENCL_DYLIB_PATH") },
    }
}

/// opencl3 creates the queue; Futhark gets it by `Config::command_queue`, and ends first.
fn queue_of_opencl3() -> Result<(), Box<dyn Error>> {
    let cl = Cl::create()?;
    println!("a queue of opencl3, on {}", cl.device.name()?);
    let queue = NonNull::new(cl.queue.get()).ok_or("opencl3 returned no queue")?;
    let config = Config::new().backend(Backend::OpenCl);
    // SAFETY: `select_library` ensures that both use the same OpenCL library, and `cl` keeps the queue until
    // the context is created, which retains it.
    let config = unsafe { config.command_queue(queue) };
    let ctx = interop::Context::new(&config)?;
    exchange(&cl, &ctx)?;
    ctx.close().map_err(|(_, error)| error)?;
    let results = cl.run(&cl.upload(&[1])?, 1)?;
    println!("  Futhark ended first: opencl3 computes {results:?}");
    Ok(())
}

/// Futhark creates the queue; opencl3 gets it by `Context::command_queue`, and ends first.
fn queue_of_futhark() -> Result<(), Box<dyn Error>> {
    let ctx = interop::Context::new(&Config::new().backend(Backend::OpenCl))?;
    let queue = ctx.command_queue()?.ok_or("the backend has no queue")?;
    // SAFETY: the queue of a live context, of the library that opencl3 uses too.
    let cl = unsafe { Cl::share(queue) }?;
    println!("a queue of Futhark, on {}", cl.device.name()?);
    exchange(&cl, &ctx)?;
    drop(cl);
    let sums = ctx.entry().prefix_sums(&ctx.array(&[1, 2, 3])?)?.to_vec()?;
    println!("  opencl3 ended first: Futhark computes {sums:?}");
    ctx.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// Computes with memory of both sides on their common queue.
fn exchange(cl: &Cl, ctx: &interop::Context) -> Result<(), Box<dyn Error>> {
    let numbers: Vec<i32> = (1..=N).collect();
    let uploaded = cl.upload(&numbers)?;
    // SAFETY: the upload is complete and wrote as many elements. The buffer belongs to the queue's
    // context. It is not written any more, and freed after the wait at the end of this function.
    let xs = unsafe { ctx.array_from_raw([numbers.len()], RawMemory::OpenCl(uploaded.get())) }?;
    println!("  opencl3 uploaded {N} numbers, Futhark borrows the buffer");

    let sums = ctx.entry().prefix_sums(&xs)?;
    // SAFETY: the buffer is only read, by a kernel that is complete when `add` returns. It is dropped
    // before `sums`.
    let lent = unsafe { buffer_of(&sums) }?;
    println!(
        "  Futhark computed prefix sums, opencl3 retains the buffer: {} references",
        lent.reference_count()?
    );
    // 8 s + 1 is a square for each sum s of the first numbers.
    let results = cl.run(&lent, numbers.len())?;
    for (i, &result) in (1..).zip(&results) {
        let wanted = (2 * i + 1) * (2 * i + 1);
        if result != wanted {
            return Err(format!("element {i}: expected {wanted}, got {result}").into());
        }
    }
    let last = results.last().ok_or("no results")?;
    println!("  opencl3 ran a kernel on them: {N} results, the last one is {last}");

    drop(lent);
    // Results can share the memory of arguments, so all values go before the borrowed buffer.
    drop((xs, sums));
    ctx.sync()?;
    let left = uploaded.reference_count()?;
    println!("  after the arrays: {left} reference to the uploaded buffer");
    Ok(())
}

/// The memory of an array as a buffer of opencl3, which holds a reference of its own.
///
/// # Safety
///
/// As for [`futhark_safe::Array::raw_memory`]: the buffer is not written, and used only while the array exists.
unsafe fn buffer_of(array: &interop::Array<i32, 1>) -> Result<Buffer<i32>, Box<dyn Error>> {
    // SAFETY: the caller promises what it requires.
    let RawMemory::OpenCl(memory) = unsafe { array.raw_memory() }? else {
        return Err("the array is not in OpenCL memory".into());
    };
    // SAFETY: the `cl_mem` of a live array. The drop of the buffer releases this reference.
    unsafe { retain_mem_object(memory) }.map_err(ClError)?;
    Ok(Buffer::new(memory))
}
