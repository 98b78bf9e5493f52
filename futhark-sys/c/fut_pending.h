// On GPU backends: the pending work of the device, the outcomes of waits, and the calls that a failure can belong to.
//
// A part of fut_hooks.h, which is included twice: before the generated code it defines macros. At each decision is its test:
// earlier.rs is in futhark-safe/tests/errors, pending.c in futhark-sys/tests/library.

#ifndef FUT_AFTER_PROGRAM
// Generated code waits after it reads a scalar: see fut_before_wait.
#define gpu_scalar_from_device(first, ...) FUT_SCALAR_##first, __VA_ARGS__)
#define FUT_SCALAR_struct fut_runtime_scalar_from_device(struct
#define FUT_SCALAR_ctx fut_scalar_from_device(ctx
#define fut_scalar_from_device(ctx_, ...) (fut_before_wait(ctx_), fut_runtime_scalar_from_device(ctx_, __VA_ARGS__))
static void fut_before_wait(struct futhark_context *ctx);
#else
// `failure_is_an_option` is not 0 while kernels that check the program are pending. The runtime sets
// it to 1 and compares it only with 0; 2 means that none of them belongs to the running call.
#define FUT_BEFORE_CALL 2

static void fut_begin(struct fut_context *c) {
  c->pending = c->ctx != NULL && c->ctx->failure_is_an_option != 0;
  if (c->pending)
    c->ctx->failure_is_an_option = FUT_BEFORE_CALL;
  c->idle = c->waited = c->waiting = c->checked = c->direct = c->leaves = false;
  c->own = true;
}

#define FUT_IDLE(c) (c)->idle = true;

static void fut_before_wait(struct futhark_context *ctx) {
  struct fut_context *c = fut_current();
  if (c == NULL)
    return;
  // The previous wait succeeded.
  if (c->waiting)
    c->pending = false;
  c->waiting = true;
  c->own = ctx->failure_is_an_option == 1;
}

static int fut_after_wait(int rc) {
  struct fut_context *c = fut_current();
  if (rc != 0 && c != NULL) {
    c->waiting = false;
    c->waited = true;
  }
  return rc;
}

// An outcome of the pending work.
static void fut_outcome(struct fut_context *c) {
  c->outcomes++;
  c->calls.n = c->checking.n = 0;
}

static void fut_add_call(struct fut_calls *to, uint32_t number) {
  for (uint32_t i = 0; i < to->n && i < FUT_MOST_CALLS; i++)
    if (to->numbers[i] == number)
      return;
  if (to->n < FUT_MOST_CALLS)
    to->numbers[to->n] = number;
  if (to->n <= FUT_MOST_CALLS)
    to->n++;
}

// Records the pending work after a call that succeeded. complete_before_failure (pending.c).
static void fut_record(struct fut_context *c) {
  if (c->waiting)  // for the work of earlier calls; its own may have started after that
    fut_outcome(c);
  if (!c->leaves)
    return;
  fut_add_call(&c->calls, c->number);
  if (c->ctx->failure_is_an_option == 0)
    c->checking.n = 0;
  else if (c->ctx->failure_is_an_option != FUT_BEFORE_CALL)
    fut_add_call(&c->checking, c->number);
}

// Waits. A macro, so that the wait happens in the wrapper: planted faults of the conformance program
// identify wrappers by `__func__`.
#define fut_wait(ctx) (fut_before_wait(ctx), fut_after_wait(futhark_context_sync(ctx)))

// The call that caused the failure. a_call_with_an_internal_wait_reports_its_own_failure (earlier.rs).
static uint32_t fut_origin(const struct fut_context *c, const struct fut_failure *f) {
  if (c->checked && !c->pending)
    return FUT_OF_CALL;
  if (c->checked)
    return c->own ? FUT_OF_EITHER : FUT_OF_EARLIER;
  if (c->waited)
    return c->idle ? FUT_OF_EARLIER : FUT_OF_EITHER;
#if FUT_HAS_CURRENT
  // Functions of CUDA and HIP that start work also return errors of earlier work.
  if (f->cause == FUT_CAUSE_UNKNOWN && f->words == NULL && !c->memory)
    return FUT_OF_EITHER;
#else
  (void)f;
#endif
  return FUT_OF_CALL;
}

// Which calls a failure can belong to: a failed check of the program only to those that started kernels with checks. If it can be
// an earlier call's, it is an outcome of all pending work. all_possibly_failed_calls_are_named (earlier.rs).
static void fut_attribute(struct fut_context *c, uint32_t which) {
  struct fut_failure *f = &c->failures[which];
  if (f->origin == FUT_OF_CALL)
    return;
  bool by_check = f->cause == FUT_CAUSE_PROGRAM;
  const struct fut_calls *from = by_check ? &c->checking : &c->calls;
  struct fut_calls *to = &c->suspects[which];
  to->n = 0;
  bool known = from->n <= FUT_MOST_CALLS;
  for (uint32_t i = 0; known && i < from->n; i++)
    if (f->origin == FUT_OF_EARLIER || from->numbers[i] != c->number)
      fut_add_call(to, from->numbers[i]);
  f->suspects = to->n > 0 ? to->numbers : NULL;
  f->n_suspects = to->n;
  // If no call is pending, the wait itself failed.
  if (known && to->n == 0 && !(by_check && f->origin == FUT_OF_EARLIER))
    f->origin = FUT_OF_CALL;
  f->invalidates = c->outcomes + 1;
  fut_outcome(c);
}

// Whether a kernel can have failed, in this call or before it. If a function of the API refused its
// arguments, it started none, and then the wait of `fut_settle` tells of earlier ones.
// results_before_a_failure_on_the_host_are_complete (earlier.rs).
static bool fut_kernel_failed(const struct fut_context *c, bool waited, bool checked, const struct fut_failure *f) {
  bool refused = f->cause == FUT_CAUSE_SIZES || f->cause == FUT_CAUSE_ARGUMENT;
  return waited || checked || c->direct || !refused;
}
#endif
