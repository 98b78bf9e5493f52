// The guard: a fatal failure in generated code ends the call instead of the process.
//
// `fut_enter` sets a jump target (`struct fut_guard`) before it calls a wrapper,
// which calls the generated code. Hooks of `exit`, `abort` and others call `fut_fatal`, which stores
// the reason and jumps; it skips only C frames. The context is marked as lost and
// is never entered again, because its locks and counts can be inconsistent. Its
// memory is freed with it, see below. A wrapper that rejects an argument jumps as well (`fut_reject`), before
// it has changed anything, and the context stays usable. Calls never nest on one thread.
//
// On multicore, other threads must not write to the skipped frames: fut_workers.h
// stops them first.
//
// This file comes after all system headers and before the generated code.

#include "futhark_table.h"

// Also into functions that are compiled with other options (FUT_BEGIN_OURS). Without optimisation it would only make the
// wrappers longer, and the C compiler slower.
#if defined(__OPTIMIZE__)
#define FUT_INLINE static inline __attribute__((always_inline))
#else
#define FUT_INLINE static inline
#endif

// --- The memory of a context ------------------------------------------------------
// A lost context is never entered again, so the runtime's own teardown cannot run. Instead, the
// hooks of malloc and free (fut_hooks.h) put a header before each block and keep the blocks in a
// list per thread of the context. When a lost context has no values, and its threads have ended, all
// listed blocks are freed.
//
// Not on GPU backends: after a loss, the driver can still copy from or to host memory.

// The conformance program disables it to find leaks and use after free in the generated code.
#ifndef FUT_TRACKS_MEMORY
#define FUT_TRACKS_MEMORY (!FUT_GPU_BACKEND)
#endif

#if FUT_TRACKS_MEMORY

struct fut_heap;

// The size is a multiple of malloc's alignment, so that the memory after it is aligned.
struct fut_block {
  struct fut_block *next;
  struct fut_block *previous;  // NULL: the block is in no list
#if FUT_MULTICORE
  struct fut_heap *heap;
  union {
    size_t size;              // without the header
    struct fut_block *freed;  // the next block in `heap->freed`
  };
#endif
} __attribute__((aligned(16)));

// The blocks of one thread of a context. Only that thread modifies the list. All threads that make
// calls share one list, because calls on a context exclude each other.
struct fut_heap {
  struct fut_block blocks;  // the head of a circular list
#if FUT_MULTICORE
  struct fut_block *freed;  // atomic: blocks that other threads freed
  bool of_worker;
#endif
};

static void fut_heap_init(struct fut_heap *heap) {
  heap->blocks.next = heap->blocks.previous = &heap->blocks;
}

FUT_INLINE void fut_block_link(struct fut_heap *heap, struct fut_block *b) {
  b->next = heap->blocks.next;
  b->previous = &heap->blocks;
  b->next->previous = b;
  heap->blocks.next = b;
#if FUT_MULTICORE
  b->heap = heap;
#endif
}

FUT_INLINE void fut_block_unlink(struct fut_block *b) {
  b->next->previous = b->previous;
  b->previous->next = b->next;
}

#if FUT_MULTICORE
// Frees a block of another thread's list: its owner unlinks and frees it later.
static void fut_heap_push_freed(struct fut_block *b) {
  struct fut_block **top = &b->heap->freed;
  b->freed = __atomic_load_n(top, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(top, &b->freed, b, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

static __attribute__((noinline)) void fut_heap_free_pushed(struct fut_heap *heap) {
  struct fut_block *b = __atomic_exchange_n(&heap->freed, NULL, __ATOMIC_ACQUIRE);
  while (b != NULL) {
    struct fut_block *next = b->freed;
    fut_block_unlink(b);
    free(b);
    b = next;
  }
}
#endif

// Frees all blocks. No other thread may use the list.
static void fut_heap_free_all(struct fut_heap *heap) {
  while (heap->blocks.next != &heap->blocks) {
    struct fut_block *b = heap->blocks.next;
    fut_block_unlink(b);
    free(b);
  }
}

#endif

// --- The state of a context and a thread ---------------------------------------------

// Text that the runtime printed to stderr, for an error message.
struct fut_text {
  const struct fut_log *log;  // of the context
  uint32_t length;
  char bytes[2048];
};

// The worker threads of a context (fut_workers.h); unused on other backends.
struct fut_worker;
struct fut_crew {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct fut_worker *workers;  // written by the thread that creates the context, before any call
  int size;                    // the number of workers
  int parked;                  // under mutex: the number of stopped workers
  int released;                // under mutex: stopped workers may end
  int dead;                    // atomic: a thread failed, all others stop
  int lent;                    // atomic: lent to direct calls, see fut_lend
  char why[1024];              // under mutex: our message of the failure
  char said[4096];             // under mutex: the runtime's message of the failure
};

#if FUT_HAS_CURRENT
// The current context or device of a thread: see fut_devices.h.
struct fut_current {
#if defined(FUT_BACKEND_cuda)
  int pushed;         // the number of contexts that we pushed on the thread's stack
  CUcontext context;  // NULL: none
#else
  int device;         // -1: unknown
#endif
};
#endif

#if FUT_GPU_BACKEND
// The numbers of different calls; if there are more than FUT_MOST_CALLS, some are missing.
#define FUT_MOST_CALLS 4
struct fut_calls {
  uint32_t numbers[FUT_MOST_CALLS];
  uint32_t n;
};
#endif

struct fut_context {
  struct futhark_context *ctx;
  struct futhark_context_config *cfg;
  struct fut_crew crew;
  struct fut_text text;
  struct fut_log log;  // `write` is NULL: output goes to stderr
  char *not_dumped;    // why the device code was not written to a file, malloc'ed
#if FUT_TRACKS_MEMORY
  struct fut_heap heap;  // of the thread that makes the calls
#endif
  int32_t lost;      // 1: lost in a call; 2: reported by a later call
  int32_t settling;  // `failures` belong to the running call
  bool rejected;     // fut_reject ends the running call
  uint32_t forks;  // `fut_forks` when the context was created
  int32_t memory;  // atomic: an allocation failed or was rejected in this call
  uint32_t cause;  // atomic: FUT_CAUSE_… of the pending error in `ctx`
  char *words;     // our part of the text of that error, malloc'ed
#if FUT_GPU_BACKEND
  // State of the running call, see fut_origin:
  bool idle;       // it starts no work on the device
  bool pending;    // kernels of earlier calls with checks of the program are pending
  bool own;        // kernels of this call with checks of the program are pending
  bool waiting;    // there was a wait, and the last one did not fail
  bool waited;     // a wait failed
  bool checked;    // a kernel's check reported the failure
  bool direct;     // it follows direct calls of the user, in which a kernel can have failed
  bool leaves;     // work of this call can be pending when it returns
  // Pending work, see fut_outcome:
  uint32_t number;               // of the running call
  uint64_t outcomes;             // so far
  struct fut_calls calls;        // since the last outcome
  struct fut_calls checking;     // the subset with kernels that check the program
  struct fut_calls suspects[2];  // of `failures`
#endif
  struct fut_failure failures[2];  // of the last failed call; texts are malloc'ed
  struct fut_context *lent_before;  // the value of `fut_self.lent` before this one was lent
#if FUT_HAS_CURRENT
  struct fut_current before_lending;  // on the thread that lends the context
#endif
  int borrowed;    // the reference count of all borrowed memory, see fut_borrow
  const struct fut_consuming *consuming;  // the running call of fut_call_consuming
};

struct fut_guard {
  jmp_buf target;
  struct fut_guard *outer;
  struct fut_guard **innermost;  // of this thread: to look it up takes a call in a shared library
  struct fut_context *context;
#if FUT_HAS_CURRENT
  struct fut_current current;  // before the call
#endif
};

#if FUT_HAS_CURRENT
static struct fut_current fut_device_before(void);
static void fut_device_after(struct fut_current before);
#define FUT_DEVICE_BEFORE() fut_guard_here.current = fut_device_before();
#else
#define FUT_DEVICE_BEFORE()
#endif

// Records the pending work of the device at the beginning of a call: see fut_pending.h.
#if FUT_GPU_BACKEND
static void fut_begin(struct fut_context *c);
#define FUT_BEGIN(c) fut_begin(c);
#else
#define FUT_BEGIN(c)
#endif

// The state of this thread. `held` lists the mutexes of the runtime that it holds, which it releases
// when it fails.
#ifndef FUT_MAX_HELD
#define FUT_MAX_HELD 8
#endif
static __thread struct {
  struct fut_guard *guard;    // innermost guarded call
  struct fut_worker *worker;  // set on worker threads
  struct fut_context *lent;   // the most recently lent context
  struct fut_text *text;      // of a worker thread
  size_t wanted;              // not 0: the caller handles NULL for a request of this size (fut_no_memory in fut_hooks.h)
  bool zero;                  // fresh memory is zeroed: see fut_context_start
  uint32_t n_held;
  pthread_mutex_t *held[FUT_MAX_HELD];
} fut_self;

#define FUT_LIKELY(x) __builtin_expect(!!(x), 1)
#define FUT_UNLIKELY(x) __builtin_expect(!!(x), 0)

// Copies a text with libc's malloc. Returns NULL if the text is empty or memory is missing.
static char *fut_copy(const char *text) { return text == NULL || *text == 0 ? NULL : strdup(text); }

// Frees a text of `fut_copy`, for code in which `free` is a hook.
static void fut_drop(char *text) { free(text); }

// Removes our words from a text of the runtime. Returns NULL if the rest is empty.
static char *fut_without(char *text, const char *words) {
  char *at = text == NULL || words == NULL ? NULL : strstr(text, words);
  if (at != NULL)
    memmove(at, at + strlen(words), strlen(at + strlen(words)) + 1);
  if (text != NULL && *text != 0)
    return text;
  free(text);
  return NULL;
}

static void fut_clear_failure(struct fut_failure *f) {
  free((char *)f->words);
  free((char *)f->text);
  *f = (struct fut_failure){0};
}

// Sets the failure of the call: our words and the text of the runtime. Takes ownership of both.
static void fut_fail(struct fut_context *c, char *words, char *text) {
  fut_clear_failure(&c->failures[0]);
  fut_clear_failure(&c->failures[1]);
  c->failures[0].words = words;
  c->failures[0].text = text;
}

// The text of this thread; NULL outside of calls.
static struct fut_text *fut_own_text(void) {
  struct fut_guard *g = fut_self.guard;
  return fut_self.text != NULL || g == NULL ? fut_self.text : &g->context->text;
}

// The text that the runtime printed on this thread, without trailing line breaks.
static const char *fut_printed(void) {
  struct fut_text *t = fut_own_text();
  if (t == NULL || t->length == 0)
    return "";
  while (t->length > 0 && (t->bytes[t->length - 1] == '\n' || t->bytes[t->length - 1] == ' '))
    t->length--;
  t->bytes[t->length] = 0;
  return t->bytes;
}

static void fut_flush_text(struct fut_text *t) {
  uint32_t length = t->length;
  t->length = 0;
  if (t->log->write != NULL)
    t->log->write(t->log->data, t->bytes, length);
  else
    fwrite(t->bytes, 1, length, stderr);
}

// Prints to the log of the runtime, whose stream is stderr.
static int fut_print_log(const char *format, va_list args) {
  struct fut_text *t = fut_own_text();
  if (t == NULL || t->log->write == NULL)
    return vfprintf(stderr, format, args);
  char *text = NULL;
  int n = vasprintf(&text, format, args);
  if (n < 0)
    return n;
  if (t->length != 0)
    fut_flush_text(t);
  t->log->write(t->log->data, text, (size_t)n);
  free(text);
  return n;
}

static void fut_print(const char *format, va_list args) {
  struct fut_text *t = fut_own_text();
  if (t == NULL) {
    vfprintf(stderr, format, args);
    return;
  }
  char line[1024];
  int n = vsnprintf(line, sizeof line, format, args);
  size_t wanted = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
  if (t->length + wanted >= sizeof t->bytes)
    fut_flush_text(t);
  memcpy(t->bytes + t->length, line, wanted);
  t->length += (uint32_t)wanted;
}

// The earlier failure in this call, if any (fut_hooks.h).
static struct fut_failure fut_earlier(struct fut_context *c);

#if FUT_MULTICORE
static void fut_crew_stop(struct fut_context *c, const char *why, const char *said);
_Noreturn static void fut_worker_stop(const char *why, const char *said);
#endif

// The only function of a library that ends the process. Tests replace it, and verify that the
// library refers to no other one.
#ifndef FUT_END
#define FUT_END abort
#endif

// Ends the process, because there is no guarded call to return to: in direct calls, and on unknown
// threads.
_Noreturn static void fut_end_process(const char *why, const char *said) {
  fprintf(stderr, "futhark-sys: %s%s%s\n", why, *said ? ": " : "", said);
  FUT_END();
}

// Ends the current call. `reason` is our message; the text of the runtime consists of its errors and
// output in this call.
_Noreturn static void fut_fatal(const char *reason) {
  struct fut_failure earlier = {0};
  if (fut_self.guard != NULL)
    earlier = fut_earlier(fut_self.guard->context);
  char why[1024], said[4096];
  snprintf(why, sizeof why, "%s%s%s", earlier.words == NULL ? "" : earlier.words, earlier.words == NULL ? "" : "; then ",
           reason);
  snprintf(said, sizeof said, "%s%s", earlier.text == NULL ? "" : earlier.text, fut_printed());
  struct fut_text *t = fut_own_text();
  if (t != NULL)
    t->length = 0;
#if FUT_MULTICORE
  if (fut_self.worker != NULL)
    fut_worker_stop(why, said);
#endif
  struct fut_guard *g = fut_self.guard;
  if (g == NULL)
    fut_end_process(why, said);
#if FUT_MULTICORE
  struct fut_crew *crew = &g->context->crew;
  fut_crew_stop(g->context, why, said);
  fut_fail(g->context, fut_copy(crew->why), fut_copy(crew->said));
#else
  fut_fail(g->context, fut_copy(why), fut_copy(said));
#endif
  _longjmp(g->target, 1);
}

_Noreturn static void fut_exit(int code) {
  char why[64];
  snprintf(why, sizeof why, "the runtime called exit(%d)", code);
  fut_fatal(why);
}

_Noreturn static void fut_abort(void) {
  fut_fatal("the runtime called abort()");
}

// On opencl, the runtime can ask for the number of a device. No setting makes it do so.
_Noreturn static int fut_ask(void) {
  fut_fatal("the runtime would wait for input");
}

_Noreturn static void fut_assertion_failed(const char *condition, const char *file, int line) {
  char why[512];
  (void)file;
  snprintf(why, sizeof why, "an assertion of the runtime failed: %s (line %d of the generated C)", condition, line);
  fut_fatal(why);
}

// The number of forks between the first process and this one. The threads and the driver state of a
// context belong to the parent, so a child that used it would hang.
static uint32_t fut_forks;

static void fut_note_fork(void) { fut_forks++; }

static void fut_watch_forks(void) { pthread_atfork(NULL, NULL, fut_note_fork); }

FUT_INLINE bool fut_is_closed(const struct fut_context *c) {
  return c->lost || c->forks != fut_forks;
}

static __attribute__((noinline)) int32_t fut_refuse(struct fut_context *c) {
  if (c->lost == 1) {
    // Report the original cause once; afterwards report that the context was lost earlier.
    struct fut_failure *f = &c->failures[0];
    const char *why = f->words == NULL ? "" : f->words;
    size_t size = strlen(why) + 96;
    char *words = malloc(size);
    if (words != NULL) {
      snprintf(words, size, "the context was lost in an earlier call (%s); create a new one", why);
      free((char *)f->words);
      f->words = words;
    }
    f->started = 0;
    c->lost = 2;
  }
  if (!c->lost)
    fut_fail(c, fut_copy("this process was forked after the context was created; a context works only in the process that created it"), NULL);
  return FUT_LOST;
}

// Begins the definition of a function of the table.
#define FUT_WRAPPER(name) static int32_t name(struct fut_context *c, void *const *out, const void *const *in)
#define FUT_UNUSED \
  (void)out;       \
  (void)in;

// The beginning of a call. A macro, because `_setjmp` must be called in the frame of the function that
// makes the call; it does not save the signal mask and costs about 3 ns.
#if defined(__has_attribute) && __has_attribute(uninitialized)
#define FUT_NOT_ZEROED __attribute__((uninitialized))  // 200 bytes, written by _setjmp
#else
#define FUT_NOT_ZEROED
#endif

#define FUT_ENTER(c)                            \
  struct fut_guard fut_guard_here FUT_NOT_ZEROED; \
  if (FUT_UNLIKELY(fut_is_closed(c)))           \
    return fut_refuse(c);                       \
  fut_guard_here.innermost = &fut_self.guard;   \
  fut_guard_here.outer = *fut_guard_here.innermost; \
  fut_guard_here.context = (c);                 \
  *fut_guard_here.innermost = &fut_guard_here;  \
  FUT_DEVICE_BEFORE()                           \
  if (FUT_UNLIKELY(FUT_SETJMP(fut_guard_here.target) != 0)) \
    return fut_after_jump(c);                   \
  FUT_BEGIN(c)                                  \
  FUT_DEVICE_OF(c)

FUT_INLINE void fut_pop_guard(struct fut_guard *guard) {
  FUT_CALL_ENDS();
#if FUT_HAS_CURRENT
  fut_device_after(guard->current);
#endif
  *guard->innermost = guard->outer;
}

static int32_t fut_after_jump(struct fut_context *c) {
  fut_pop_guard(fut_self.guard);
  fut_self.n_held = 0;
  fut_self.wanted = 0;
  fut_self.zero = false;
  c->settling = 0;
  if (c->rejected) {
    c->rejected = false;
    return FUT_REFUSED;
  }
  c->lost = 1;
  c->failures[0].code = -1;
  c->failures[0].started = 1;
  return FUT_LOST;
}
