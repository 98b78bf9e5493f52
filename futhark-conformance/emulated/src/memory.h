// Device memory: who allocated what, and whether an address belongs to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emulated {

// Memory of one device is in this process' address space: a device pointer is a host
// pointer. `owner` is the context that asked for it, for the count of leaks.
void *allocate(size_t size, const void *owner);

// False if nothing was allocated there, or it is freed already (a finding).
bool release(void *address);

// Frees what an owner has left, and returns how many allocations that were.
size_t release_all(const void *owner);

// Whether all of the range lies in one allocation.
bool is_device_range(const void *address, size_t size);

// Who asked for it; NULL if nothing was allocated there.
const void *owner_of(const void *address);

size_t memory_in_use();

// What lies at an address that a kernel must not touch, in words.
std::string describe_address(const void *address);

}  // namespace emulated
