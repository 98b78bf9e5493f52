#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "settings.h"

// A guarded allocation has its own pages between two inaccessible ones. It ends at the second of
// these, so that an access to the first byte after it (rounded up to the alignment of the widest
// access of a kernel) faults. A pattern before it, and in the rounding, is verified when it is
// freed. After that its pages stay mapped and inaccessible until many others were freed, so that
// a use after free faults too.
//
// Each allocation takes three entries of the host's table of mappings, whose limit is 65,530
// (Linux): past MOST_GUARDED, and with `unguarded`, malloc allocates the memory.

namespace emulated {

namespace {

constexpr size_t PAGE = 4096, WIDEST = 16, UNGUARDED_ALIGNMENT = 256;
constexpr size_t MOST_GUARDED = 4000, MOST_FREED = 1000;
// Filling a large allocation completely would commit memory that is not used.
constexpr size_t MOST_POISONED = size_t(64) << 20;
constexpr unsigned char PATTERN = 0xC3;

struct Allocation {
    size_t size;
    const void *owner;
    unsigned char *map;  // NULL: from malloc
    size_t map_size;
};

struct Freed {
    uintptr_t address;
    Allocation allocation;
};

std::mutex mutex;
std::map<uintptr_t, Allocation> &live = *new std::map<uintptr_t, Allocation>();
std::deque<Freed> &freed = *new std::deque<Freed>();
size_t in_use;
unsigned long allocations;

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// The pattern's bytes: [first, start of the allocation) and [its end, last).
bool pattern_is_whole(const unsigned char *from, const unsigned char *to) {
    return std::all_of(from, to, [](unsigned char byte) { return byte == PATTERN; });
}

unsigned char *map_guarded(Allocation &a) {
    size_t room = round_up(a.size, WIDEST), pages = round_up(room, PAGE);
    a.map_size = pages + 2 * PAGE;
    void *map = mmap(nullptr, a.map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return nullptr;
    a.map = static_cast<unsigned char *>(map);
    unsigned char *first = a.map + PAGE, *last = first + pages, *address = last - room;
    if (mprotect(first, pages, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, a.map_size);
        return nullptr;
    }
    memset(first, PATTERN, size_t(address - first));
    memset(address + a.size, PATTERN, room - a.size);
    return address;
}

// Reports writes next to an allocation, before it is freed.
void look_around(uintptr_t address, const Allocation &a) {
    if (a.map == nullptr)
        return;
    auto begin = reinterpret_cast<const unsigned char *>(address);
    if (!pattern_is_whole(a.map + PAGE, begin))
        finding("a write before an allocation of %zu bytes", a.size);
    if (!pattern_is_whole(begin + a.size, a.map + a.map_size - PAGE))
        finding("a write just past the end of an allocation of %zu bytes", a.size);
}

void give_back(const Allocation &a, uintptr_t address) {
    if (a.map != nullptr)
        munmap(a.map, a.map_size);
    else
        free(reinterpret_cast<void *>(address));
}

// The caller holds the mutex and has removed the entry from the map.
void retire(uintptr_t address, const Allocation &a) {
    look_around(address, a);
    in_use -= a.size;
    if (a.map == nullptr) {
        give_back(a, address);
        return;
    }
    // Keeps the address range, frees the memory.
    mmap(a.map, a.map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    freed.push_back({address, a});
    if (freed.size() > MOST_FREED) {
        give_back(freed.front().allocation, freed.front().address);
        freed.pop_front();
    }
}

bool covers(uintptr_t begin, const Allocation &a, uintptr_t address) {
    if (a.map == nullptr)
        return address >= begin && address < begin + a.size;
    auto map = reinterpret_cast<uintptr_t>(a.map);
    return address >= map && address < map + a.map_size;
}

std::string place_in(uintptr_t begin, const Allocation &a, uintptr_t address, const char *what) {
    char text[160];
    if (address < begin)
        snprintf(text, sizeof text, "%zu bytes before %s of %zu bytes", size_t(begin - address), what, a.size);
    else if (address < begin + a.size)
        snprintf(text, sizeof text, "at byte %zu of %s of %zu bytes", size_t(address - begin), what, a.size);
    else
        snprintf(text, sizeof text, "%zu bytes past the end of %s of %zu bytes", size_t(address - begin - a.size), what, a.size);
    return text;
}

}  // namespace

void *allocate(size_t size, const void *owner) {
    std::lock_guard<std::mutex> lock(mutex);
    if (shall_fail("allocation", allocations, settings().fail_allocation) || size > settings().memory - std::min(in_use, settings().memory))
        return nullptr;
    Allocation a = {size, owner, nullptr, 0};
    unsigned char *address;
    if (settings().guarded && live.size() < MOST_GUARDED)
        address = map_guarded(a);
    else
        address = static_cast<unsigned char *>(aligned_alloc(UNGUARDED_ALIGNMENT, round_up(size + 1, UNGUARDED_ALIGNMENT)));
    if (address == nullptr)
        return nullptr;
    memset(address, settings().poison, std::min(size, MOST_POISONED));
    live[reinterpret_cast<uintptr_t>(address)] = a;
    in_use += size;
    return address;
}

bool release(void *address) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = live.find(reinterpret_cast<uintptr_t>(address));
    if (found == live.end()) {
        auto same = [=](const Freed &f) { return f.address == reinterpret_cast<uintptr_t>(address); };
        if (std::any_of(freed.begin(), freed.end(), same))
            finding("an allocation was freed twice");
        else
            finding("memory was freed that was never allocated");
        return false;
    }
    Allocation a = found->second;
    live.erase(found);
    retire(reinterpret_cast<uintptr_t>(address), a);
    return true;
}

size_t release_all(const void *owner) {
    std::lock_guard<std::mutex> lock(mutex);
    size_t count = 0;
    for (auto i = live.begin(); i != live.end();) {
        if (i->second.owner != owner) {
            ++i;
            continue;
        }
        uintptr_t address = i->first;
        Allocation a = i->second;
        i = live.erase(i);
        retire(address, a);
        count++;
    }
    return count;
}

bool is_device_range(const void *address, size_t size) {
    std::lock_guard<std::mutex> lock(mutex);
    auto begin = reinterpret_cast<uintptr_t>(address);
    auto next = live.upper_bound(begin);
    if (next == live.begin())
        return false;
    auto found = std::prev(next);
    size_t offset = begin - found->first;
    return offset <= found->second.size && size <= found->second.size - offset;
}

const void *owner_of(const void *address) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = live.find(reinterpret_cast<uintptr_t>(address));
    return found == live.end() ? nullptr : found->second.owner;
}

size_t memory_in_use() {
    std::lock_guard<std::mutex> lock(mutex);
    return in_use;
}

std::string describe_address(const void *pointer) {
    std::lock_guard<std::mutex> lock(mutex);
    auto address = reinterpret_cast<uintptr_t>(pointer);
    // Newest first: an address may have been used several times.
    for (auto f = freed.rbegin(); f != freed.rend(); ++f)
        if (covers(f->address, f->allocation, address))
            return place_in(f->address, f->allocation, address, "a freed allocation");
    for (auto &entry : live)
        if (covers(entry.first, entry.second, address))
            return place_in(entry.first, entry.second, address, "an allocation");
    char text[64];
    snprintf(text, sizeof text, "at %p, which was never allocated", pointer);
    return text;
}

}  // namespace emulated
