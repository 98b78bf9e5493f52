// The functions of HIP that Futhark's programs call. A device has one context, which all threads
// share. Types and numbers are those of hip_runtime_api.h.
#include <cstdio>
#include <cstring>
#include <vector>

#include "driver.h"

using namespace emulated;

namespace {

// The numbers of ROCm 5 and 6.
enum Attribute {
    L2_CACHE_SIZE = 19,
    MAX_GRID_DIM_X = 29,
    MAX_THREADS_PER_BLOCK = 56,
    MAX_THREADS_PER_MULTIPROCESSOR = 57,
    MULTIPROCESSOR_COUNT = 63,
    MAX_REGISTERS_PER_BLOCK = 71,
    MAX_SHARED_MEMORY_PER_BLOCK = 74,
    WARP_SIZE = 87,
    PHYSICAL_MULTIPROCESSOR_COUNT = 10015,
};

enum CopyKind { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3 };

// One per device.
struct Device {
    Queue queue;
    unsigned streams = 0;
};

std::vector<Device> &devices() {
    static auto *all = new std::vector<Device>(settings().devices);
    return *all;
}

// The device exists: NEED_DEVICE has verified it.
Device &device_of(int number) { return devices()[size_t(number)]; }

thread_local int current;  // the device of this thread's calls
Queue &queue() { return device_of(current).queue; }

#define NEED_DEVICE                  \
    DRIVER_CALL;                     \
    if (devices().empty())           \
    return NO_DEVICE

// Waits for the work of a device, current or not.
Status finish_owner(const void *owner) {
    for (Device &device : devices())
        if (&device.queue == owner)
            return device.queue.finish();
    return queue().finish();
}

struct Stream {
    int device;
};

// The record of a device starts with its name; the offsets of its memory and its architecture depend
// on the version of the record.
int describe(char *record, int device, size_t size, size_t memory, size_t architecture) {
    if (device < 0 || size_t(device) >= devices().size())
        return devices().empty() ? NO_DEVICE : INVALID_DEVICE;
    memset(record, 0, size);
    snprintf(record, memory, "Emulated HIP device %d", device);
    memcpy(record + memory, &settings().memory, sizeof(size_t));
    strcpy(record + architecture, "gfx1100");
    return OK;
}

int copy(bool later, void *to, const void *from, size_t size, bool to_device, bool from_device) try {
    NEED_DEVICE;
    Copy c = {to, from, size, to_device, from_device};
    return later ? copy_later(queue(), c) : copy_now(queue(), c);
} CATCH

}  // namespace

// --- Devices -----------------------------------------------------------------------------

EXPORT int hipInit(unsigned flags) {
    if (flags != 0)
        return INVALID_VALUE;
    return settings().devices == 0 ? NO_DEVICE : OK;
}

EXPORT int hipDriverGetVersion(int *version) {
    *version = 50200000;
    return OK;
}

EXPORT int hipGetDeviceCount(int *count) {
    *count = int(settings().devices);
    return settings().devices == 0 ? NO_DEVICE : OK;
}

EXPORT int hipDeviceGet(int *device, int number) {
    if (settings().devices == 0)
        return NO_DEVICE;
    if (number < 0 || unsigned(number) >= settings().devices)
        return INVALID_DEVICE;
    *device = number;
    return OK;
}

EXPORT int hipSetDevice(int number) {
    DRIVER_CALL;
    static unsigned long calls;
    if (shall_fail("choice of a device", calls, settings().fail_set_device))
        return INVALID_DEVICE;
    return hipDeviceGet(&current, number);
}

EXPORT int hipGetDevice(int *device) {
    *device = current;
    return settings().devices == 0 ? NO_DEVICE : OK;
}

EXPORT int hipGetDeviceProperties(char *record, int device) { return describe(record, device, 792, 256, 396); }
EXPORT int hipGetDevicePropertiesR0600(char *record, int device) { return describe(record, device, 1472, 288, 1160); }

EXPORT int hipDeviceGetAttribute(int *value, int attribute, int device) {
    if (device < 0 || size_t(device) >= devices().size())
        return devices().empty() ? NO_DEVICE : INVALID_DEVICE;
    switch (attribute) {
    case L2_CACHE_SIZE: *value = CACHE; break;
    case MAX_GRID_DIM_X: *value = MOST_BLOCKS; break;
    case MAX_THREADS_PER_BLOCK:
    case MAX_THREADS_PER_MULTIPROCESSOR: *value = int(MOST_THREADS); break;
    case MULTIPROCESSOR_COUNT:
    case PHYSICAL_MULTIPROCESSOR_COUNT: *value = MULTIPROCESSORS; break;
    case MAX_REGISTERS_PER_BLOCK: *value = REGISTERS; break;
    case MAX_SHARED_MEMORY_PER_BLOCK: *value = int(MOST_SHARED); break;
    case WARP_SIZE: *value = WARP; break;
    default: *value = 0;  // default compute mode; managed memory is not advertised
    }
    return OK;
}

EXPORT int hipDeviceSynchronize() try {
    NEED_DEVICE;
    return queue().finish();
} CATCH

// --- Modules and kernels -------------------------------------------------------------------------

EXPORT int hipModuleLoadData(Program **program, const void *image) try {
    NEED_DEVICE;
    return load_program(*program, static_cast<const char *>(image), &queue());
} CATCH

EXPORT int hipModuleUnload(Program *program) try {
    NEED_DEVICE;
    finish_owner(program->owner);
    unload_program(program);
    return OK;
} CATCH

EXPORT int hipModuleGetFunction(const Kernel **kernel, Program *program, const char *name) {
    NEED_DEVICE;
    *kernel = find_kernel(program, name);
    return *kernel == nullptr ? NOT_FOUND : OK;
}

EXPORT int hipFuncGetAttribute(int *value, int attribute, const Kernel *kernel) {
    NEED_DEVICE;
    *value = attribute == 0 ? int(kernel->bound) : 0;
    return OK;
}

EXPORT int hipModuleLaunchKernel(const Kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                 unsigned shared, Stream *stream, void **arguments, void **extra) try {
    NEED_DEVICE;
    if (extra != nullptr)
        return INVALID_VALUE;
    if (stream->device != current)
        return INVALID_HANDLE;
    return launch(queue(), kernel, {gx, gy, gz}, {bx, by, bz}, shared, arguments);
} CATCH

// --- Memory -------------------------------------------------------------------------------------

EXPORT int hipMalloc(void **address, size_t size) try {
    NEED_DEVICE;
    if (queue().broken() != OK)
        return queue().broken();
    *address = allocate(size == 0 ? 1 : size, &queue());
    return *address == nullptr ? OUT_OF_MEMORY : OK;
} CATCH

EXPORT int hipMallocManaged(void **address, size_t size, unsigned) { return hipMalloc(address, size); }

// Waits for the work, as the real function does.
EXPORT int hipFree(void *address) try {
    NEED_DEVICE;
    Status status = finish_owner(owner_of(address));
    if (address != nullptr && !release(address))
        return INVALID_VALUE;
    return status;
} CATCH

EXPORT int hipMemcpyHtoD(void *to, void *from, size_t size) { return copy(false, to, from, size, true, false); }
EXPORT int hipMemcpyDtoH(void *to, void *from, size_t size) { return copy(false, to, from, size, false, true); }
EXPORT int hipMemcpyDtoD(void *to, void *from, size_t size) { return copy(false, to, from, size, true, true); }
EXPORT int hipMemcpyHtoDAsync(void *to, void *from, size_t size, void *) { return copy(true, to, from, size, true, false); }
EXPORT int hipMemcpyDtoHAsync(void *to, void *from, size_t size, void *) { return copy(true, to, from, size, false, true); }

EXPORT int hipMemcpyWithStream(void *to, const void *from, size_t size, int kind, void *) {
    return copy(false, to, from, size, kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE,
                kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE);
}

// --- Streams and events ---------------------------------------------------------------------------

// Each of Futhark's contexts creates its stream first and destroys it last. A new stream makes a
// broken device usable again: a real one would need a reset, or would have ended the process.
EXPORT int hipStreamCreate(Stream **stream) try {
    NEED_DEVICE;
    if (queue().broken() != OK)
        queue() = Queue();
    *stream = new Stream{current};
    device_of(current).streams++;
    return OK;
} CATCH

EXPORT int hipStreamDestroy(Stream *stream) try {
    NEED_DEVICE;
    Device &device = device_of(stream->device);
    delete stream;
    Status status = device.queue.finish();
    if (--device.streams > 0)
        return status;
    size_t left = release_all(&device.queue);
    if (left > 0)
        finding("the last stream ended with %zu allocations that were never freed", left);
    return status;
} CATCH

EXPORT int hipStreamSynchronize(Stream *stream) try {
    NEED_DEVICE;
    return device_of(stream->device).queue.finish();
} CATCH

EXPORT int hipEventCreate(Event **event) try {
    NEED_DEVICE;
    return create(event);
} CATCH

EXPORT int hipEventDestroy(Event *event) {
    NEED_DEVICE;
    delete event;
    return OK;
}

EXPORT int hipEventRecord(Event *event, void *) try {
    NEED_DEVICE;
    return record(queue(), event);
} CATCH

EXPORT int hipEventElapsedTime(float *milliseconds, Event *from, Event *to) try {
    NEED_DEVICE;
    Status status = queue().finish();
    *milliseconds = float(*to->milliseconds - *from->milliseconds);
    return status;
} CATCH

// --- Error texts ---------------------------------------------------------------------------------

EXPORT const char *hipGetErrorString(int status) { return status == NO_DEVICE ? "no ROCm-capable device is detected" : status_text(status); }
