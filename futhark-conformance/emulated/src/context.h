// The contexts of CUDA, and each host thread's stack of contexts. The caller holds the driver's mutex,
// except for `current_context`.
#pragma once

#include "work.h"

namespace emulated {

// A destroyed context stays allocated while it is on a stack, and returns errors there.
struct Context {
    Queue queue;
    unsigned stacked = 0;  // the number of its entries on stacks
    bool destroyed = false;
};

// The top of this thread's stack, even if it is destroyed; NULL if the stack is empty.
Context *current_context();

// Creates a context and pushes it.
Status make_context(Context *&context);
Status destroy_context(Context *context);

// The primary context of a device. The first user creates it, the last one destroys it. It is not pushed,
// nor popped: as with the real driver, it stays on the stacks of threads after it was destroyed.
Status retain_primary(int device, Context *&context);
Status release_primary(int device);

// OK if the context exists, otherwise the error.
Status usable(Context *context);

Status push_context(Context *context);
// The stack must not be empty.
void pop_context();

// Waits for the work of a context, current or not.
Status finish_context(const void *owner);

}  // namespace emulated
