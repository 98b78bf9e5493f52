// Integer division with the semantics of a GPU.
#pragma once

namespace emulated {

// For a division by zero, or one that overflows, a GPU returns a number and x86-64 raises a
// signal. Kernels divide by zero and ignore the result, for example by the size of an empty
// dimension. The signal handler calls this with its third argument: it sets the result of the
// division and skips the instruction. False if the instruction cannot be decoded, or on another
// processor (which raises no signal).
bool finish_division(void *signal_context);

}  // namespace emulated
