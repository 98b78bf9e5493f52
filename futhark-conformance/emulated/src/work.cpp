#include "work.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compiler.h"
#include "memory.h"
#include "settings.h"

namespace emulated {

// --- Modules and kernels -------------------------------------------------------------------------

namespace {

bool write_all(int fd, const std::string &bytes) {
    for (size_t done = 0; done < bytes.size();) {
        ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n < 0 ? 0 : size_t(n);
    }
    return true;
}

}  // namespace

Status load_program(Program *&program, const char *image, const void *owner) {
    program = nullptr;
    std::string object = object_in(image);
    if (object.empty())
        return INVALID_IMAGE;
    // A unique name: the loader identifies objects by name.
    std::string path = temporary_folder() + "/futhark-emulated-XXXXXX";
    int fd = mkostemp(&path[0], O_CLOEXEC);
    if (fd < 0 || !write_all(fd, object)) {
        fprintf(stderr, "emulated device: cannot write kernels to %s: %s; set TMPDIR to another folder\n", path.c_str(),
                strerror(errno));
        if (fd >= 0) {
            close(fd);
            unlink(path.c_str());
        }
        return OPERATING_SYSTEM;
    }
    close(fd);
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char *why = handle == nullptr ? dlerror() : nullptr;
    unlink(path.c_str());
    auto kernels = handle == nullptr ? nullptr : static_cast<const Kernel *>(dlsym(handle, "emulated_kernels"));
    if (kernels == nullptr) {
        fprintf(stderr, "emulated device: cannot load kernels: %s; if the folder is mounted with noexec, set TMPDIR to another one\n",
                why == nullptr ? "the table of kernels is missing" : why);
        if (handle != nullptr)
            dlclose(handle);
        return SHARED_OBJECT_INIT_FAILED;
    }
    program = new Program{handle, kernels, owner};
    return OK;
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

// --- Errors, queues, copies and launches ---------------------------------------------------------

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
    case SHARED_OBJECT_INIT_FAILED: return "shared object initialization failed";
    case OPERATING_SYSTEM: return "OS call failed or operation not supported on this OS";
    case INVALID_HANDLE: return "invalid resource handle";
    case NOT_FOUND: return "named symbol not found";
    case ILLEGAL_ADDRESS: return "an illegal memory access was encountered";
    case OUT_OF_RESOURCES: return "too many resources requested for launch";
    case LAUNCH_TIMEOUT: return "the launch timed out and was terminated";
    case CONTEXT_IS_DESTROYED: return "context is destroyed";
    case LAUNCH_FAILED: return "unspecified launch failure";
    case UNKNOWN: return "unknown error";
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
    // Work does not add work, so the list does not change during the loop.
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
    if (shall_fail("copy", copies, settings().fail_copy))
        return LAUNCH_FAILED;
    if (c.size == 0)
        return OK;
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

// Copies of the arguments of a launch, which may be delayed; aligned for any type.
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

// Prints the limits, because a driver returns only a number.
void tell_limits(const Kernel *k, uint64_t threads, size_t shared) {
    if (k != nullptr)
        fprintf(stderr, "emulated device: cannot launch %s with %llu threads in a block and %zu bytes of shared memory: the limits are %u and %zu\n",
                k->name, static_cast<unsigned long long>(threads), shared, std::min(k->bound, MOST_THREADS), MOST_SHARED);
}

}  // namespace

Status copy_now(Queue &queue, const Copy &c) {
    Status status = check_copy(c);
    if (status != OK)
        return status;
    status = queue.finish();
    if (status == OK && c.size > 0)
        memmove(c.to, c.from, c.size);
    return status;
}

Status copy_later(Queue &queue, const Copy &c) {
    Status status = check_copy(c);
    if (status != OK || queue.broken() != OK)
        return status != OK ? status : queue.broken();
    const void *host = !settings().delayed ? nullptr : !c.from_device ? c.from : !c.to_device ? c.to : nullptr;
    uint64_t before = host == nullptr ? 0 : checksum(host, c.size);
    queue.add([=] {
        if (host != nullptr && checksum(host, c.size) != before) {
            finding("a host buffer changed before the copy %s its %zu bytes was complete", c.from_device ? "to" : "of", c.size);
            // The memory may belong to another owner now.
            if (c.from_device)
                return OK;
        }
        if (c.size > 0)
            memmove(c.to, c.from, c.size);
        return OK;
    });
    return OK;
}

Status launch(Queue &queue, const Kernel *kernel, Dim grid, Dim block, size_t shared, void *const *arguments) {
    uint64_t threads = uint64_t(block.x) * block.y * block.z;
    if (kernel == nullptr || grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || threads > MOST_THREADS ||
        grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535 || block.z > 64 || shared > MOST_SHARED) {
        tell_limits(kernel, threads, shared);
        return INVALID_VALUE;
    }
    if (threads > kernel->bound) {
        tell_limits(kernel, threads, shared);
        return OUT_OF_RESOURCES;
    }
    if (shall_fail("launch", launches, settings().fail_launch))
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
