// Integer division as a GPU does it.
#pragma once

namespace emulated {

// A GPU gives some number where x86-64 raises a signal: at a division by zero, and at one
// whose result does not fit. Kernels do divide by zero where nobody looks at the result,
// such as by the size of a dimension that is empty. Called by the signal's handler with its
// third argument: gives a result to the division and goes on behind it. False if the
// instruction is not understood, or on another processor (where nothing is raised).
bool finish_division(void *signal_context);

}  // namespace emulated
