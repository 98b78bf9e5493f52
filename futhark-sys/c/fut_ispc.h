// ispc only, after everything else: what kernels call by a name that the prelude has taken.

// Kernels allocate in their own code, so the route of fut_routes.h must be there for the linker.
#undef memblock_alloc
int memblock_alloc(struct futhark_context *ctx, struct memblock *block, int64_t size, const char *what) {
  return fut_allocate(ctx, block, size, what);
}

// Scratch memory of kernels could not be had, or less than none was asked for.
#undef lexical_realloc_error
void lexical_realloc_error(struct futhark_context *ctx, size_t size) {
  if (fut_refuse_size(ctx, (int64_t)size, "scratch memory") != FUTHARK_SUCCESS)
    return;
  fut_note_memory(ctx);
  fut_runtime_lexical_realloc_error(ctx, size);
}
