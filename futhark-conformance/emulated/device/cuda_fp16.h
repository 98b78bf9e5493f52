// IEEE binary16 for kernels. Operations compute in float (__hfma in double) and round the result to
// half, to nearest even. For + - * / and sqrt this equals a single rounding, because float has more
// than twice the precision.
#pragma once

struct __half {
    unsigned short bits;
    __half() = default;
    template <class T> __half(T x) : bits(emulated_round((double)x)) {}
    operator float() const { return emulated_widen(bits); }

    // From double, so that every source type is rounded once.
    static unsigned short emulated_round(double x) {
        unsigned long long b;
        __builtin_memcpy(&b, &x, sizeof b);
        unsigned short sign = (unsigned short)(b >> 48 & 0x8000);
        int exponent = (int)(b >> 52 & 0x7ff) - 1023;
        unsigned long long fraction = b & 0xfffffffffffffull;
        if (exponent == 1024)
            return sign | 0x7c00 | (fraction != 0 ? 0x200 : 0);
        if (exponent > 15)
            return sign | 0x7c00;
        if (exponent < -25)
            return sign;
        // Keeps 11 bits, fewer for subnormal numbers. A carry increments the exponent.
        bool subnormal = exponent < -14;
        int drop = subnormal ? 42 - 14 - exponent : 42;
        unsigned long long whole = fraction | 1ull << 52, kept = whole >> drop, rest = whole & ((1ull << drop) - 1);
        unsigned long long half = 1ull << (drop - 1);
        if (rest > half || (rest == half && (kept & 1)))
            kept++;
        unsigned long long biased = subnormal ? 0 : (unsigned long long)(exponent + 14) << 10;
        return (unsigned short)(sign | (biased + kept));
    }

    static float emulated_widen(unsigned short h) {
        unsigned sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ffu;
        if (exponent == 0) {
            float f = (float)fraction * 0x1p-24f;
            return sign ? -f : f;
        }
        unsigned b = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | fraction << 13;
        float f;
        __builtin_memcpy(&f, &b, sizeof f);
        return f;
    }
};
typedef __half half;

#define EMULATED_ARITHMETIC(op)                                                            \
    static inline half operator op(half a, half b) { return half((float)a op (float)b); } \
    static inline half &operator op##=(half &a, half b) { return a = a op b; }
EMULATED_ARITHMETIC(+)
EMULATED_ARITHMETIC(-)
EMULATED_ARITHMETIC(*)
EMULATED_ARITHMETIC(/)

#define EMULATED_COMPARISON(op) \
    static inline bool operator op(half a, half b) { return (float)a op (float)b; }
EMULATED_COMPARISON(<)
EMULATED_COMPARISON(<=)
EMULATED_COMPARISON(>)
EMULATED_COMPARISON(>=)
EMULATED_COMPARISON(==)
EMULATED_COMPARISON(!=)

static inline half operator-(half a) {
    a.bits ^= 0x8000;
    return a;
}
static inline half operator+(half a) { return a; }

static inline bool __hlt(half a, half b) { return a < b; }
static inline bool __hle(half a, half b) { return a <= b; }
static inline bool __hgt(half a, half b) { return a > b; }
static inline bool __hge(half a, half b) { return a >= b; }
static inline bool __heq(half a, half b) { return a == b; }
static inline bool __hne(half a, half b) { return a != b; }

static inline unsigned short __half_as_ushort(half h) { return h.bits; }
static inline half __ushort_as_half(unsigned short bits) {
    half h;
    h.bits = bits;
    return h;
}
static inline float __half2float(half h) { return h; }
static inline half __float2half(float f) { return half(f); }
static inline bool __hisnan(half x) { return (x.bits & 0x7fff) > 0x7c00; }
static inline half __hfma(half a, half b, half c) { return half((double)(float)a * (float)b + (float)c); }

#define EMULATED_FUNCTION(name, f) \
    static inline half name(half x) { return half(f((float)x)); }
EMULATED_FUNCTION(hsin, sinf)
EMULATED_FUNCTION(hcos, cosf)
EMULATED_FUNCTION(hsqrt, sqrtf)
EMULATED_FUNCTION(hrsqrt, rsqrtf)
EMULATED_FUNCTION(hexp, expf)
EMULATED_FUNCTION(hexp2, exp2f)
EMULATED_FUNCTION(hlog, logf)
EMULATED_FUNCTION(hlog2, log2f)
EMULATED_FUNCTION(hlog10, log10f)
EMULATED_FUNCTION(hfloor, floorf)
EMULATED_FUNCTION(hceil, ceilf)
EMULATED_FUNCTION(hrint, rintf)
EMULATED_FUNCTION(htrunc, truncf)
