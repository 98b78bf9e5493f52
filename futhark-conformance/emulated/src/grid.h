// Runs kernels: all blocks of a grid, and all threads of a block, on fibers.
#pragma once

#include <cstddef>

#include "fiber.h"

namespace emulated {

// One kernel of a compiled program. device/kernel.h has the same struct.
struct Kernel {
    const char *name;
    void (*run)(void *const *arguments);
    const unsigned *sizes;  // of the arguments, in bytes
    unsigned arguments;
    unsigned bound;  // the maximum number of threads in a block
};

constexpr size_t MOST_SHARED = 48 * 1024;

// The result of a launch.
enum class Ended { Well, IllegalAddress, Failed, TimedOut };

Ended run_grid(const Kernel &kernel, void *const *arguments, Dim grid, Dim block, size_t shared);

}  // namespace emulated
