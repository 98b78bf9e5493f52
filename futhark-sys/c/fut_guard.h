// The guard: a call into generated code that would end the process ends the call.
//
// Each wrapper sets a jump target (`struct fut_guard`) before it enters the
// generated code. What would exit or abort calls `fut_fatal`, which writes down
// why and jumps there; only C frames are skipped. The context is marked lost and
// is never entered again, since its locks and counts may be half-changed.
//
// On multicore a jump must not leave other threads writing into the skipped
// frames: fut_workers.h makes them stand still first.
//
// This file comes after all system headers and before the generated code.

#include "futhark_table.h"

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
  char why[4096];              // under mutex: what that thread had to say
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
  int32_t lost;      // 1: in a call; 2: and a later call was told so
  int32_t settling;  // `message` belongs to the call that is running
  uint32_t forks;  // `fut_forks` when the context was made
  int32_t memory;  // atomic: an allocation failed or was refused in this call
  int32_t late;    // a failure showed only in a wait, so some earlier call may be the one that failed: 1 + where it is in `message`
  int32_t code;
  char *message;   // malloc'ed, of the last failure
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

// The message of the context: text of ours, or of the runtime's. Takes `text`.
static void fut_set_message(struct fut_context *c, char *text) {
  free(c->message);
  c->message = text;
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
static const char *fut_earlier(struct fut_context *c);

#if FUT_MULTICORE
static void fut_crew_stop(struct fut_context *c, const char *why);
_Noreturn static void fut_worker_stop(const char *why);
#endif

// Where there is no call to return to: plain calls, and threads that are not ours.
_Noreturn static void fut_end_process(const char *why) {
  fprintf(stderr, "futhark-sys: %s\n", why);
  abort();
}

// Ends the current call. `why` is the reason in our words; what the runtime
// printed before is added.
_Noreturn static void fut_fatal(const char *why) {
  const char *printed = fut_printed();
  const char *earlier = fut_self.guard == NULL ? NULL : fut_earlier(fut_self.guard->context);
  char text[4096];
  snprintf(text, sizeof text, "%s%s%s%s%s", earlier == NULL ? "" : earlier, earlier == NULL ? "" : "; then ", why,
           *printed ? ": " : "", printed);
  if (fut_self.text != NULL)
    fut_self.text->length = 0;
#if FUT_MULTICORE
  if (fut_self.worker != NULL)
    fut_worker_stop(text);
#endif
  struct fut_guard *g = fut_self.guard;
  if (g == NULL)
    fut_end_process(text);
#if FUT_MULTICORE
  fut_crew_stop(g->context, text);
  fut_set_message(g->context, strdup(g->context->crew.why));
#else
  fut_set_message(g->context, strdup(text));
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
    // Told once as what happened; from now on as what had happened.
    const char *why = c->message == NULL ? "" : c->message;
    size_t size = strlen(why) + 96;
    char *text = malloc(size);
    if (text != NULL) {
      snprintf(text, size, "the context was lost in an earlier call (%s); make a new one", why);
      fut_set_message(c, text);
    }
    c->lost = 2;
  }
  if (!c->lost)
    fut_set_message(c, strdup("this process was forked after the context was made; a context works only where it was made"));
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
  c->code = -1;
  return FUT_LOST;
}
