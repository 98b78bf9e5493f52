// Validates shapes at the boundary of each call.
//
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
