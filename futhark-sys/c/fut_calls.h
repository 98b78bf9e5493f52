// Comes after the generated code and fut_config.h: enters and ends wrappers, counts references, creates and frees
// contexts, and lends them to plain calls.

// --- The layout of values --------------------------------------------------------

#if FUT_GPU_BACKEND
typedef struct memblock_device fut_array_memory;
#else
typedef struct memblock fut_array_memory;
#endif

// How every array of scalars begins.
struct fut_array {
  fut_array_memory mem;
  int64_t shape[1];
};
#define FUT_ASSERT_ARRAY(type, rank)                                                                       \
  _Static_assert(__builtin_types_compatible_p(__typeof__(((struct type *)0)->mem), fut_array_memory) &&    \
                     __builtin_types_compatible_p(__typeof__(((struct type *)0)->shape), int64_t[rank]) && \
                     offsetof(struct type, mem) == 0 &&                                                    \
                     offsetof(struct type, shape) == offsetof(struct fut_array, shape),                    \
                 #type " does not have the layout of an array");

// One of the arrays that an opaque value consists of. The functions are the wrappers of its type.
struct fut_part {
  uint64_t offset;  // of the pointer to it in the struct of the value
  int32_t rank;
  int32_t elem_size;
  fut_call create;
  fut_call duplicate;
  fut_call free;
};

// An opaque type. values.rs writes one for each.
struct fut_layout {
  const struct fut_part *parts;
  uint64_t n_parts;
  uint64_t size;  // of the struct
};

// The pointer at an address. The types of pointers to values differ.
FUT_INLINE void *fut_pointer_at(const void *address) {
  void *pointer;
  memcpy(&pointer, address, sizeof pointer);
  return pointer;
}

FUT_INLINE const void *fut_array_in(const void *value, const struct fut_part *part) {
  return fut_pointer_at((const char *)value + part->offset);
}

FUT_INLINE const int64_t *fut_shape_of(const void *array) {
  return (const int64_t *)((const char *)array + offsetof(struct fut_array, shape));
}

// --- The end of a call ---------------------------------------------------------

// Whether there is an error, a failed worker or output, whatever the return code is.
FUT_INLINE bool fut_disturbed(struct fut_context *c) {
  bool dead = false;
#if FUT_MULTICORE
  dead = fut_crew_is_dead(&c->crew);
#endif
  return dead | (c->ctx->error != NULL) | (c->text.length != 0);
}

// Fetches the pending error of the runtime's context. The hooks have recorded its words and cause (fut_set_error in
// fut_hooks.h); fut_origin (fut_pending.h) tells which call can have caused it.
static void fut_take_failure(struct fut_context *c, uint32_t which, int rc) {
  struct fut_failure *f = &c->failures[which];
  char *words = __atomic_exchange_n(&c->words, NULL, __ATOMIC_RELAXED);
  f->text = fut_without(fut_keep_text(futhark_context_get_error(c->ctx)), words);
  f->words = words;
  f->cause = __atomic_exchange_n(&c->cause, FUT_CAUSE_UNKNOWN, __ATOMIC_RELAXED);
  f->code = rc;
  f->origin = fut_origin(c, f);  // on host backends always the call's own
}

// Restores the context after a failure, so that the next call can succeed, and fetches every error:
// a pending one would make the next allocation fail.
static __attribute__((noinline)) int32_t fut_settle(struct fut_context *c, int rc) {
  if (c->settling)
    return FUT_FAILED;  // in fut_discard, which ignores it
  if (c->text.length != 0)
    fut_flush_text(&c->text);
#if FUT_MULTICORE
  if (fut_crew_is_dead(&c->crew))
    fut_fatal("a worker thread died");
#endif
  if (rc == 0 && c->ctx->error == NULL)
    return FUT_OK;
  fut_fail(c, NULL, NULL);  // forgets the failures of an earlier call
  c->settling = 1;
  fut_take_failure(c, 0, rc);
#if FUT_GPU_BACKEND
  // Pending work must not affect the next call, and can have failed as well.
  bool waited = c->waited, checked = c->checked;
  c->waiting = c->waited = c->checked = false;
  int other = fut_wait(c->ctx);
  if (other != 0)
    fut_take_failure(c, 1, other);
  bool by_kernel = other != 0 || fut_kernel_failed(c, waited, checked, &c->failures[0]);
#endif
  struct fut_failure *own = &c->failures[0];
  own->started = own->cause != FUT_CAUSE_SIZES;  // refused_call_consumes_nothing (tests/library/failures.c)
#if FUT_MULTICORE
  // The runtime never resets this flag, which makes every later parallel call fail.
  c->ctx->scheduler.error = 0;
#endif
#if FUT_GPU_BACKEND
  // A failed kernel can leave modified counters on the device. To fill them takes seconds on a simulated
  // one.
  if (by_kernel && (fut_reset_state(c->ctx) != 0 || futhark_context_sync(c->ctx) != 0))
    fut_fatal("cannot reset the state on the device after the failure");
#endif
  c->settling = 0;
  // Set by fut_note_memory if an allocation failed (fut_hooks.h).
  int32_t status = __atomic_exchange_n(&c->memory, 0, __ATOMIC_RELAXED) ? FUT_MEMORY : FUT_FAILED;
#if FUT_GPU_BACKEND
  // The call returned a code without a text, and the text of the cause came with the wait.
  struct fut_failure *last = &c->failures[1];
  if (status == FUT_FAILED && own->words == NULL && own->text == NULL && last->code != 0) {
    last->started = own->started;
    *own = *last;
    *last = (struct fut_failure){0};
  }
  fut_attribute(c, 0);
  fut_attribute(c, 1);
  fut_outcome(c);  // everything has been waited for
#endif
  return status;
}

#if FUT_GPU_BACKEND
#define FUT_NUMBER(c, of_call) (c)->number = of_call;
#define FUT_RECORD(c, status) \
  if ((status) == FUT_OK)     \
    fut_record(c);
#else
#define FUT_NUMBER(c, of_call) (void)(of_call);
#define FUT_RECORD(c, status)
#endif

// Calls a function of the table under a guard. All calls share it: the C compiler takes about as long for a function
// of its own around each wrapper as for the wrapper, and optimises worse around each call of _setjmp.
FUT_END_OURS  // one small function, which each call runs
static __attribute__((noinline)) int32_t fut_enter(fut_call call, uint32_t number, struct fut_context *c, void *const *out,
                                                   const void *const *in) {
  // fut_guard.h: returns FUT_LOST if the context is lost or the process forked. fut_fatal and fut_reject jump here;
  // then it returns FUT_LOST or FUT_REFUSED.
  FUT_ENTER(c)
  FUT_NUMBER(c, number)
  int32_t status = call(c, out, in);
  FUT_RECORD(c, status)
  fut_pop_guard(&fut_guard_here);
  return status;
}
FUT_BEGIN_OURS

// The end of a wrapper: `return fut_leave(c, rc);`. Most wrappers have no branches of their own: without optimisation, the C
// compiler takes twice as long for a function with one.
FUT_INLINE int32_t fut_leave(struct fut_context *c, int rc) {
  return FUT_UNLIKELY(rc != 0 || fut_disturbed(c)) ? fut_settle(c, rc) : FUT_OK;
}

// Frees a result of a failed call by the wrapper `release`. It exists if a wait failed, or the result has an impossible
// shape.
static void fut_discard(struct fut_context *c, fut_call release, void *result) {
  const void *value = fut_pointer_at(result);
  if (value == NULL)
    return;
  c->settling = 1;  // keeps the recorded failure; an error while freeing would be reported by the next call
  (void)release(c, NULL, &value);
  c->settling = 0;
  memset(result, 0, sizeof value);
}

static __attribute__((noinline, cold)) int32_t fut_undo_value(struct fut_context *c, int rc, void *const *out,
                                                               fut_call release) {
  int32_t status = fut_settle(c, rc);
  if (status != FUT_OK)
    fut_discard(c, release, out[0]);
  return status;
}

// The end of a wrapper with one result, which is a value.
FUT_INLINE int32_t fut_leave_value(struct fut_context *c, int rc, void *const *out, fut_call release) {
  return FUT_UNLIKELY(rc != 0 || fut_disturbed(c)) ? fut_undo_value(c, rc, out, release) : FUT_OK;
}

#if FUT_GPU_BACKEND
#define FUT_SYNC(c, rc)        \
  if ((rc) == 0) {             \
    (rc) = fut_wait((c)->ctx); \
    (c)->leaves = false;       \
  }
#define FUT_LEAVES(c) (c)->leaves = true;
#else
#define FUT_SYNC(c, rc) (void)0;
#define FUT_LEAVES(c)
#endif

// --- Reference counts -------------------------------------------------------------

// Whether this is not the only reference to the memory of an array. Memory without a count is a literal of the program, which
// must not be modified, so it counts as shared; a negative count has overflowed.
FUT_INLINE bool fut_has_other(const void *array) {
  const int *references = ((const fut_array_memory *)array)->references;
  return references == NULL || *references < 0 || *references > 1;
}

// Sets the reference count of borrowed memory. Without a count, the runtime would dereference NULL
// when the array becomes part of a record, and the memory would not count as shared. The count is so
// large that it never reaches 1 or 0: such memory is always copied before it is consumed, and never
// freed. It is a field of the context, which outlives all values.
static void fut_borrow(struct fut_context *c, void *value) {
  fut_array_memory *mem = value;
  if (mem == NULL)
    return;
  mem->references = &c->borrowed;
  mem->size = INT64_MAX;
  mem->desc = "borrowed memory";
  c->borrowed++;
}

FUT_END_OURS  // each call with arguments that it consumes runs them

static int32_t fut_is_shared_array(const void *value) { return fut_has_other(value); }

static int32_t fut_has_shared_array(const struct fut_layout *l, const void *value) {
  for (uint64_t i = 0; i < l->n_parts; i++)
    if (fut_has_other(fut_array_in(value, &l->parts[i])))
      return 1;
  return 0;
}

FUT_BEGIN_OURS

static int32_t fut_is_not_shared(const void *value) {
  (void)value;
  return 0;
}

// --- Consumption ------------------------------------------------------------------------

struct fut_consuming {
  const struct fut_table *table;
  const struct fut_function *function;
  const void **copies;  // of its arguments
};

static const struct fut_type *fut_type_of(const struct fut_consuming *call, uint32_t i) {
  return &call->table->types[call->function->in[i].type - FUT_FIRST_TYPE];
}

// Whether the call would change another value when it overwrites argument i. alias_consumed (tests/library/misuse.c), and
// one_value_twice (failures.c).
static bool fut_must_copy(const struct fut_consuming *call, const void *const *in, uint32_t i) {
  if (!(call->function->in[i].flags & FUT_CONSUMED))
    return false;
  bool again = false;
  for (uint32_t j = 0; j < call->function->n_in; j++)
    again |= j != i && in[j] == in[i];
  return again || fut_type_of(call, i)->is_shared(in[i]);
}

// The copies are freed before anything else counts references: results often have the memory of one.
FUT_WRAPPER(fut_call_consuming) {
  const struct fut_consuming consuming = *c->consuming;
  const struct fut_function *f = consuming.function;
  const void *own[f->n_in + 1];
  int32_t status = FUT_OK;
  memset(consuming.copies, 0, f->n_in * sizeof *consuming.copies);
  for (uint32_t i = 0; status == FUT_OK && i < f->n_in; i++) {
    own[i] = in[i];
    if (!fut_must_copy(&consuming, in, i))
      continue;
    void *place = &consuming.copies[i];
    status = fut_type_of(&consuming, i)->duplicate(c, &place, &in[i]);
    own[i] = consuming.copies[i];
    if (status != FUT_OK)
      c->failures[0].started = 0;
  }
  if (status == FUT_OK)
    status = f->call(c, out, own);
  for (uint32_t i = 0; i < f->n_in; i++)
    if (consuming.copies[i] != NULL) {
      const fut_call release = fut_type_of(&consuming, i)->free;
      const void *copy = consuming.copies[i];
      c->settling = 1;  // keeps the recorded failure
      (void)release(c, NULL, &copy);
      c->settling = 0;
    }
  return status;
}

static int32_t fut_call_function(const struct fut_table *table, uint32_t number, struct fut_context *c, void *const *out,
                                 const void *const *in, const void **copies) {
  const struct fut_function *f = &table->functions[number];
  if (!(f->flags & FUT_CONSUMES))
    return fut_enter(f->call, number, c, out, in);
  const struct fut_consuming consuming = {table, f, copies};
  c->consuming = &consuming;
  return fut_enter(fut_call_consuming, number, c, out, in);
}

// --- The lifetime of a context --------------------------------------------------------------

#if FUT_MULTICORE
#define FUT_SET_IDLE(c, idle) fut_set_idle(&(c)->ctx->lock, idle);
#else
#define FUT_SET_IDLE(c, idle)
#endif

// Frees a context whose initialisation failed. Takes ownership of `words`.
static int32_t fut_context_undo(struct fut_context *c, char *words, int32_t status) {
  fut_fail(c, fut_keep_text(words), NULL);
  c->settling = 1;
  if (c->ctx != NULL) {
    fut_take_failure(c, 0, 0);
    c->failures[0].origin = FUT_OF_CALL;
  }
  if (c->ctx == NULL || c->ctx->program_initialised) {
    FUT_DEVICE_ONCE()
    if (c->ctx != NULL)
      futhark_context_free(c->ctx);
    if (c->cfg != NULL)
      futhark_context_config_free(c->cfg);
  } else {
    // Its teardown would read fields that were never set, so it counts as lost.
#if FUT_MULTICORE
    fut_crew_stop(c, "the initialisation of the context failed", "");
#endif
    c->lost = 1;
  }
  c->ctx = NULL;
  c->cfg = NULL;
  c->settling = 0;
  fut_self.zero = false;
  if (c->text.length != 0)
    fut_flush_text(&c->text);
  fut_pop_guard(fut_self.guard);
  return status;
}

static int32_t fut_context_start(struct fut_context *c, const struct fut_setting *settings, uint32_t n) {
#if FUT_GPU_BACKEND
  char *why = fut_driver_ready();
  if (why != NULL) {
    fut_fail(c, why, NULL);
    return FUT_UNAVAILABLE;
  }
#endif
  FUT_ENTER(c)
  fut_self.zero = true;  // fields of the context can be read before they are written
  c->cfg = futhark_context_config_new();
  if (c->cfg == NULL)
    return fut_context_undo(c, NULL, FUT_MEMORY);
  char *refused = fut_configure(c, settings, n);
  if (refused != NULL)
    return fut_context_undo(c, refused, FUT_REFUSED);
  c->ctx = futhark_context_new(c->cfg);
  if (c->ctx == NULL)
    return fut_context_undo(c, NULL, FUT_MEMORY);
  if (c->ctx->error != NULL)
    return fut_context_undo(c, NULL, c->memory ? FUT_MEMORY : FUT_FAILED);
  if (c->not_dumped != NULL) {
    c->words = c->not_dumped;
    c->not_dumped = NULL;
    return fut_context_undo(c, NULL, FUT_FAILED);
  }
  fut_self.zero = false;
  FUT_SET_IDLE(c, true)
  int32_t status = fut_leave(c, 0);
  fut_pop_guard(&fut_guard_here);
  return status;
}

static struct fut_context *fut_context_new(const struct fut_setting *settings, uint32_t n, int32_t *status) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fut_watch_forks);
  struct fut_context *c = fut_make_context();
  if (c == NULL) {
    FUT_CALL_ENDS();
    *status = FUT_MEMORY;
    return NULL;
  }
  *status = fut_context_start(c, settings, n);
  // Memory for structs of the runtime was missing. No context exists yet, so none is lost.
  if (*status == FUT_LOST && c->memory)
    *status = FUT_MEMORY;
  return c;
}

#if FUT_MULTICORE
// A parallel loop without iterations around another one pushes an empty task to the queue of every
// worker, including the calling thread's, from which no thread removes it. Freeing the context would
// then wait for ever.
static void fut_take_leftovers(struct futhark_context *ctx) {
  struct worker *caller = &ctx->scheduler.workers[0];
  struct subtask *left;
  while (!subtask_queue_is_empty(&caller->q))
    if (subtask_queue_dequeue(caller, &left, 0) == 0)
      free(left);
}
#else
#define fut_take_leftovers(ctx) (void)(ctx)
#endif

static int32_t fut_context_stop(struct fut_context *c) {
  FUT_ENTER(c)
  (void)futhark_context_sync(c->ctx);
  fut_take_leftovers(c->ctx);
  FUT_DEVICE_ONCE()
  futhark_context_free(c->ctx);
  futhark_context_config_free(c->cfg);
  fut_pop_guard(&fut_guard_here);
  return FUT_OK;
}

static void fut_context_free(struct fut_context *c) {
  if (c->forks != fut_forks)
    return;  // its threads and the driver's state belong to the parent
  if (c->ctx != NULL) {
    FUT_SET_IDLE(c, false)
    if (!c->lost)
      (void)fut_context_stop(c);
  }
#if !FUT_TRACKS_MEMORY
  if (c->lost)
    return;  // the driver can still access its memory
#endif
  fut_release_context(c);
}

static const struct fut_failure *fut_context_failure(struct fut_context *c, uint32_t which) {
  const struct fut_failure *f = &c->failures[which != 0];
  return which != 0 && f->code == 0 ? NULL : f;
}

#if FUT_GPU_BACKEND
// wait_after_error (tests/library/pending.c).
static uint64_t fut_context_pending(struct fut_context *c) { return c->leaves ? c->outcomes + 1 : 0; }

// Calls the driver only, because the state of the runtime is inconsistent after a loss. The driver's
// is not: a fatal failure ends the call in code of the runtime, never in that of the driver.
static int32_t fut_drain(struct fut_context *c) {
  if (c->forks != fut_forks || c->ctx == NULL)
    return FUT_LOST;
#if defined(FUT_BACKEND_opencl)
  bool done = clFinish(c->ctx->queue) == CL_SUCCESS;
#elif defined(FUT_BACKEND_cuda)
  struct fut_current before = fut_device_before();
  bool done = cuCtxPushCurrent(c->ctx->cu_ctx) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS;
  fut_device_after(before);
#elif defined(FUT_BACKEND_hip)
  struct fut_current before = fut_device_before();
  bool done = hipSetDevice(c->ctx->dev) == hipSuccess && hipStreamSynchronize(c->ctx->stream) == hipSuccess;
  fut_device_after(before);
#endif
  return done ? FUT_OK : FUT_LOST;
}
#else
#define fut_context_pending NULL
#define fut_drain NULL
#endif

FUT_WRAPPER(fut_context_sync) {
  (void)out;
  (void)in;
  FUT_IDLE(c)
  int rc = 0;
  FUT_SYNC(c, rc);
  return fut_leave(c, rc);
}

FUT_WRAPPER(fut_clear_caches) {
  (void)out;
  (void)in;
  FUT_IDLE(c)
  int rc = 0;
  FUT_SYNC(c, rc);
  if (rc == 0)
    rc = futhark_context_clear_caches(c->ctx);
  return fut_leave(c, rc);
}

FUT_WRAPPER(fut_pause_profiling) {
  (void)out;
  (void)in;
  futhark_context_pause_profiling(c->ctx);
  return fut_leave(c, 0);
}

FUT_WRAPPER(fut_unpause_profiling) {
  (void)out;
  (void)in;
  futhark_context_unpause_profiling(c->ctx);
  return fut_leave(c, 0);
}

// The runtime waits as well, but does not report whether the wait failed.
FUT_WRAPPER(fut_report) {
  (void)in;
  FUT_IDLE(c)
  int rc = 0;
  FUT_SYNC(c, rc);
  char *made = rc == 0 ? futhark_context_report(c->ctx) : NULL;
  char *text = fut_keep_text(made);
  if (made != NULL && text == NULL)
    fut_note_memory(c->ctx);
  *(char **)out[0] = text;
  if (rc == 0 && text == NULL)
    rc = 1;
  int32_t status = fut_leave(c, rc);
  if (status != FUT_OK) {
    fut_free_text(text);
    *(char **)out[0] = NULL;
  }
  return status;
}

FUT_WRAPPER(fut_memory_use) {
  (void)in;
  FUT_IDLE(c)
  int64_t *bytes = out[0];
  bytes[0] = c->ctx->cur_mem_usage_default;
  bytes[1] = c->ctx->peak_mem_usage_default;
#if FUT_GPU_BACKEND
  bytes[2] = c->ctx->cur_mem_usage_device;
  bytes[3] = c->ctx->peak_mem_usage_device;
#else
  bytes[2] = bytes[3] = 0;
#endif
  return fut_leave(c, 0);
}

static const char *fut_tuning_param_name(uint32_t i) {
  return (int64_t)i < futhark_get_tuning_param_count() ? futhark_get_tuning_param_name((int)i) : NULL;
}

static const char *fut_tuning_param_class(uint32_t i) {
  return (int64_t)i < futhark_get_tuning_param_count() ? futhark_get_tuning_param_class((int)i) : NULL;
}

static int64_t fut_tuning_param_default(uint32_t i) {
  return (int64_t)i < futhark_get_tuning_param_count() ? tuning_param_defaults[i] : 0;
}

// --- Plain calls -----------------------------------------------------------------------

static void fut_end_lending(struct fut_context *c) {
  for (struct fut_context **at = &fut_self.lent; *at != NULL; at = &(*at)->lent_before)
    if (*at == c) {
      *at = c->lent_before;
      break;
    }
  __atomic_store_n(&c->crew.lent, 0, __ATOMIC_RELEASE);
  FUT_SET_IDLE(c, true)
}

FUT_WRAPPER(fut_lend) {
  (void)in;
  FUT_IDLE(c)
  int rc = 0;
  FUT_SYNC(c, rc);
  int32_t status = fut_leave(c, rc);
  if (status == FUT_OK) {
    FUT_LEAVES(c)
    c->lent_before = fut_self.lent;
    fut_self.lent = c;
    __atomic_store_n(&c->crew.lent, 1, __ATOMIC_RELEASE);
    FUT_SET_IDLE(c, false)
    *(struct futhark_context **)out[0] = c->ctx;
    FUT_DEVICE_STAYS(c)
  }
  return status;
}

static int32_t fut_take_back(struct fut_context *c, int32_t code) {
  fut_end_lending(c);
  if (!fut_is_closed(c)) {
    FUT_DEVICE_BACK(c)
  }
#if FUT_GPU_BACKEND
  bool checked = c->checked;  // by a wait between lend and take_back
#endif
  FUT_ENTER(c)
#if FUT_GPU_BACKEND
  // These are several calls, and the results of any of them can be invalid.
  c->pending = true;
  if (c->ctx->failure_is_an_option != 0) {
    c->ctx->failure_is_an_option = 1;
    fut_add_call(&c->checking, c->number);
  }
  c->checked = checked;
  c->direct = true;
#endif
  int rc = code;
  if (rc == 0 && c->ctx->error != NULL)
    rc = 1;
  FUT_SYNC(c, rc);
  // The caller can have fetched the message of a failure, whose other state remains.
  if (rc == 0) {
    __atomic_store_n(&c->memory, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&c->cause, FUT_CAUSE_UNKNOWN, __ATOMIC_RELAXED);
    fut_drop(__atomic_exchange_n(&c->words, NULL, __ATOMIC_RELAXED));
  }
#if FUT_MULTICORE
  c->ctx->scheduler.error = 0;
#endif
#if FUT_GPU_BACKEND
  if (rc == 0 && (rc = fut_reset_state(c->ctx)) == 0)
    FUT_SYNC(c, rc);
#endif
  int32_t status = fut_leave(c, rc);
  FUT_RECORD(c, status)
  fut_pop_guard(&fut_guard_here);
  return status;
}
