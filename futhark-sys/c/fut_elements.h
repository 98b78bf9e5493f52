// Validates the arguments of new, set and store of opaque values.
//
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
