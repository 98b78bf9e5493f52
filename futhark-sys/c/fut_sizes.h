// Sizes and shapes. The unit includes this file twice: before the generated code for sizes, and after it
// (FUT_AFTER_PROGRAM) for shapes.

#ifndef FUT_AFTER_PROGRAM

// --- Sizes -----------------------------------------------------------------------------------------
// Functions that the rules in src/compile/unit insert into the generated code.
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

// Not the largest number, which programs use as a limit: `i64.min i64.highest (length xs)`.
#define FUT_NO_SIZE (INT64_MAX - 1)

// Tests leave out one check at a time, to prove that it is needed: `-DFUT_WITHOUT=FUT_OF_TASK`.
#define FUT_OF_PRODUCT 1
#define FUT_OF_TASK 2
#define FUT_OF_COUNT 3
#define FUT_OF_LOOP 4
#ifndef FUT_WITHOUT
#define FUT_WITHOUT 0
#endif
#define FUT_FAILS(check, condition) (FUT_WITHOUT != (check) && FUT_UNLIKELY(condition))

static inline int64_t fut_size(int64_t n) { return n < 0 || n > FUT_NO_SIZE ? FUT_NO_SIZE : n; }

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
static inline int64_t fut_size_max(int64_t a, int64_t b) {
  return a == FUT_NO_SIZE || (b != FUT_NO_SIZE && a > b) ? a : b;
}

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

// Ends a generated function with an error of the program.
#define FUT_REFUSE_IF(is_wrong, why)    \
  if (is_wrong) {                       \
    err = fut_refuse_because(ctx, why); \
    goto cleanup;                       \
  }
static int fut_refuse_because(struct futhark_context *ctx, const char *why);

#define FUT_NEGATIVE_PART "an array of negative length cannot be concatenated"
#define FUT_NO_ROOM                                                                                              \
  "nothing can be appended to an argument that the call consumes: this version of Futhark writes past its end; " \
  "remove the * in the type of the parameter"
#define FUT_OVERFLOWED "a size in a type is a sum or product that overflows"
#define FUT_CONSTANT_SHAPE "the shape of an array, which is constant in the program, is negative or larger than any memory"
#define FUT_NEGATIVE_INDEX "an index, which is or contains a constant size of the program, is negative"
#define FUT_OUTSIDE "a slice is outside of its array"
#define FUT_DIVIDED "division by zero: of an index into an array without elements, or of a size"

// For a copy on a GPU: whether an element at PLACE plus a sum of strides is not one of the ROOM elements of the memory.
static inline bool fut_is_outside(int64_t room, int rank, int64_t place, const int64_t *strides, const int64_t *shape) {
  int64_t first = place, last = place, reach;
  for (int i = 0; i < rank; i++)
    if (shape[i] <= 0)
      return false;
  for (int i = 0; i < rank; i++) {
    int64_t *end = strides[i] < 0 ? &first : &last;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) || __builtin_add_overflow(*end, reach, end))
      return true;
  }
  return first < 0 || last >= room;
}

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

// The divisor `y` of `x`, for all integer types: an unsigned `x` is never below 0. Numbers of 8 and 16 bits become `int`
// before they are divided. Also right without -fwrapv, which a flag of the user or a test can disable.
#define FUT_OVERFLOWS(x, y) \
  ((y) == -1 && (x) < 0 && sizeof(x) >= sizeof(int) && (int64_t)(x) == INT64_MIN >> (64 - 8 * sizeof(x)))
#define FUT_DIVISOR(x, y)                                   \
  ((FUT_UNLIKELY((y) == 0 || FUT_OVERFLOWS(x, y)) ? fut_end_division((y) == 0) : (void)0), (y))

// The same, where the function itself returns 0 for the divisor 0. The compiler divides with it to get the length of a slice,
// before the slice is checked; that quotient wraps, so that the check fails as for other numbers.
#define FUT_SAFE_DIVISOR(x, y) (FUT_UNLIKELY(FUT_OVERFLOWS(x, y)) ? 1 : (y))

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

// Ends the call before the C function is called, by a jump as in fut_fatal: nothing exists yet that would have to be
// freed. Takes ownership of the message. `cause`: FUT_CAUSE_ARGUMENT if the C function would reject the arguments as well,
// otherwise FUT_CAUSE_UNKNOWN.
_Noreturn static __attribute__((noinline, cold)) void fut_reject(struct fut_context *c, uint32_t cause, char *why) {
  fut_fail(c, fut_keep_text(why), NULL);
  c->failures[0].cause = cause;
  c->rejected = true;
  _longjmp(fut_self.guard->target, 1);
}

// The bytes of an array of this shape; -1 if a dimension is negative or the product overflows. A shape with a zero
// needs no memory, even if the product of the other dimensions overflows.
FUT_INLINE int64_t fut_bytes(const int64_t *shape, int rank, int64_t elem_size) {
  int64_t bytes = elem_size;
  bool negative = false, empty = false, overflow = false;
  for (int i = 0; i < rank; i++) {
    negative |= shape[i] < 0;
    empty |= shape[i] == 0;
    overflow |= __builtin_mul_overflow(bytes, shape[i], &bytes);
  }
  if (empty)
    bytes = 0;
  return negative || (overflow && !empty) ? -1 : bytes;
}

// An array of units needs no memory, so it can be so long that the size of its stored form overflows.
static void fut_expect_storable(struct fut_context *c, const struct fut_layout *l, const void *value) {
  for (uint64_t i = 0; i < l->n_parts; i++) {
    const struct fut_part *part = &l->parts[i];
    const int64_t *shape = fut_shape_of(fut_array_in(value, part));
    char text[FUT_SHAPE_TEXT];
    if (fut_bytes(shape, part->rank, part->elem_size == 0 ? 1 : part->elem_size) < 0)
      fut_reject(c, FUT_CAUSE_UNKNOWN,
                 msgprintf("cannot store an array of shape %s: its size overflows", fut_shape_text(text, shape, part->rank)));
  }
}

// --- Shapes at the boundary of a call --------------------------------------------------------------
// The C API does not validate the shapes of results, and every function trusts the shapes of its
// arguments. A negative dimension, or a shape larger than its memory block, makes the next call
// access memory out of bounds. Such values are rejected as arguments and as results.

FUT_INLINE bool fut_array_fits(const void *array, int rank, int64_t elem_size) {
  const fut_array_memory *mem = array;
  int64_t bytes = fut_bytes(fut_shape_of(array), rank, elem_size);
  // A literal of the program has neither a count nor a recorded size.
  return bytes >= 0 && (mem->references == NULL || bytes <= mem->size);
}

static char *fut_bad_shape(const char *what, uint32_t i, const void *array, int rank) {
  char text[FUT_SHAPE_TEXT];
  return msgprintf("%s %u has an array of shape %s, which is negative or larger than its memory\n", what, i,
                   fut_shape_text(text, fut_shape_of(array), rank));
}

_Noreturn static __attribute__((noinline, cold)) void fut_reject_array(struct fut_context *c, uint32_t i, const void *array,
                                                                       int rank) {
  fut_reject(c, FUT_CAUSE_UNKNOWN, fut_bad_shape("argument", i, array, rank));
}

static __attribute__((noinline, cold)) int fut_refuse_array(struct futhark_context *ctx, uint32_t i, const void *array,
                                                            int rank) {
  set_error(ctx, fut_bad_shape("result", i, array, rank));
  return FUTHARK_PROGRAM_ERROR;
}

// If an error is pending, parts of a result can be missing; the end of the wrapper frees it.
FUT_INLINE bool fut_has_failed(const struct fut_context *c, int rc) { return rc != 0 || c->ctx->error != NULL; }

// Argument or result i, an array of scalars.
FUT_INLINE void fut_check_array(struct fut_context *c, uint32_t i, const void *array, int rank, int64_t elem_size) {
  if (FUT_UNLIKELY(!fut_array_fits(array, rank, elem_size)))
    fut_reject_array(c, i, array, rank);
}

FUT_INLINE int fut_check_new_array(struct fut_context *c, int rc, uint32_t i, const void *result, int rank,
                                   int64_t elem_size) {
  if (fut_has_failed(c, rc) || FUT_LIKELY(fut_array_fits(fut_pointer_at(result), rank, elem_size)))
    return rc;
  return fut_refuse_array(c->ctx, i, fut_pointer_at(result), rank);
}

FUT_END_OURS  // many calls run them

// The first array of an opaque value that does not fit in its memory, or NULL.
FUT_INLINE const struct fut_part *fut_find_misshapen(const struct fut_layout *l, const void *value) {
  const struct fut_part *end = l->parts + l->n_parts;
  for (const struct fut_part *part = l->parts; part != end; part++)
    if (FUT_UNLIKELY(!fut_array_fits(fut_array_in(value, part), part->rank, part->elem_size)))
      return part;
  return NULL;
}

// Argument or result i, an opaque value.
static __attribute__((noinline)) void fut_check_opaque(struct fut_context *c, uint32_t i, const void *value,
                                                       const struct fut_layout *l) {
  const struct fut_part *wrong = fut_find_misshapen(l, value);
  if (FUT_UNLIKELY(wrong != NULL))
    fut_reject_array(c, i, fut_array_in(value, wrong), wrong->rank);
}

static __attribute__((noinline)) int fut_check_new_opaque(struct fut_context *c, int rc, uint32_t i, const void *result,
                                                          const struct fut_layout *l) {
  if (fut_has_failed(c, rc))
    return rc;
  const void *value = fut_pointer_at(result);
  const struct fut_part *wrong = fut_find_misshapen(l, value);
  return FUT_UNLIKELY(wrong != NULL) ? fut_refuse_array(c->ctx, i, fut_array_in(value, wrong), wrong->rank) : 0;
}

FUT_BEGIN_OURS

#if FUT_N_TYPES > 0
static const struct fut_type fut_types[FUT_N_TYPES];

static __attribute__((noinline, cold)) int32_t fut_undo_values(struct fut_context *c, int rc, void *const *out,
                                                               const struct fut_slot *slots, uint32_t n) {
  int32_t status = fut_settle(c, rc);
  for (uint32_t i = 0; i < n && status != FUT_OK; i++)
    if (slots[i].type >= FUT_FIRST_TYPE)
      fut_discard(c, fut_types[slots[i].type - FUT_FIRST_TYPE].free, out[i]);
  return status;
}

// The end of a wrapper with results of the types of `slots`.
FUT_INLINE int32_t fut_leave_values(struct fut_context *c, int rc, void *const *out, const struct fut_slot *slots,
                                    uint32_t n) {
  return FUT_UNLIKELY(rc != 0 || fut_disturbed(c)) ? fut_undo_values(c, rc, out, slots, n) : FUT_OK;
}
#endif

#endif
