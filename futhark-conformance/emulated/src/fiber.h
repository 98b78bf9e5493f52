// Fibers: one per thread of a block, so that a barrier can suspend each of them and run the next,
// on one thread of the host.
#pragma once

#include <cstddef>

namespace emulated {

struct Dim {
    unsigned x, y, z;
};

// The state of a device thread, at the top of the fiber's stack. The stack is aligned to its own
// size, so kernel code finds the state from its stack pointer; thread-local storage would belong
// to the host's thread. device/kernel.h has the same struct: change both.
struct ThreadState {
    Dim thread, block, block_size, grid_size;
    unsigned char *shared;
    void (*wait)(ThreadState *);
    unsigned site;  // the number of the barrier at which it waits
};

constexpr size_t STACK = 0x40000;

struct Fiber;

// Runs when a fiber is entered for the first time; must not return.
using FiberMain = void (*)(Fiber *);

struct Fiber {
    ThreadState *state;
    bool done;
    void *owner;
    struct Saved;
    Saved *saved;
};

// Returns NULL if there is no memory for a stack. Fibers are reused, never freed.
Fiber *make_fiber(FiberMain main, void *owner);

// Resumes the fiber until it suspends itself. `outside` belongs to the host's thread.
struct Outside;
Outside *make_outside();
void enter(Outside *outside, Fiber *fiber);
void leave(Outside *outside, Fiber *fiber);

// Resets a fiber that was left by a jump.
void restart(Fiber *fiber, FiberMain main);

Fiber *fiber_of(ThreadState *state);

// Whether the address is in the guard page, the lowest page of a fiber's stack.
bool is_stack_guard(const void *address, const Fiber *fiber);

}  // namespace emulated
