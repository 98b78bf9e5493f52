// What cuda.cpp and hip.cpp need beside the work: how functions are exported and locked.
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

// There is one device, and one thread at a time in it.
inline std::recursive_mutex &driver_mutex() {
    static auto *mutex = new std::recursive_mutex();
    return *mutex;
}

// Begins every function that asks something of the device.
#define DRIVER_CALL                                                              \
    std::lock_guard<std::recursive_mutex> driver_lock(emulated::driver_mutex()); \
    if (emulated::device_is_lost())                                              \
    return UNKNOWN

// Ends an exported function that was begun with `try`: generated programs are C, and nothing
// may be thrown through them.
#define CATCH                                                          \
    catch (const std::exception &error) {                              \
        fprintf(stderr, "emulated device: %s\n", error.what());        \
        return OUT_OF_MEMORY;                                          \
    }

// Compute capability 8.0 with few, small multiprocessors: grids stay small, which an
// emulation has to pay for. A warp has one thread, as fibers do not run in lockstep:
// code that relies on a warp's lockstep then uses barriers instead.
constexpr int MULTIPROCESSORS = 4, WARP = 1, REGISTERS = 65536, CACHE = 4 << 20;
constexpr int MOST_BLOCKS = 2147483647, MOST_BLOCKS_YZ = 65535, MOST_THREADS_Z = 64;

// Time stamps of the work; they are compared in milliseconds. Work that waits shares the
// place, as the event may be destroyed before it is done.
struct Event {
    std::shared_ptr<double> milliseconds = std::make_shared<double>(0);
};

double now_in_milliseconds();
Status create(Event **event);
Status record(Queue &queue, Event *event);

}  // namespace emulated
