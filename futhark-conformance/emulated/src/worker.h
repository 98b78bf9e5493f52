// One launch of a kernel, and what a thread of the host needs to run blocks of it.
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
    std::atomic<uint64_t> next{0};  // the next block that nobody has begun
    std::atomic<int> ended{int(Ended::Well)};

    uint64_t blocks() const { return uint64_t(grid.x) * grid.y * grid.z; }
    Dim block_number(uint64_t i) const {
        return {unsigned(i % grid.x), unsigned(i / grid.x % grid.y), unsigned(i / grid.x / grid.y)};
    }
    unsigned threads() const { return block.x * block.y * block.z; }
    // The first failure is the one that is told.
    bool fail(Ended how) {
        int well = int(Ended::Well);
        return ended.compare_exchange_strong(well, int(how));
    }
    bool failed() const { return ended.load() != int(Ended::Well); }
};

// The shared memory of blocks. That of a launch ends where a page begins that cannot be
// touched, as an allocation does.
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

// What one thread of the host needs to run blocks. Never destroyed.
struct Worker {
    Worker() {
        for (std::vector<Fiber *> *fibers : {&idle, &waiting, &next})
            fibers->reserve(MOST_THREADS);
    }

    std::vector<Fiber *> idle, waiting, next;
    Outside *outside = make_outside();
    SharedMemory shared;
    Launch *launch = nullptr;
    // The fiber whose kernel runs now, set by `go_on` only: as long as it is set, a signal
    // jumps to `escape`, wherever the thread is.
    Fiber *volatile current = nullptr;
    pthread_t host;
    sigjmp_buf escape;
    // Written by the signal handler, read after the jump.
    int signal = 0;
    void *address = nullptr;
    bool wild = false;  // there is no address: it is none that a pointer can have
    alignas(16) unsigned char signal_stack[64 * 1024];
};

}  // namespace emulated
