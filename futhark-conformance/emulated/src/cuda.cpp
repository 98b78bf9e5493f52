// The functions of CUDA's driver and run-time API that Futhark's programs call, and a few that share
// memory with them (futhark-safe/examples/interop). Types and numbers are those of cuda.h, repeated here
// so that no header is needed.
#include <algorithm>
#include <atomic>
#include <cstdio>

#include "context.h"
#include "driver.h"

using namespace emulated;

namespace {

std::atomic<bool> initialised;

enum Attribute {
    MAX_THREADS_PER_BLOCK = 1,
    MAX_BLOCK_DIM_X = 2,
    MAX_BLOCK_DIM_Y = 3,
    MAX_BLOCK_DIM_Z = 4,
    MAX_GRID_DIM_X = 5,
    MAX_GRID_DIM_Y = 6,
    MAX_GRID_DIM_Z = 7,
    MAX_SHARED_MEMORY_PER_BLOCK = 8,
    WARP_SIZE = 10,
    MAX_REGISTERS_PER_BLOCK = 12,
    MULTIPROCESSOR_COUNT = 16,
    COMPUTE_MODE = 20,
    L2_CACHE_SIZE = 38,
    MAX_THREADS_PER_MULTIPROCESSOR = 39,
    COMPUTE_CAPABILITY_MAJOR = 75,
    COMPUTE_CAPABILITY_MINOR = 76,
    MANAGED_MEMORY = 83,
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
};
constexpr int RESERVED_SHARED = 1024;

enum PointerAttribute { POINTER_CONTEXT = 1 };

enum FunctionAttribute { FUNCTION_MAX_THREADS = 0, FUNCTION_MAX_DYNAMIC_SHARED = 8 };

// Stores the current context in `context`. Returns an error if cuInit was not called, or if there is
// no current context or it was destroyed.
Status current(Context *&context) {
    if (!initialised)
        return NOT_INITIALIZED;
    context = current_context();
    if (context == nullptr)
        return INVALID_CONTEXT;
    return context->destroyed ? CONTEXT_IS_DESTROYED : OK;
}

#define NEED_CONTEXT                   \
    DRIVER_CALL;                       \
    Context *context = nullptr;        \
    if (Status s = current(context))   \
        return s

int copy(bool later, unsigned long long to, unsigned long long from, size_t size, bool to_device, bool from_device) try {
    NEED_CONTEXT;
    Copy c = {reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), size, to_device, from_device};
    return later ? copy_later(context->queue, c) : copy_now(context->queue, c);
} CATCH

template <class T> unsigned long long number(T *pointer) { return reinterpret_cast<unsigned long long>(pointer); }

}  // namespace

// --- Devices -----------------------------------------------------------------------------

EXPORT int cuInit(unsigned flags) {
    DRIVER_CALL;
    if (flags != 0)
        return INVALID_VALUE;
    if (settings().devices == 0)
        return NO_DEVICE;
    initialised = true;
    return OK;
}

EXPORT int cuDriverGetVersion(int *version) {
    *version = 12010;
    return OK;
}

EXPORT int cuDeviceGetCount(int *count) {
    *count = int(settings().devices);
    return initialised ? OK : NOT_INITIALIZED;
}

EXPORT int cuDeviceGet(int *device, int number) {
    if (!initialised)
        return NOT_INITIALIZED;
    if (number < 0 || unsigned(number) >= settings().devices)
        return INVALID_DEVICE;
    *device = number;
    return OK;
}

EXPORT int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, size_t(size), "Emulated CUDA device %d", device);
    return OK;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int) {
    *bytes = settings().memory;
    return OK;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int) {
    switch (attribute) {
    case MAX_THREADS_PER_BLOCK:
    case MAX_BLOCK_DIM_X:
    case MAX_BLOCK_DIM_Y:
    case MAX_THREADS_PER_MULTIPROCESSOR: *value = int(MOST_THREADS); break;
    case MAX_BLOCK_DIM_Z: *value = MOST_THREADS_Z; break;
    case MAX_GRID_DIM_X: *value = MOST_BLOCKS; break;
    case MAX_GRID_DIM_Y:
    case MAX_GRID_DIM_Z: *value = MOST_BLOCKS_YZ; break;
    case MAX_SHARED_MEMORY_PER_BLOCK: *value = int(MOST_SHARED); break;
    case WARP_SIZE: *value = WARP; break;
    case MAX_REGISTERS_PER_BLOCK: *value = REGISTERS; break;
    case MULTIPROCESSOR_COUNT: *value = MULTIPROCESSORS; break;
    case L2_CACHE_SIZE: *value = CACHE; break;
    case COMPUTE_CAPABILITY_MAJOR: *value = 8; break;
    case COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    // Generated code subtracts RESERVED_SHARED from this value to get the usable size.
    case MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = int(MOST_SHARED) + RESERVED_SHARED; break;
    case RESERVED_SHARED_MEMORY_PER_BLOCK: *value = RESERVED_SHARED; break;
    // Default compute mode. Managed memory is not advertised, although cuMemAllocManaged works like
    // cuMemAlloc.
    case COMPUTE_MODE:
    case MANAGED_MEMORY:
    default: *value = 0;
    }
    return OK;
}

// --- Contexts ------------------------------------------------------------------------------

EXPORT int cuCtxCreate_v2(Context **context, unsigned, int device) try {
    DRIVER_CALL;
    if (!initialised)
        return NOT_INITIALIZED;
    if (device < 0 || unsigned(device) >= settings().devices)
        return INVALID_DEVICE;
    return make_context(*context);
} CATCH

// CUDA 13's cuda.h maps cuCtxCreate to cuCtxCreate_v4.
EXPORT int cuCtxCreate_v4(Context **context, void *, unsigned flags, int device) { return cuCtxCreate_v2(context, flags, device); }

EXPORT int cuCtxDestroy_v2(Context *context) try {
    DRIVER_CALL;
    if (context == nullptr)
        return INVALID_VALUE;
    return destroy_context(context);
} CATCH

EXPORT int cuDevicePrimaryCtxRetain(Context **context, int device) try {
    DRIVER_CALL;
    if (!initialised)
        return NOT_INITIALIZED;
    if (device < 0 || unsigned(device) >= settings().devices)
        return INVALID_DEVICE;
    return retain_primary(device, *context);
} CATCH

EXPORT int cuDevicePrimaryCtxRelease_v2(int device) try {
    DRIVER_CALL;
    if (!initialised)
        return NOT_INITIALIZED;
    if (device < 0 || unsigned(device) >= settings().devices)
        return INVALID_DEVICE;
    return release_primary(device);
} CATCH

EXPORT int cuCtxPushCurrent_v2(Context *context) try {
    DRIVER_CALL;
    return push_context(context);
} CATCH

EXPORT int cuCtxPopCurrent_v2(Context **context) {
    DRIVER_CALL;
    Context *top = current_context();
    if (top == nullptr)
        return INVALID_CONTEXT;
    if (context != nullptr)
        *context = top;
    pop_context();
    return OK;
}

EXPORT int cuCtxGetCurrent(Context **context) {
    *context = current_context();
    return OK;
}

EXPORT int cuCtxSetCurrent(Context *context) try {
    DRIVER_CALL;
    if (context == current_context())
        return OK;
    if (context != nullptr)
        if (Status status = usable(context))
            return status;
    if (current_context() != nullptr)
        pop_context();
    return context == nullptr ? OK : push_context(context);
} CATCH

EXPORT int cuCtxSynchronize() try {
    NEED_CONTEXT;
    return context->queue.finish();
} CATCH

// --- Modules and kernels -------------------------------------------------------------------------

EXPORT int cuModuleLoadData(Program **program, const void *image) try {
    NEED_CONTEXT;
    return load_program(*program, static_cast<const char *>(image), context);
} CATCH

EXPORT int cuModuleUnload(Program *program) try {
    NEED_CONTEXT;
    finish_context(program->owner);
    unload_program(program);
    return OK;
} CATCH

EXPORT int cuModuleGetFunction(const Kernel **kernel, Program *program, const char *name) {
    NEED_CONTEXT;
    *kernel = find_kernel(program, name);
    return *kernel == nullptr ? NOT_FOUND : OK;
}

EXPORT int cuFuncSetAttribute(const Kernel *, int attribute, int value) {
    NEED_CONTEXT;
    bool too_much = attribute == FUNCTION_MAX_DYNAMIC_SHARED && (value < 0 || size_t(value) > MOST_SHARED);
    return too_much ? INVALID_VALUE : OK;
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, const Kernel *kernel) {
    NEED_CONTEXT;
    *value = attribute == FUNCTION_MAX_THREADS ? int(kernel->bound) : attribute == FUNCTION_MAX_DYNAMIC_SHARED ? int(MOST_SHARED) : 0;
    return OK;
}

EXPORT int cuLaunchKernel(const Kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *, void **arguments, void **extra) try {
    NEED_CONTEXT;
    if (extra != nullptr)
        return INVALID_VALUE;
    return launch(context->queue, kernel, {gx, gy, gz}, {bx, by, bz}, shared, arguments);
} CATCH

// --- Memory -------------------------------------------------------------------------------------

EXPORT int cuMemAlloc_v2(unsigned long long *address, size_t size) try {
    NEED_CONTEXT;
    if (size == 0)
        return INVALID_VALUE;
    if (context->queue.broken() != OK)
        return context->queue.broken();
    *address = number(allocate(size, context));
    return *address == 0 ? OUT_OF_MEMORY : OK;
} CATCH

EXPORT int cuMemAllocManaged(unsigned long long *address, size_t size, unsigned) { return cuMemAlloc_v2(address, size); }

// Waits for the work, as the real function does.
EXPORT int cuMemFree_v2(unsigned long long address) try {
    NEED_CONTEXT;
    const void *owner = owner_of(reinterpret_cast<void *>(address));
    Status status = finish_context(owner == nullptr ? context : owner);
    if (address != 0 && !release(reinterpret_cast<void *>(address)))
        return INVALID_VALUE;
    return status;
} CATCH

EXPORT int cuMemGetInfo_v2(size_t *unused, size_t *all) {
    NEED_CONTEXT;
    *all = settings().memory;
    *unused = *all - std::min(memory_in_use(), *all);
    return OK;
}

EXPORT int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t size) {
    return copy(false, to, number(from), size, true, false);
}
EXPORT int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t size) {
    return copy(false, number(to), from, size, false, true);
}
EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t size, void *) {
    return copy(true, to, number(from), size, true, false);
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t size, void *) {
    return copy(true, number(to), from, size, false, true);
}
EXPORT int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t size, void *) {
    return copy(true, to, from, size, true, true);
}
EXPORT int cuMemcpy(unsigned long long to, unsigned long long from, size_t size) { return copy(false, to, from, size, true, true); }

// Only this attribute, and only at the start of an allocation.
EXPORT int cuPointerGetAttribute(void *value, int attribute, unsigned long long address) {
    if (!initialised)
        return NOT_INITIALIZED;
    const void *owner = owner_of(reinterpret_cast<void *>(address));
    if (attribute != POINTER_CONTEXT || owner == nullptr)
        return INVALID_VALUE;
    *static_cast<const void **>(value) = owner;
    return OK;
}

// --- Streams and events ---------------------------------------------------------------------------

// All streams of a context share one queue.
struct Stream {};

EXPORT int cuStreamCreate(Stream **stream, unsigned) try {
    NEED_CONTEXT;
    *stream = new Stream();
    return OK;
} CATCH

EXPORT int cuStreamDestroy_v2(Stream *stream) try {
    NEED_CONTEXT;
    delete stream;
    return context->queue.finish();
} CATCH

EXPORT int cuStreamSynchronize(Stream *) { return cuCtxSynchronize(); }

EXPORT int cuEventCreate(Event **event, unsigned) try {
    NEED_CONTEXT;
    return create(event);
} CATCH

// Part of the run-time API, which Futhark's programs also call.
EXPORT int cudaEventCreate(Event **event) { return cuEventCreate(event, 0); }

EXPORT int cuEventDestroy_v2(Event *event) {
    NEED_CONTEXT;
    delete event;
    return OK;
}

EXPORT int cuEventRecord(Event *event, void *) try {
    NEED_CONTEXT;
    return record(context->queue, event);
} CATCH

EXPORT int cuEventSynchronize(Event *) { return cuCtxSynchronize(); }

EXPORT int cuEventElapsedTime(float *milliseconds, Event *from, Event *to) try {
    NEED_CONTEXT;
    Status status = context->queue.finish();
    *milliseconds = float(*to->milliseconds - *from->milliseconds);
    return status;
} CATCH
EXPORT int cuEventElapsedTime_v2(float *milliseconds, Event *from, Event *to) { return cuEventElapsedTime(milliseconds, from, to); }

// --- Error texts ---------------------------------------------------------------------------------

EXPORT int cuGetErrorString(int status, const char **text) {
    *text = status_text(status);
    return OK;
}
EXPORT int cuGetErrorName(int status, const char **text) { return cuGetErrorString(status, text); }

// --- Run-time API --------------------------------------------------------------------------------

// cudaEventCreate is next to cuEventCreate.
EXPORT int cudaRuntimeGetVersion(int *version) { return cuDriverGetVersion(version); }
EXPORT int cudaEventDestroy(Event *event) { return cuEventDestroy_v2(event); }
