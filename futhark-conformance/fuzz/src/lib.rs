//! What the targets share.

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The result of `read`, which may allocate `fixed` bytes and 300 per byte of input: a number of two
/// characters is an element of 32 bytes in a vector that grows.
pub fn bounded<T>(fixed: usize, input: usize, read: impl FnOnce() -> T) -> T {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let result = read();
    let used = MEMORY.peak_usage().saturating_sub(before);
    assert!(used <= fixed + 300 * input, "{used} bytes for {input}");
    result
}
