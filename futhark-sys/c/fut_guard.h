// The guard: a call into generated code that would end the process ends the call.
//
// Each wrapper sets a jump target (`struct fut_guard`) before it enters the
// generated code. What would exit or abort calls `fut_fatal`, which writes down
// why and jumps there; only C frames are skipped. The context is marked lost and
// is never entered again, since its locks and counts may be half-changed. What it
// allocated is freed with it (fut_memory.h).
//
// On multicore a jump must not leave other threads writing into the skipped
// frames: fut_workers.h makes them stand still first.
//
// This file comes after all system headers and before the generated code.

#include "futhark_table.h"
#include "fut_memory.h"

// Text that the runtime printed to stderr, kept so that an error can carry it.
struct fut_text {
  uint32_t length;
  char bytes[2048];
};

// What fut_workers.h needs per context; empty on other backends.
struct fut_worker;
struct fut_crew {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct fut_worker *workers;  // written by the thread that creates the context, before any call
  int size;                    // how many workers run
  int parked;                  // under mutex: how many stand still
  int released;                // under mutex: the jump is over, workers may end
  int dead;                    // atomic: some thread met its end, all others stop
  int lent;                    // atomic: no call to return to, see fut_lend
  char why[1024];              // under mutex: why that thread ended, in our words
  char said[4096];             // under mutex: what the runtime had printed or reported
};

#if FUT_HAS_CURRENT
// What is current on a thread: see fut_device.h.
struct fut_current {
#if defined(FUT_BACKEND_cuda)
  int pushed;         // how many contexts on the thread's stack are there because of us
  CUcontext context;  // NULL: none
#else
  int device;         // -1: not known
#endif
};
#endif

struct fut_context {
  struct futhark_context *ctx;
  struct futhark_context_config *cfg;
  struct fut_crew crew;
  struct fut_text text;
#if FUT_TRACKS_MEMORY
  struct fut_heap heap;  // of the thread that makes the calls
#endif
  int32_t lost;      // 1: in a call; 2: and a later call was told so
  int32_t settling;  // `failures` belong to the call that is running
  uint32_t forks;  // `fut_forks` when the context was made
  int32_t memory;  // atomic: an allocation failed or was refused in this call
  uint32_t cause;  // atomic: FUT_CAUSE_… of the error that waits in `ctx`
  char *words;     // our part of that error's text, malloc'ed
#if FUT_GPU_BACKEND
  // Of the call that is running, see fut_origin:
  bool idle;       // it gives the device nothing to do
  bool pending;    // kernels of earlier calls that check the program have not been waited for
  bool own;        // nor have kernels of this call that do
  bool waiting;    // there was a wait
  bool waited;     // a wait failed
  bool checked;    // a kernel's check reported the failure
#endif
  struct fut_failure failures[2];  // of the last call that failed; text malloc'ed
  struct fut_context *lent_before;  // what `fut_self.lent` was when this one was lent
#if FUT_HAS_CURRENT
  struct fut_current before_lending;  // where this one is lent
#endif
  int borrowed;    // the reference count of all memory that is not the runtime's own, see FUT_BORROW
};

struct fut_guard {
  jmp_buf target;
  struct fut_guard *outer;
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

// What is remembered of the device's work when a call begins: see fut_routes.h.
#if FUT_GPU_BACKEND
static void fut_begin(struct fut_context *c);
#define FUT_BEGIN(c) fut_begin(c);
#else
#define FUT_BEGIN(c)
#endif

// This thread's part. `held` lists the mutexes of the runtime that it holds, so
// that it can let go of them when it stops in the middle.
#ifndef FUT_MAX_HELD
#define FUT_MAX_HELD 8
#endif
static __thread struct {
  struct fut_guard *guard;    // innermost guarded call
  struct fut_worker *worker;  // set on multicore's own threads
  struct fut_context *lent;   // the last of those that are lent to plain calls
  struct fut_text *text;
  size_t wanted;              // not 0: NULL for a request of this size is looked at
  bool zero;                  // fresh memory is zeroed: see fut_context_start
  uint32_t n_held;
  pthread_mutex_t *held[FUT_MAX_HELD];
} fut_self;

#define FUT_UNLIKELY(x) __builtin_expect(!!(x), 0)

// Before the hooks: text that cannot be had is left out.
static char *fut_copy(const char *text) { return text == NULL || *text == 0 ? NULL : strdup(text); }

// Frees a text that `fut_copy` made, where `free` is hooked.
static void fut_drop(char *text) { free(text); }

// Cuts our words out of a text that the runtime made with them. NULL if nothing is left.
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

// The call fails for a reason of its own, told in our words and the runtime's text. Takes both.
static void fut_fail(struct fut_context *c, char *words, char *text) {
  fut_clear_failure(&c->failures[0]);
  fut_clear_failure(&c->failures[1]);
  c->failures[0].words = words;
  c->failures[0].text = text;
}

// What the runtime has printed so far on this thread, without the line's end.
static const char *fut_printed(void) {
  struct fut_text *t = fut_self.text;
  if (t == NULL || t->length == 0)
    return "";
  while (t->length > 0 && (t->bytes[t->length - 1] == '\n' || t->bytes[t->length - 1] == ' '))
    t->length--;
  t->bytes[t->length] = 0;
  return t->bytes;
}

static void fut_flush_text(struct fut_text *t) {
  fwrite(t->bytes, 1, t->length, stderr);
  t->length = 0;
}

static void fut_print(const char *format, va_list args) {
  struct fut_text *t = fut_self.text;
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

// What had failed before, if the call was already on its way out (fut_routes.h).
static struct fut_failure fut_earlier(struct fut_context *c);

#if FUT_MULTICORE
static void fut_crew_stop(struct fut_context *c, const char *why, const char *said);
_Noreturn static void fut_worker_stop(const char *why, const char *said);
#endif

// Where there is no call to return to: plain calls, and threads that are not ours.
_Noreturn static void fut_end_process(const char *why, const char *said) {
  fprintf(stderr, "futhark-sys: %s%s%s\n", why, *said ? ": " : "", said);
  abort();
}

// Ends the current call. `reason` is in our words; the runtime's text is what it has reported
// and printed in this call.
_Noreturn static void fut_fatal(const char *reason) {
  struct fut_failure earlier = {0};
  if (fut_self.guard != NULL)
    earlier = fut_earlier(fut_self.guard->context);
  char why[1024], said[4096];
  snprintf(why, sizeof why, "%s%s%s", earlier.words == NULL ? "" : earlier.words, earlier.words == NULL ? "" : "; then ",
           reason);
  snprintf(said, sizeof said, "%s%s", earlier.text == NULL ? "" : earlier.text, fut_printed());
  if (fut_self.text != NULL)
    fut_self.text->length = 0;
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
  snprintf(why, sizeof why, "the runtime ended with exit(%d)", code);
  fut_fatal(why);
}

_Noreturn static void fut_abort(void) {
  fut_fatal("the runtime called abort()");
}

_Noreturn static void fut_assertion_failed(const char *condition, const char *file, int line) {
  char why[512];
  (void)file;
  snprintf(why, sizeof why, "an assertion of the runtime failed: %s (line %d of the generated C)", condition, line);
  fut_fatal(why);
}

// How often this process is the child of a fork: a context's threads and driver state
// stay behind in the parent, so a child that used it would hang.
static uint32_t fut_forks;

static void fut_note_fork(void) { fut_forks++; }

static void fut_watch_forks(void) { pthread_atfork(NULL, NULL, fut_note_fork); }

static inline bool fut_is_closed(const struct fut_context *c) {
  return c->lost | (c->forks != fut_forks);
}

static __attribute__((noinline)) int32_t fut_refuse(struct fut_context *c) {
  if (c->lost == 1) {
    // Report the original cause once; afterwards report that the context was lost earlier.
    struct fut_failure *f = &c->failures[0];
    const char *why = f->words == NULL ? "" : f->words;
    size_t size = strlen(why) + 96;
    char *words = malloc(size);
    if (words != NULL) {
      snprintf(words, size, "the context was lost in an earlier call (%s); make a new one", why);
      free((char *)f->words);
      f->words = words;
    }
    c->lost = 2;
  }
  if (!c->lost)
    fut_fail(c, fut_copy("this process was forked after the context was made; a context works only where it was made"), NULL);
  return FUT_LOST;
}

// Enter and leave, as every wrapper does. `_setjmp` must be in the wrapper's
// own frame, hence the macro; it does not save the signal mask and costs about 3 ns.
#if defined(__has_attribute) && __has_attribute(uninitialized)
#define FUT_NOT_ZEROED __attribute__((uninitialized))  // 200 bytes, written by _setjmp
#else
#define FUT_NOT_ZEROED
#endif

#define FUT_ENTER(c)                            \
  struct fut_guard fut_guard_here FUT_NOT_ZEROED; \
  if (FUT_UNLIKELY(fut_is_closed(c)))           \
    return fut_refuse(c);                       \
  fut_guard_here.outer = fut_self.guard;        \
  fut_guard_here.context = (c);                 \
  fut_self.guard = &fut_guard_here;             \
  fut_self.text = &(c)->text;                   \
  FUT_DEVICE_BEFORE()                           \
  if (FUT_UNLIKELY(_setjmp(fut_guard_here.target) != 0)) \
    return fut_after_jump(c);                   \
  FUT_BEGIN(c)                                  \
  FUT_DEVICE_OF(c)

static void fut_pop_guard(void) {
#if FUT_HAS_CURRENT
  fut_device_after(fut_self.guard->current);
#endif
  fut_self.guard = fut_self.guard->outer;
  fut_self.text = fut_self.guard == NULL ? NULL : &fut_self.guard->context->text;
}

static int32_t fut_after_jump(struct fut_context *c) {
  fut_pop_guard();
  fut_self.n_held = 0;
  fut_self.wanted = 0;
  fut_self.zero = false;
  c->settling = 0;
  c->lost = 1;
  c->failures[0].code = -1;
  return FUT_LOST;
}
