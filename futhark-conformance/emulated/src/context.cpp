#include "context.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "memory.h"
#include "settings.h"

namespace emulated {

namespace {

struct Entry {
    Context *context;
    Entry *below;
};

// The top of the stack. A plain pointer, because destructors that run at the end of a thread may
// still call the driver, and because the loader has little space for this library's thread-locals
// (see `running` in grid.cpp).
thread_local Entry *top;

std::set<Context *> &contexts() {
    static auto *all = new std::set<Context *>();
    return *all;
}

struct Primary {
    Context *context = nullptr;
    unsigned users = 0;
};

std::map<int, Primary> &primaries() {
    static auto *all = new std::map<int, Primary>();
    return *all;
}

Context *new_context() {
    auto fresh = std::make_unique<Context>();
    contexts().insert(fresh.get());
    return fresh.release();
}

void drop_if_over(Context *context) {
    if (!context->destroyed || context->stacked > 0)
        return;
    contexts().erase(context);
    delete context;
}

// Ends the work and frees the memory of a context.
void finish_and_free(Context *context) {
    context->queue.finish();
    size_t left = release_all(context);
    if (left > 0)
        finding("a context ended with %zu allocations that were never freed", left);
}

}  // namespace

Context *current_context() { return top == nullptr ? nullptr : top->context; }

Status make_context(Context *&context) {
    context = new_context();
    return push_context(context);
}

Status destroy_context(Context *context) {
    if (Status status = usable(context))
        return status;
    finish_and_free(context);
    // The remaining entries are on other threads' stacks, or deeper on this one.
    if (current_context() == context)
        pop_context();
    if (context->stacked > 0)
        finding("a context was destroyed while it was on the stack of a thread");
    context->destroyed = true;
    drop_if_over(context);
    return OK;
}

Status retain_primary(int device, Context *&context) {
    Primary &primary = primaries()[device];
    if (primary.users == 0)
        primary.context = new_context();
    primary.users++;
    context = primary.context;
    return OK;
}

Status release_primary(int device) {
    Primary &primary = primaries()[device];
    if (primary.users == 0)
        return INVALID_CONTEXT;
    if (--primary.users > 0)
        return OK;
    Context *context = std::exchange(primary.context, nullptr);
    finish_and_free(context);
    context->destroyed = true;
    drop_if_over(context);
    return OK;
}

Status usable(Context *context) {
    if (contexts().count(context) == 0)
        return INVALID_CONTEXT;
    return context->destroyed ? CONTEXT_IS_DESTROYED : OK;
}

Status push_context(Context *context) {
    if (Status status = usable(context))
        return status;
    top = new Entry{context, top};
    context->stacked++;
    return OK;
}

void pop_context() {
    Entry *entry = top;
    Context *context = entry->context;
    top = entry->below;
    delete entry;
    context->stacked--;
    drop_if_over(context);
}

Status finish_context(const void *owner) {
    for (Context *context : contexts())
        if (context == owner && !context->destroyed)
            return context->queue.finish();
    return OK;
}

}  // namespace emulated
