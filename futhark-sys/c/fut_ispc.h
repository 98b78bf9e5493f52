// ispc only, after all other code: the functions that kernels call, whose names are macros of the
// prelude.

// Kernels are a separate object, so they call an external function.
#undef memblock_alloc
int memblock_alloc(struct futhark_context *ctx, struct memblock *block, int64_t size, const char *what) {
  return fut_allocate(ctx, block, size, what);
}

// Reports that scratch memory of kernels is missing, or that its size is negative.
#undef lexical_realloc_error
void lexical_realloc_error(struct futhark_context *ctx, size_t size) {
  if (fut_refuse_size(ctx, (int64_t)size, "scratch memory") != FUTHARK_SUCCESS)
    return;
  fut_note_memory(ctx);
  fut_runtime_lexical_realloc_error(ctx, size);
}
