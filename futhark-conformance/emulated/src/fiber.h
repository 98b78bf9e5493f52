// Fibers: the threads of a block that wait at a barrier have stacks of their own, on one thread of the
// host.
#pragma once

#include <cstddef>

#include "../device/thread.h"

namespace emulated {

using Dim = EmulatedDim;
using Thread = EmulatedThread;
using Block = EmulatedBlock;

constexpr size_t STACK = EMULATED_STACK;
constexpr unsigned MOST_THREADS = EMULATED_MOST_THREADS;

// Runs when a thread is entered for the first time; must not return.
using ThreadMain = void (*)(Thread *);

// The stacks of one thread of the host. They are reused, never freed.
class Stacks {
  public:
    explicit Stacks(ThreadMain main);

    // Makes the first `count` stacks usable. Returns false if the allocation fails.
    bool need(unsigned count);

    unsigned count() const { return made; }

    // Resets all threads, which may have been left by a jump.
    void restart();

    // Whether the address is in the guard page, the lowest page of a thread's stack.
    bool is_guard(const void *address, const Thread *thread) const;

    // NULL before the first stack.
    Block *block = nullptr;

  private:
    bool reserve();
    char *lowest(size_t i) const;
    void restart(unsigned i);

    ThreadMain main;
    unsigned made = 0;
    struct Contexts;
    Contexts *contexts = nullptr;  // without the fast switch
};

}  // namespace emulated
