// Everything that stands before the generated code: hooks, as macros.
//
// Order matters: the file that includes this one has included every system
// header that the generated code wants, so that the macros below meet the
// generated code only.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct futhark_context;
struct futhark_context_config;

#include "fut_guard.h"
#if FUT_MULTICORE
#include "fut_workers.h"
#endif
#include "fut_sizes.h"
#include "fut_traps.h"

// --- Memory of the runtime -------------------------------------------------
//
// Structures and counts: the runtime does not look at the result, so NULL ends
// the call. Where it (or our own route below) does look, `wanted` is that size.

static void *fut_memory(void *p, size_t size) {
  if (FUT_UNLIKELY(p == NULL && size > 0 && fut_self.wanted != size)) {
    char why[96];
    snprintf(why, sizeof why, "no memory for %zu bytes of the runtime's own", size);
    fut_fatal(why);
  }
  return p;
}

#if FUT_TRACKS_MEMORY

// The list for what this thread allocates; NULL in plain calls, which lose no context.
static inline struct fut_heap *fut_heap_here(void) {
#if FUT_MULTICORE
  if (fut_self.worker != NULL)
    return &fut_self.worker->heap;
#endif
  return fut_self.guard == NULL ? NULL : &fut_self.guard->context->heap;
}

static void *fut_tracked_alloc(size_t size, bool zero) {
  struct fut_heap *heap = fut_heap_here();
  if (FUT_UNLIKELY(size > SIZE_MAX - sizeof(struct fut_block)))
    return NULL;
#if FUT_MULTICORE
  if (heap != NULL && FUT_UNLIKELY(__atomic_load_n(&heap->freed, __ATOMIC_RELAXED) != NULL))
    fut_heap_free_pushed(heap);
#endif
  size_t all = size + sizeof(struct fut_block);
  struct fut_block *b = zero ? calloc(1, all) : malloc(all);
  if (FUT_UNLIKELY(b == NULL))
    return NULL;
#if FUT_MULTICORE
  b->size = size;
#endif
  if (FUT_UNLIKELY(heap == NULL))
    b->previous = NULL;
  else
    fut_block_link(heap, b);
  return b + 1;
}

#if FUT_MULTICORE
// Whether this thread may change the list that the block is in.
static inline bool fut_is_owner(const struct fut_block *b) {
  return fut_self.worker == NULL ? !b->heap->of_worker : b->heap == &fut_self.worker->heap;
}
#endif

static void fut_tracked_free(void *p) {
  if (p == NULL)
    return;
  struct fut_block *b = (struct fut_block *)p - 1;
  if (b->previous != NULL) {
#if FUT_MULTICORE
    if (FUT_UNLIKELY(!fut_is_owner(b))) {
      fut_heap_push_freed(b);
      return;
    }
#endif
    fut_block_unlink(b);
  }
  free(b);
}

static void *fut_tracked_realloc(void *p, size_t size) {
  if (p == NULL)
    return fut_tracked_alloc(size, false);
  if (size > SIZE_MAX - sizeof(struct fut_block))
    return NULL;
  struct fut_block *b = (struct fut_block *)p - 1;
#if FUT_MULTICORE
  if (b->previous != NULL && !fut_is_owner(b)) {
    void *fresh = fut_tracked_alloc(size, false);
    if (fresh != NULL) {
      memcpy(fresh, p, b->size < size ? b->size : size);
      fut_tracked_free(p);
    }
    return fresh;
  }
#endif
  b = realloc(b, size + sizeof *b);
  if (b == NULL)
    return NULL;
#if FUT_MULTICORE
  b->size = size;
#endif
  if (b->previous != NULL) {
    b->next->previous = b;
    b->previous->next = b;
  }
  return b + 1;
}

// Text of the generated code for somebody who frees it by libc's free, such as our messages.
static char *fut_keep_text(char *text) {
  char *copy = text == NULL ? NULL : strdup(text);
  fut_tracked_free(text);
  return copy;
}

#else

static inline void *fut_tracked_alloc(size_t n, bool zero) { return zero ? calloc(1, n) : malloc(n); }
static inline void *fut_tracked_realloc(void *p, size_t n) { return realloc(p, n); }
static inline void fut_tracked_free(void *p) { free(p); }
static inline char *fut_keep_text(char *text) { return text; }

#endif

static void *fut_malloc(size_t n) {
  // One byte more while a context starts: on cuda what was read from a cache file is then
  // taken for a string, and is not stored as one.
  bool more = fut_self.zero && n < SIZE_MAX;
  return fut_memory(fut_tracked_alloc(FUT_UNLIKELY(more) ? n + 1 : n, more), n);
}

static void *fut_calloc(size_t n, size_t size) {
  size_t all;
  if (__builtin_mul_overflow(n, size, &all))
    return fut_memory(NULL, SIZE_MAX);
  return fut_memory(fut_tracked_alloc(all, true), all);
}

static void *fut_realloc(void *p, size_t n) { return fut_memory(fut_tracked_realloc(p, n), n); }

static char *fut_strdup(const char *s) {
  size_t n = strlen(s) + 1;
  return memcpy(fut_malloc(n), s, n);
}

// `new` copies into the array even when its memory could not be had. Then, and
// only then, the destination is NULL (see fut_allocate in fut_routes.h).
static inline void *fut_memmove(void *to, const void *from, size_t n) {
  return to == NULL ? NULL : memmove(to, from, n);
}

// --- What the runtime prints ------------------------------------------------
//
// Text for stderr is kept for the error, or printed when the call is over. Text
// for a log goes where the log is. Told apart by how the stream is spelled.

__attribute__((format(printf, 3, 4)))
static int fut_fprintf(FILE *stream, bool is_stderr, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = 0;
  if (is_stderr)
    fut_print(format, args);
  else
    n = vfprintf(stream, format, args);
  va_end(args);
  return n;
}

static int fut_vfprintf(FILE *stream, bool is_stderr, const char *format, va_list args) {
  if (!is_stderr)
    return vfprintf(stream, format, args);
  fut_print(format, args);
  return 0;
}

// --- Files -----------------------------------------------------------------------
//
// The runtime opens files by name: that of the cache, and those that its settings name. Only
// regular ones are opened. Another one could block for ever.

static FILE *fut_fopen(const char *name, const char *mode) {
  int flags = *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
  int fd = open(name, flags | O_NONBLOCK | O_CLOEXEC, 0666);
  if (fd < 0)
    return NULL;
  struct stat about;
  FILE *file = NULL;
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
    errno = EINVAL;
  else
    file = fdopen(fd, mode);
  if (file == NULL)
    close(fd);
  return file;
}

// --- The memory of a context of ours --------------------------------------------

// NULL without memory for it.
static struct fut_context *fut_make_context(void) {
  struct fut_context *c = calloc(1, sizeof *c);
  if (c == NULL)
    return NULL;
  c->forks = fut_forks;
  c->borrowed = 1 << 30;
  pthread_mutex_init(&c->crew.mutex, NULL);
  pthread_cond_init(&c->crew.changed, NULL);
#if FUT_TRACKS_MEMORY
  fut_heap_init(&c->heap);
#endif
  return c;
}

#if FUT_TRACKS_MEMORY
// Frees every block that the context still has: those of a lost context, or of one whose set-up
// failed half-way, whose teardown cannot run; and those that one thread freed for another that
// has ended since. The context's threads have ended, and nobody has a value of it.
static void fut_reclaim(struct fut_context *c) {
#if FUT_MULTICORE
  for (struct fut_worker *w = c->crew.workers; w != NULL; w = w->next)
    fut_heap_free_all(&w->heap);
#endif
  fut_heap_free_all(&c->heap);
}
#endif

static void fut_release_context(struct fut_context *c) {
#if FUT_TRACKS_MEMORY
  fut_reclaim(c);
#endif
#if FUT_MULTICORE
  fut_crew_free(&c->crew);
#endif
  pthread_mutex_destroy(&c->crew.mutex);
  pthread_cond_destroy(&c->crew.changed);
  fut_fail(c, NULL, NULL);
  free(c->words);
  free(c);
}

#define FUT_IS_STDERR(spelling) (sizeof(spelling) == 7 && memcmp(spelling, "stderr", 6) == 0)

#define malloc(n) fut_malloc(n)
#define calloc(n, size) fut_calloc(n, size)
#define realloc(p, n) fut_realloc(p, n)
#define free(p) fut_tracked_free(p)
#undef strdup
#define strdup(s) fut_strdup(s)
#undef memmove
#define memmove(to, from, n) fut_memmove(to, from, n)
#undef fprintf
#undef vfprintf
#define fprintf(stream, ...) fut_fprintf(stream, FUT_IS_STDERR(#stream), __VA_ARGS__)
#define vfprintf(stream, ...) fut_vfprintf(stream, FUT_IS_STDERR(#stream), __VA_ARGS__)
#define fopen(name, mode) fut_fopen(name, mode)
#define exit(code) fut_exit(code)
#define abort() fut_abort()

// --- Routed calls ------------------------------------------------------------
//
// In the generated text a definition's or prototype's first parameter begins with
// `struct` and a call's first argument is `ctx`. Pasting that first token splits
// the two: definitions keep their body under another name, calls come to us.

#define memblock_alloc(first, ...) FUT_MEMBLOCK_ALLOC_##first, __VA_ARGS__)
#define FUT_MEMBLOCK_ALLOC_struct fut_runtime_memblock_alloc(struct
#define FUT_MEMBLOCK_ALLOC_ctx fut_allocate(ctx

#define lexical_realloc(first, ...) FUT_LEXICAL_REALLOC_##first, __VA_ARGS__)
#define FUT_LEXICAL_REALLOC_struct fut_runtime_lexical_realloc(struct
#define FUT_LEXICAL_REALLOC_ctx fut_lexical_realloc(ctx

#define host_alloc(first, ...) FUT_HOST_ALLOC_##first, __VA_ARGS__)
#define FUT_HOST_ALLOC_struct fut_runtime_host_alloc(struct
#define FUT_HOST_ALLOC_ctx fut_host_alloc(ctx

#if defined(FUT_BACKEND_ispc)
#define lexical_realloc_error(first, ...) FUT_LEXICAL_REALLOC_ERROR_##first, __VA_ARGS__)
#define FUT_LEXICAL_REALLOC_ERROR_struct fut_runtime_lexical_realloc_error(struct
#define FUT_LEXICAL_REALLOC_ERROR_ctx fut_runtime_lexical_realloc_error(ctx
#endif

// The function in which an error is set tells what kind of error it is: see fut_cause_of.
#define set_error(first, ...) FUT_SET_ERROR_##first, __VA_ARGS__)
#define FUT_SET_ERROR_struct fut_runtime_set_error(struct
#define FUT_SET_ERROR_ctx fut_set_error(__func__, ctx
static void fut_set_error(const char *function, struct futhark_context *ctx, char *error);

struct memblock;
static int fut_allocate(struct futhark_context *ctx, struct memblock *block, int64_t size, const char *what);
static int fut_lexical_realloc(struct futhark_context *ctx, unsigned char **p, int64_t *old_size, int64_t new_size);
static void fut_host_alloc(struct futhark_context *ctx, size_t size, const char *what, size_t *size_out, void **out);

#if FUT_GPU_BACKEND
#define memblock_alloc_device(first, ...) FUT_MEMBLOCK_ALLOC_DEVICE_##first, __VA_ARGS__)
#define FUT_MEMBLOCK_ALLOC_DEVICE_struct fut_runtime_memblock_alloc_device(struct
#define FUT_MEMBLOCK_ALLOC_DEVICE_ctx fut_allocate_device(ctx

#define gpu_alloc(first, ...) FUT_GPU_ALLOC_##first, __VA_ARGS__)
#define FUT_GPU_ALLOC_struct fut_runtime_gpu_alloc(struct
#define FUT_GPU_ALLOC_ctx fut_gpu_alloc(ctx

// Where the text of a kernel's failed check is made.
#define get_failure_msg(first, ...) FUT_FAILURE_MSG_##first, __VA_ARGS__)
#define FUT_FAILURE_MSG_int fut_runtime_failure_msg(int
#define FUT_FAILURE_MSG_failure_idx fut_failure_msg(ctx, failure_idx
static char *fut_failure_msg(struct futhark_context *ctx, int failure_idx, int64_t *args);

// Generated code waits when it has read a scalar: see fut_before_wait.
#define gpu_scalar_from_device(first, ...) FUT_SCALAR_##first, __VA_ARGS__)
#define FUT_SCALAR_struct fut_runtime_scalar_from_device(struct
#define FUT_SCALAR_ctx fut_scalar_from_device(ctx
#define fut_scalar_from_device(ctx_, ...) (fut_before_wait(ctx_), fut_runtime_scalar_from_device(ctx_, __VA_ARGS__))
static void fut_before_wait(struct futhark_context *ctx);

// A copy to the device while an error waits would go to memory that was not had.
#define memcpy_host2gpu(first, ...) FUT_HOST2GPU_##first, __VA_ARGS__)
#define FUT_HOST2GPU_struct fut_runtime_host2gpu(struct
#define FUT_HOST2GPU_ctx fut_host2gpu(ctx
#define fut_host2gpu(ctx_, ...) \
  ((ctx_)->error != NULL ? FUTHARK_PROGRAM_ERROR : fut_runtime_host2gpu(ctx_, __VA_ARGS__))

struct memblock_device;
static int fut_allocate_device(struct futhark_context *ctx, struct memblock_device *block, int64_t size, const char *what);
// The type of device memory is not known yet; see fut_routes.h.
#define fut_gpu_alloc(ctx_, log, size, what, out, size_out)                                              \
  (fut_gpu_too_large(ctx_, size) ||                                                                    \
           fut_gpu_alloc_failed(ctx_, fut_runtime_gpu_alloc(ctx_, log, size, what, out, size_out), size) \
       ? (*(out) = 0, 1)                                                                               \
       : 0)
static bool fut_gpu_too_large(struct futhark_context *ctx, size_t size);
static int fut_gpu_alloc_failed(struct futhark_context *ctx, int rc, size_t size);
#endif
