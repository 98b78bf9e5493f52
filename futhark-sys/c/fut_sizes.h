// Functions that unit/sizes.rs, unit/bounds.rs and unit/concat.rs insert into the generated code.
//
// The generated code multiplies dimensions without checking their signs: two negative dimensions
// have a positive product, and every index of such an array is out of bounds. Therefore each size is
// computed a second time, by the functions below, and passed to the allocation. FUT_NO_SIZE is
// sticky, and every allocation rejects it.

#define FUT_NO_SIZE INT64_MAX

static inline int64_t fut_size(int64_t n) { return n < 0 ? FUT_NO_SIZE : n; }

// An array with a dimension of zero has no elements, so the other dimension may be negative.
static inline int64_t fut_times(int64_t a, int64_t b) {
  int64_t product;
  if (a == FUT_NO_SIZE || b == FUT_NO_SIZE)
    return FUT_NO_SIZE;
  if (a == 0 || b == 0)
    return 0;
  bool valid = a > 0 && b > 0 && !__builtin_mul_overflow(a, b, &product);
  return valid ? product : FUT_NO_SIZE;
}

// Terms other than lengths can be negative: the compiler writes `(n - 1) / k + 1`.
static inline int64_t fut_plus(int64_t a, int64_t b) {
  int64_t sum;
  bool valid = a != FUT_NO_SIZE && b != FUT_NO_SIZE && !__builtin_add_overflow(a, b, &sum);
  return valid ? sum : FUT_NO_SIZE;
}

// The length of a concatenation.
static inline int64_t fut_concat(int64_t a, int64_t b) {
  return a < 0 || b < 0 ? FUT_NO_SIZE : fut_plus(a, b);
}

// Reports a part of a concatenation whose length is negative; defined in fut_routes.h.
static int fut_refuse_length(struct futhark_context *ctx);

// Whether a product in a size type, such as `[n*m]`, wraps.
static inline bool fut_wraps(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product);
}

// Whether a slice with a negative stride has elements and begins after the end of the array.
static inline bool fut_starts_outside(int64_t start, int64_t end, int64_t stride, int64_t length) {
  return stride < 0 && end < start && start >= length;
}
