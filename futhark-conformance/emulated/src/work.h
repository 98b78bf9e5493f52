// Shared by both drivers: loaded programs and queued work.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grid.h"

namespace emulated {

// --- Modules and kernels ------------------------------------------------------------------

struct Program {
    void *handle;
    const Kernel *kernels;  // ends with one without a name
    const void *owner;      // the context that loaded it
};

enum Status : int;

// INVALID_IMAGE if the image is invalid. Prints failures of the host on stderr.
Status load_program(Program *&program, const char *image, const void *owner);
void unload_program(Program *program);
const Kernel *find_kernel(const Program *program, const char *name);

// --- Errors, queues, copies and launches ---------------------------------------------------------

// The errors that we use have the same numbers in CUDA and HIP.
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

// The work of one context, in order. After a kernel fails, all later work fails with the same
// error until the context is destroyed, as with a real driver.
class Queue {
  public:
    // Runs the work now, or in the next `finish` (setting `delayed`).
    void add(std::function<Status()> work);
    // Runs all work. Returns the first error.
    Status finish();
    Status broken() const { return status; }

  private:
    void perform(const std::function<Status()> &work);

    Status status = OK;
    std::vector<std::function<Status()>> waiting;
};

// Whether the sides of a copy are on the device.
struct Copy {
    void *to;
    const void *from;
    size_t size;
    bool to_device, from_device;
};

Status copy_now(Queue &queue, const Copy &copy);
// A copy from the host reads its source as late as allowed. It is a finding if the source of a copy
// from the host, or the target of a copy to the host, changes after the call.
Status copy_later(Queue &queue, const Copy &copy);

Status launch(Queue &queue, const Kernel *kernel, Dim grid, Dim block, size_t shared, void *const *arguments);

}  // namespace emulated
