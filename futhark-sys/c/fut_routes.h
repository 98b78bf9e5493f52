// After the generated code: the targets of its redirected calls (see fut_prelude.h).
//
// Everything here runs inside a guarded call; on multicore and ispc also on worker threads.

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

// Whether the function belongs to this file. `fut_runtime_…` functions belong to the generated
// code.
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
  if (size < 0 || size == FUT_NO_SIZE) {
    set_error(ctx, msgprintf("an array with a negative dimension, or with more bytes than there can be, cannot be allocated (%s)\n", what));
    return FUTHARK_PROGRAM_ERROR;
  }
  return ctx->error != NULL ? FUTHARK_PROGRAM_ERROR : FUTHARK_SUCCESS;
}

// Separate from the generated code, because `fut_set_error` derives the cause from the name of the
// function that calls it.
static int fut_refuse_length(struct futhark_context *ctx) {
  set_error(ctx, msgprintf("an array of negative length cannot be concatenated\n"));
  return FUTHARK_PROGRAM_ERROR;
}

static int fut_refuse_count(struct futhark_context *ctx, int64_t count) {
  if (count < 0)
    set_error(ctx, msgprintf("an array of shape [%lld] cannot be created or used\n", (long long)count));
  else
    set_error(ctx, msgprintf("an array with a negative dimension, or with more elements than there can be, cannot be created or used\n"));
  return FUTHARK_PROGRAM_ERROR;
}

#if FUT_MULTICORE
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

// The texts are valid until the next `fut_fail`.
static struct fut_failure fut_earlier(struct fut_context *c) {
  if (!c->settling && c->ctx != NULL && c->ctx->error != NULL) {
    char *words = __atomic_exchange_n(&c->words, NULL, __ATOMIC_RELAXED);
    fut_fail(c, words, fut_without(fut_copy(c->ctx->error), words));
    return c->failures[0];
  }
  return c->settling ? c->failures[0] : (struct fut_failure){0};
}

#if FUT_GPU_BACKEND
// `failure_is_an_option` is not 0 while kernels that check the program are pending. The runtime sets
// it to 1 and compares it only with 0; 2 means that none of them belongs to the running call.
#define FUT_BEFORE_CALL 2

static void fut_begin(struct fut_context *c) {
  c->pending = c->ctx != NULL && c->ctx->failure_is_an_option != 0;
  if (c->pending)
    c->ctx->failure_is_an_option = FUT_BEFORE_CALL;
  c->idle = c->waited = c->waiting = c->checked = c->direct = false;
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

// Waits. A macro, so that the wait happens in the wrapper: planted faults of the conformance program
// identify wrappers by `__func__`.
#define fut_wait(ctx) (fut_before_wait(ctx), fut_after_wait(futhark_context_sync(ctx)))

static char *fut_failure_msg(struct futhark_context *ctx, int failure_idx, int64_t *args) {
  struct fut_context *c = fut_context_of(ctx);
  if (c != NULL) {
    __atomic_store_n(&c->cause, FUT_CAUSE_PROGRAM, __ATOMIC_RELAXED);
    c->checked = true;
  }
  return fut_runtime_failure_msg(failure_idx, args);
}

static int fut_refuse_launch(struct futhark_context *ctx, int64_t size) {
  if (size < 0 || size == FUT_NO_SIZE)
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

#ifdef FUT_DUMP_FILE_ctx
static int fut_dump_file(const char *file, const void *bytes, size_t n) {
  errno = 0;
  int err = fut_runtime_dump_file(file, bytes, n);
  struct fut_context *c = fut_current();
  if (err != 0 && c != NULL && c->not_dumped == NULL)
    c->not_dumped = fut_text("cannot write the device code to %s: %s", file, strerror(errno));
  return err;
}
#endif

// The call that caused the failure.
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

// Whether a kernel can have failed, in this call or before it. If a function of the API refused its
// arguments, it started none, and then the wait of `fut_settle` tells of earlier ones.
static bool fut_kernel_failed(const struct fut_context *c, bool waited, bool checked, const struct fut_failure *f) {
  bool refused = f->cause == FUT_CAUSE_SIZES || f->cause == FUT_CAUSE_ARGUMENT;
  return waited || checked || c->direct || !refused;
}

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
#else
#define FUT_IDLE(c)
#define fut_origin(c, f) FUT_OF_CALL
#endif
