#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

// On x86-64, a switch is six pushes and pops. On other processors, the C library switches with two
// system calls, which is about 50 times slower.
#if defined(__x86_64__) && !defined(EMULATED_PORTABLE)
#define FAST_SWITCH 1
#else
#define FAST_SWITCH 0
#include <ucontext.h>
#endif

namespace emulated {

constexpr size_t GUARD = 4096;

// The fiber of the state, stored below it.
static Fiber *&back_link(ThreadState *state) { return reinterpret_cast<Fiber **>(state)[-1]; }

Fiber *fiber_of(ThreadState *state) { return back_link(state); }

static char *stack_of(const Fiber *fiber) { return reinterpret_cast<char *>(fiber->state + 1) - STACK; }

bool is_stack_guard(const void *address, const Fiber *fiber) {
    const char *lowest = stack_of(fiber);
    return address >= lowest && address < lowest + GUARD;
}

#if FAST_SWITCH

struct Fiber::Saved {
    void *sp;
};

struct Outside {
    void *sp;
};

extern "C" {
void emulated_switch(void **save, void *to);
void emulated_begin();
__attribute__((visibility("hidden"), used)) void emulated_first(void (*main)(Fiber *), Fiber *fiber) { main(fiber); }
}

// Saves the registers that a call must preserve on the current stack.
asm(R"(
.pushsection .text
.p2align 4
.hidden emulated_switch
.globl emulated_switch
.type emulated_switch, @function
emulated_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
.size emulated_switch, . - emulated_switch

.hidden emulated_begin
.globl emulated_begin
.type emulated_begin, @function
emulated_begin:
    mov %r12, %rdi
    mov %rbx, %rsi
    xor %ebp, %ebp
    call emulated_first
    ud2
.size emulated_begin, . - emulated_begin
.popsection
)");

void restart(Fiber *fiber, FiberMain main) {
    auto top = reinterpret_cast<uintptr_t>(&back_link(fiber->state)) & ~uintptr_t(63);
    void **sp = reinterpret_cast<void **>(top);
    *--sp = nullptr;  // aligns the stack for the call in emulated_begin
    *--sp = nullptr;
    *--sp = reinterpret_cast<void *>(emulated_begin);
    *--sp = nullptr;                            // rbp
    *--sp = fiber;                              // rbx
    *--sp = reinterpret_cast<void *>(main);     // r12
    for (int i = 0; i < 3; i++)
        *--sp = nullptr;  // r13, r14, r15
    fiber->saved->sp = sp;
}

Outside *make_outside() { return new Outside(); }
void enter(Outside *outside, Fiber *fiber) { emulated_switch(&outside->sp, fiber->saved->sp); }
void leave(Outside *outside, Fiber *fiber) { emulated_switch(&fiber->saved->sp, outside->sp); }

#else

struct Fiber::Saved {
    ucontext_t context;
    FiberMain main;
};

struct Outside {
    ucontext_t context;
};

// makecontext passes ints, so the pointer is split.
static void first(unsigned high, unsigned low) {
    auto fiber = reinterpret_cast<Fiber *>(static_cast<uintptr_t>(uint64_t(high) << 32 | low));
    fiber->saved->main(fiber);
}

void restart(Fiber *fiber, FiberMain main) {
    fiber->saved->main = main;
    ucontext_t &c = fiber->saved->context;
    getcontext(&c);
    char *lowest = stack_of(fiber) + GUARD;
    c.uc_stack.ss_sp = lowest;
    c.uc_stack.ss_size = size_t(reinterpret_cast<char *>(&back_link(fiber->state)) - lowest) & ~size_t(63);
    c.uc_link = nullptr;
    auto address = uint64_t(reinterpret_cast<uintptr_t>(fiber));
    makecontext(&c, reinterpret_cast<void (*)()>(first), 2, unsigned(address >> 32), unsigned(address));
}

Outside *make_outside() { return new Outside(); }
void enter(Outside *outside, Fiber *fiber) { swapcontext(&outside->context, &fiber->saved->context); }
void leave(Outside *outside, Fiber *fiber) { swapcontext(&fiber->saved->context, &outside->context); }

#endif

Fiber *make_fiber(FiberMain main, void *owner) {
    // Maps twice the size and keeps only the aligned part.
    void *map = mmap(nullptr, STACK * 2, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return nullptr;
    auto begin = static_cast<char *>(map);
    auto lowest = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(begin) + STACK - 1) & ~uintptr_t(STACK - 1));
    // The calls below fail if the table of mappings is full. If munmap fails, address space is lost.
    if (mprotect(lowest + GUARD, STACK - GUARD, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, STACK * 2);
        return nullptr;
    }
    if (lowest > begin)
        munmap(begin, size_t(lowest - begin));
    munmap(lowest + STACK, size_t(begin + STACK - lowest));
    auto fiber = new (std::nothrow) Fiber();
    auto saved = new (std::nothrow) Fiber::Saved();
    if (fiber == nullptr || saved == nullptr) {
        delete fiber;
        delete saved;
        munmap(lowest, STACK);
        return nullptr;
    }
    fiber->saved = saved;
    fiber->owner = owner;
    fiber->state = reinterpret_cast<ThreadState *>(lowest + STACK) - 1;
    back_link(fiber->state) = fiber;
    restart(fiber, main);
    return fiber;
}

}  // namespace emulated
