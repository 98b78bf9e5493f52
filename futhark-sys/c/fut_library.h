// A hardened library: the functions of name.h, by the tables of one or several backends. docs/library.md is its contract.
//
// compile/library.rs writes a C file with `fut_tables`, their number `fut_n_tables`, this file, fut_library_contexts.h, a setter
// per setting, and one function per function of the manifest, which calls one of the functions below with the number that it has in the table.
// Tables hide everything that differs between backends, so this file knows none.
//
// A caller's pointer to a value points to a `struct fut_handle`. It is looked up (`fut_find`) before it is dereferenced.

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The codes of name.h, which old versions do not define.
#define FUT_CODE_OTHER 1
#define FUT_CODE_PROGRAM 2
#define FUT_CODE_MEMORY 3

// --- Errors ------------------------------------------------------------------------

// The oldest error of a thread that no one has fetched.
struct fut_error {
  struct fut_error *next;
  uint64_t thread;
  bool shown;  // to another thread
  char *text;
};

// A number of this thread. That of a pthread_t belongs to a later thread when it has ended.
static uint64_t fut_thread(void) {
  static uint64_t threads;
  static _Thread_local uint64_t own;
  if (own == 0)
    own = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  return own;
}

// Threads can end without fetching their errors; the oldest is dropped.
#define FUT_MOST_ERRORS 64

// --- Handles -------------------------------------------------------------------------

// Invalid: a kernel that should have written the value has failed.
enum fut_state { FUT_FREE, FUT_LIVE, FUT_INVALID, FUT_SPENT };

struct fut_handle {
  void *value;  // of a live or invalid one
  union {
    struct fut_handle *next;  // in the list of free ones
    int64_t *shape;           // the caller may keep it until it frees the handle; NULL before the caller asks for it
  };
  uint32_t type;  // index in the table
  uint32_t state;
  uint64_t made;  // the number of the outcome on which the value depends; 0: it is complete
};

// Chunk i has FUT_CHUNK << i handles.
#define FUT_CHUNK ((size_t)64)
#define FUT_MOST_CHUNKS 26

// Handles are reused in the order in which they were freed, the next one after this many others.
#define FUT_LEAST_FREE 64

struct futhark_context {
  const void *library;  // the address of `fut_forks` of the library that made it
  pthread_mutex_t lock;
  const struct fut_table *table;  // from here on, a new context is zeroed
  struct fut_context *inner;  // NULL: the start has failed, or the context has ended
  bool closed;                // by futhark_context_free
  bool ended;                 // closed, and without handles
  bool quiet;                 // closed, with handles
  bool at_rest;               // atomic: of a host backend, where no work is pending; neither closed nor lost
  const char *why;            // why the start has failed, malloc'ed
  struct futhark_context *next;  // of the ended ones
  uint32_t forks;             // `fut_forks` when it was created
  int64_t n_handles;          // not free
  struct fut_handle *chunks[FUT_MOST_CHUNKS];
  uint32_t n_chunks;
  struct fut_handle *first, **last;
  size_t n_free;
  struct fut_error *errors;
  FILE *log;  // NULL: stderr
};

// A forked child has no threads of the runtime, and another thread may have held the lock.
static uint32_t fut_forks;
static void fut_note_fork(void) { fut_forks++; }
static void fut_watch_forks(void) { pthread_atfork(NULL, NULL, fut_note_fork); }

// Why this thread's last call with an unusable context failed, until it is fetched.
static _Thread_local const char *fut_refusal;

// Whether the library must not use the context at all. Two libraries that are linked into one program share the functions
// of the first, so a context can be one of another program.
static bool fut_is_unusable(const struct futhark_context *ctx) {
  if (ctx == NULL)
    fut_refusal = "the context is NULL";
  else if (ctx->library != &fut_forks)
    fut_refusal = "the context is one of another library";
  else if (ctx->forks != fut_forks)
    fut_refusal = "this process was forked after the context was created; a context works only in the process that created it";
  else
    return false;
  return true;
}

// NULL: memory is missing.
__attribute__((format(printf, 1, 2))) static char *fut_format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = NULL;
  if (vasprintf(&text, format, arguments) < 0)
    text = NULL;
  va_end(arguments);
  return text;
}

static void fut_drop_error(struct fut_error **at) {
  struct fut_error *error = *at;
  *at = error->next;
  free(error->text);
  free(error);
}

// The place of the error of this thread; of NULL if there is none.
static struct fut_error **fut_own_error(struct futhark_context *ctx) {
  struct fut_error **at = &ctx->errors;
  while (*at != NULL && (*at)->thread != fut_thread())
    at = &(*at)->next;
  return at;
}

// Returns the code. Takes ownership of the text; NULL: memory is missing, and only the code tells of the error.
static int fut_add_error(struct futhark_context *ctx, int code, char *text) {
  struct fut_error **at = fut_own_error(ctx);
  // The oldest error of a thread is the cause of the others.
  struct fut_error *error = text == NULL || *at != NULL ? NULL : malloc(sizeof *error);
  if (error == NULL) {
    free(text);
    return code;
  }
  *error = (struct fut_error){NULL, fut_thread(), false, text};
  *at = error;
  size_t n = 0;
  for (const struct fut_error *each = ctx->errors; each != NULL; each = each->next)
    n++;
  if (n > FUT_MOST_ERRORS)
    fut_drop_error(&ctx->errors);
  return code;
}

// An error of the caller, or of this file, of this code.
#define fut_error(ctx, code, ...) fut_add_error(ctx, code, fut_format(__VA_ARGS__))

// The texts of the last failed call of the table.
static char *fut_failure_text(const struct fut_table *table, struct fut_context *inner) {
  char *text = NULL;
  for (uint32_t which = 0; which < 2; which++) {
    const struct fut_failure *f = table->failure(inner, which);
    if (f == NULL || (f->words == NULL && f->text == NULL))
      continue;
    char *longer = fut_format("%s%s%s%s%s", text == NULL ? "" : text, text == NULL ? "" : "\n", f->words == NULL ? "" : f->words,
                              f->words == NULL || f->text == NULL ? "" : "\n", f->text == NULL ? "" : f->text);
    free(text);
    text = longer;
  }
  for (size_t n = text == NULL ? 0 : strlen(text); n > 0 && text[n - 1] == '\n'; n--)
    text[n - 1] = 0;
  return text;
}

// After a failure of pending work, on which the values with this number depend.
static void fut_invalidate(struct futhark_context *ctx, uint64_t number) {
  for (uint32_t i = 0; number != 0 && i < ctx->n_chunks; i++)
    for (size_t k = 0; k < FUT_CHUNK << i; k++) {
      struct fut_handle *handle = &ctx->chunks[i][k];
      if (handle->state == FUT_LIVE && handle->made == number)
        handle->state = FUT_INVALID;
    }
}

// The code of a call of the table, whose error becomes pending. Arguments that plain C rejects as well have its code, which is
// FUT_CODE_OTHER.
static int fut_ended(struct futhark_context *ctx, int32_t status) {
  if (status == FUT_OK)
    return 0;
  const struct fut_failure *f = ctx->table->failure(ctx->inner, 0);
  bool program = status == FUT_REFUSED ? f->cause != FUT_CAUSE_ARGUMENT : status == FUT_FAILED && f->cause == FUT_CAUSE_PROGRAM;
  int code = status == FUT_MEMORY ? FUT_CODE_MEMORY : program ? FUT_CODE_PROGRAM : FUT_CODE_OTHER;
  char *text = fut_failure_text(ctx->table, ctx->inner);
  fut_add_error(ctx, code, text != NULL ? text : fut_format("the call failed, and the runtime gave no reason"));
  const struct fut_failure *other = ctx->table->failure(ctx->inner, 1);
  fut_invalidate(ctx, f->invalidates);
  fut_invalidate(ctx, other == NULL ? 0 : other->invalidates);
  // After a loss, the device must not access memory of the caller any more.
  if (status == FUT_LOST && ctx->table->drain != NULL)
    (void)ctx->table->drain(ctx->inner);
  return code;
}

// What a call has returned.
static int32_t fut_entered(struct futhark_context *ctx, int32_t status) {
  if (status == FUT_LOST)
    __atomic_store_n(&ctx->at_rest, false, __ATOMIC_RELAXED);
  return status;
}

// Calls an operation that leaves no work pending.
static int32_t fut_enter(struct futhark_context *ctx, fut_call call, void *const *out, const void *const *in) {
  return fut_entered(ctx, ctx->table->enter(call, UINT32_MAX, ctx->inner, out, in));
}

// The number of the outcome on which the results of the last call depend.
static uint64_t fut_pending(const struct futhark_context *ctx) {
  return ctx->table->pending == NULL ? 0 : ctx->table->pending(ctx->inner);
}

// --- The beginning and the end of a function ----------------------------------------------------

static void fut_unlock(struct futhark_context *ctx);

// Takes the lock, unless no call is possible.
static bool fut_lock(struct futhark_context *ctx) {
  if (fut_is_unusable(ctx))
    return false;
  pthread_mutex_lock(&ctx->lock);
  if (ctx->inner != NULL && !ctx->closed)
    return true;
  if (ctx->closed)
    fut_error(ctx, FUT_CODE_OTHER, "the context was freed");
  else
    fut_error(ctx, FUT_CODE_OTHER, "the context could not be created: %s", ctx->why);
  fut_unlock(ctx);
  return false;
}

// Ended contexts, of which a thread may still use one that another thread has freed: the oldest is reused after this many
// others have ended.
#define FUT_MOST_ENDED 64
static pthread_mutex_t fut_ended_lock = PTHREAD_MUTEX_INITIALIZER;
static struct futhark_context *fut_first_ended, **fut_last_ended = &fut_first_ended;
static size_t fut_n_ended;

// A context with a lock and nothing else; NULL: memory is missing.
static struct futhark_context *fut_new_context(void) {
  struct futhark_context *ctx = NULL;
  pthread_mutex_lock(&fut_ended_lock);
  if (fut_n_ended > FUT_MOST_ENDED) {
    ctx = fut_first_ended;
    fut_first_ended = ctx->next;
    fut_n_ended--;
  }
  pthread_mutex_unlock(&fut_ended_lock);
  if (ctx == NULL) {
    ctx = calloc(1, sizeof *ctx);
    if (ctx != NULL)
      pthread_mutex_init(&ctx->lock, NULL);
    return ctx;
  }
  pthread_mutex_lock(&ctx->lock);
  while (ctx->errors != NULL)
    fut_drop_error(&ctx->errors);
  memset(&ctx->table, 0, sizeof *ctx - offsetof(struct futhark_context, table));
  pthread_mutex_unlock(&ctx->lock);
  return ctx;
}

static void fut_unlock_closed(struct futhark_context *ctx) {
  bool ends = !ctx->ended && ctx->n_handles == 0;
  if (ends) {
    if (ctx->inner != NULL)
      ctx->table->context_free(ctx->inner);
    for (uint32_t i = 0; i < ctx->n_chunks; i++)
      free(ctx->chunks[i]);
    free((char *)ctx->why);
    ctx->inner = NULL;
    ctx->n_chunks = 0;
    ctx->why = NULL;
    ctx->ended = true;
  }
  pthread_mutex_unlock(&ctx->lock);
  if (!ends)
    return;
  pthread_mutex_lock(&fut_ended_lock);
  *fut_last_ended = ctx;
  fut_last_ended = &ctx->next;
  fut_n_ended++;
  pthread_mutex_unlock(&fut_ended_lock);
}

static void fut_unlock(struct futhark_context *ctx) {
  if (ctx->closed)
    fut_unlock_closed(ctx);
  else
    pthread_mutex_unlock(&ctx->lock);
}

// The body of a function that takes the lock for `work`, and returns its result, or `failed` if no call is possible.
#define FUT_LOCKED(ctx, failed, work)  \
  __typeof__(work) fut_result = failed; \
  if (fut_lock(ctx)) {                 \
    fut_result = work;                 \
    fut_unlock(ctx);                   \
  }                                    \
  return fut_result;

// --- Handles ---------------------------------------------------------------------------

static const struct fut_type *fut_type(const struct futhark_context *ctx, uint32_t type) { return &ctx->table->types[type]; }

// The handle that a caller's pointer denotes, in any state; NULL: none of this context.
static struct fut_handle *fut_lookup(const struct futhark_context *ctx, const void *pointer) {
  for (uint32_t i = ctx->n_chunks; i-- > 0;) {
    uintptr_t offset = (uintptr_t)pointer - (uintptr_t)ctx->chunks[i];
    if (offset < (FUT_CHUNK << i) * sizeof(struct fut_handle))
      return offset % sizeof(struct fut_handle) == 0 ? ctx->chunks[i] + offset / sizeof(struct fut_handle) : NULL;
  }
  return NULL;
}

// The live handle of this type; NULL: the pointer denotes none.
static struct fut_handle *fut_live(const struct futhark_context *ctx, uint32_t type, const void *pointer) {
  struct fut_handle *handle = fut_lookup(ctx, pointer);
  return handle != NULL && handle->state == FUT_LIVE && handle->type == type ? handle : NULL;
}

// The same; NULL after an error. `what` describes the argument.
static struct fut_handle *fut_find(struct futhark_context *ctx, uint32_t type, const void *pointer, const char *what) {
  struct fut_handle *handle = fut_live(ctx, type, pointer);
  if (handle != NULL)
    return handle;
  handle = fut_lookup(ctx, pointer);
  const char *expected = fut_type(ctx, type)->name;
  if (pointer == NULL)
    fut_error(ctx, FUT_CODE_PROGRAM, "%s is NULL; expected a value of type %s", what, expected);
  else if (handle == NULL)
    fut_error(ctx, FUT_CODE_PROGRAM, "%s is not a value of this context; expected one of type %s", what, expected);
  else if (handle->state != FUT_LIVE)
    fut_error(ctx, FUT_CODE_PROGRAM, "%s was %s; expected a value of type %s", what,
              handle->state == FUT_SPENT     ? "consumed by an earlier call"
              : handle->state == FUT_INVALID ? "not written, because a kernel of an earlier call failed"
                                             : "freed",
              expected);
  else
    fut_error(ctx, FUT_CODE_PROGRAM, "%s has type %s; expected %s", what, fut_type(ctx, handle->type)->name, expected);
  return NULL;
}

static void fut_put_back(struct futhark_context *ctx, struct fut_handle *handle) {
  *handle = (struct fut_handle){0};
  *ctx->last = handle;
  ctx->last = &handle->next;
  ctx->n_free++;
}

// Makes sure that `fut_take` can be called this often, before a call that makes values.
static bool fut_reserve(struct futhark_context *ctx, size_t n) {
  while (ctx->n_free < n + FUT_LEAST_FREE) {
    size_t count = FUT_CHUNK << ctx->n_chunks;
    struct fut_handle *chunk = ctx->n_chunks == FUT_MOST_CHUNKS ? NULL : malloc(count * sizeof *chunk);
    if (chunk == NULL) {
      fut_error(ctx, FUT_CODE_MEMORY, "no memory for the handle of a result");
      return false;
    }
    ctx->chunks[ctx->n_chunks++] = chunk;
    for (size_t i = 0; i < count; i++)
      fut_put_back(ctx, &chunk[i]);
  }
  return true;
}

static struct fut_handle *fut_take(struct futhark_context *ctx, uint32_t type, void *value) {
  struct fut_handle *handle = ctx->first;
  ctx->first = handle->next;
  ctx->n_free--;
  ctx->n_handles++;
  *handle = (struct fut_handle){.value = value, .type = type, .state = FUT_LIVE};
  return handle;
}

static int32_t fut_release(struct futhark_context *ctx, uint32_t type, void *value) {
  const void *in[] = {value};
  return fut_enter(ctx, fut_type(ctx, type)->free, NULL, in);
}

static int fut_free_handle(struct futhark_context *ctx, uint32_t type, void *pointer) {
  if (fut_is_unusable(ctx))
    return FUT_CODE_OTHER;
  pthread_mutex_lock(&ctx->lock);
  struct fut_handle *handle = fut_lookup(ctx, pointer);
  int code = 0;
  if (handle != NULL && handle->type == type && handle->state != FUT_FREE) {
    int32_t status = handle->state == FUT_SPENT ? FUT_OK : fut_release(ctx, type, handle->value);
    // A lost context frees its values at its own end.
    code = status == FUT_LOST ? 0 : fut_ended(ctx, status);
    free(handle->shape);
    fut_put_back(ctx, handle);
    ctx->n_handles--;
  } else if (pointer != NULL) {
    fut_find(ctx, type, pointer, "the value to be freed");
    code = FUT_CODE_PROGRAM;
  }
  fut_unlock(ctx);
  return code;
}

// Makes a handle of the value that a call of the table makes. Writes nothing after a failure.
static int fut_make(struct futhark_context *ctx, uint32_t type, fut_call call, const void *const *in, void *place) {
  void *value = NULL;
  void *out[] = {&value};
  if (!fut_reserve(ctx, 1))
    return FUT_CODE_MEMORY;
  int code = fut_ended(ctx, fut_enter(ctx, call, out, in));
  if (code == 0)
    *(void **)place = fut_take(ctx, type, value);
  return code;
}

// --- Entry points, and operations on values --------------------------------------------------

// The error about argument i, which denotes no live value of its type.
static __attribute__((noinline, cold)) int fut_refuse_argument(struct futhark_context *ctx, const struct fut_function *f, uint32_t i,
                                                               const void *pointer) {
  char what[300];
  const char *name = f->in[i].name;
  snprintf(what, sizeof what, "%s: argument %u%s%s", f->label, i, name == NULL ? "" : ", ", name == NULL ? "" : name);
  (void)fut_find(ctx, f->in[i].type - FUT_FIRST_TYPE, pointer, what);
  return FUT_CODE_PROGRAM;
}

// Frees the values that a call has consumed. A result often has the memory of one: while both exist, the next call that consumes
// the result would copy it.
static void fut_spend(struct futhark_context *ctx, const struct fut_function *f, struct fut_handle *const *handles) {
  for (uint32_t i = 0; i < f->n_in; i++)
    if ((f->in[i].flags & FUT_CONSUMED) && handles[i]->state == FUT_LIVE) {
      (void)fut_release(ctx, handles[i]->type, handles[i]->value);
      handles[i]->value = NULL;
      handles[i]->state = FUT_SPENT;
    }
}

// Room for two pointers for each result and each argument, which the call writes before it reads them.
#if defined(__has_attribute) && __has_attribute(uninitialized)
#define FUT_ROOM(n) __attribute__((uninitialized)) void *fut_room[n]
#else
#define FUT_ROOM(n) void *fut_room[n]
#endif

static int fut_call_function(struct futhark_context *ctx, uint32_t number, void *const *out, const void **in, void **room) {
  const struct fut_function *f = &ctx->table->functions[number];
  void **values = room, **places = values + f->n_out;
  const void **copies = (const void **)(places + f->n_out);
  struct fut_handle **handles = (struct fut_handle **)(copies + f->n_in);
  uint32_t n_values = 0;
  for (uint32_t i = 0; i < f->n_out; i++) {
    if (out[i] == NULL)
      return fut_error(ctx, FUT_CODE_PROGRAM, "%s: the pointer to result %u is NULL", f->label, i);
    bool is_value = f->out[i].type >= FUT_FIRST_TYPE;
    values[i] = NULL;
    places[i] = is_value ? &values[i] : out[i];
    n_values += is_value;
  }
  for (uint32_t i = 0; i < f->n_in; i++)
    if (f->in[i].type >= FUT_FIRST_TYPE) {
      handles[i] = fut_live(ctx, f->in[i].type - FUT_FIRST_TYPE, in[i]);
      if (handles[i] == NULL)
        return fut_refuse_argument(ctx, f, i, in[i]);
      in[i] = handles[i]->value;
    }
  if (n_values > 0 && !fut_reserve(ctx, n_values))
    return FUT_CODE_MEMORY;
  int32_t status = fut_entered(ctx, ctx->table->call(ctx->table, number, ctx->inner, places, in, copies));
  if (status == FUT_OK && n_values == 0 && !(f->flags & FUT_CONSUMES))
    return 0;  // sooner than below
  bool started = status == FUT_OK || ctx->table->failure(ctx->inner, 0)->started;
  // A part, or a whole, depends on what it was made of. values_made_from_invalid_ones_are_invalid (fake_tests of futhark-safe).
  uint64_t made = n_values == 0 || status != FUT_OK ? 0 : fut_pending(ctx);
  for (uint32_t i = 0; n_values > 0 && i < f->n_in; i++)
    if (f->in[i].type >= FUT_FIRST_TYPE && handles[i]->made > made)
      made = handles[i]->made;
  int code = fut_ended(ctx, status);
  if ((f->flags & FUT_CONSUMES) && started)
    fut_spend(ctx, f, handles);
  for (uint32_t i = 0; code == 0 && n_values > 0 && i < f->n_out; i++)
    if (f->out[i].type >= FUT_FIRST_TYPE) {
      struct fut_handle *handle = fut_take(ctx, f->out[i].type - FUT_FIRST_TYPE, values[i]);
      handle->made = made;
      *(void **)out[i] = handle;
    }
  return code;
}

// --- Functions of types -------------------------------------------------------------------

static const size_t fut_element_sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 1};

// The number of elements; -1 after an error.
static int64_t fut_count_elements(struct futhark_context *ctx, uint32_t type, const int64_t *dims) {
  const struct fut_type *t = fut_type(ctx, type);
  size_t size = t->elem < FUT_FIRST_TYPE ? fut_element_sizes[t->elem] : sizeof(void *);
  int64_t n = 1, bytes;
  bool negative = false, empty = false, overflows = false;
  for (uint32_t i = 0; i < t->rank; i++) {
    negative |= dims[i] < 0;
    empty |= dims[i] == 0;
    overflows |= __builtin_mul_overflow(n, dims[i], &n);
  }
  if (negative || (!empty && (overflows || __builtin_mul_overflow(n, (int64_t)size, &bytes)))) {
    fut_error(ctx, FUT_CODE_PROGRAM, "a new array of type %s cannot have a negative dimension, or more bytes than memory can have", t->name);
    return -1;
  }
  return empty ? 0 : n;
}

static void *fut_new(struct futhark_context *ctx, uint32_t type, const void *data, const int64_t *dims) {
  int64_t n = fut_count_elements(ctx, type, dims);
  const int32_t later = 0;
  const void *in[] = {data == NULL ? dims : data, dims, &later};
  void *made = NULL;
  if (n > 0 && data == NULL)
    fut_error(ctx, FUT_CODE_PROGRAM, "the elements of a new array of type %s are NULL", fut_type(ctx, type)->name);
  else if (n >= 0)
    (void)fut_make(ctx, type, fut_type(ctx, type)->create, in, &made);
  return made;
}

// Raw memory is of the backend in the header.
static bool fut_has_memory_of_header(struct futhark_context *ctx) {
  const struct fut_table *header = fut_tables[0], *own = ctx->table;
  bool same = (header->flags & FUT_GPU) == 0 ? (own->flags & FUT_GPU) == 0 : strcmp(header->backend, own->backend) == 0;
  if (!same)
    fut_error(ctx, FUT_CODE_PROGRAM, "the header is that of backend %s, whose objects a context of %s cannot use", header->backend,
              own->backend);
  return same;
}

static void *fut_new_raw(struct futhark_context *ctx, uint32_t type, const void *memory, const int64_t *dims) {
  const void *in[] = {memory, dims};
  void *made = NULL;
  if (fut_count_elements(ctx, type, dims) >= 0 && fut_has_memory_of_header(ctx))
    (void)fut_make(ctx, type, fut_type(ctx, type)->borrow, in, &made);
  return made;
}

static void *fut_restore(struct futhark_context *ctx, uint32_t type, const void *bytes) {
  const void *in[] = {bytes};
  void *made = NULL;
  if (bytes == NULL)
    fut_error(ctx, FUT_CODE_PROGRAM, "the bytes of a value of type %s are NULL", fut_type(ctx, type)->name);
  else
    (void)fut_make(ctx, type, fut_type(ctx, type)->restore, in, &made);
  return made;
}

// A call that reads a value by the function `what` of its type.
#define FUT_READS(ctx, type, pointer, handle, what)                                  \
  struct fut_handle *handle = fut_find(ctx, type, pointer, "the argument of " what); \
  if (handle == NULL)                                                                \
    return FUT_CODE_PROGRAM;

static const int64_t *fut_shape_of(const struct futhark_context *ctx, const struct fut_handle *handle) {
  const int64_t *shape = NULL;
  void *out[] = {&shape};
  const void *in[] = {handle->value};
  (void)fut_type(ctx, handle->type)->shape(ctx->inner, out, in);
  return shape;
}

// Whether the array has this element, or any if `indices` is NULL.
static bool fut_has_element(const struct futhark_context *ctx, const struct fut_handle *handle, const int64_t *indices) {
  const int64_t *shape = fut_shape_of(ctx, handle);
  for (uint32_t i = 0; i < fut_type(ctx, handle->type)->rank; i++) {
    int64_t index = indices == NULL ? 0 : indices[i];
    if (index < 0 || index >= shape[i])
      return false;
  }
  return true;
}

static int fut_values(struct futhark_context *ctx, uint32_t type, const void *pointer, void *data) {
  FUT_READS(ctx, type, pointer, handle, "values")
  if (data == NULL && fut_has_element(ctx, handle, NULL))
    return fut_error(ctx, FUT_CODE_PROGRAM, "the memory for the elements is NULL");
  const int32_t later = 0;
  const void *in[] = {handle->value, &later};
  void *out[] = {data};
  return fut_ended(ctx, fut_enter(ctx, fut_type(ctx, type)->values, out, in));
}

static int fut_index(struct futhark_context *ctx, uint32_t type, const void *pointer, const int64_t *indices, void *place) {
  FUT_READS(ctx, type, pointer, handle, "index")
  // With an index out of bounds, the C function fails before it uses the pointer.
  if (place == NULL && fut_has_element(ctx, handle, indices))
    return fut_error(ctx, FUT_CODE_PROGRAM, "the pointer to the element is NULL");
  const struct fut_type *t = fut_type(ctx, type);
  const void *in[] = {handle->value, indices};
  if (t->elem >= FUT_FIRST_TYPE)
    return fut_make(ctx, t->elem - FUT_FIRST_TYPE, t->index, in, place);
  void *out[] = {place};
  return fut_ended(ctx, fut_enter(ctx, t->index, out, in));
}

// An array of opaque values, or of records.
static int fut_new_of_values(struct futhark_context *ctx, uint32_t type, const void *pointers, const int64_t *dims,
                                void *place) {
  const struct fut_type *t = fut_type(ctx, type);
  int64_t n = fut_count_elements(ctx, type, dims);
  if (n < 0)
    return FUT_CODE_PROGRAM;
  if (place == NULL || (n > 0 && pointers == NULL))
    return fut_error(ctx, FUT_CODE_PROGRAM, "the elements of a new array, or the pointer to it, are NULL");
  const void **values = malloc(n == 0 ? 1 : (size_t)n * sizeof *values);
  if (values == NULL)
    return fut_error(ctx, FUT_CODE_MEMORY, "no memory for the elements of a new array");
  int code = 0;
  for (int64_t i = 0; code == 0 && i < n; i++) {
    const void *pointer = ((const void *const *)pointers)[i];
    struct fut_handle *handle = fut_find(ctx, t->elem - FUT_FIRST_TYPE, pointer, "an element of a new array");
    code = handle == NULL ? FUT_CODE_PROGRAM : 0;
    values[i] = handle == NULL ? NULL : handle->value;
  }
  const void *in[] = {values, dims};
  if (code == 0)
    code = fut_make(ctx, type, t->create, in, place);
  free(values);
  return code;
}

static int fut_set_element(struct futhark_context *ctx, uint32_t type, const void *pointer, const void *element,
                              const int64_t *indices) {
  FUT_READS(ctx, type, pointer, handle, "set")
  const struct fut_type *t = fut_type(ctx, type);
  struct fut_handle *new = fut_find(ctx, t->elem - FUT_FIRST_TYPE, element, "the new element");
  if (new == NULL)
    return FUT_CODE_PROGRAM;
  const void *in[] = {handle->value, new->value, indices};
  if (t->is_shared(handle->value)) {
    void *copy = NULL;
    int code = fut_ended(ctx, fut_enter(ctx, t->duplicate, (void *[]){&copy}, in));
    if (code != 0)
      return code;
    (void)fut_release(ctx, type, handle->value);
    in[0] = handle->value = copy;
  }
  return fut_ended(ctx, fut_enter(ctx, t->set, NULL, in));
}

// `*p` is memory of the caller if it is not NULL.
static int fut_store(struct futhark_context *ctx, uint32_t type, const void *pointer, void **p, size_t *n) {
  FUT_READS(ctx, type, pointer, handle, "store")
  const struct fut_type *t = fut_type(ctx, type);
  const void *in[] = {handle->value};
  size_t size = 0;
  void *of_size[] = {&size};
  int code = fut_ended(ctx, fut_enter(ctx, t->stored_size, of_size, in));
  if (code != 0)
    return code;
  if (n != NULL)
    *n = size;
  if (p == NULL)
    return 0;
  void *bytes = *p != NULL ? *p : malloc(size == 0 ? 1 : size);
  if (bytes == NULL)
    return fut_error(ctx, FUT_CODE_MEMORY, "no memory for the %zu bytes of a stored value", size);
  void *out[] = {bytes};
  int32_t status = fut_enter(ctx, t->store, out, in);
  if (status == FUT_OK)
    *p = bytes;
  else if (*p == NULL && status != FUT_LOST)  // after a loss, a device may still write to it
    free(bytes);
  return fut_ended(ctx, status);
}

// These two do not enter the context. A shape is a copy, since a value can be consumed before its handle is freed.
static const int64_t *fut_shape(struct futhark_context *ctx, uint32_t type, const void *pointer) {
  struct fut_handle *handle = fut_find(ctx, type, pointer, "the argument of shape");
  if (handle == NULL || handle->shape != NULL)
    return handle == NULL ? NULL : handle->shape;
  size_t size = fut_type(ctx, type)->rank * sizeof *handle->shape;
  handle->shape = malloc(size);
  if (handle->shape != NULL)
    memcpy(handle->shape, fut_shape_of(ctx, handle), size);
  else
    fut_error(ctx, FUT_CODE_MEMORY, "no memory for a shape");
  return handle->shape;
}

static void *fut_values_raw(struct futhark_context *ctx, uint32_t type, const void *pointer) {
  struct fut_handle *handle = fut_find(ctx, type, pointer, "the argument of values_raw");
  void *memory = NULL;
  if (handle != NULL && fut_has_memory_of_header(ctx))
    (void)fut_type(ctx, type)->raw_memory(ctx->inner, (void *[]){&memory}, (const void *[]){handle->value});
  return memory;
}
