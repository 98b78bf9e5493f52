// After the generated code: where its routed calls arrive (see fut_prelude.h).
//
// Everything here runs inside a guarded call, on multicore and ispc also on workers.

// Our context, on whichever of its threads this is; NULL outside of calls.
static struct fut_context *fut_current(void) {
#if FUT_MULTICORE
  if (fut_self.worker != NULL)
    return (struct fut_context *)((char *)fut_self.worker->crew - offsetof(struct fut_context, crew));
#endif
  return fut_self.guard == NULL ? NULL : fut_self.guard->context;
}

// Marks the call as one that lacked memory, wherever it noticed.
static void fut_note_memory(struct futhark_context *ctx) {
  struct fut_context *c = fut_current();
  if (c == NULL)
    // A plain call: one of the contexts that this thread has lent.
    for (c = fut_self.lent; c != NULL && c->ctx != ctx;)
      c = c->lent_before;
  if (c != NULL)
    __atomic_store_n(&c->memory, 1, __ATOMIC_RELAXED);
}

// A negative dimension is an error of the program. While an error is pending, nothing is
// allocated: the call is about to return.
static int fut_refuse_size(struct futhark_context *ctx, int64_t size, const char *what) {
  if (size < 0 || size == FUT_NO_SIZE) {
    set_error(ctx, msgprintf("Error: an array with a negative dimension cannot be allocated (%s).\n", what));
    return FUTHARK_PROGRAM_ERROR;
  }
  return ctx->error != NULL ? FUTHARK_PROGRAM_ERROR : FUTHARK_SUCCESS;
}

static int fut_allocate(struct futhark_context *ctx, struct memblock *block, int64_t size, const char *what) {
  (void)memblock_unref(ctx, block, what);
  block->mem = NULL;  // what fut_memmove goes by
  int err = fut_refuse_size(ctx, size, what);
  if (err == FUTHARK_SUCCESS)
    err = fut_runtime_memblock_alloc(ctx, block, size, what);
  if (err != FUTHARK_SUCCESS && block->mem != NULL) {
    // Memory was there, but another thread had failed meanwhile.
    free(block->mem);
    block->mem = NULL;
  }
  return err;
}

// Scratch memory of a parallel body. A failure is the context's error, on workers too.
static int fut_lexical_realloc(struct futhark_context *ctx, unsigned char **p, int64_t *old_size, int64_t new_size) {
  int err = fut_refuse_size(ctx, new_size, "scratch memory");
  if (err != FUTHARK_SUCCESS)
    return err;
  unsigned char *fresh = fut_plain_realloc(*p, (size_t)new_size);
  if (fresh == NULL && new_size > 0) {
    fut_note_memory(ctx);
    set_error(ctx, msgprintf("the system has no more memory for this process (%lld bytes were asked for)\n", (long long)new_size));
    return FUTHARK_OUT_OF_MEMORY;
  }
  *p = fresh;
  *old_size = new_size;
  return FUTHARK_SUCCESS;
}

// Blocks of 1 MiB and more that were freed stay in a list for ever; before giving
// up, hand those back to the system and try once more.
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

// A wait whose failure belongs to an earlier call, where our context is not at hand.
static int fut_wait(struct futhark_context *ctx) {
  int rc = futhark_context_sync(ctx);
  struct fut_context *c = fut_current();
  if (rc != 0 && c != NULL)
    c->late = 1;
  return rc;
}

static const char *fut_earlier(struct fut_context *c) {
  if (c->settling && c->message != NULL)
    return c->message;
  return c->ctx == NULL ? NULL : c->ctx->error;
}

#if FUT_GPU_BACKEND
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

// More than the whole device has is not asked for: not every OpenCL driver answers
// that with a code (Oclgrind throws a C++ exception through us).
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

// Some backends report "no memory" by the code alone, which the caller drops.
static int fut_gpu_alloc_failed(struct futhark_context *ctx, int rc, size_t size) {
  if (rc == FUTHARK_SUCCESS)
    return 0;
  fut_note_memory(ctx);
  if (ctx->error == NULL)
    set_error(ctx, msgprintf("the device has no memory for %lld bytes\n", (long long)size));
  return 1;
}
#endif
