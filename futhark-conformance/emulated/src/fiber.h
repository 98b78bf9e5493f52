// Fibers: one per thread of a block, so that a barrier can stop each of them in the
// middle and let the next one run, on one thread of the host.
#pragma once

#include <cstddef>

namespace emulated {

struct Dim {
    unsigned x, y, z;
};

// What a device thread knows of itself. It lies at the very top of the fiber's stack,
// which is aligned to its own size: so kernel code finds it from its stack pointer, without
// thread-local storage, which would belong to the host's thread. device/kernel.h has the
// same struct and must be kept in step.
struct ThreadState {
    Dim thread, block, block_size, grid_size;
    unsigned char *shared;
    void (*wait)(ThreadState *);
    unsigned site;  // the number of the barrier that it waits at
};

constexpr size_t STACK = 0x40000;

struct Fiber;

// Runs in a fiber when it is entered for the first time; must never return.
using FiberMain = void (*)(Fiber *);

struct Fiber {
    ThreadState *state;
    bool done;
    void *owner;
    struct Saved;
    Saved *saved;
};

// NULL if there is no memory for a stack. Fibers are never freed, but used again.
Fiber *make_fiber(FiberMain main, void *owner);

// Goes on in the fiber until it leaves. `outside` belongs to the host's thread.
struct Outside;
Outside *make_outside();
void enter(Outside *outside, Fiber *fiber);
void leave(Outside *outside, Fiber *fiber);

// Makes a fiber that was left by a jump begin anew.
void restart(Fiber *fiber, FiberMain main);

Fiber *fiber_of(ThreadState *state);

// The lowest page of a fiber's stack cannot be touched: whether the address lies there.
bool is_stack_guard(const void *address, const Fiber *fiber);

}  // namespace emulated
