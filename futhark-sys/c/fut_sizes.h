// Functions that unit/sizes.rs, unit/bounds.rs, unit/concat.rs and unit/runtime.rs insert into the generated code.
//
// The generated code multiplies dimensions without checking their signs: two negative dimensions
// have a positive product, and every index of such an array is out of bounds. Therefore each size is
// computed a second time, by the functions below, and passed to the runtime. FUT_NO_SIZE is
// sticky, and whatever receives a size rejects it.

#if defined(__has_builtin)
#if __has_builtin(__builtin_mul_overflow)
#define FUT_HAS_CHECKED_ARITHMETIC
#endif
#elif defined(__GNUC__) && __GNUC__ >= 5
#define FUT_HAS_CHECKED_ARITHMETIC
#endif
#ifndef FUT_HAS_CHECKED_ARITHMETIC
#error "this C compiler lacks __builtin_mul_overflow; set CC to gcc 10 or later, or clang 14 or later"
#endif

#define FUT_NO_SIZE INT64_MAX

// Tests leave out one check at a time, to prove that it is needed: `-DFUT_WITHOUT=FUT_OF_TASK`.
#define FUT_OF_PRODUCT 1
#define FUT_OF_TASK 2
#define FUT_OF_COUNT 3
#define FUT_OF_LOOP 4
#ifndef FUT_WITHOUT
#define FUT_WITHOUT 0
#endif
#define FUT_FAILS(check, condition) (FUT_WITHOUT != (check) && FUT_UNLIKELY(condition))

static inline int64_t fut_size(int64_t n) { return n < 0 ? FUT_NO_SIZE : n; }

// A product of dimensions. A negative one is invalid even beside a zero, so that no shape has one.
static inline int64_t fut_times(int64_t a, int64_t b) {
  int64_t product;
  if (FUT_WITHOUT == FUT_OF_PRODUCT)
    return (int64_t)((uint64_t)a * (uint64_t)b);
  bool valid = a >= 0 && b >= 0 && a != FUT_NO_SIZE && b != FUT_NO_SIZE && !__builtin_mul_overflow(a, b, &product);
  return valid ? product : FUT_NO_SIZE;
}

// Terms other than lengths can be negative: the compiler writes `(n - 1) / k + 1`.
static inline int64_t fut_plus(int64_t a, int64_t b) {
  int64_t sum;
  bool valid = a != FUT_NO_SIZE && b != FUT_NO_SIZE && !__builtin_add_overflow(a, b, &sum);
  return valid ? sum : FUT_NO_SIZE;
}

static inline int64_t fut_minus(int64_t a, int64_t b) {
  int64_t difference;
  bool valid = a != FUT_NO_SIZE && b != FUT_NO_SIZE && !__builtin_sub_overflow(a, b, &difference);
  return valid ? difference : FUT_NO_SIZE;
}

// The length of a concatenation.
static inline int64_t fut_concat(int64_t a, int64_t b) {
  return a < 0 || b < 0 ? FUT_NO_SIZE : fut_plus(a, b);
}

// The generated code computes sizes from sizes by functions without the prefix.
// FUT_NO_SIZE is the largest number.
static inline int64_t fut_size_max(int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t fut_size_min(int64_t a, int64_t b) {
  return a == FUT_NO_SIZE || (b != FUT_NO_SIZE && a < b) ? a : b;
}

static inline int64_t fut_size_div_up(int64_t a, int64_t b) {
  if (a == FUT_NO_SIZE || b == FUT_NO_SIZE || b <= 0)
    return FUT_NO_SIZE;
  return a <= 0 ? a / b : (a - 1) / b + 1;
}

static inline int64_t fut_size_div_up_safe(int64_t a, int64_t b) { return b == 0 ? 0 : fut_size_div_up(a, b); }

// Conversions to 32 bits and back.
static inline int64_t fut_size_cut(int64_t n) { return n < INT32_MIN || n > INT32_MAX ? FUT_NO_SIZE : n; }
static inline int64_t fut_size_uncut(int64_t n) { return n; }

// Ends a generated function with an error if it would create, fill or copy a negative number of elements, or
// more than there can be. The function that reports it is in fut_routes.h, because the cause of an error is
// derived from the name of the function that sets it.
#define FUT_CHECK_COUNT(count)                                           \
  {                                                                      \
    int64_t fut_count = (count);                                         \
    if (FUT_FAILS(FUT_OF_COUNT, fut_size(fut_count) == FUT_NO_SIZE)) {   \
      err = fut_refuse_count(ctx, fut_count);                            \
      goto cleanup;                                                      \
    }                                                                    \
  }
static int fut_refuse_count(struct futhark_context *ctx, int64_t count);

// The same for a loop. A negative number of iterations is none, which is valid in a loop of the program.
#define FUT_CHECK_ITERATIONS(count)                     \
  if (FUT_FAILS(FUT_OF_LOOP, (count) == FUT_NO_SIZE)) { \
    err = fut_refuse_count(ctx, FUT_NO_SIZE);           \
    goto cleanup;                                       \
  }

// The same for a part of a concatenation.
static int fut_refuse_length(struct futhark_context *ctx);

// Whether a number wraps that the condition of a check depends on: one in a size type, such as `[n*m]`, or one that
// the compiler computes.
static inline bool fut_wraps(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product);
}

static inline bool fut_sum_wraps(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum);
}

static inline bool fut_difference_wraps(int64_t a, int64_t b) {
  int64_t difference;
  return __builtin_sub_overflow(a, b, &difference);
}

// Whether a slice has elements and begins or ends outside of the array where the compiler's own check can miss it: it
// assumes that a number that is a size in a type is not negative.
static inline bool fut_slice_outside(int64_t start, int64_t end, int64_t stride, int64_t length) {
  return stride < 0 ? end < start && (start >= length || end < -1) : start < end && start < 0;
}

// --- Divisions ---------------------------------------------------------------------------------
//
// A division by zero, or of the smallest number by -1, raises a signal. The program compares the divisor with zero
// itself, except where the compiler loses that check.

__attribute__((cold)) _Noreturn static void fut_end_division(bool by_zero) {
  fut_fatal(by_zero ? "division by zero" : "integer overflow in a division");
}

// The divisor `y` of `x`, for all integer types. Numbers of 8 and 16 bits become `int` before they are divided. Also
// right without -fwrapv, which a flag of the user or a test can disable.
#define FUT_IS_LEAST(x) (sizeof(x) >= sizeof(int) && (int64_t)(x) == INT64_MIN >> (64 - 8 * sizeof(x)))
#define FUT_DIVISOR(x, y)                                   \
  ((FUT_UNLIKELY((y) == 0 || ((y) == -1 && FUT_IS_LEAST(x))) \
        ? fut_end_division((y) == 0)                        \
        : (void)0),                                         \
   (y))
