// ispc only, after everything else: what kernels call by a name that the prelude has taken.

// Kernels allocate in their own code, so the route of fut_routes.h must be there for the linker.
#undef memblock_alloc
int memblock_alloc(struct futhark_context *ctx, struct memblock *block, int64_t size, const char *what) {
  return fut_allocate(ctx, block, size, what);
}
