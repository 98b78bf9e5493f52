// The threads of a block, and the switch between them. The library and the kernels share this file, so
// that a barrier in a kernel switches to the next thread without a call. Kernels define types such as
// int64_t themselves: include no header.
#pragma once

// On x86-64, a switch is a few moves. On other processors, or with EMULATED_PORTABLE, it is a call of
// swapcontext, which makes two system calls.
#if defined(__x86_64__) && !defined(EMULATED_PORTABLE)
#define EMULATED_FAST_SWITCH 1
#else
#define EMULATED_FAST_SWITCH 0
#endif

#define EMULATED_MOST_THREADS 1024

// Each thread that waits at a barrier has a stack of this size. The stacks lie in an area that is aligned
// to its size, with an EmulatedBlock in place of stack 0, so code finds its thread and its block from its
// stack pointer. Thread-local storage would belong to the host's thread.
//
// The size of a stack is an odd number of pages: with a power of two, the pages that the threads use would
// compete for few entries of the processor's table of addresses (TLB), which made barriers a third slower.
#define EMULATED_STACK 0x41000u
#define EMULATED_AREA 0x20000000ul

struct EmulatedDim {
    unsigned x, y, z;
};

struct EmulatedThread {
    // Where it continues: its stack pointer, frame pointer and instruction.
    void *sp, *fp, *pc;
    EmulatedDim index;
    unsigned site;  // the number of the barrier at which it waits
};

struct EmulatedBlock {
    // The running thread, in a list of those that run before the block's next barrier. The list ends
    // with threads[0], which stands for the library.
    EmulatedThread **now;
    // The number of the barrier that the running thread reaches next. All sites of the waiting threads,
    // by `or` and `and`: equal if the sites are equal.
    unsigned site, any_site, common_site;
    EmulatedDim index, size, grid_size;
    unsigned char *shared;
    // Of the library: the worker that runs the block, and the switch where it is not inline.
    void *worker;
    void (*change)(EmulatedThread *from, EmulatedThread *to);
    // The thread on stack i is threads[i].
    EmulatedThread threads[EMULATED_MOST_THREADS + 1];
};

#define EMULATED_INLINE __attribute__((always_inline)) static inline

EMULATED_INLINE unsigned long emulated_stack_pointer() {
#if EMULATED_FAST_SWITCH
    // Volatile, because to compute it again is cheaper than to keep what follows from it during a barrier.
    unsigned long sp;
    __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
    return sp;
#else
    return (unsigned long)__builtin_frame_address(0);
#endif
}

// The block and the thread of the area and the stack in which an address lies.
EMULATED_INLINE EmulatedBlock *emulated_block_of(unsigned long address) { return (EmulatedBlock *)(address & ~(EMULATED_AREA - 1)); }

EMULATED_INLINE EmulatedThread *emulated_thread_of(unsigned long address) {
    return &emulated_block_of(address)->threads[(unsigned)(address % EMULATED_AREA) / EMULATED_STACK];
}

// Suspends `from`, which must be the running thread, and continues `to`. Returns when another thread
// continues `from`.
EMULATED_INLINE void emulated_switch(EmulatedThread *from, EmulatedThread *to) {
#if EMULATED_FAST_SWITCH
    // The compiler saves the registers that it needs, except for rbp, which it may use for the frame.
    // Nothing is pushed, because there may be data below the stack pointer. An indirect jump is predicted
    // well, because most threads continue at the same place; a return would not be.
    __asm__ volatile(
        "mov %%rsp, 0(%0)\n\t"
        "mov %%rbp, 8(%0)\n\t"
        "lea 1f(%%rip), %%rcx\n\t"
        "mov %%rcx, 16(%0)\n\t"
        "mov 0(%1), %%rsp\n\t"
        "mov 8(%1), %%rbp\n\t"
        "jmp *16(%1)\n"
        "1:"
        : "+a"(from), "+d"(to)
        :
        : "memory", "cc", "rbx", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
          "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#ifdef __AVX512F__
          ,
          "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28",
          "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#endif
    );
#else
    emulated_block_of((unsigned long)from)->change(from, to);
#endif
}

// Waits until all threads of the block that have not ended wait. The library compares the sites.
EMULATED_INLINE void emulated_wait() {
    unsigned long sp = emulated_stack_pointer();
    EmulatedBlock *block = emulated_block_of(sp);
    EmulatedThread *here = emulated_thread_of(sp), *next = *++block->now;
    unsigned site = block->site;
    here->site = site;
    block->any_site |= site;
    block->common_site &= site;
    emulated_switch(here, next);
}
