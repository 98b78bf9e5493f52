// How the emulated device behaves: read once, from one environment variable.
#pragma once

#include <cstddef>
#include <string>

namespace emulated {

// FUTHARK_EMULATED is a list such as "delayed,order=reversed,fail-launch=3". What each
// setting is for stands in README.md. A setting that is not known ends the process: a
// run with a mode that was mistyped would prove something else than it says.
struct Settings {
    bool delayed = false;        // asynchronous work waits until something synchronises
    bool guarded = true;         // allocations end at a page that cannot be touched
    enum { Forward, Reversed, Alternating } order = Forward;  // of the threads of a block
    bool blocks_reversed = false;  // the last block of a grid first
    unsigned threads = 1;        // of the host that run blocks side by side; at most 64
    unsigned char poison = 0xA5; // what fresh memory is filled with
    size_t memory = size_t(1) << 30;
    unsigned devices = 1;
    unsigned seconds = 60;       // how long a kernel may run
    unsigned long fail_allocation = 0, fail_copy = 0, fail_launch = 0, fail_event = 0, fail_set_device = 0;  // the n-th one; 0: none
    unsigned long lose_device = 0;  // from the n-th call on, the device is gone
    bool trace = false;          // every launch, on stderr
    std::string flags = "-O1";   // for the host's compiler, when it compiles kernels
};

const Settings &settings();

// FUTHARK_EMULATED_CACHE: a folder for compiled kernels; empty: none are kept.
const std::string &cache_folder();

std::string temporary_folder();

// What a real driver would not tell: misuse of the device. One line each, appended to the
// file FUTHARK_EMULATED_FINDINGS, or told on stderr if there is none.
void finding(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Whether the device is gone, which is counted in calls, and said once on stderr.
bool device_is_lost();

// Counts towards the n-th operation that shall fail, and says on stderr when it is reached.
bool shall_fail(const char *what, unsigned long &counter, unsigned long which);

}  // namespace emulated
