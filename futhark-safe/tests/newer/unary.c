// What unary.json declares and an older compiler does not write, by hand, with the C API of 0.27.1.

// The only value of a type without components.
struct futhark_opaque_single {
    char dummy;
};

static int newer_single(struct futhark_opaque_single **out) {
  *out = malloc(sizeof(struct futhark_opaque_single));
  return FUTHARK_SUCCESS;
}

int futhark_free_opaque_single(struct futhark_context *ctx, struct futhark_opaque_single *obj)
{
    free(obj);
    return 0;
}

int futhark_store_opaque_single(struct futhark_context *ctx, const struct futhark_opaque_single *obj, void **p, size_t *n)
{
    *n = 0;
    if (p != NULL && *p == NULL)
        *p = malloc(*n);
    return 0;
}

struct futhark_opaque_single *futhark_restore_opaque_single(struct futhark_context *ctx, const void *p)
{
    struct futhark_opaque_single *obj;
    return newer_single(&obj) == 0 ? obj : NULL;
}

int futhark_new_opaque_single_only(struct futhark_context *ctx, struct futhark_opaque_single **out)
{
    return newer_single(out);
}

int futhark_destruct_opaque_single_only(struct futhark_context *ctx, const struct futhark_opaque_single *obj)
{
    return FUTHARK_SUCCESS;
}

int futhark_variant_opaque_single(struct futhark_context *ctx, const struct futhark_opaque_single *v)
{
    return 0;
}

int futhark_entry_single(struct futhark_context *ctx, struct futhark_opaque_single **out0, const int32_t in0)
{
    int ret;
    lock_lock(&ctx->lock);
    ret = newer_single(out0);
    lock_unlock(&ctx->lock);
    return ret;
}

int futhark_entry_of_single(struct futhark_context *ctx, int32_t *out0, const struct futhark_opaque_single *in0)
{
    lock_lock(&ctx->lock);
    *out0 = 7;
    lock_unlock(&ctx->lock);
    return 0;
}

// The second field of the record has no component.
int futhark_new_opaque_holder(struct futhark_context *ctx, struct futhark_opaque_holder **out, const int32_t f_n, const struct futhark_opaque_single *f_s)
{
    return newer_new_holder(ctx, out, f_n);
}

int futhark_project_opaque_holder_s(struct futhark_context *ctx, struct futhark_opaque_single **out, const struct futhark_opaque_holder *obj)
{
    return newer_single(out);
}

// Sums with the layout of their payload.
int futhark_new_opaque_payload_some(struct futhark_context *ctx, struct futhark_opaque_payload **out, const int32_t v0, const double v1)
{
    return futhark_new_opaque_payload(ctx, out, v0, v1);
}

int futhark_destruct_opaque_payload_some(struct futhark_context *ctx, int32_t *v0, double *v1, const struct futhark_opaque_payload *obj)
{
    int ret = futhark_project_opaque_payload_a(ctx, v0, obj);

    return ret == 0 ? futhark_project_opaque_payload_b(ctx, v1, obj) : ret;
}

int futhark_variant_opaque_payload(struct futhark_context *ctx, const struct futhark_opaque_payload *v)
{
    return 0;
}

int futhark_new_opaque_row_wrap(struct futhark_context *ctx, struct futhark_opaque_row **out, const struct futhark_i32_1d *v0)
{
    return futhark_new_opaque_row(ctx, out, v0);
}

int futhark_destruct_opaque_row_wrap(struct futhark_context *ctx, struct futhark_i32_1d **v0, const struct futhark_opaque_row *obj)
{
    return futhark_project_opaque_row_xs(ctx, v0, obj);
}

int futhark_variant_opaque_row(struct futhark_context *ctx, const struct futhark_opaque_row *v)
{
    return 0;
}

NEWER(arr1d_payload, payload, 1,
      NEWER_MAKE_SCALAR(v0, dims, 1) NEWER_MAKE_SCALAR(v1, dims, 1),
      NEWER_WRITE_SCALAR(v0) NEWER_WRITE_SCALAR(v1))
