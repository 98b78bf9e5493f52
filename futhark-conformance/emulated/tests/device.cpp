// Tests the promises of the emulated device through the functions of the drivers. The argument is
// the name of a case. The exit code is 0 if the
// promise holds, otherwise 1, with a line that names the failed condition.
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

typedef unsigned long long Address;
extern "C" {
int cuInit(unsigned);
int cuDeviceGet(int *, int);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxDestroy_v2(void *);
int cuCtxSynchronize();
int cuCtxPopCurrent_v2(void **);
int cuCtxPushCurrent_v2(void *);
int cuCtxGetCurrent(void **);
int cuDevicePrimaryCtxRetain(void **, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuPointerGetAttribute(void *, int, Address);
int cuMemcpy(Address, Address, size_t);
int cuEventCreate(void **, unsigned);
int cuEventRecord(void *, void *);
int cuEventDestroy_v2(void *);
int cuModuleUnload(void *);
int cuMemAlloc_v2(Address *, size_t);
int cuMemFree_v2(Address);
int cuMemcpyHtoD_v2(Address, const void *, size_t);
int cuMemcpyDtoH_v2(void *, Address, size_t);
int cuMemcpyHtoDAsync_v2(Address, const void *, size_t, void *);
int cuMemcpyDtoHAsync_v2(void *, Address, size_t, void *);
int cuModuleLoadData(void **, const void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int cuGetErrorString(int, const char **);
int nvrtcCreateProgram(void **, const char *, const char *, int, const char *const *, const char *const *);
int nvrtcCompileProgram(void *, int, const char *const *);
int nvrtcGetProgramLogSize(void *, size_t *);
int nvrtcGetProgramLog(void *, char *);
int nvrtcGetPTXSize(void *, size_t *);
int nvrtcGetPTX(void *, char *);
int hiprtcCreateProgram(void **, const char *, const char *, int, const char *const *, const char *const *);
int hiprtcCompileProgram(void *, int, const char *const *);
int hiprtcGetCodeSize(void *, size_t *);
int hiprtcGetCode(void *, char *);
const char *hipGetErrorString(int);
int hipInit(unsigned);
int hipGetDevice(int *);
int hipSetDevice(int);
int hipDeviceSynchronize();
int hipStreamCreate(void **);
int hipStreamDestroy(void *);
int hipStreamSynchronize(void *);
int hipMalloc(void **, size_t);
int hipFree(void *);
int hipMemcpyDtoH(void *, void *, size_t);
int hipModuleLoadData(void **, const void *);
int hipModuleGetFunction(void **, void *, const char *);
int hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
}

namespace {

// --- Helpers ----------------------------------------------------------------------------

#define EXPECT(is, wanted)                                                                            \
    do {                                                                                              \
        long long is_ = (long long)(is), wanted_ = (long long)(wanted);                               \
        if (is_ != wanted_) {                                                                         \
            printf("line %d: %s: expected %lld, got %lld\n", __LINE__, #is, wanted_, is_);            \
            exit(1);                                                                                  \
        }                                                                                             \
    } while (0)

const char KERNELS[] = R"(
extern "C" __global__ __launch_bounds__(1024) void number(int *out, int add) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x + 1000 * blockIdx.x + add;
}
extern "C" __global__ __launch_bounds__(64) void small(int *out) { out[threadIdx.x] = 1; }
extern "C" __global__ void put(int *out, long long at, int value) { out[at] = value; }
extern volatile __shared__ unsigned char shared_mem[];
static inline void barrier(int x) { __syncthreads(); }
extern "C" __global__ void sum(const int *in, int *out) {
  volatile int *part = (volatile int *)shared_mem;
  part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    barrier(1);
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
  }
  barrier(1);
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
extern "C" __global__ void divergent(int *out) {
  if (threadIdx.x < 3) { barrier(1); out[0] = 1; } else { out[1] = 1; barrier(2); }
}
extern "C" __global__ void early(int *out) {
  if (threadIdx.x % 2) return;
  barrier(1);
  out[threadIdx.x] = 7;
}
// `out` is a counter, followed by the threads in the order in which they run.
extern "C" __global__ void order(int *out) {
  for (int i = 0; i < 3; i++) {
    out[1 + atomicAdd(out, 1)] = threadIdx.x;
    barrier(1);
  }
}
// Each thread takes part in another number of barriers.
extern "C" __global__ void rounds(int *out) {
  volatile int *last = (volatile int *)shared_mem;
  for (unsigned i = 0; i <= threadIdx.x % 7; i++) {
    last[threadIdx.x] = i;
    if (i % 2) barrier(1); else barrier(2);
    out[threadIdx.x] = last[(threadIdx.x + 7) % blockDim.x];
  }
}
extern "C" __global__ void divergent_else(int *out) { if (threadIdx.x < 3) barrier(1); else barrier(1); out[threadIdx.x] = 1; }
extern "C" __global__ void later(int *out, long long at) { barrier(1); out[threadIdx.x == 9 ? at : 0] = 1; barrier(1); }
extern "C" __global__ void endless(int *out) { while (*(volatile int *)out != 99) {} }
extern "C" __global__ void divide(int *out, int a, int b, long long c, long long d) {
  out[0] = a / b; out[1] = a % b; out[2] = (int)(c / d); out[3] = 5;
}
static __device__ int deep(int n, volatile int *p) { volatile int big[1000]; big[0] = n; int r = n > 0 ? deep(n - 1, big) : 0; return r + big[0] + p[0]; }
extern "C" __global__ void leap(int *out, int n) { volatile char big[400000]; big[n] = 1; out[0] = big[n]; }
extern "C" __global__ void beyond(int *out, int n) { ((volatile int *)shared_mem)[n] = 1; out[0] = 1; }
extern "C" __global__ void overflow(int *out, int n) { out[0] = deep(n, out); }
)";

std::string compile(const char *source, int expected = 0, std::string *log = nullptr) {
    void *program = nullptr;
    EXPECT(nvrtcCreateProgram(&program, source, "test", 0, nullptr, nullptr), 0);
    const char *options[] = {"-arch", "compute_80", "-default-device"};
    int result = nvrtcCompileProgram(program, 3, options);
    size_t size = 0;
    EXPECT(nvrtcGetProgramLogSize(program, &size), 0);
    std::string said(size, 0);
    EXPECT(nvrtcGetProgramLog(program, &said[0]), 0);
    if (log != nullptr)
        *log = said;
    if (result != expected)
        printf("%s\n", said.c_str());
    EXPECT(result, expected);
    if (result != 0)
        return "";
    EXPECT(nvrtcGetPTXSize(program, &size), 0);
    std::string image(size, 0);
    EXPECT(nvrtcGetPTX(program, &image[0]), 0);
    return image;
}

// A context with the kernels.
struct Cuda {
    void *context = nullptr, *module = nullptr;

    Cuda() {
        EXPECT(cuInit(0), 0);
        EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
        static std::string image = compile(KERNELS);
        EXPECT(cuModuleLoadData(&module, image.c_str()), 0);
    }
    void *kernel(const char *name) {
        void *k = nullptr;
        EXPECT(cuModuleGetFunction(&k, module, name), 0);
        return k;
    }
    Address memory(size_t size) {
        Address address = 0;
        EXPECT(cuMemAlloc_v2(&address, size), 0);
        return address;
    }
    int launch(const char *name, unsigned grid, unsigned block, unsigned shared, std::vector<void *> arguments) {
        return cuLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, shared, nullptr, arguments.data(), nullptr);
    }
    // Either call may return the error, because the work may be delayed.
    int run(const char *name, unsigned grid, unsigned block, unsigned shared, std::vector<void *> arguments) {
        int status = launch(name, grid, block, shared, arguments);
        return status != 0 ? status : cuCtxSynchronize();
    }
};

// All findings of this process.
std::string findings() {
    std::ifstream file(getenv("FUTHARK_EMULATED_FINDINGS"));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

void expect_finding(const std::string &part) {
    if (findings().find(part) == std::string::npos) {
        printf("no finding says `%s`: %s\n", part.c_str(), findings().c_str());
        exit(1);
    }
}

void expect_no_findings() {
    if (!findings().empty()) {
        printf("there are findings: %s\n", findings().c_str());
        exit(1);
    }
}

// --- The cases -----------------------------------------------------------------------------

void errors_of_the_driver() {
    int device;
    EXPECT(cuDeviceGet(&device, 0), 3);
    EXPECT(cuInit(0), 0);
    EXPECT(cuDeviceGet(&device, 7), 101);
    Address address;
    EXPECT(cuMemAlloc_v2(&address, 8), 201);
    Cuda cuda;
    EXPECT(cuMemAlloc_v2(&address, size_t(1) << 40), 2);
    EXPECT(cuMemAlloc_v2(&address, 0), 1);
    const char *text;
    EXPECT(cuGetErrorString(2, &text), 0);
    EXPECT(strcmp(text, "out of memory"), 0);
    void *kernel;
    EXPECT(cuModuleGetFunction(&kernel, cuda.module, "nonsense"), 500);
    EXPECT(cuMemcpyDtoH_v2(&device, 4096, 4), 1);
}

void errors_of_the_compiler() {
    std::string log;
    compile("extern \"C\" __global__ void f(int *p) { *p = nonsense; }", 6, &log);
    EXPECT(log.find("nonsense") != std::string::npos, true);
    void *program;
    const char *options[] = {"--what-is-this"};
    EXPECT(nvrtcCreateProgram(&program, "", "test", 0, nullptr, nullptr), 0);
    EXPECT(nvrtcCompileProgram(program, 1, options), 5);
}

// Invalid texts, which do not occur in generated programs.
void invalid_texts() {
    std::string log;
    for (const char *text : {"__global__ %", "__global__ void", "__global__ __launch_bounds__(", "void barrier(", "barrier(", "extern __shared__"})
        compile(text, 6, &log);
}

void no_compiler() {
    std::string log;
    compile("extern \"C\" __global__ void f(int *p) { *p = 1; }", 6, &log);
    EXPECT(log.find("needs a C++ compiler") != std::string::npos, true);
}

void grids_of_every_shape() {
    Cuda cuda;
    for (unsigned block : {1u, 2u, 31u, 32u, 256u, 1024u})
        for (unsigned grid : {1u, 2u, 7u}) {
            Address out = cuda.memory(4 * block * grid);
            int add = 5;
            EXPECT(cuda.run("number", grid, block, 0, {&out, &add}), 0);
            std::vector<int> result(block * grid);
            EXPECT(cuMemcpyDtoH_v2(result.data(), out, 4 * result.size()), 0);
            for (unsigned i = 0; i < result.size(); i++)
                EXPECT(result[i], i % block + 1000 * (i / block) + 5);
            EXPECT(cuMemFree_v2(out), 0);
        }
    EXPECT(cuCtxDestroy_v2(cuda.context), 0);
    expect_no_findings();
}

void barriers_and_shared_memory() {
    Cuda cuda;
    std::vector<int> numbers(256 * 9);
    int wanted = 0;
    for (unsigned i = 0; i < numbers.size(); i++)
        wanted += numbers[i] = int(i * 7 % 13);
    Address in = cuda.memory(4 * numbers.size()), out = cuda.memory(4);
    int zero = 0;
    EXPECT(cuMemcpyHtoD_v2(in, numbers.data(), 4 * numbers.size()), 0);
    EXPECT(cuMemcpyHtoD_v2(out, &zero, 4), 0);
    EXPECT(cuda.run("sum", 9, 256, 4 * 256, {&in, &out}), 0);
    EXPECT(cuMemcpyDtoH_v2(&zero, out, 4), 0);
    EXPECT(zero, wanted);
    // Threads that have ended do not take part in a barrier.
    Address flags = cuda.memory(4 * 32);
    EXPECT(cuda.run("early", 1, 32, 0, {&flags}), 0);
    std::vector<int> result(32);
    EXPECT(cuMemcpyDtoH_v2(result.data(), flags, 4 * 32), 0);
    EXPECT(result[30], 7);
    expect_no_findings();
}

void expect_order(const int *threads, int count, bool reversed) {
    for (int i = 0; i < count; i++)
        EXPECT(threads[i], reversed ? count - 1 - i : i);
}

// Between each two barriers, the threads run in the order of the setting.
void order_of_threads() {
    std::string settings = getenv("FUTHARK_EMULATED");
    bool reversed = settings == "order=reversed", alternating = settings == "order=alternating";
    Cuda cuda;
    const int count = 37;
    std::vector<int> result(1 + 3 * count);
    Address out = cuda.memory(4 * result.size());
    EXPECT(cuMemcpyHtoD_v2(out, result.data(), 4 * result.size()), 0);
    EXPECT(cuda.run("order", 1, count, 0, {&out}), 0);
    EXPECT(cuMemcpyDtoH_v2(result.data(), out, 4 * result.size()), 0);
    EXPECT(result[0], 3 * count);
    for (int i = 0; i < 3; i++)
        expect_order(&result[1 + i * count], count, reversed || (alternating && i == 1));
    expect_no_findings();
}

void threads_end_after_different_barriers() {
    Cuda cuda;
    for (unsigned block : {7u, 1022u, 14u}) {
        std::vector<int> result(block);
        Address out = cuda.memory(4 * block);
        EXPECT(cuda.run("rounds", 3, block, 4 * block, {&out}), 0);
        EXPECT(cuMemcpyDtoH_v2(result.data(), out, 4 * block), 0);
        for (unsigned i = 0; i < block; i++)
            EXPECT(result[i], i % 7);
    }
    expect_no_findings();
}

// The other threads wait at a barrier when one of them fails.
void failures_after_a_barrier() {
    for (int i = 0; i < 3; i++) {
        Cuda cuda;
        Address out = cuda.memory(40);
        long long at = 12;
        EXPECT(cuda.run("later", 2, 20, 0, {&out, &at}), 700);
        expect_finding("kernel later, block (0,0,0), thread (9,0,0): an access 8 bytes past the end");
        Cuda other;
        at = 2;
        out = other.memory(40);
        EXPECT(other.run("later", 2, 20, 0, {&out, &at}), 0);
        int result[3];
        EXPECT(cuMemcpyDtoH_v2(result, out, 12), 0);
        EXPECT(result[0] + result[2], 2);
    }
}

void limits_of_a_launch() {
    Cuda cuda;
    Address out = cuda.memory(4096 * 4);
    EXPECT(cuda.run("small", 1, 65, 0, {&out}), 701);
    EXPECT(cuda.run("small", 1, 1025, 0, {&out}), 1);
    EXPECT(cuda.run("small", 0, 1, 0, {&out}), 1);
    EXPECT(cuda.run("small", 1, 1, 1 << 20, {&out}), 1);
    EXPECT(cuda.run("small", 1, 64, 0, {&out}), 0);
}

// Kernels that fail with an allocation of 40 bytes, and an index or a number: the status and the finding.
struct Failure {
    const char *kernel;
    unsigned block, shared;
    long long at;
    int status;
    const char *finding;
};

const Failure failures[] = {
    {"put", 1, 0, 12, 700, "kernel put, block (0,0,0), thread (0,0,0): an access 8 bytes past the end of an allocation of 40 bytes"},
    {"put", 1, 0, -2000, 700, "bytes before an allocation of 40 bytes"},
    {"put", 1, 0, 1ll << 60, 700, "at an address that is not canonical"},
    {"beyond", 1, 40, 12, 700, "outside of the 40 bytes of shared memory"},
    {"overflow", 1, 0, 1000, 719, "kernel overflow, block (0,0,0), thread (0,0,0): exceeds the"},
    // A frame larger than the guard page does not skip it.
    {"leap", 1, 0, 5, 719, "kernel leap, block (0,0,0), thread (0,0,0): exceeds the"},
    {"divergent", 8, 0, 0, 719,
     "kernel divergent, block (0,0,0), thread (3,0,0): waits at a different barrier than thread (0,0,0)"},
    {"divergent_else", 8, 0, 0, 719,
     "kernel divergent_else, block (0,0,0), thread (3,0,0): waits at a different barrier than thread (0,0,0)"},
};

void failures_of_kernels() {
    for (Failure f : failures) {
        Cuda cuda;
        Address out = cuda.memory(40);
        int value = 1;
        EXPECT(cuda.run(f.kernel, 1, f.block, f.shared, {&out, &f.at, &value}), f.status);
        expect_finding(f.finding);
        // The context is broken, as on a real device; a new context works.
        Address more;
        EXPECT(cuMemAlloc_v2(&more, 8), f.status);
        EXPECT(cuCtxSynchronize(), f.status);
        Cuda other;
        out = other.memory(40);
        long long at = 3;
        EXPECT(other.run("put", 1, 1, 0, {&out, &at, &value}), 0);
    }
}

// These writes do not reach the guard page, so they are found when the memory is freed.
void misuse_of_allocations() {
    Cuda cuda;
    Address out = cuda.memory(40);
    long long at = -1;
    int value = 1;
    EXPECT(cuda.run("put", 1, 1, 0, {&out, &at, &value}), 0);
    at = 10;
    EXPECT(cuda.run("put", 1, 1, 0, {&out, &at, &value}), 0);
    expect_no_findings();
    EXPECT(cuMemFree_v2(out), 0);
    expect_finding("write before an allocation of 40 bytes");
    expect_finding("write just past the end of an allocation of 40 bytes");
    EXPECT(cuMemFree_v2(out), 1);
    expect_finding("freed twice");
    at = 2;
    EXPECT(cuda.run("put", 1, 1, 0, {&out, &at, &value}), 700);
    expect_finding("at byte 8 of a freed allocation of 40 bytes");
}

void leaks() {
    Cuda cuda;
    cuda.memory(40);
    cuda.memory(80);
    EXPECT(cuCtxDestroy_v2(cuda.context), 0);
    expect_finding("ended with 2 allocations that were never freed");
}

void endless_kernels() {
    Cuda cuda;
    Address out = cuda.memory(4);
    EXPECT(cuda.run("endless", 2, 4, 0, {&out}), 702);
    expect_finding("kernel endless");
    expect_finding("still running after 1 s");
}

void divisions() {
    Cuda cuda;
    Address out = cuda.memory(16);
    int a = 5, b = 0;
    long long c = INT64_MIN, d = -1;
    EXPECT(cuda.run("divide", 1, 3, 0, {&out, &a, &b, &c, &d}), 0);
    int result[4] = {0};
    EXPECT(cuMemcpyDtoH_v2(result, out, 16), 0);
    EXPECT(result[3], 5);
    expect_no_findings();
}

void shared_memory_is_rounded_up() {
    Cuda cuda;
    Address out = cuda.memory(16);
    int n = 9;
    EXPECT(cuda.run("beyond", 1, 1, 40, {&out, &n}), 0);
    n = 11;
    EXPECT(cuda.run("beyond", 1, 1, 40, {&out, &n}), 0);
    expect_no_findings();
}

void empty_copies() {
    Cuda cuda;
    EXPECT(cuMemcpyHtoD_v2(0, nullptr, 0), 0);
    EXPECT(cuMemcpyDtoHAsync_v2(nullptr, 0, 0, nullptr), 0);
    EXPECT(cuCtxSynchronize(), 0);
    expect_no_findings();
}

// A destroyed context on a stack returns errors until it is popped.
void destroyed_contexts() {
    Cuda below, cuda;
    EXPECT(cuCtxPushCurrent_v2(cuda.context), 0);
    EXPECT(cuCtxDestroy_v2(cuda.context), 0);
    expect_finding("destroyed while it was on the stack");
    void *context = nullptr;
    EXPECT(cuCtxGetCurrent(&context), 0);
    EXPECT(context == cuda.context, true);
    Address address;
    EXPECT(cuMemAlloc_v2(&address, 8), 709);
    EXPECT(cuCtxSynchronize(), 709);
    EXPECT(cuCtxPushCurrent_v2(cuda.context), 709);
    EXPECT(cuCtxDestroy_v2(cuda.context), 709);
    const char *text;
    EXPECT(cuGetErrorString(709, &text), 0);
    EXPECT(strcmp(text, "context is destroyed"), 0);
    EXPECT(cuCtxPopCurrent_v2(&context), 0);
    EXPECT(cuCtxDestroy_v2(context), 201);
    EXPECT(cuMemAlloc_v2(&address, 8), 0);
}

// A primary context is shared by those that retain it, and never pushed or popped by that.
void primary_contexts() {
    void *first = nullptr, *second = nullptr, *current = nullptr;
    EXPECT(cuDevicePrimaryCtxRetain(&first, 0), 3);
    EXPECT(cuInit(0), 0);
    EXPECT(cuDevicePrimaryCtxRetain(&first, 7), 101);
    EXPECT(cuDevicePrimaryCtxRelease_v2(7), 101);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 201);
    EXPECT(cuDevicePrimaryCtxRetain(&first, 0), 0);
    EXPECT(cuDevicePrimaryCtxRetain(&second, 0), 0);
    EXPECT(first == second, true);
    EXPECT(cuCtxGetCurrent(&current), 0);
    EXPECT(current == nullptr, true);
    EXPECT(cuCtxPushCurrent_v2(first), 0);
    Address address = 0;
    EXPECT(cuMemAlloc_v2(&address, 8), 0);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
    EXPECT(cuMemFree_v2(address), 0);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
    EXPECT(cuCtxGetCurrent(&current), 0);
    EXPECT(current == first, true);
    EXPECT(cuMemAlloc_v2(&address, 8), 709);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 201);
    EXPECT(cuDevicePrimaryCtxRetain(&second, 0), 0);
    EXPECT(second != first, true);
    EXPECT(cuCtxPopCurrent_v2(&current), 0);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
    expect_no_findings();
    EXPECT(cuDevicePrimaryCtxRetain(&first, 0), 0);
    EXPECT(cuCtxPushCurrent_v2(first), 0);
    EXPECT(cuMemAlloc_v2(&address, 8), 0);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
    expect_finding("1 allocations that were never freed");
}

// The driver knows the context of each address, so that cuMemcpy copies between contexts.
void contexts_of_addresses() {
    const int CONTEXT = 1, MEMORY_TYPE = 2;
    void *owner = nullptr;
    EXPECT(cuPointerGetAttribute(&owner, CONTEXT, 4096), 3);
    Cuda first;
    Address from = first.memory(8);
    Cuda second;
    Address to = second.memory(8);
    EXPECT(cuPointerGetAttribute(&owner, CONTEXT, from), 0);
    EXPECT(owner == first.context, true);
    EXPECT(cuPointerGetAttribute(&owner, CONTEXT, to), 0);
    EXPECT(owner == second.context, true);
    EXPECT(cuPointerGetAttribute(&owner, CONTEXT, 4096), 1);
    EXPECT(cuPointerGetAttribute(&owner, MEMORY_TYPE, from), 1);
    long long number = 42, copied = 0;
    EXPECT(cuMemcpyHtoD_v2(from, &number, 8), 0);
    EXPECT(cuMemcpy(to, from, 8), 0);
    EXPECT(cuMemcpyDtoH_v2(&copied, to, 8), 0);
    EXPECT(copied, 42);
    EXPECT(cuMemFree_v2(from), 0);
    EXPECT(cuPointerGetAttribute(&owner, CONTEXT, from), 1);
    expect_no_findings();
}

// With `delayed`: freeing waits for the work of the owning context, current or not.
void freeing_waits_for_the_owning_context() {
    Cuda first;
    void *event = nullptr;
    EXPECT(cuEventCreate(&event, 0), 0);
    Address out = first.memory(40);
    long long at = 1;
    int value = 42;
    EXPECT(first.launch("put", 1, 1, 0, {&out, &at, &value}), 0);
    EXPECT(cuEventRecord(event, nullptr), 0);
    Cuda second;
    EXPECT(cuEventDestroy_v2(event), 0);
    EXPECT(cuModuleUnload(first.module), 0);
    EXPECT(cuMemFree_v2(out), 0);
    EXPECT(cuCtxDestroy_v2(second.context), 0);
    EXPECT(cuCtxSynchronize(), 0);
    expect_no_findings();
}

// The kernels compile, but the folder for the image does not exist.
void no_temporary_folder() {
    Cuda cuda;
    std::string image = compile(KERNELS);
    setenv("TMPDIR", "/nowhere", 1);
    EXPECT(cuModuleLoadData(&cuda.module, image.c_str()), 304);
    EXPECT(cuModuleLoadData(&cuda.module, "nonsense"), 200);
}

// With `devices=0`.
void hip_without_devices() {
    int device = 0;
    void *pointer = nullptr;
    EXPECT(hipInit(0), 100);
    EXPECT(hipGetDevice(&device), 100);
    EXPECT(hipSetDevice(0), 100);
    EXPECT(hipStreamCreate(&pointer), 100);
    EXPECT(hipMalloc(&pointer, 4), 100);
    EXPECT(hipFree(nullptr), 100);
    EXPECT(hipMemcpyDtoH(&device, nullptr, 4), 100);
    EXPECT(hipModuleLoadData(&pointer, "nonsense"), 100);
    EXPECT(hipDeviceSynchronize(), 100);
    EXPECT(strcmp(hipGetErrorString(100), "no ROCm-capable device is detected"), 0);
}

// With `delayed`.
void delayed_copies_wait_for_a_sync() {
    Cuda cuda;
    Address memory = cuda.memory(4);
    int in = 1, out = 0;
    EXPECT(cuMemcpyHtoDAsync_v2(memory, &in, 4, nullptr), 0);
    EXPECT(cuMemcpyDtoHAsync_v2(&out, memory, 4, nullptr), 0);
    EXPECT(out, 0);
    EXPECT(cuCtxSynchronize(), 0);
    EXPECT(out, 1);
    expect_no_findings();
    EXPECT(cuMemcpyHtoDAsync_v2(memory, &in, 4, nullptr), 0);
    in = 2;
    EXPECT(cuMemcpyDtoH_v2(&out, memory, 4), 0);
    EXPECT(out, 2);
    expect_finding("before the copy of its 4 bytes was complete");
    // Changed memory may belong to another owner now, so it is not written.
    EXPECT(cuMemcpyDtoHAsync_v2(&out, memory, 4, nullptr), 0);
    out = 3;
    EXPECT(cuCtxSynchronize(), 0);
    EXPECT(out, 3);
    expect_finding("before the copy to its 4 bytes was complete");
}

void copies_run_at_once_by_default() {
    Cuda cuda;
    Address memory = cuda.memory(4);
    int in = 1, out = 0;
    EXPECT(cuMemcpyHtoDAsync_v2(memory, &in, 4, nullptr), 0);
    EXPECT(cuMemcpyDtoHAsync_v2(&out, memory, 4, nullptr), 0);
    EXPECT(out, 1);
}

// With `fail-allocation=2,fail-copy=2,fail-launch=2`.
void requested_failures() {
    Cuda cuda;
    Address memory = cuda.memory(40), other;
    EXPECT(cuMemAlloc_v2(&other, 4), 2);
    EXPECT(cuMemAlloc_v2(&other, 4), 0);
    int value = 1;
    EXPECT(cuMemcpyHtoD_v2(memory, &value, 4), 0);
    EXPECT(cuMemcpyHtoD_v2(memory, &value, 4), 719);
    EXPECT(cuMemcpyHtoD_v2(memory, &value, 4), 0);
    long long at = 0;
    EXPECT(cuda.run("put", 1, 1, 0, {&memory, &at, &value}), 0);
    EXPECT(cuda.run("put", 1, 1, 0, {&memory, &at, &value}), 719);
    EXPECT(cuda.run("put", 1, 1, 0, {&memory, &at, &value}), 0);
}

void fresh_memory_is_poisoned() {
    Cuda cuda;
    unsigned bytes = 0;
    EXPECT(cuMemcpyDtoH_v2(&bytes, cuda.memory(4), 4), 0);
    EXPECT(bytes, 0x5b5b5b5b);
}

void damaged_images() {
    Cuda cuda;
    std::string image = compile(KERNELS);
    void *module;
    EXPECT(cuModuleLoadData(&module, image.c_str()), 0);
    for (size_t at : {size_t(3), image.size() / 2, image.size() - 30}) {
        std::string damaged = image;
        damaged[at] = damaged[at] == 'A' ? 'B' : 'A';
        EXPECT(cuModuleLoadData(&module, damaged.c_str()), 200);
    }
    image.resize(image.size() / 2);
    EXPECT(cuModuleLoadData(&module, image.c_str()), 200);
}

// Kernels with these names are the same in every program, and compiled separately.
void common_kernels() {
    Cuda cuda;
    std::string image = compile(R"(
static inline void barrier(int x) { __syncthreads(); }
extern "C" __global__ __launch_bounds__(8) void map_transpose_1b_small(int *out) { if (threadIdx.x < 2) { barrier(1); } out[threadIdx.x] = 5; }
extern "C" __global__ void lmad_copy_1b(int *out) { out[threadIdx.x] = 6; }
extern "C" __global__ void last(int *out) { if (threadIdx.x < 2) barrier(1); else barrier(1); out[threadIdx.x] = 7; }
)");
    EXPECT(cuModuleLoadData(&cuda.module, image.c_str()), 0);
    Address out = cuda.memory(64);
    int result[8];
    EXPECT(cuda.run("map_transpose_1b_small", 1, 8, 0, {&out}), 0);
    EXPECT(cuMemcpyDtoH_v2(result, out, 32), 0);
    EXPECT(result[0] + result[7], 10);
    EXPECT(cuda.run("map_transpose_1b_small", 1, 9, 0, {&out}), 701);
    EXPECT(cuda.run("lmad_copy_1b", 1, 8, 0, {&out}), 0);
    EXPECT(cuMemcpyDtoH_v2(result, out, 32), 0);
    EXPECT(result[7], 6);
    expect_no_findings();
    EXPECT(cuda.run("last", 1, 8, 0, {&out}), 719);
    expect_finding("kernel last, block (0,0,0), thread (2,0,0): waits at a different barrier");
}

void halves() {
    Cuda cuda;
    std::string image = compile(R"(
#include <cuda_fp16.h>
extern "C" __global__ void same(unsigned short *out) {
  unsigned h = blockIdx.x * blockDim.x + threadIdx.x;
  out[h] = __half_as_ushort(__float2half(__half2float(__ushort_as_half((unsigned short)h))));
}
extern "C" __global__ void sums(unsigned short *out) {
  half big = half(2048.0f), one = half(1.0f), tiny = half(5.9604645e-8f);
  out[0] = __half_as_ushort(big + one);           // a tie, to even
  out[1] = __half_as_ushort(big + half(3.0f));    // a tie, to even, upwards
  out[2] = __half_as_ushort(half(65504.0f) + half(16.0f));  // rounds to infinity
  out[3] = __half_as_ushort(tiny * half(0.5f));   // a tie below the smallest, to zero
  out[4] = __half_as_ushort(tiny * half(0.75f));  // above it
}
)");
    EXPECT(cuModuleLoadData(&cuda.module, image.c_str()), 0);
    Address out = cuda.memory(2 * 65536);
    EXPECT(cuda.run("same", 64, 1024, 0, {&out}), 0);
    std::vector<unsigned short> bits(65536);
    EXPECT(cuMemcpyDtoH_v2(bits.data(), out, 2 * bits.size()), 0);
    for (unsigned h = 0; h < 65536; h++) {
        bool nan = (h & 0x7fff) > 0x7c00;
        if (nan)
            EXPECT((bits[h] & 0x7fff) > 0x7c00, true);
        else
            EXPECT(bits[h], h);
    }
    EXPECT(cuda.run("sums", 1, 1, 0, {&out}), 0);
    EXPECT(cuMemcpyDtoH_v2(bits.data(), out, 10), 0);
    EXPECT(bits[0], 0x6800);
    EXPECT(bits[1], 0x6802);
    EXPECT(bits[2], 0x7c00);
    EXPECT(bits[3], 0x0000);
    EXPECT(bits[4], 0x0001);
}

void hip_runs_and_recovers() {
    void *program, *module, *kernel, *stream, *memory;
    EXPECT(hiprtcCreateProgram(&program, KERNELS, "test", 0, nullptr, nullptr), 0);
    EXPECT(hiprtcCompileProgram(program, 0, nullptr), 0);
    size_t size;
    EXPECT(hiprtcGetCodeSize(program, &size), 0);
    std::string image(size, 0);
    EXPECT(hiprtcGetCode(program, &image[0]), 0);
    EXPECT(hipStreamCreate(&stream), 0);
    EXPECT(hipModuleLoadData(&module, image.c_str()), 0);
    EXPECT(hipModuleGetFunction(&kernel, module, "put"), 0);
    EXPECT(hipMalloc(&memory, 40), 0);
    long long at = 1;
    int value = 42, result = 0;
    void *arguments[] = {&memory, &at, &value};
    EXPECT(hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), 0);
    EXPECT(hipMemcpyDtoH(&result, static_cast<int *>(memory) + 1, 4), 0);
    EXPECT(result, 42);
    at = 5000;
    hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
    EXPECT(hipStreamSynchronize(stream), 700);
    expect_finding("kernel put");
    void *other;
    EXPECT(hipStreamCreate(&other), 0);
    EXPECT(hipMalloc(&memory, 40), 0);
    EXPECT(hipFree(memory), 0);
}

// The device does not handle the host's own faults. The test expects the signal.
void faults_of_the_host() {
    Cuda cuda;
    Address out = cuda.memory(16);
    int add = 1;
    EXPECT(cuda.run("number", 1, 1, 0, {&out, &add}), 0);
    volatile uintptr_t nowhere = 16;
    *reinterpret_cast<volatile int *>(nowhere) = 1;
}

struct Case {
    const char *name;
    void (*run)();
    const char *settings;  // of its runs, separated by spaces; none if tests/emulated.rs runs it otherwise
};

const Case cases[] = {
#define CASE(name, settings) {#name, name, settings}
    CASE(errors_of_the_driver, "default"),
    CASE(errors_of_the_compiler, "default"),
    CASE(invalid_texts, "default"),
    CASE(no_compiler, ""),
    CASE(grids_of_every_shape, "default delayed,blocks=reversed unguarded,threads=3"),
    CASE(barriers_and_shared_memory, "default order=reversed,threads=2 order=alternating,blocks=reversed"),
    CASE(order_of_threads, "default order=reversed order=alternating"),
    CASE(threads_end_after_different_barriers, "default order=alternating,threads=3"),
    CASE(failures_after_a_barrier, "default"),
    CASE(limits_of_a_launch, "default"),
    CASE(failures_of_kernels, "default delayed,threads=2"),
    CASE(misuse_of_allocations, "default"),
    CASE(leaks, "default unguarded"),
    CASE(endless_kernels, "seconds=1 seconds=1,threads=2"),
    CASE(divisions, "default"),
    CASE(shared_memory_is_rounded_up, "default"),
    CASE(empty_copies, "default delayed"),
    CASE(destroyed_contexts, "default"),
    CASE(primary_contexts, "default"),
    CASE(contexts_of_addresses, "default"),
    CASE(freeing_waits_for_the_owning_context, "delayed"),
    CASE(no_temporary_folder, "default"),
    CASE(hip_without_devices, "devices=0"),
    CASE(delayed_copies_wait_for_a_sync, "delayed"),
    CASE(copies_run_at_once_by_default, "default"),
    CASE(requested_failures, "fail-allocation=2,fail-copy=2,fail-launch=2"),
    CASE(fresh_memory_is_poisoned, "poison=0x5b"),
    CASE(damaged_images, "default"),
    CASE(common_kernels, ""),
    CASE(halves, "default"),
    CASE(hip_runs_and_recovers, "default"),
    CASE(faults_of_the_host, ""),
};

}  // namespace

// Without a name, lists the cases with their settings.
int main(int count, char **arguments) {
    for (const Case &c : cases) {
        if (count < 2)
            printf("%s: %s\n", c.name, c.settings);
        else if (strcmp(arguments[1], c.name) == 0) {
            c.run();
            return 0;
        }
    }
    return count < 2 ? 0 : 2;
}
