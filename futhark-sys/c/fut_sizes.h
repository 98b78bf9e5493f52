// Sizes and shapes. The unit includes this file twice: before the generated code for sizes, and after it
// (FUT_AFTER_PROGRAM) for shapes.

#ifndef FUT_AFTER_PROGRAM

// --- Sizes -----------------------------------------------------------------------------------------
// Functions that unit/sizes.rs, unit/bounds.rs, unit/concat.rs and unit/runtime.rs insert into the generated code.
// They compute each size a second time (unit/sizes.rs says why). FUT_NO_SIZE is sticky, and whatever receives a size
// rejects it.

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
// more than there can be. The function that reports it is in fut_hooks.h, because the cause of an error is
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

#else

// --- The elements of new, set and store ------------------------------------------------------------
// The C functions compute sizes from the shapes of the elements, and an overflow there loses the
// context. Therefore the wrappers validate the shapes before the call.

static inline bool fut_same_shape(const int64_t *a, const int64_t *b, int rank) {
  for (int i = 0; i < rank; i++)
    if (a[i] != b[i])
      return false;
  return true;
}

// Whether the size in bytes of `dims` elements with a part of this shape is valid. Zeros are skipped,
// because strides are products of some of the dimensions.
static inline bool fut_has_size(const int64_t *dims, int rank, const int64_t *shape, int inner, int64_t size) {
  for (int i = 0; i < rank; i++)
    if (dims[i] > 1 && __builtin_mul_overflow(size, dims[i], &size))
      return false;
  for (int i = 0; i < inner; i++)
    if (shape[i] > 1 && __builtin_mul_overflow(size, shape[i], &size))
      return false;
  return true;
}

#define FUT_SHAPE_TEXT 256

static inline const char *fut_shape_text(char text[FUT_SHAPE_TEXT], const int64_t *shape, int rank) {
  size_t at = 0;
  text[0] = 0;
  for (int i = 0; i < rank && at < FUT_SHAPE_TEXT - 24; i++)
    at += (size_t)snprintf(text + at, FUT_SHAPE_TEXT - at, "[%lld]", (long long)shape[i]);
  return text;
}

static inline char *fut_no_size(const int64_t *dims, int rank, const int64_t *shape, int inner) {
  char array[FUT_SHAPE_TEXT], part[FUT_SHAPE_TEXT];
  return msgprintf("an array of shape %s with elements that have a part of shape %s is larger than any memory",
                   fut_shape_text(array, dims, rank), inner == 0 ? "[]" : fut_shape_text(part, shape, inner));
}

static inline char *fut_misfit_new(int64_t i, const int64_t *is, const int64_t *first, int rank) {
  char this[FUT_SHAPE_TEXT], zeroth[FUT_SHAPE_TEXT];
  return msgprintf("expected parts of equal shapes, got %s in element %lld and %s in element 0",
                   fut_shape_text(this, is, rank), (long long)i, fut_shape_text(zeroth, first, rank));
}

static inline char *fut_misfit_set(const int64_t *is, const int64_t *wanted, int rank) {
  char element[FUT_SHAPE_TEXT], array[FUT_SHAPE_TEXT];
  return msgprintf("expected an element with a part of shape %s, as in the array, got %s",
                   fut_shape_text(array, wanted, rank), fut_shape_text(element, is, rank));
}

// Returns NULL, or a malloc'ed message if an array of this shape cannot be stored. An array of units
// needs no memory, so it can be so long that the size of its stored form overflows.
static inline char *fut_not_storable(const int64_t *shape, int rank, int64_t size) {
  for (int i = 0; i < rank; i++)
    if (shape[i] == 0)
      return NULL;
  for (int i = 0; i < rank; i++)
    if (shape[i] < 0 || __builtin_mul_overflow(size, shape[i], &size)) {
      char array[FUT_SHAPE_TEXT];
      return msgprintf("cannot store an array of shape %s: its size overflows", fut_shape_text(array, shape, rank));
    }
  return NULL;
}

// Ends a call before the C function is called. Takes ownership of the message `why`.
static __attribute__((noinline)) int32_t fut_reject(struct fut_context *c, char *why) {
  fut_fail(c, fut_keep_text(why), NULL);
  return FUT_REFUSED;
}

// Ends the body of a wrapper if `why` is a malloc'ed message and not NULL.
#define FUT_REFUSE(c, why)             \
  {                                    \
    char *fut_why = (why);             \
    if (FUT_UNLIKELY(fut_why != NULL)) \
      return fut_reject(c, fut_why);   \
  }

// --- Shapes at the boundary of a call --------------------------------------------------------------
// The C API does not validate the shapes of results, and every function trusts the shapes of its
// arguments. A negative dimension, or a shape larger than its memory block, makes the next call
// access memory out of bounds. Such values are rejected as arguments and as results.

// Whether an array of this shape fits in a block of `block` bytes. A shape with a zero needs no
// memory, even if the product of the other dimensions overflows.
static inline bool fut_shape_fits(const int64_t *shape, int rank, int64_t elem_size, int64_t block) {
  int64_t bytes = elem_size;
  bool negative = false, empty = false, overflow = false;
  for (int i = 0; i < rank; i++) {
    negative |= shape[i] < 0;
    empty |= shape[i] == 0;
    overflow |= __builtin_mul_overflow(bytes, shape[i], &bytes);
  }
  return !negative && (empty || (!overflow && bytes <= block));
}

// The size of a block. A literal of the program has neither a count nor a recorded size.
#define FUT_BLOCK(array) ((array)->mem.references == NULL ? INT64_MAX : (array)->mem.size)

static __attribute__((noinline)) char *fut_bad_shape(const char *what, const int64_t *shape, int rank) {
  char text[FUT_SHAPE_TEXT];
  return msgprintf("%s has an array of shape %s, which is negative or larger than its memory\n", what,
                   fut_shape_text(text, shape, rank));
}

static __attribute__((noinline)) int fut_refuse_shape(struct futhark_context *ctx, const char *what, const int64_t *shape, int rank) {
  set_error(ctx, fut_bad_shape(what, shape, rank));
  return FUTHARK_PROGRAM_ERROR;
}

// `find` returns the shape of an invalid array in `value`, or NULL.
#define FUT_CHECK_ARGUMENT(c, find, value, what)                      \
  {                                                                   \
    int fut_rank;                                                     \
    const int64_t *fut_shape = find(value, &fut_rank);                \
    if (FUT_UNLIKELY(fut_shape != NULL))                              \
      return fut_reject(c, fut_bad_shape(what, fut_shape, fut_rank)); \
  }

// If an error is pending, parts of the result can be missing; FUT_LEAVE frees the result.
#define FUT_CHECK_RESULT(c, rc, find, value, what)                 \
  if ((rc) == 0 && (c)->ctx->error == NULL) {                      \
    int fut_rank;                                                  \
    const int64_t *fut_shape = find(value, &fut_rank);             \
    if (FUT_UNLIKELY(fut_shape != NULL))                           \
      (rc) = fut_refuse_shape((c)->ctx, what, fut_shape, fut_rank); \
  }

#endif
