// Shared by cuda.cpp and hip.cpp: the macros that export functions and lock the device, events, and
// the limits of the device.
#pragma once

#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>

#include "memory.h"
#include "settings.h"
#include "work.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace emulated {

// The mutex of the device, which DRIVER_CALL locks: only one thread at a time uses the device.
inline std::recursive_mutex &driver_mutex() {
    static auto *mutex = new std::recursive_mutex();
    return *mutex;
}

// Locks the device until the end of the function; returns UNKNOWN if the device is lost.
#define DRIVER_CALL                                                              \
    std::lock_guard<std::recursive_mutex> driver_lock(emulated::driver_mutex()); \
    if (emulated::device_is_lost())                                              \
    return UNKNOWN

// The end of an exported function that starts with `try`: generated programs are C, so no
// exception may leave the function.
#define CATCH                                                          \
    catch (const std::exception &error) {                              \
        fprintf(stderr, "emulated device: %s\n", error.what());        \
        return OUT_OF_MEMORY;                                          \
    }

// A device of compute capability 8.0 with few, small multiprocessors, so that grids and the cost of
// emulation stay small. A warp has one thread, because fibers do not run in lockstep: with this size,
// generated code uses barriers where it would otherwise rely on lockstep.
constexpr int MULTIPROCESSORS = 4, WARP = 1, REGISTERS = 65536, CACHE = 4 << 20;
constexpr int MOST_BLOCKS = 2147483647, MOST_BLOCKS_YZ = 65535, MOST_THREADS_Z = 64;

// An event: the time, in milliseconds, at which the queue reaches it. The queued work shares
// ownership of the value, because the event may be destroyed before the work runs.
struct Event {
    std::shared_ptr<double> milliseconds = std::make_shared<double>(0);
};

double now_in_milliseconds();
Status create(Event **event);
Status record(Queue &queue, Event *event);

}  // namespace emulated
