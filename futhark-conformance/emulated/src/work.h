// What both drivers share: programs that are loaded, and work that is under way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grid.h"

namespace emulated {

// --- Programs ------------------------------------------------------------------------------

struct Program {
    void *handle;
    const Kernel *kernels;  // the last one has no name
    const void *owner;      // the context that it was loaded for
};

enum Status : int;

// INVALID_IMAGE if the image is none of ours. Where the host is what fails, stderr says how.
Status load_program(Program *&program, const char *image, const void *owner);
void unload_program(Program *program);
const Kernel *find_kernel(const Program *program, const char *name);

// --- Work ------------------------------------------------------------------------------------

// Errors have the same numbers in CUDA and HIP, as far as we use them.
enum Status : int {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    SHARED_OBJECT_INIT_FAILED = 303,
    OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700,
    OUT_OF_RESOURCES = 701,
    LAUNCH_TIMEOUT = 702,
    CONTEXT_IS_DESTROYED = 709,
    LAUNCH_FAILED = 719,
    UNKNOWN = 999,
};

const char *status_text(int status);

// The work of one context, in order. When a kernel fails, everything that comes after
// fails the same way until the context is gone, as with a real driver.
class Queue {
  public:
    // Does it now, or leaves it for the next `finish` (setting `delayed`).
    void add(std::function<Status()> work);
    // Waits for everything. What has failed, if anything has.
    Status finish();
    Status broken() const { return status; }

  private:
    void perform(const std::function<Status()> &work);

    Status status = OK;
    std::vector<std::function<Status()>> waiting;
};

// Which sides of a copy are the device's.
struct Copy {
    void *to;
    const void *from;
    size_t size;
    bool to_device, from_device;
};

Status copy_now(Queue &queue, const Copy &copy);
// A copy from the host reads at the last moment that is allowed: what is there by then is
// what arrives, and a difference to what was there is a finding. So it is with what a copy
// to the host would overwrite.
Status copy_later(Queue &queue, const Copy &copy);

Status launch(Queue &queue, const Kernel *kernel, Dim grid, Dim block, size_t shared, void *const *arguments);

}  // namespace emulated
