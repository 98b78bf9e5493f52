// `new` and `set` of arrays of opaque values, written by hand, with the C API of compilers since
// 0.25.36. futhark.sh appends this text to the C code of an older compiler, before that of the
// program; it uses the functions of the runtime. Copies are asynchronous on devices.

#ifdef FUTHARK_BACKEND_opencl
#define NEWER_ALLOC memblock_alloc_device
#define NEWER_PUT_HOST(to, at, from, n) memcpy_host2gpu(ctx, NULL, false, (to)->mem.mem, at, (const unsigned char *)(from), 0, n)
#define NEWER_PUT_PART(to, at, from, n) gpu_memcpy(ctx, NULL, (to)->mem.mem, at, (from)->mem.mem, 0, n)
#else
#define NEWER_ALLOC memblock_alloc
#define NEWER_PUT_HOST(to, at, from, n) (memmove((to)->mem.mem + (at), from, n), 0)
#define NEWER_PUT_PART(to, at, from, n) ((n) == 0 ? 0 : (memmove((to)->mem.mem + (at), (from)->mem.mem, n), 0))
#endif

static int newer_fail(struct futhark_context *ctx, const char *why) {
  set_error(ctx, strdup(why));
  return 1;
}

static int64_t newer_product(const int64_t *shape, int rank) {
  int64_t n = 1;
  for (int i = 0; i < rank; i++)
    n *= shape[i];
  return n;
}

// Creates a component of the array from a scalar of each element, or from an array of each element.
#define NEWER_MAKE(v, dims, rank, inner, shape_of_part, size)                                 \
  arr->v = calloc(1, sizeof *arr->v);                                                         \
  memcpy(arr->v->shape, dims, sizeof(int64_t) * (rank));                                      \
  memcpy(arr->v->shape + (rank), shape_of_part, sizeof(int64_t) * (inner));                   \
  err |= NEWER_ALLOC(ctx, &arr->v->mem, newer_product(arr->v->shape, (rank) + (inner)) * (size), "arr");
#define NEWER_MAKE_SCALAR(v, dims, rank) NEWER_MAKE(v, dims, rank, 0, dims, (int64_t)sizeof elems[0]->v)
#define NEWER_MAKE_ARRAY(v, dims, rank, inner, size)                                          \
  for (int64_t i = 1; i < n; i++)                                                             \
    if (memcmp(elems[i]->v->shape, elems[0]->v->shape, sizeof(int64_t) * (inner)) != 0)       \
      return newer_fail(ctx, "Cannot construct arrays with elements of different shapes.");   \
  NEWER_MAKE(v, dims, rank, inner, elems[0]->v->shape, size)

// Writes the element at place `at` of the elements in row-major order.
#define NEWER_WRITE_SCALAR(v) err |= NEWER_PUT_HOST(arr->v, at *(int64_t)sizeof elem->v, &elem->v, sizeof elem->v);
#define NEWER_WRITE_ARRAY(v, rank, inner, size)                                               \
  if (memcmp(elem->v->shape, arr->v->shape + (rank), sizeof(int64_t) * (inner)) != 0)         \
    return newer_fail(ctx, "Element shape differs from array shape");                         \
  {                                                                                           \
    int64_t bytes = newer_product(elem->v->shape, inner) * (size);                            \
    err |= NEWER_PUT_PART(arr->v, at *bytes, elem->v, bytes);                                 \
  }

// The functions of an array type. MAKE creates its components, WRITE writes them for one element.
#define NEWER_DIMS1 int64_t dim0
#define NEWER_DIMS2 int64_t dim0, int64_t dim1
#define NEWER_LIST1 {dim0}
#define NEWER_LIST2 {dim0, dim1}

#define NEWER(ARRAY, ELEM, RANK, MAKE, WRITE)                                                 \
  static int newer_put_##ARRAY(struct futhark_context *ctx, struct futhark_opaque_##ARRAY *arr, \
                               struct futhark_opaque_##ELEM *elem, int64_t at) {              \
    int err = 0;                                                                              \
    WRITE                                                                                     \
    return err;                                                                               \
  }                                                                                           \
  int futhark_new_opaque_##ARRAY(struct futhark_context *ctx, struct futhark_opaque_##ARRAY **out, \
                                 struct futhark_opaque_##ELEM **elems, NEWER_DIMS##RANK) {    \
    int64_t dims[] = NEWER_LIST##RANK;                                                        \
    int64_t n = newer_product(dims, RANK);                                                    \
    int err = 0;                                                                              \
    struct futhark_opaque_##ARRAY *arr = calloc(1, sizeof *arr);                              \
    MAKE                                                                                      \
    for (int64_t i = 0; i < n && err == 0; i++)                                               \
      err = newer_put_##ARRAY(ctx, arr, elems[i], i);                                         \
    if (err == 0)                                                                             \
      *out = arr;                                                                             \
    else                                                                                      \
      futhark_free_opaque_##ARRAY(ctx, arr);                                                  \
    return err;                                                                               \
  }                                                                                           \
  int futhark_set_opaque_##ARRAY(struct futhark_context *ctx, struct futhark_opaque_##ARRAY *arr, \
                                 struct futhark_opaque_##ELEM *elem, NEWER_DIMS##RANK) {      \
    const int64_t *shape = arr->v0->shape;                                                    \
    int64_t place[] = NEWER_LIST##RANK;                                                       \
    int64_t at = 0;                                                                           \
    for (int i = 0; i < RANK; i++) {                                                          \
      if (place[i] < 0 || place[i] >= shape[i])                                               \
        return newer_fail(ctx, "Index out of bounds.");                                       \
      at = at * shape[i] + place[i];                                                          \
    }                                                                                         \
    return newer_put_##ARRAY(ctx, arr, elem, at);                                             \
  }
