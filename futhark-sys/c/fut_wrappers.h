// The bodies of the wrappers. unit/wrappers.rs and unit/values.rs write one use of a macro
// per function.
//
// Raw modules define macros with the names of functions. Therefore a macro pastes only its own
// arguments: an argument that it passes on to another macro would be expanded first.

#define FUT_ASSERT_TYPE(f, result, ...)                                                 \
  _Static_assert(__builtin_types_compatible_p(__typeof__(&f), result (*)(__VA_ARGS__)), \
                 "manifest and header disagree about " #f);

// --- Entry points, and operations on values ----------------------------------------

// The elements of the parameter `arguments` of the macros below, a parenthesised list.
#define FUT_SCALAR_IN(i, type) *(const type *)in[i]
#define FUT_VALUE_IN(i, type) (const struct type *)in[i]
#define FUT_SCALAR_OUT(i, type) (type *)out[i]
#define FUT_VALUE_OUT(i, type) (struct type **)out[i]

// `checks`: of the arguments, before the call; `results`: steps after the call; `leave`: the end.
// For `entry add_to (xs: *[]f32) (ys: []f32) : []f32`, this is in short
//
//   static int32_t fut_w_futhark_entry_add_to(struct fut_context *c, void *const *out, const void *const *in) {
//     fut_check_array(c, 0, in[0], 1, 4);  // fut_sizes.h: rejects impossible shapes
//     fut_check_array(c, 1, in[1], 1, 4);
//     int rc = futhark_entry_add_to(c->ctx, (struct futhark_f32_1d **)out[0], in[0], in[1]);
//     rc = fut_check_new_array(c, rc, 0, out[0], 1, 4);  // an impossible shape is a failure
//     // Scalar results: FUT_SYNC waits.
//     // fut_sizes.h: on failure, fut_settle fetches the message and returns FUT_MEMORY or FUT_FAILED; frees *out[0].
//     return fut_leave_values(c, rc, out, fut_out_futhark_entry_add_to, 1);
//   }
#define FUT_WRAP_ENTRY(f, checks, arguments, results, leave) \
  FUT_WRAPPER(fut_w_##f) {                                   \
    FUT_UNUSED checks int rc = f arguments;                  \
    FUT_LEAVES(c) results return leave;                      \
  }

// A constructor of a sum writes only the components of its variant, so the memory is zeroed before.
// Operations allocate structs and nothing large.
#define FUT_WRAP_OPERATION(f, checks, arguments, results, leave) \
  FUT_WRAPPER(fut_w_##f) {                                       \
    FUT_UNUSED checks fut_self.zero = true;                      \
    int rc = f arguments;                                        \
    fut_self.zero = false;                                       \
    results return leave;                                        \
  }

// The function returns the index of the variant.
#define FUT_WRAP_VARIANT(f, type)                                     \
  FUT_WRAPPER(fut_w_##f) {                                            \
    FUT_UNUSED *(int32_t *)out[0] = f(c->ctx, FUT_VALUE_IN(0, type)); \
    return fut_leave(c, 0);                                           \
  }

// Rejects a value of another variant: the C function would end in an assertion. `variant` returns the
// index of the variant, and `...` are the names. Tests define this away, to reach the assertion.
#ifndef FUT_EXPECT_VARIANT
#define FUT_EXPECT_VARIANT(variant, type, expected, ...) \
  static const char *const names[] = {__VA_ARGS__};      \
  fut_expect_variant(c, (size_t)variant(c->ctx, FUT_VALUE_IN(0, type)), expected, names, sizeof names / sizeof *names);
#endif
static void fut_expect_variant(struct fut_context *c, size_t actual, size_t expected, const char *const *names, size_t n) {
  if (FUT_UNLIKELY(actual != expected))
    fut_reject(c, FUT_CAUSE_UNKNOWN,
               msgprintf("expected variant `%s`, got `%s`", names[expected], actual < n ? names[actual] : "?"));
}

// Replaces the empty array in component `i` of a sum by an array of zeros, if the component belongs
// to another variant and has a fixed size. `fut_zeros` is static, so that a device may read it
// after the call.
#define FUT_FILL_BLANK(type, i, array, new, free, ...)                                   \
  if (rc == 0) {                                                                         \
    struct type *value = *(struct type **)out[0];                                        \
    struct array *zeros = new (c->ctx, (const void *)fut_zeros, __VA_ARGS__);            \
    if (zeros == NULL) {                                                                 \
      rc = 1;                                                                            \
    } else {                                                                             \
      if (value->v##i != NULL)                                                           \
        (void)free(c->ctx, value->v##i);                                                 \
      value->v##i = zeros;                                                               \
    }                                                                                    \
  }

// --- All types ------------------------------------------------------------------------

#define FUT_WRAP_FREE(f, type)                           \
  FUT_WRAPPER(fut_w_##f) {                               \
    FUT_UNUSED int rc = f(c->ctx, (struct type *)in[0]); \
    return fut_leave(c, rc);                             \
  }

// The shape is part of the value, so the wrapper does not enter the context.
#define FUT_WRAP_SHAPE(f, type)                                             \
  FUT_WRAPPER(fut_w_##f) {                                                  \
    FUT_UNUSED *(const int64_t **)out[0] = f(c->ctx, (struct type *)in[0]); \
    return FUT_OK;                                                          \
  }

// --- Arrays of scalars ------------------------------------------------------------------
// `...`: the dimensions or indices, `dims[0], dims[1]` or `indices[0], indices[1]`.

// Waits for a transfer, unless argument i says that a later call waits.
#if FUT_GPU_BACKEND
#define FUT_SYNC_NOW(c, rc, i) \
  FUT_LEAVES(c)                \
  if (*(const int32_t *)in[i] == 0) { \
    FUT_SYNC(c, rc)            \
  }
#else
#define FUT_SYNC_NOW(c, rc, i)
#endif

// For `[]f32`, this is in short
//
//   static int32_t fut_w_futhark_new_f32_1d(struct fut_context *c, void *const *out, const void *const *in) {
//     const int64_t *dims = in[1];
//     struct futhark_f32_1d *value = futhark_new_f32_1d(c->ctx, (const float *)in[0], dims[0]);
//     *(void **)out[0] = value;
//     int rc = value == NULL;
//     // FUT_SYNC_NOW: waits for the transfer, unless *in[2] is not 0.
//     // fut_calls.h: on failure, fut_settle fetches the message and returns FUT_MEMORY or FUT_FAILED; frees *out[0].
//     return fut_leave_value(c, rc, out, fut_w_futhark_free_f32_1d);
//   }
//
// If in[0] is NULL, fut_no_data takes its place: nothing is copied (fut_memmove in fut_hooks.h).
FUT_INLINE const void *fut_data(const void *data) { return data != NULL ? data : &fut_no_data; }

#define FUT_WRAP_NEW(f, type, elem, release, ...)                                 \
  FUT_WRAPPER(fut_w_##f) {                                                        \
    FUT_UNUSED const int64_t *dims = in[1];                                       \
    struct type *value = f(c->ctx, (const elem *)fut_data(in[0]), __VA_ARGS__);   \
    *(void **)out[0] = value;                                                     \
    int rc = value == NULL;                                                       \
    FUT_SYNC_NOW(c, rc, 2)                                                        \
    return fut_leave_value(c, rc, out, release);                                  \
  }

#define FUT_WRAP_VALUES(f, type, elem)                                   \
  FUT_WRAPPER(fut_w_##f) {                                               \
    FUT_UNUSED int rc = f(c->ctx, (struct type *)in[0], (elem *)out[0]); \
    FUT_SYNC_NOW(c, rc, 1)                                               \
    return fut_leave(c, rc);                                             \
  }

#define FUT_WRAP_INDEX(f, type, elem, ...)                                 \
  FUT_WRAPPER(fut_w_##f) {                                                 \
    FUT_UNUSED const int64_t *indices = in[1];                             \
    int rc = f(c->ctx, (elem *)out[0], (struct type *)in[0], __VA_ARGS__); \
    FUT_SYNC(c, rc);                                                       \
    return fut_leave(c, rc);                                               \
  }

// The memory of the backend. On GPU backends it can be an integer, which is converted to a pointer
// for the table.
#define FUT_WRAP_RAW_MEMORY(f, type)                                                  \
  FUT_WRAPPER(fut_w_##f) {                                                            \
    FUT_UNUSED *(void **)out[0] = (void *)(uintptr_t)f(c->ctx, (struct type *)in[0]); \
    return FUT_OK;                                                                    \
  }

#define FUT_WRAP_BORROW(f, type, memory, release, ...)                     \
  FUT_WRAPPER(fut_w_##f) {                                                 \
    FUT_UNUSED const int64_t *dims = in[1];                                \
    struct type *value = f(c->ctx, (memory)(uintptr_t)in[0], __VA_ARGS__); \
    fut_borrow(c, value);                                                  \
    *(void **)out[0] = value;                                              \
    return fut_leave_value(c, value == NULL, out, release);                \
  }

// A copy with its own memory. `size` is the number of elements, `...` the dimensions.
//
// Host memory is read in place. Device memory is copied on the device, by the runtime's own function
// for flat copies, to memory that is allocated as in `new`. The queue executes in order, so the copy is
// made after the kernels that write the original and before those that overwrite it. The wait is
// for the failures of those kernels, without which the copy would be invalid, and for other queues, to
// which the memory of a complete value can be passed.
#if FUT_GPU_BACKEND
// The types of the function in all known versions; later ones also take a label for profiling. With any
// other type or layout of arrays, device memory is copied through the host.
typedef int fut_memcpy_first(struct futhark_context *, gpu_mem, int64_t, gpu_mem, int64_t, int64_t);
typedef int fut_memcpy_labelled(struct futhark_context *, const char *, gpu_mem, int64_t, gpu_mem, int64_t, int64_t);

// The function, if it has this type, otherwise NULL.
#define FUT_IF_TYPE(f, type) \
  __builtin_choose_expr(__builtin_types_compatible_p(__typeof__(f), type), (f), (type *)NULL)

#if FUT_HAS_GPU_MEMCPY
#define FUT_MEMCPY_FIRST FUT_IF_TYPE(gpu_memcpy, fut_memcpy_first)
#define FUT_MEMCPY_LABELLED FUT_IF_TYPE(gpu_memcpy, fut_memcpy_labelled)
#else
#define FUT_MEMCPY_FIRST ((fut_memcpy_first *)NULL)
#define FUT_MEMCPY_LABELLED ((fut_memcpy_labelled *)NULL)
#endif

// Whether arrays of a type are copied on the device: they have no fields but their memory and shape.
#define FUT_COPIES_ON_DEVICE(type)                                                                       \
  ((FUT_MEMCPY_FIRST != NULL || FUT_MEMCPY_LABELLED != NULL) &&                                          \
   sizeof(struct type) == sizeof(((struct type *)0)->mem) + sizeof(((struct type *)0)->shape))

// Allocates memory and starts to copy another block to it. Fails with an error of the runtime.
static int fut_copy_on_device(struct futhark_context *ctx, struct memblock_device *to, gpu_mem from, int64_t bytes) {
  fut_memcpy_first *first = FUT_MEMCPY_FIRST;
  fut_memcpy_labelled *labelled = FUT_MEMCPY_LABELLED;
  int err = fut_allocate_device(ctx, to, bytes, "copy");
  if (err != FUTHARK_SUCCESS || bytes == 0)
    return err;
  if (labelled != NULL)
    return labelled(ctx, NULL, to->mem, 0, from, 0, bytes);
  return first != NULL ? first(ctx, to->mem, 0, from, 0, bytes) : 1;
}

// For the copy through the host. If a wait fails, the device can still access the host memory, which is
// freed only after a second wait has succeeded.
//
// The memory can be large, so a failure is an error of the call, unlike for structs of the runtime.
static void *fut_staging_memory(struct futhark_context *ctx, size_t bytes) {
  size_t size = bytes == 0 ? 1 : bytes;
  fut_self.wanted = size;
  void *data = malloc(size);
  fut_self.wanted = 0;
  if (data == NULL) {
    fut_note_memory(ctx);
    set_error(ctx, msgprintf("no host memory to copy an array of %lld bytes\n", (long long)bytes));
  }
  return data;
}

#define FUT_WRAP_DUPLICATE(type, elem, new, values, free_array, release, size, ...)                       \
  static struct type *fut_duplicate_##type(struct futhark_context *ctx, struct type *value) {             \
    size_t bytes = sizeof(elem) * size;                                                                   \
    if (FUT_COPIES_ON_DEVICE(type)) {                                                                     \
      struct type *copy = calloc(1, sizeof *copy);                                                        \
      memcpy(copy->shape, value->shape, sizeof copy->shape);                                              \
      if (fut_copy_on_device(ctx, &copy->mem, value->mem.mem, (int64_t)bytes) == 0 && fut_wait(ctx) == 0) \
        return copy;                                                                                      \
      (void)free_array(ctx, copy);                                                                        \
      return NULL;                                                                                        \
    }                                                                                                     \
    elem *data = fut_staging_memory(ctx, bytes);                                                          \
    if (data == NULL)                                                                                     \
      return NULL;                                                                                        \
    if (values(ctx, value, data) != 0 || fut_wait(ctx) != 0) {                                            \
      if (fut_wait(ctx) == 0)                                                                             \
        free(data);                                                                                       \
      return NULL;                                                                                        \
    }                                                                                                     \
    struct type *copy = new (ctx, data, __VA_ARGS__);                                                     \
    if (fut_wait(ctx) != 0) {                                                                             \
      if (copy != NULL)                                                                                   \
        (void)free_array(ctx, copy);                                                                      \
      if (fut_wait(ctx) == 0)                                                                             \
        free(data);                                                                                       \
      return NULL;                                                                                        \
    }                                                                                                     \
    free(data);                                                                                           \
    return copy;                                                                                          \
  }                                                                                                       \
  FUT_WRAPPER(fut_w_duplicate_##type) {                                                                   \
    struct type *copy = fut_duplicate_##type(c->ctx, (struct type *)in[0]);                               \
    *(void **)out[0] = copy;                                                                              \
    return fut_leave_value(c, copy == NULL, out, release);                                                \
  }
#else
#define FUT_WRAP_DUPLICATE(type, elem, new, values, free_array, release, size, ...)        \
  FUT_WRAPPER(fut_w_duplicate_##type) {                                                    \
    const struct type *value = in[0];                                                      \
    struct type *copy = new (c->ctx, (const elem *)value->mem.mem, __VA_ARGS__);           \
    *(void **)out[0] = copy;                                                               \
    return fut_leave_value(c, copy == NULL, out, release);                                 \
  }
#endif

// --- Opaque values ----------------------------------------------------------------------

#define FUT_IS_SHARED(type) \
  static int32_t fut_is_shared_##type(const void *value) { return fut_has_shared_array(&fut_layout_##type, value); }

// Makes a value in *out: a copy of `original`, or, if that is NULL, one of new arrays, with the arguments of `create`.
static int32_t fut_make(struct fut_context *c, void *out, const struct fut_layout *l, const void *original,
                        const void *const *arguments) {
  char *value = calloc(1, l->size);
  if (original != NULL)
    memcpy(value, original, l->size);
  for (uint64_t i = 0; i < l->n_parts; i++) {
    const struct fut_part *part = &l->parts[i];
    void *const at = value + part->offset;
    const void *const array = fut_pointer_at(at);
    int32_t status = original != NULL ? part->duplicate(c, &at, &array) : part->create(c, &at, arguments);
    if (status == FUT_OK)
      continue;
    while (i-- > 0)
      fut_discard(c, l->parts[i].free, value + l->parts[i].offset);
    free(value);
    return status;
  }
  *(void **)out = value;
  return FUT_OK;
}

#define FUT_WRAP_DUPLICATE_OPAQUE(type) \
  FUT_WRAPPER(fut_w_duplicate_##type) { return fut_make(c, out[0], &fut_layout_##type, in[0], NULL); }

// `storable`: fut_expect_storable, if the value has arrays.
#define FUT_WRAP_STORED_SIZE(f, type, storable)                                      \
  FUT_WRAPPER(fut_w_size_##f) {                                                      \
    storable int rc = f(c->ctx, (const struct type *)in[0], NULL, (size_t *)out[0]); \
    return fut_leave(c, rc);                                                         \
  }

#define FUT_WRAP_STORE(f, type, storable, units)                                  \
  FUT_WRAPPER(fut_w_##f) {                                                        \
    FUT_UNUSED void *bytes = out[0];                                              \
    size_t size;                                                                  \
    storable units int rc = f(c->ctx, (const struct type *)in[0], &bytes, &size); \
    FUT_SYNC(c, rc);                                                              \
    return fut_leave(c, rc);                                                      \
  }
// Units take no memory, so the C function does not write their bytes.
#define FUT_CLEAR_UNITS(f, type)                                            \
  if (f(c->ctx, (const struct type *)in[0], NULL, &size) == 0)              \
    memset(bytes, 0, size);

#define FUT_WRAP_RESTORE(f, type, check, release)      \
  FUT_WRAPPER(fut_w_##f) {                             \
    FUT_UNUSED struct type *value = f(c->ctx, in[0]);  \
    *(void **)out[0] = value;                          \
    int rc = value == NULL;                            \
    check FUT_SYNC(c, rc);                             \
    return fut_leave_value(c, rc, out, release);       \
  }

// --- Arrays of opaque values ----------------------------------------------------------------

// `check`: validation of the element, if it is a value; `leave`: the end. A unit in the element is never
// written, so the memory is zeroed.
#define FUT_WRAP_OPAQUE_INDEX(f, type, elem, check, leave, ...)            \
  FUT_WRAPPER(fut_w_##f) {                                                 \
    FUT_UNUSED const int64_t *indices = in[1];                             \
    fut_self.zero = true;                                                  \
    int rc = f(c->ctx, (elem *)out[0], (struct type *)in[0], __VA_ARGS__); \
    fut_self.zero = false;                                                 \
    check FUT_SYNC(c, rc);                                                 \
    return leave;                                                          \
  }

#if !FUT_GPU_BACKEND
static int32_t fut_list_columns(struct fut_column *columns, const struct fut_layout *l, const void *value) {
  for (uint64_t i = 0; i < l->n_parts; i++) {
    const void *array = fut_array_in(value, &l->parts[i]);
    columns[i].memory = ((const fut_array_memory *)array)->mem;
    columns[i].shape = fut_shape_of(array);
  }
  return FUT_OK;
}

// A new array whose elements the caller writes in place.
static int32_t fut_create_columns(struct fut_context *c, void *const *out, const void *const *in, const struct fut_layout *l) {
  const int32_t later = 1;
  const void *const arguments[] = {NULL, in[0], &later};
  int32_t status = fut_make(c, out[0], l, NULL, arguments);
  return status == FUT_OK ? fut_list_columns(out[1], l, fut_pointer_at(out[0])) : status;
}
#endif

// The elements in place, and a new array.
#define FUT_WRAP_COLUMNS(type)                                                                                       \
  FUT_WRAPPER(fut_w_columns_##type) { return fut_list_columns(out[0], &fut_layout_##type, in[0]); }                  \
  FUT_WRAPPER(fut_w_create_columns_##type) { return fut_create_columns(c, out, in, &fut_layout_##type); }

// `fits`: steps that reject the call if the elements do not fit each other.
#define FUT_WRAP_OPAQUE_NEW(f, type, elem, release, fits, ...)              \
  static void fut_fit_##f(struct fut_context *c, elem *elems,               \
                          const int64_t *dims) {                            \
    (void)c;                                                                \
    (void)elems;                                                            \
    (void)dims;                                                             \
    fits                                                                    \
  }                                                                         \
  FUT_WRAPPER(fut_w_##f) {                                                  \
    FUT_UNUSED const int64_t *dims = in[1];                                 \
    fut_fit_##f(c, (elem *)in[0], dims);                                    \
    int rc = f(c->ctx, (struct type **)out[0], (elem *)in[0], __VA_ARGS__); \
    FUT_SYNC(c, rc);                                                        \
    return fut_leave_value(c, rc, out, release);                            \
  }
#define FUT_FITS(n_elements, ...) \
  int64_t n = n_elements;         \
  if (n == 0)                     \
    return;                       \
  __VA_ARGS__
#define FUT_FITS_SCALAR(k, rank)                                 \
  if (!fut_has_size(dims, rank, NULL, 0, sizeof elems[0]->v##k)) \
    fut_reject(c, FUT_CAUSE_UNKNOWN, fut_no_size(dims, rank, NULL, 0));
#define FUT_FITS_ARRAY(k, rank, inner, type)                                \
  const int64_t *first##k = elems[0]->v##k->shape;                          \
  for (int64_t i = 1; i < n; i++)                                           \
    if (!fut_same_shape(elems[i]->v##k->shape, first##k, inner))            \
      fut_reject(c, FUT_CAUSE_ARGUMENT,                                     \
                 fut_misfit_new(i, elems[i]->v##k->shape, first##k, inner)); \
  if (!fut_has_size(dims, rank, first##k, inner, sizeof(type)))             \
    fut_reject(c, FUT_CAUSE_UNKNOWN, fut_no_size(dims, rank, first##k, inner));

#define FUT_WRAP_OPAQUE_SET(f, type, elem, fits, ...)                    \
  static void fut_fit_##f(struct fut_context *c,                         \
                          const struct type *array, elem element) {      \
    (void)c;                                                             \
    (void)array;                                                         \
    (void)element;                                                       \
    fits                                                                 \
  }                                                                      \
  FUT_WRAPPER(fut_w_##f) {                                               \
    FUT_UNUSED const int64_t *indices = in[2];                           \
    fut_fit_##f(c, (const struct type *)in[0], (elem)in[1]);             \
    int rc = f(c->ctx, (struct type *)in[0], (elem)in[1], __VA_ARGS__);  \
    FUT_SYNC(c, rc);                                                     \
    return fut_leave(c, rc);                                             \
  }
#define FUT_FITS_IN(i, rank, inner)                                                   \
  if (!fut_same_shape(element->v##i->shape, array->v##i->shape + rank, inner))        \
    fut_reject(c, FUT_CAUSE_ARGUMENT,                                                 \
               fut_misfit_set(element->v##i->shape, array->v##i->shape + rank, inner));
