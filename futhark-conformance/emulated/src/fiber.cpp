#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>

#if !EMULATED_FAST_SWITCH
#include <ucontext.h>
#endif

namespace emulated {

namespace {

constexpr size_t AREA = EMULATED_AREA, GUARD = 4096;
constexpr size_t USED = size_t(MOST_THREADS + 1) * STACK;  // of the area
static_assert(sizeof(Block) <= STACK && USED <= AREA, "the block and the stacks fit into the area");

// Where stacks begin, below their ends: the lines of the frames then spread over the sets of the caches.
size_t shift(size_t i) { return i * 9 % 64 * 64; }

}  // namespace

Stacks::Stacks(ThreadMain entry) : main(entry) {}

char *Stacks::lowest(size_t i) const { return reinterpret_cast<char *>(block) + i * STACK; }

bool Stacks::is_guard(const void *address, const Thread *thread) const {
    const char *first = lowest(size_t(thread - block->threads));
    return address >= first && address < first + GUARD;
}

// Maps twice the size and keeps only the aligned part.
bool Stacks::reserve() {
    void *map = mmap(nullptr, AREA * 2, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    auto begin = static_cast<char *>(map), end = begin + AREA * 2;
    auto first = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(begin) + AREA - 1) & ~uintptr_t(AREA - 1));
    // If munmap fails, address space is lost.
    if (first > begin)
        munmap(begin, size_t(first - begin));
    munmap(first + USED, size_t(end - first) - USED);
    if (mprotect(first, sizeof(Block), PROT_READ | PROT_WRITE) != 0) {
        munmap(first, USED);
        return false;
    }
    block = reinterpret_cast<Block *>(first);
    return true;
}

bool Stacks::need(unsigned count) {
    if (block == nullptr && !reserve())
        return false;
    while (made < count) {
        // Fails if the table of mappings is full.
        if (mprotect(lowest(made + 1) + GUARD, STACK - GUARD, PROT_READ | PROT_WRITE) != 0)
            return false;
        restart(++made);
    }
    return true;
}

void Stacks::restart() {
    for (unsigned i = 1; i <= made; i++)
        restart(i);
}

#if EMULATED_FAST_SWITCH

extern "C" {
void emulated_begin();
__attribute__((visibility("hidden"), used)) void emulated_first(ThreadMain main, Thread *thread) { main(thread); }
}

// The first switch to a thread jumps here, with the thread in rdx and its main function in rbp.
asm(R"(
.pushsection .text
.p2align 4
.hidden emulated_begin
.globl emulated_begin
.type emulated_begin, @function
emulated_begin:
    mov %rbp, %rdi
    mov %rdx, %rsi
    xor %ebp, %ebp
    call emulated_first
    ud2
.size emulated_begin, . - emulated_begin
.popsection
)");

void Stacks::restart(unsigned i) {
    Thread &thread = block->threads[i];
    thread.sp = lowest(i + 1) - shift(i) - 64;
    thread.fp = reinterpret_cast<void *>(main);
    thread.pc = reinterpret_cast<void *>(emulated_begin);
}

#else

// Of the library and of each thread.
struct Stacks::Contexts {
    ucontext_t all[MOST_THREADS + 1];
};

// makecontext passes ints, so the pointers are split.
static void first(unsigned main_high, unsigned main_low, unsigned high, unsigned low) {
    auto join = [](unsigned h, unsigned l) { return static_cast<uintptr_t>(uint64_t(h) << 32 | l); };
    reinterpret_cast<ThreadMain>(join(main_high, main_low))(reinterpret_cast<Thread *>(join(high, low)));
}

// A thread keeps the address of its context as its stack pointer.
static void change(Thread *from, Thread *to) {
    swapcontext(static_cast<ucontext_t *>(from->sp), static_cast<ucontext_t *>(to->sp));
}

void Stacks::restart(unsigned i) {
    if (contexts == nullptr) {
        contexts = new Contexts();
        block->change = change;
        block->threads[0].sp = &contexts->all[0];
    }
    Thread &thread = block->threads[i];
    ucontext_t &c = contexts->all[i];
    thread.sp = &c;
    getcontext(&c);
    c.uc_stack.ss_sp = lowest(i) + GUARD;
    c.uc_stack.ss_size = STACK - GUARD - shift(i);
    c.uc_link = nullptr;
    auto entry = uint64_t(reinterpret_cast<uintptr_t>(main)), address = uint64_t(reinterpret_cast<uintptr_t>(&thread));
    makecontext(&c, reinterpret_cast<void (*)()>(first), 4, unsigned(entry >> 32), unsigned(entry), unsigned(address >> 32),
                unsigned(address));
}

#endif

}  // namespace emulated
