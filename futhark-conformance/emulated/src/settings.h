// The settings of the emulated device, read once from one environment variable.
#pragma once

#include <cstddef>
#include <string>

namespace emulated {

// FUTHARK_EMULATED is a list such as "delayed,order=reversed,fail-launch=3". README.md describes
// the settings. An unknown setting ends the process: a run with a mistyped mode would not test
// what the user requested.
struct Settings {
    bool delayed = false;        // asynchronous work waits for the next synchronisation
    bool guarded = true;         // allocations end at an inaccessible page
    enum { Forward, Reversed, Alternating } order = Forward;  // of the threads of a block
    bool blocks_reversed = false;  // the last block of a grid first
    unsigned threads = 1;        // of the host that run blocks in parallel; at most 64
    unsigned char poison = 0xA5; // the byte that fills new memory
    size_t memory = size_t(1) << 30;
    unsigned devices = 1;
    unsigned seconds = 60;       // the time limit of a kernel
    unsigned long fail_allocation = 0, fail_copy = 0, fail_launch = 0, fail_event = 0, fail_set_device = 0;  // the number of the operation that fails; 0: none
    unsigned long lose_device = 0;  // from the n-th call on, the device is lost
    bool trace = false;          // every launch, on stderr
    std::string flags = "-Og";   // for the host's compiler, when it compiles kernels
};

const Settings &settings();

// FUTHARK_EMULATED_CACHE: a folder for compiled kernels; empty: no cache.
const std::string &cache_folder();

std::string temporary_folder();

// Reports misuse that a real driver does not report: appends a line to the file
// FUTHARK_EMULATED_FINDINGS, or prints it on stderr if the variable is not set.
void finding(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Counts a call and returns whether the device is lost; prints the loss once on stderr.
bool device_is_lost();

// Counts an operation and returns whether it must fail; prints the failure on stderr.
bool shall_fail(const char *what, unsigned long &counter, unsigned long which);

}  // namespace emulated
