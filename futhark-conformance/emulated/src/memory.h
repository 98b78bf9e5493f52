// Device memory: allocations, their owners, and the addresses in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emulated {

// The memory of a device is in the address space of this process: a device pointer is a host
// pointer. `owner` is the context that allocates, for the count of leaks.
void *allocate(size_t size, const void *owner);

// False if the pointer was not allocated or is already freed (a finding).
bool release(void *address);

// Frees all allocations of an owner and returns their number.
size_t release_all(const void *owner);

// Whether the range is within one allocation.
bool is_device_range(const void *address, size_t size);

// The owner; NULL if the pointer was not allocated.
const void *owner_of(const void *address);

size_t memory_in_use();

// Describes an invalid address by the nearest allocation.
std::string describe_address(const void *address);

}  // namespace emulated
