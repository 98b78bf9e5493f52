// Defines the built-ins of NVRTC and hiprtc, so that the host's C++ compiler can compile kernels. It is
// included before the kernels' own text, which defines types such as int64_t itself: include no header
// that defines them.
#pragma once

// Include C's <math.h>: libstdc++'s wrapper includes <stdint.h>.
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS 1
#include <math.h>
#undef NAN
#undef INFINITY

#include "thread.h"

// --- Threads, blocks and barriers -------------------------------------------------------

#define threadIdx (emulated_thread_of(emulated_stack_pointer())->index)
#define blockIdx (emulated_block_of(emulated_stack_pointer())->index)
#define blockDim (emulated_block_of(emulated_stack_pointer())->size)
#define gridDim (emulated_block_of(emulated_stack_pointer())->grid_size)

#define __device__
#define __host__
#define __forceinline__ inline
// Marks the kernels for the table, see src/compiler.cpp.
#define __global__ __attribute__((emulated_kernel))
#define __launch_bounds__(...) __attribute__((emulated_bound(__VA_ARGS__)))
// src/compiler.cpp replaces `extern __shared__ T name[]` by a macro that expands to this.
#define EMULATED_SHARED(T) ((volatile T *)emulated_block_of(emulated_stack_pointer())->shared)

// Records the number of a barrier call; src/compiler.cpp inserts a call of this before each of them.
EMULATED_INLINE void emulated_at(unsigned number) { emulated_block_of(emulated_stack_pointer())->site = number; }
EMULATED_INLINE void __syncthreads() { emulated_wait(); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// --- Atomics ------------------------------------------------------------------------------

// Excludes a parameter from template argument deduction, so that atomicAdd(&x64, 1) compiles.
template <class T> struct EmulatedSame { typedef T type; };
#define EMULATED_ARG(T) typename EmulatedSame<T>::type

template <class T> static inline T atomicExch(T *p, EMULATED_ARG(T) v) {
    T old;
    __atomic_exchange(p, &v, &old, __ATOMIC_SEQ_CST);
    return old;
}
template <class T> static inline T atomicCAS(T *p, EMULATED_ARG(T) expected, EMULATED_ARG(T) v) {
    __atomic_compare_exchange(p, &expected, &v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}

// Replaces *p by f(*p), and returns the old value.
template <class T, class F> static inline T emulated_update(T *p, F f) {
    T old, fresh;
    __atomic_load(p, &old, __ATOMIC_SEQ_CST);
    do
        fresh = f(old);
    while (!__atomic_compare_exchange(p, &old, &fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return old;
}
#define EMULATED_ATOMIC(name, expression)                                    \
    template <class T> static inline T name(T *p, EMULATED_ARG(T) v) {       \
        return emulated_update(p, [v](T old) -> T { return expression; });   \
    }
EMULATED_ATOMIC(atomicAdd, old + v)
EMULATED_ATOMIC(atomicSub, old - v)
EMULATED_ATOMIC(atomicAnd, old & v)
EMULATED_ATOMIC(atomicOr, old | v)
EMULATED_ATOMIC(atomicXor, old ^ v)
EMULATED_ATOMIC(atomicMin, v < old ? v : old)
EMULATED_ATOMIC(atomicMax, old < v ? v : old)

// --- Integers and floats -------------------------------------------------------------------

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }

static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }

static inline double sinpi(double x) {
    double r = fmod(x, 2);
    return r == rint(r) ? r * 0 : sin(3.14159265358979323846 * r);
}
static inline double cospi(double x) {
    double r = fabs(fmod(x, 2));
    return r == 0.5 || r == 1.5 ? 0 : cos(3.14159265358979323846 * r);
}
static inline float sinpif(float x) { return (float)sinpi(x); }
static inline float cospif(float x) { return (float)cospi(x); }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long long llabs(long long x) { return x < 0 ? -x : x; }
template <class T> static inline T min(T a, T b) { return b < a ? b : a; }
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }

// --- The table of kernels --------------------------------------------------------------------

// src/grid.h has the same struct. A launch passes pointers to the arguments; the type of the kernel
// determines their sizes and the call.
struct EmulatedKernel {
    const char *name;
    void (*run)(void *const *);
    const unsigned *sizes;
    unsigned arguments, bound;
};

template <unsigned... I> struct EmulatedIndices {};
template <unsigned N, unsigned... I> struct EmulatedCount : EmulatedCount<N - 1, N - 1, I...> {};
template <unsigned... I> struct EmulatedCount<0, I...> { typedef EmulatedIndices<I...> type; };

template <class F, F f> struct EmulatedCall;
template <class... A, void (*F)(A...)> struct EmulatedCall<void (*)(A...), F> {
    static constexpr unsigned count = sizeof...(A);
    static constexpr unsigned sizes[count + 1] = {(unsigned)sizeof(A)..., 0};
    template <unsigned... I> static void call(void *const *a, EmulatedIndices<I...>) { F(*(A *)a[I]...); }
    static void run(void *const *a) { call(a, typename EmulatedCount<count>::type()); }
};
template <class... A, void (*F)(A...)> constexpr unsigned EmulatedCall<void (*)(A...), F>::sizes[count + 1];
// src/compiler.cpp appends the table, `emulated_kernels`.
