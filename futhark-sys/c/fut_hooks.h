// The hooks of the generated code: macros that replace what would fail, block or end the process.
//
// The unit includes this file twice. Before the generated code it defines the macros, and the functions that need nothing
// of that code; the unit has included all system headers of the generated code before, so that the macros apply only to
// it. After the generated code (FUT_AFTER_PROGRAM) it defines the functions that call the runtime. Those run inside a guarded
// call; on multicore also on worker threads.

#ifndef FUT_AFTER_PROGRAM

// Missing memory has two routes. Memory of arrays and scratch is an error of the call; the context still works:
// 1. fut_host_alloc sets `wanted`, and the runtime calls fut_malloc -> fut_memory -> fut_no_memory, which returns NULL because
//    `wanted` is the size. (fut_lexical_realloc, for scratch, calls fut_tracked_realloc.)
// 2. fut_host_alloc releases free blocks and retries. Then it marks the call by fut_note_memory, and sets the context's error,
//    by which memblock_alloc sees that the memory is missing. memblock_alloc puts its own text before ours and returns a
//    code, which fut_allocate passes on to the program. (fut_lexical_realloc sets mark and error, and returns a code itself.)
// 3. On a worker, run_subtask passes the code to the call in scheduler->error. fut_workers.h is not involved.
// 4. The wrapper ends by fut_leave or fut_leave_value (fut_calls.h), or by fut_leave_values (fut_sizes.h). They call
//    fut_settle (fut_calls.h), which takes the mark and returns FUT_MEMORY.
// 5. In futhark-safe: Locked::call -> Locked::failed -> Locked::error (ffi/context.rs), after_failure (ffi/call.rs).
//
// Memory of the runtime's own structs (fut_memory): the runtime does not check it, so the hook ends the call by fut_fatal:
// _longjmp -> fut_after_jump (fut_guard.h), and fut_enter returns FUT_LOST (fut_context_new: FUT_MEMORY).
// On a worker fut_fatal calls fut_worker_stop, which marks the crew as dead and keeps the text. The thread of the call sees
// the mark in fut_check_crew (fut_workers.h) or fut_settle, and calls fut_fatal itself.

#if defined(_WIN32)
#include "fut_windows.h"
#else
#define FUT_SETJMP(target) _setjmp(target)
#endif
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

// Our functions run a few times per call, and the program's for most of the time. The C compiler would spend as much
// time on the ones as on the others. gcc before 11 replaces some options of the command line by those of a pragma.
#if defined(__OPTIMIZE__) && !defined(__clang__) && __GNUC__ >= 11
#define FUT_BEGIN_OURS _Pragma("GCC push_options") _Pragma("GCC optimize(\"Og\")")
#define FUT_END_OURS _Pragma("GCC pop_options")
#else
#define FUT_BEGIN_OURS
#define FUT_END_OURS
#endif

FUT_BEGIN_OURS

#if defined(FUT_FAIL_ALLOCATIONS)
#include "fut_failing.h"
#else
#define FUT_CALL_ENDS()
#endif
#include "fut_guard.h"
#if FUT_MULTICORE
#include "fut_workers.h"
#endif
#if defined(FUT_BACKEND_c)
// All mutexes of this runtime are in the context, and the caller of a wrapper holds a lock already
// (futhark_table.h). Taking another one takes longer than a short call. Direct calls take it.
#if FUT_DIRECT_CALLS
#define pthread_mutex_lock(m) (fut_self.guard != NULL ? 0 : pthread_mutex_lock(m))
#define pthread_mutex_unlock(m) (fut_self.guard != NULL ? 0 : pthread_mutex_unlock(m))
#else
#define pthread_mutex_lock(m) ((void)(m), 0)
#define pthread_mutex_unlock(m) ((void)(m), 0)
#endif
#endif
FUT_END_OURS
#include "fut_sizes.h"  // which loops of the program call
FUT_BEGIN_OURS

// The context of the running call, on any of its threads; NULL outside of calls.
static struct fut_context *fut_current(void) {
#if FUT_MULTICORE
  if (fut_self.worker != NULL)
    return (struct fut_context *)((char *)fut_self.worker->crew - offsetof(struct fut_context, crew));
#endif
  return fut_self.guard == NULL ? NULL : fut_self.guard->context;
}

// --- Memory of the runtime -------------------------------------------------
// The runtime does not check the allocations of structures and counts, so a failed one ends the call.
// Where NULL is handled, our code around the allocation has set `wanted` to the requested size.

// Not inline: short calls allocate, and the text would take space on their stack.
__attribute__((noinline, cold)) static void *fut_no_memory(size_t size) {
  if (size == 0 || fut_self.wanted == size)
    return NULL;
  struct fut_context *c = fut_current();
  if (c != NULL)
    __atomic_store_n(&c->memory, 1, __ATOMIC_RELAXED);  // see fut_context_new
  char why[96];
  snprintf(why, sizeof why, "no memory for %zu bytes of the runtime itself", size);
  fut_fatal(why);
}

FUT_END_OURS  // which short calls do for most of their time

static inline void *fut_memory(void *p, size_t size) {
  return FUT_UNLIKELY(p == NULL) ? fut_no_memory(size) : p;
}

#if FUT_TRACKS_MEMORY

// The list of this thread's allocations; NULL in direct calls, which cannot lose a context.
static inline struct fut_heap *fut_heap_here(void) {
#if FUT_MULTICORE
  if (fut_self.worker != NULL)
    return &fut_self.worker->heap;
#endif
  return fut_self.guard == NULL ? NULL : &fut_self.guard->context->heap;
}

static void *fut_tracked_alloc(size_t size, bool zero) {
  struct fut_heap *heap = fut_heap_here();
  // malloc refuses more than PTRDIFF_MAX as well, and valgrind reports such a request.
  if (FUT_UNLIKELY(size > PTRDIFF_MAX - sizeof(struct fut_block)))
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
// Whether this thread may modify the list of the block.
static inline bool fut_is_owner(const struct fut_block *b) {
  return fut_self.worker == NULL ? !b->heap->of_worker : b->heap == &fut_self.worker->heap;
}
#endif

static __attribute__((noinline)) void fut_tracked_free(void *p) {
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
  if (size > PTRDIFF_MAX - sizeof(struct fut_block))
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

// Converts a text of the generated code to one that libc's free accepts.
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

// Not inline: generated code allocates in many places, and the C compiler takes longer for each copy.
static __attribute__((noinline)) void *fut_malloc(size_t n) {
  // One more byte while a context is created: on cuda, the content of a cache file is used as a
  // string without a terminating NUL.
  if (FUT_UNLIKELY(fut_self.zero) && n < SIZE_MAX)
    return fut_memory(fut_tracked_alloc(n + 1, true), n);
  return fut_memory(fut_tracked_alloc(n, false), n);
}

static __attribute__((noinline)) void *fut_calloc(size_t n, size_t size) {
  size_t all;
  if (__builtin_mul_overflow(n, size, &all))
    return fut_memory(NULL, SIZE_MAX);
  return fut_memory(fut_tracked_alloc(all, true), all);
}

static __attribute__((noinline)) void *fut_realloc(void *p, size_t n) { return fut_memory(fut_tracked_realloc(p, n), n); }

static __attribute__((noinline)) char *fut_strdup(const char *s) {
  size_t n = strlen(s) + 1;
  return memcpy(fut_malloc(n), s, n);
}

FUT_BEGIN_OURS

// In place of the data of a new array whose elements the caller writes later (FUT_WRAP_NEW). Not NULL,
// because generated code adds an offset to the address. Not constant, because equal constants can have
// one address. `new` does nothing else with the data than to copy it: see generated/hooks.rs.
static int64_t fut_no_data;

// `new` copies into the array even if the allocation failed. Only then, the destination is NULL (see
// fut_allocate).
static inline void *fut_memmove(void *to, const void *from, size_t n) {
  return to == NULL || from == (const void *)&fut_no_data ? NULL : memmove(to, from, n);
}

// --- Output of the runtime ------------------------------------------------
// Output to stderr is stored for the error message, or printed at the end of the call. Output to the
// log is passed on at once: its stream is stderr, too, and differs by the spelling of the argument.

__attribute__((format(printf, 3, 4)))
static int fut_fprintf(FILE *stream, bool is_stderr, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = 0;
  if (is_stderr)
    fut_print(format, args);
  else
    n = stream == stderr ? fut_print_log(format, args) : vfprintf(stream, format, args);
  va_end(args);
  return n;
}

static int fut_vfprintf(FILE *stream, bool is_stderr, const char *format, va_list args) {
  if (!is_stderr)
    return stream == stderr ? fut_print_log(format, args) : vfprintf(stream, format, args);
  fut_print(format, args);
  return 0;
}

// --- Files -----------------------------------------------------------------------
// The runtime opens the cache file and other files from its settings. Only regular files are opened,
// because others can block for ever.

static inline FILE *fut_fopen(const char *name, const char *mode) {
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

// --- The memory of a context --------------------------------------------

// `c` is zeroed.
static void fut_init_context(struct fut_context *c) {
  c->forks = fut_forks;
  c->borrowed = 1 << 30;
  c->text.log = &c->log;
  pthread_mutex_init(&c->crew.mutex, NULL);
  pthread_cond_init(&c->crew.changed, NULL);
#if FUT_TRACKS_MEMORY
  fut_heap_init(&c->heap);
#endif
}

// Returns NULL if memory is missing.
static struct fut_context *fut_make_context(void) {
  struct fut_context *c = calloc(1, sizeof *c);
  if (c != NULL)
    fut_init_context(c);
  return c;
}

#if FUT_TRACKS_MEMORY
// Frees all remaining blocks of the context: those of a lost context, or of one whose initialisation
// failed, because their teardown cannot run; and blocks that one thread freed for another that has
// ended. The threads of the context have ended, and it has no values.
static void fut_reclaim(struct fut_context *c) {
#if FUT_MULTICORE
  for (struct fut_worker *w = c->crew.workers; w != NULL; w = w->next)
    fut_heap_free_all(&w->heap);
#endif
  fut_heap_free_all(&c->heap);
}
#endif

static void fut_clear_context(struct fut_context *c) {
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
  free(c->not_dumped);
}

static void fut_release_context(struct fut_context *c) {
  fut_clear_context(c);
  free(c);
}

// Durations of reports, in JSON, end formats: by `%f`, the locale of the process would choose the decimal point.
static int fut_vsnprintf(char *to, size_t n, const char *format, va_list args) {
  const char *first = strchr(format, '%');
  if (first == NULL || strcmp(first, "%f") != 0)
    return vsnprintf(to, n, format, args);
  double value = va_arg(args, double), size = value < 0 ? -value : value;
  unsigned long long millionths = size < 1e13 ? (unsigned long long)(size * 1e6 + 0.5) : 0;
  return snprintf(to, n, "%.*s%s%llu.%06llu", (int)(first - format), format, value < 0 ? "-" : "", millionths / 1000000,
                  millionths % 1000000);
}

#define FUT_IS_STDERR(spelling) (sizeof(spelling) == 7 && memcmp(spelling, "stderr", 6) == 0)

#undef malloc
#define malloc(n) fut_malloc(n)
#undef calloc
#define calloc(n, size) fut_calloc(n, size)
#undef realloc
#define realloc(p, n) fut_realloc(p, n)
#undef free
#define free(p) fut_tracked_free(p)
#undef strdup
#define strdup(s) fut_strdup(s)
#undef memmove
#define memmove(to, from, n) fut_memmove(to, from, n)
#undef fprintf
#undef vfprintf
#define fprintf(stream, ...) fut_fprintf(stream, FUT_IS_STDERR(#stream), __VA_ARGS__)
#define vfprintf(stream, ...) fut_vfprintf(stream, FUT_IS_STDERR(#stream), __VA_ARGS__)
#undef vsnprintf
#define vsnprintf(to, n, format, args) fut_vsnprintf(to, n, format, args)
#define fopen(name, mode) fut_fopen(name, mode)
#define scanf(...) fut_ask()
#define exit(code) fut_exit(code)
#define abort() fut_abort()

#endif

// --- Redirected calls ------------------------------------------------------------
// In the generated text, the first parameter of a definition or prototype begins with `struct`, and
// the first argument of a call is `ctx`. Token pasting distinguishes the two: a definition gets
// another name, and a call is redirected to our function. generated/hooks.rs lists these functions.

// --- Errors ------------------------------------------------------------------------

#ifndef FUT_AFTER_PROGRAM
// The function that sets an error determines its cause: see fut_cause_of.
#define set_error(first, ...) FUT_SET_ERROR_##first, __VA_ARGS__)
#define FUT_SET_ERROR_struct fut_runtime_set_error(struct
#define FUT_SET_ERROR_ctx fut_set_error(__func__, ctx
static void fut_set_error(const char *function, struct futhark_context *ctx, char *error);
#else
// Our context for a context of the runtime; NULL on threads outside of calls.
static struct fut_context *fut_context_of(struct futhark_context *ctx) {
  struct fut_context *c = fut_current();
  if (c == NULL)
    // A direct call on a context that this thread has lent.
    for (c = fut_self.lent; c != NULL && c->ctx != ctx;)
      c = c->lent_before;
  return c;
}

// Marks the call as one that failed because memory was missing.
static void fut_note_memory(struct futhark_context *ctx) {
  struct fut_context *c = fut_context_of(ctx);
  if (c != NULL)
    __atomic_store_n(&c->memory, 1, __ATOMIC_RELAXED);
}

static bool fut_begins(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

// Whether the function is one of ours. `fut_runtime_…` functions belong to the generated code.
static bool fut_is_ours(const char *function) { return fut_begins(function, "fut_") && !fut_begins(function, "fut_runtime_"); }

// The cause of an error, by the function that sets it. The compilers write the checks of the program
// into functions with the first two prefixes. Our `fut_refuse_…` functions belong to the program as
// well; our other functions report missing memory, which is noted separately.
static uint32_t fut_cause_of(const char *function) {
  if (fut_begins(function, "futrts_") || fut_begins(function, "futhark_mc_") || fut_is_ours(function))
    return FUT_CAUSE_PROGRAM;
  if (fut_begins(function, "futhark_entry_"))
    return FUT_CAUSE_SIZES;
  return fut_begins(function, "futhark_") ? FUT_CAUSE_ARGUMENT : FUT_CAUSE_UNKNOWN;
}

// The runtime keeps the first error on any thread; cause and words must belong to the same one.
static void fut_set_error(const char *function, struct futhark_context *ctx, char *error) {
  struct fut_context *c = fut_context_of(ctx);
  bool first = c != NULL && __atomic_load_n(&ctx->error, __ATOMIC_RELAXED) == NULL;
  char *words = first && fut_is_ours(function) ? fut_copy(error) : NULL;
  fut_runtime_set_error(ctx, error);
  // The runtime keeps the first error and frees any other.
  if (first && __atomic_load_n(&ctx->error, __ATOMIC_RELAXED) == error) {
    __atomic_store_n(&c->cause, fut_cause_of(function), __ATOMIC_RELAXED);
    words = __atomic_exchange_n(&c->words, words, __ATOMIC_RELAXED);
  }
  fut_drop(words);
}

// A negative dimension and a size that overflows are errors of the program. While an error is pending, nothing is allocated,
// because the call is about to fail.
static int fut_refuse_size(struct futhark_context *ctx, int64_t size, const char *what) {
  if (fut_size(size) == FUT_NO_SIZE) {
    set_error(ctx, msgprintf("an array with a negative dimension, or with more bytes than there can be, cannot be allocated (%s)\n", what));
    return FUTHARK_PROGRAM_ERROR;
  }
  return ctx->error != NULL ? FUTHARK_PROGRAM_ERROR : FUTHARK_SUCCESS;
}

// Separate from the generated code, because `fut_set_error` derives the cause from the name of the
// function that calls it.
static int fut_refuse_because(struct futhark_context *ctx, const char *why) {
  set_error(ctx, msgprintf("%s\n", why));
  return FUTHARK_PROGRAM_ERROR;
}

static int fut_refuse_count(struct futhark_context *ctx, int64_t count) {
  if (count < 0)
    set_error(ctx, msgprintf("an array of shape [%lld] cannot be created or used\n", (long long)count));
  else
    set_error(ctx, msgprintf("an array with a negative dimension, or with more elements than there can be, cannot be created or used\n"));
  return FUTHARK_PROGRAM_ERROR;
}

// The texts are valid until the next `fut_fail`.
static struct fut_failure fut_earlier(struct fut_context *c) {
  if (!c->settling && c->ctx != NULL && c->ctx->error != NULL) {
    char *words = __atomic_exchange_n(&c->words, NULL, __ATOMIC_RELAXED);
    fut_fail(c, words, fut_without(fut_copy(c->ctx->error), words));
    return c->failures[0];
  }
  return c->settling ? c->failures[0] : (struct fut_failure){0};
}
#endif

// --- Parallel loops ----------------------------------------------------------------
// The checked code calls these functions in place of the scheduler's: see unit/checked.rs.

#if FUT_MULTICORE
#ifndef FUT_AFTER_PROGRAM
struct scheduler_segop;
struct scheduler_parloop;
static int fut_prepare_task(struct futhark_context *ctx, struct scheduler_segop *task);
static int fut_execute_task(struct futhark_context *ctx, struct scheduler_parloop *task);
#else
// The scheduler divides the iterations among threads, and trusts both numbers.
static int fut_prepare_task(struct futhark_context *ctx, struct scheduler_segop *task) {
  if (FUT_FAILS(FUT_OF_TASK, fut_size(task->iterations) == FUT_NO_SIZE))
    return fut_refuse_count(ctx, task->iterations);
  return scheduler_prepare_task(&ctx->scheduler, task);
}

static int fut_execute_task(struct futhark_context *ctx, struct scheduler_parloop *task) {
  if (FUT_FAILS(FUT_OF_TASK, fut_size(task->iterations) == FUT_NO_SIZE || task->info.nsubtasks < 0))
    return fut_refuse_count(ctx, task->iterations);
  return scheduler_execute_task(&ctx->scheduler, task);
}
#endif
#endif

// --- Memory of arrays --------------------------------------------------------------

#ifndef FUT_AFTER_PROGRAM
#define memblock_alloc(first, ...) FUT_MEMBLOCK_ALLOC_##first, __VA_ARGS__)
#define FUT_MEMBLOCK_ALLOC_struct fut_runtime_memblock_alloc(struct
#define FUT_MEMBLOCK_ALLOC_ctx fut_allocate(ctx
struct memblock;
static int fut_allocate(struct futhark_context *ctx, struct memblock *block, int64_t size, const char *what);
#else
static int fut_allocate(struct futhark_context *ctx, struct memblock *block, int64_t size, const char *what) {
  (void)memblock_unref(ctx, block, what);
  block->mem = NULL;  // tested by fut_memmove
  int err = fut_refuse_size(ctx, size, what);
  if (err == FUTHARK_SUCCESS)
    err = fut_runtime_memblock_alloc(ctx, block, size, what);
  if (err != FUTHARK_SUCCESS && block->mem != NULL) {
    // Another thread failed after this allocation succeeded.
    free(block->mem);
    block->mem = NULL;
  }
  return err;
}
#endif

// --- Scratch memory ----------------------------------------------------------------

#ifndef FUT_AFTER_PROGRAM
#define lexical_realloc(first, ...) FUT_LEXICAL_REALLOC_##first, __VA_ARGS__)
#define FUT_LEXICAL_REALLOC_struct fut_runtime_lexical_realloc(struct
#define FUT_LEXICAL_REALLOC_ctx fut_lexical_realloc(ctx
static int fut_lexical_realloc(struct futhark_context *ctx, unsigned char **p, int64_t *old_size, int64_t new_size);
#else
// Scratch memory of a parallel body. A failure sets the error of the context, on workers as well.
static int fut_lexical_realloc(struct futhark_context *ctx, unsigned char **p, int64_t *old_size, int64_t new_size) {
  int err = fut_refuse_size(ctx, new_size, "scratch memory");
  if (err != FUTHARK_SUCCESS)
    return err;
  unsigned char *fresh = fut_tracked_realloc(*p, (size_t)new_size);
  if (fresh == NULL && new_size > 0) {
    fut_note_memory(ctx);
    set_error(ctx, msgprintf("the system has no more memory for this process (requested %lld bytes)\n", (long long)new_size));
    return FUTHARK_OUT_OF_MEMORY;
  }
  *p = fresh;
  *old_size = new_size;
  return FUTHARK_SUCCESS;
}
#endif

// --- Memory of the host ------------------------------------------------------------

#ifndef FUT_AFTER_PROGRAM
#define host_alloc(first, ...) FUT_HOST_ALLOC_##first, __VA_ARGS__)
#define FUT_HOST_ALLOC_struct fut_runtime_host_alloc(struct
#define FUT_HOST_ALLOC_ctx fut_host_alloc(ctx
static void fut_host_alloc(struct futhark_context *ctx, size_t size, const char *what, size_t *size_out, void **out);
#else
// The runtime keeps freed blocks of 1 MiB and more in a list. If an allocation fails, release that
// list and retry.
static void fut_host_alloc(struct futhark_context *ctx, size_t size, const char *what, size_t *size_out, void **out) {
  fut_self.wanted = size;
  fut_runtime_host_alloc(ctx, size, what, size_out, out);
  fut_self.wanted = 0;
  if (*out == NULL && size > 0) {
    free_all_in_free_list(ctx);
    fut_self.wanted = size;
    fut_runtime_host_alloc(ctx, size, what, size_out, out);
    fut_self.wanted = 0;
  }
  if (*out == NULL && size > 0) {
    fut_note_memory(ctx);
    set_error(ctx, msgprintf("the system has no more memory for this process\n"));
  }
}
#endif

#if FUT_GPU_BACKEND

#include "fut_pending.h"

// --- Failed checks in kernels ------------------------------------------------------

#ifndef FUT_AFTER_PROGRAM
// The function that creates the message of a failed check in a kernel.
#define get_failure_msg(first, ...) FUT_FAILURE_MSG_##first, __VA_ARGS__)
#define FUT_FAILURE_MSG_int fut_runtime_failure_msg(int
#define FUT_FAILURE_MSG_failure_idx fut_failure_msg(ctx, failure_idx
static char *fut_failure_msg(struct futhark_context *ctx, int failure_idx, int64_t *args);
#else
static char *fut_failure_msg(struct futhark_context *ctx, int failure_idx, int64_t *args) {
  struct fut_context *c = fut_context_of(ctx);
  if (c != NULL) {
    __atomic_store_n(&c->cause, FUT_CAUSE_PROGRAM, __ATOMIC_RELAXED);
    c->checked = true;
  }
  return fut_runtime_failure_msg(failure_idx, args);
}
#endif

// --- Launches ----------------------------------------------------------------------
// The checked code calls this function before it launches a kernel: see unit/launches.rs.

#ifndef FUT_AFTER_PROGRAM
static int fut_check_launch(struct futhark_context *ctx, int64_t grid_x, int64_t grid_y, int64_t grid_z, int64_t block_x,
                            int64_t block_y, int64_t block_z, int64_t shared_bytes);
#else
static int fut_refuse_launch(struct futhark_context *ctx, int64_t size) {
  if (fut_size(size) == FUT_NO_SIZE)
    return fut_refuse_count(ctx, FUT_NO_SIZE);
  set_error(ctx, msgprintf("a kernel cannot be launched with %lld blocks, threads or bytes of shared memory\n", (long long)size));
  return FUTHARK_PROGRAM_ERROR;
}

// Drivers get grid and block as 32-bit numbers.
static int fut_check_launch(struct futhark_context *ctx, int64_t grid_x, int64_t grid_y, int64_t grid_z, int64_t block_x,
                            int64_t block_y, int64_t block_z, int64_t shared_bytes) {
  int64_t sizes[] = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (FUT_UNLIKELY(sizes[i] < 0 || sizes[i] > INT32_MAX))
      return fut_refuse_launch(ctx, sizes[i]);
  return FUTHARK_SUCCESS;
}
#endif

// --- Memory of arrays on the device ------------------------------------------------

#ifndef FUT_AFTER_PROGRAM
#define memblock_alloc_device(first, ...) FUT_MEMBLOCK_ALLOC_DEVICE_##first, __VA_ARGS__)
#define FUT_MEMBLOCK_ALLOC_DEVICE_struct fut_runtime_memblock_alloc_device(struct
#define FUT_MEMBLOCK_ALLOC_DEVICE_ctx fut_allocate_device(ctx
struct memblock_device;
static int fut_allocate_device(struct futhark_context *ctx, struct memblock_device *block, int64_t size, const char *what);
#else
static int fut_allocate_device(struct futhark_context *ctx, struct memblock_device *block, int64_t size, const char *what) {
  int err = fut_refuse_size(ctx, size, what);
  if (err == FUTHARK_SUCCESS)
    err = fut_runtime_memblock_alloc_device(ctx, block, size, what);
  else
    (void)memblock_unref_device(ctx, block, what);
  if (err != FUTHARK_SUCCESS)
    block->mem = 0;
  return err;
}
#endif

// --- Memory of the device ----------------------------------------------------------

#ifndef FUT_AFTER_PROGRAM
#define gpu_alloc(first, ...) FUT_GPU_ALLOC_##first, __VA_ARGS__)
#define FUT_GPU_ALLOC_struct fut_runtime_gpu_alloc(struct
#define FUT_GPU_ALLOC_ctx fut_gpu_alloc(ctx
// A macro, because the type of device memory is not declared yet.
#define fut_gpu_alloc(ctx_, log, size, what, out, size_out)                                              \
  (fut_gpu_too_large(ctx_, size) ||                                                                    \
           fut_gpu_alloc_failed(ctx_, fut_runtime_gpu_alloc(ctx_, log, size, what, out, size_out), size) \
       ? (*(out) = 0, 1)                                                                               \
       : 0)
static bool fut_gpu_too_large(struct futhark_context *ctx, size_t size);
static int fut_gpu_alloc_failed(struct futhark_context *ctx, int rc, size_t size);
#else
// Rejects sizes beyond the memory of the device: not every OpenCL driver reports them by a code
// (Oclgrind throws a C++ exception).
static bool fut_gpu_too_large(struct futhark_context *ctx, size_t size) {
#if defined(FUT_BACKEND_opencl)
  if (size >= ((size_t)64 << 20)) {
    cl_ulong all = 0;
    cl_int err = clGetDeviceInfo(ctx->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL);
    if (err == CL_SUCCESS && all > 0 && size > all) {
      fut_note_memory(ctx);
      set_error(ctx, msgprintf("%lld bytes are more than the device has (%lld)\n", (long long)size, (long long)all));
      return true;
    }
  }
#endif
  (void)ctx;
  (void)size;
  return false;
}

// Some backends report missing memory only by the return code, which the caller ignores.
static int fut_gpu_alloc_failed(struct futhark_context *ctx, int rc, size_t size) {
  if (rc == FUTHARK_SUCCESS)
    return 0;
  fut_note_memory(ctx);
  if (ctx->error == NULL)
    set_error(ctx, msgprintf("the device has no memory for %lld bytes\n", (long long)size));
  return 1;
}
#endif

// --- Copies to the device -------------------------------------------------------

#ifndef FUT_AFTER_PROGRAM
// While an error is pending, the destination of a copy may not be allocated.
#define memcpy_host2gpu(first, ...) FUT_HOST2GPU_##first, __VA_ARGS__)
#define FUT_HOST2GPU_struct fut_runtime_host2gpu(struct
#define FUT_HOST2GPU_ctx fut_host2gpu(ctx
#define fut_host2gpu(ctx_, ...) \
  ((ctx_)->error != NULL ? FUTHARK_PROGRAM_ERROR : fut_runtime_host2gpu(ctx_, __VA_ARGS__))
#endif

// --- Device code in files -------------------------------------------------------

#ifndef FUT_AFTER_PROGRAM
#if defined(FUT_HAS_dump_binary_to) || defined(FUT_HAS_dump_ptx_to)
// The runtime ignores whether it could write the file.
#define dump_file(first, ...) FUT_DUMP_FILE_##first, __VA_ARGS__)
#define FUT_DUMP_FILE_const fut_runtime_dump_file(const
#define FUT_DUMP_FILE_cfg fut_dump_file(cfg
#define FUT_DUMP_FILE_ctx fut_dump_file(ctx
static int fut_dump_file(const char *file, const void *bytes, size_t n);
#endif
#elif defined(FUT_DUMP_FILE_ctx)
static int fut_dump_file(const char *file, const void *bytes, size_t n) {
  errno = 0;
  int err = fut_runtime_dump_file(file, bytes, n);
  struct fut_context *c = fut_current();
  if (err != 0 && c != NULL && c->not_dumped == NULL)
    c->not_dumped = fut_text("cannot write the device code to %s: %s", file, strerror(errno));
  return err;
}
#endif

#elif defined(FUT_AFTER_PROGRAM)

#define FUT_IDLE(c)
#define fut_origin(c, f) FUT_OF_CALL

#endif
