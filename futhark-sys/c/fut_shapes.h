// Shapes at the boundary of each call.
//
// The C API never looks at the shape of a result, and every function trusts the shape of its
// arguments. A dimension below zero, or a shape larger than its memory block, makes the next call
// read and write out of bounds. Such values neither enter nor leave a call.

// Whether an array of this shape fits in a block of `block` bytes. A shape with a zero takes no
// memory, whatever the product of the other dimensions.
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

// The size of a block. A literal of the program has no count, and its size is not recorded.
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

// `find` returns the shape of an array in `value` that cannot exist, or NULL.
#define FUT_CHECK_ARGUMENT(c, find, value, what)                   \
  {                                                                \
    int fut_rank;                                                  \
    const int64_t *fut_shape = find(value, &fut_rank);             \
    if (FUT_UNLIKELY(fut_shape != NULL))                           \
      FUT_REFUSE(c, fut_bad_shape(what, fut_shape, fut_rank))      \
  }

// A pending error means that a part of the result may be missing; FUT_LEAVE frees the result.
#define FUT_CHECK_RESULT(c, rc, find, value, what)                 \
  if ((rc) == 0 && (c)->ctx->error == NULL) {                      \
    int fut_rank;                                                  \
    const int64_t *fut_shape = find(value, &fut_rank);             \
    if (FUT_UNLIKELY(fut_shape != NULL))                           \
      (rc) = fut_refuse_shape((c)->ctx, what, fut_shape, fut_rank); \
  }
