// The contexts of CUDA, and the stack of them that each thread of the host has. All of
// these want the driver's mutex, except `current_context`.
#pragma once

#include "work.h"

namespace emulated {

// One that is destroyed stays for as long as it lies on a stack: whoever has it there is
// told so.
struct Context {
    Queue queue;
    unsigned stacked = 0;  // how often it lies on the stack of a thread
    bool destroyed = false;
};

// What lies on top of this thread's stack, even if it is destroyed; NULL if nothing does.
Context *current_context();

// Makes one that is current.
Status make_context(Context *&context);
Status destroy_context(Context *context);

// Whether there is such a context: why not, otherwise.
Status usable(Context *context);

Status push_context(Context *context);
// There is one on the stack.
void pop_context();

// Waits for the work of the context that something belongs to, which need not be current.
Status finish_context(const void *owner);

}  // namespace emulated
