#include "work.h"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compiler.h"
#include "memory.h"
#include "settings.h"

namespace emulated {

// --- Programs ------------------------------------------------------------------------------

Program *load_program(const char *image) {
    std::string object = object_in(image);
    if (object.empty())
        return nullptr;
    // A file of its own name: to the loader, what has the same name is the same object.
    std::string path = temporary_folder() + "/futhark-emulated-XXXXXX";
    int fd = mkstemp(&path[0]);
    if (fd < 0)
        return nullptr;
    bool whole = write(fd, object.data(), object.size()) == ssize_t(object.size());
    close(fd);
    void *handle = whole ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    unlink(path.c_str());
    if (handle == nullptr)
        return nullptr;
    auto kernels = static_cast<const Kernel *>(dlsym(handle, "emulated_kernels"));
    if (kernels == nullptr) {
        dlclose(handle);
        return nullptr;
    }
    return new Program{handle, kernels};
}

void unload_program(Program *program) {
    dlclose(program->handle);
    delete program;
}

const Kernel *find_kernel(const Program *program, const char *name) {
    for (const Kernel *k = program->kernels; k->name != nullptr; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return nullptr;
}

// --- Work ------------------------------------------------------------------------------------

const char *status_text(int status) {
    switch (status) {
    case OK: return "no error";
    case INVALID_VALUE: return "invalid argument";
    case OUT_OF_MEMORY: return "out of memory";
    case NOT_INITIALIZED: return "initialization error";
    case NO_DEVICE: return "no CUDA-capable device is detected";
    case INVALID_DEVICE: return "invalid device ordinal";
    case INVALID_IMAGE: return "device kernel image is invalid";
    case INVALID_CONTEXT: return "invalid device context";
    case INVALID_HANDLE: return "invalid resource handle";
    case NOT_FOUND: return "named symbol not found";
    case ILLEGAL_ADDRESS: return "an illegal memory access was encountered";
    case OUT_OF_RESOURCES: return "too many resources requested for launch";
    case LAUNCH_TIMEOUT: return "the launch timed out and was terminated";
    case LAUNCH_FAILED: return "unspecified launch failure";
    default: return "unrecognized error code";
    }
}

void Queue::perform(const std::function<Status()> &work) {
    if (status != OK)
        return;
    status = work();
}

void Queue::add(std::function<Status()> work) {
    if (settings().delayed)
        waiting.push_back(std::move(work));
    else
        perform(work);
}

Status Queue::finish() {
    // Work may not add work, so the list does not change meanwhile.
    for (const std::function<Status()> &work : waiting)
        perform(work);
    waiting.clear();
    return status;
}

namespace {

unsigned long copies, launches;

uint64_t checksum(const void *bytes, size_t size) {
    auto p = static_cast<const unsigned char *>(bytes);
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 0x100000001b3;
    return h;
}

Status check_copy(const Copy &c) {
    if (shall_fail(copies, settings().fail_copy))
        return LAUNCH_FAILED;
    if ((c.to_device && !is_device_range(c.to, c.size)) || (c.from_device && !is_device_range(c.from, c.size))) {
        finding("a copy of %zu bytes is out of range: %s", c.size,
                describe_address(c.to_device && !is_device_range(c.to, c.size) ? c.to : c.from).c_str());
        return INVALID_VALUE;
    }
    return OK;
}

Status status_of(Ended ended) {
    switch (ended) {
    case Ended::Well: return OK;
    case Ended::IllegalAddress: return ILLEGAL_ADDRESS;
    case Ended::TimedOut: return LAUNCH_TIMEOUT;
    case Ended::Failed: break;
    }
    return LAUNCH_FAILED;
}

// The arguments of a launch that may wait: copies, aligned for any type.
struct Arguments {
    explicit Arguments(const Kernel &kernel, void *const *from) {
        size_t size = 0;
        for (unsigned i = 0; i < kernel.arguments; i++) {
            offsets.push_back(size);
            size += (kernel.sizes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
        bytes.resize(size / sizeof(Unit) + 1);
        for (unsigned i = 0; i < kernel.arguments; i++)
            memcpy(at(i), from[i], kernel.sizes[i]);
    }
    void *at(size_t i) { return reinterpret_cast<char *>(bytes.data()) + offsets[i]; }
    std::vector<void *> pointers() {
        std::vector<void *> all;
        for (size_t i = 0; i < offsets.size(); i++)
            all.push_back(at(i));
        return all;
    }

    static constexpr size_t ALIGNMENT = 16;
    struct alignas(ALIGNMENT) Unit {
        char bytes[ALIGNMENT];
    };
    std::vector<size_t> offsets;
    std::vector<Unit> bytes;
};

void trace_launch(const Kernel &k, Dim g, Dim b, size_t shared, double milliseconds) {
    fprintf(stderr, "emulated device: %s, grid (%u,%u,%u), block (%u,%u,%u), %zu bytes of shared memory: %.3f ms\n", k.name, g.x,
            g.y, g.z, b.x, b.y, b.z, shared, milliseconds);
}

}  // namespace

Status copy_now(Queue &queue, const Copy &c) {
    Status status = check_copy(c);
    if (status != OK)
        return status;
    status = queue.finish();
    if (status == OK)
        memmove(c.to, c.from, c.size);
    return status;
}

Status copy_later(Queue &queue, const Copy &c) {
    Status status = check_copy(c);
    if (status != OK || queue.broken() != OK)
        return status != OK ? status : queue.broken();
    bool watched = settings().delayed && !c.from_device;
    uint64_t before = watched ? checksum(c.from, c.size) : 0;
    queue.add([=] {
        if (watched && checksum(c.from, c.size) != before)
            finding("a buffer of the host changed before the copy of its %zu bytes was done", c.size);
        memmove(c.to, c.from, c.size);
        return OK;
    });
    return OK;
}

Status launch(Queue &queue, const Kernel *kernel, Dim grid, Dim block, size_t shared, void *const *arguments) {
    uint64_t threads = uint64_t(block.x) * block.y * block.z;
    if (kernel == nullptr || grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || threads > MOST_THREADS ||
        grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535 || block.z > 64 || shared > MOST_SHARED)
        return INVALID_VALUE;
    if (threads > kernel->bound)
        return OUT_OF_RESOURCES;
    if (shall_fail(launches, settings().fail_launch))
        return LAUNCH_FAILED;
    if (queue.broken() != OK)
        return queue.broken();
    queue.add([=, kept = Arguments(*kernel, arguments)]() mutable {
        auto begin = std::chrono::steady_clock::now();
        Ended ended = run_grid(*kernel, kept.pointers().data(), grid, block, shared);
        if (settings().trace)
            trace_launch(*kernel, grid, block, shared,
                         std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        return status_of(ended);
    });
    return OK;
}

}  // namespace emulated
