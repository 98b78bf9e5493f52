// A launch of a kernel, and the state of a host thread that runs its blocks.
#pragma once

#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "fiber.h"
#include "grid.h"

namespace emulated {

struct Launch {
    const Kernel &kernel;
    void *const *arguments;
    Dim grid, block;
    size_t shared;
    std::atomic<uint64_t> next{0};  // the next block to run
    std::atomic<int> ended{int(Ended::Well)};

    uint64_t blocks() const { return uint64_t(grid.x) * grid.y * grid.z; }
    Dim block_number(uint64_t i) const {
        return {unsigned(i % grid.x), unsigned(i / grid.x % grid.y), unsigned(i / grid.x / grid.y)};
    }
    unsigned threads() const { return block.x * block.y * block.z; }
    // Only the first failure is reported.
    bool fail(Ended how) {
        int well = int(Ended::Well);
        return ended.compare_exchange_strong(well, int(how));
    }
    bool failed() const { return ended.load() != int(Ended::Well); }
};

// The shared memory of blocks. It ends at an inaccessible page, as an allocation does.
class SharedMemory {
  public:
    SharedMemory() {
        void *map = mmap(nullptr, MOST_SHARED + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED)
            throw std::bad_alloc();
        lowest = static_cast<unsigned char *>(map) + GUARD;
        if (mprotect(lowest, MOST_SHARED, PROT_READ | PROT_WRITE) != 0) {
            munmap(map, MOST_SHARED + 2 * GUARD);
            throw std::bad_alloc();
        }
    }
    unsigned char *of_size(size_t size) const { return lowest + MOST_SHARED - (size + WIDEST - 1) / WIDEST * WIDEST; }
    bool guards(const void *address) const { return address >= lowest - GUARD && address < lowest + MOST_SHARED + GUARD; }

  private:
    static constexpr size_t GUARD = 64 * 1024, WIDEST = 16;
    unsigned char *lowest;
};

// The state of a host thread that runs blocks. Never destroyed.
struct Worker {
    explicit Worker(ThreadMain main) : stacks(main) {
        waiting.reserve(MOST_THREADS + 1);
        idle.reserve(MOST_THREADS + 1);
    }

    Stacks stacks;
    SharedMemory shared;
    Launch *launch = nullptr;
    // Of the current block: how many threads have not started, the first of them and the order; how
    // many have ended since the last barrier; those that wait, in the order in which they go on; and
    // stacks without a thread.
    bool starting = false;
    unsigned to_start = 0;
    Dim next = {};
    bool reversed = false;
    unsigned ended = 0;
    std::vector<Thread *> waiting, idle;
    // While a thread of the kernel runs, a signal jumps to `escape`.
    volatile bool inside = false;
    pthread_t host;
    sigjmp_buf escape;
    // Written by the signal handler, read after the jump.
    int signal = 0;
    void *address = nullptr;
    bool wild = false;  // the fault has no address, because it is not canonical
    alignas(16) unsigned char signal_stack[64 * 1024];
};

}  // namespace emulated
