// The functions of unary.c.
struct futhark_opaque_single;
int futhark_free_opaque_single(struct futhark_context *ctx, struct futhark_opaque_single *obj);
int futhark_store_opaque_single(struct futhark_context *ctx, const struct futhark_opaque_single *obj, void **p, size_t *n);
struct futhark_opaque_single *futhark_restore_opaque_single(struct futhark_context *ctx, const void *p);
int futhark_new_opaque_single_only(struct futhark_context *ctx, struct futhark_opaque_single **out);
int futhark_destruct_opaque_single_only(struct futhark_context *ctx, const struct futhark_opaque_single *obj);
int futhark_variant_opaque_single(struct futhark_context *ctx, const struct futhark_opaque_single *v);
int futhark_entry_single(struct futhark_context *ctx, struct futhark_opaque_single **out0, const int32_t in0);
int futhark_entry_of_single(struct futhark_context *ctx, int32_t *out0, const struct futhark_opaque_single *in0);
int futhark_new_opaque_holder(struct futhark_context *ctx, struct futhark_opaque_holder **out, const int32_t f_n, const struct futhark_opaque_single *f_s);
int futhark_project_opaque_holder_s(struct futhark_context *ctx, struct futhark_opaque_single **out, const struct futhark_opaque_holder *obj);
int futhark_new_opaque_payload_some(struct futhark_context *ctx, struct futhark_opaque_payload **out, const int32_t v0, const double v1);
int futhark_destruct_opaque_payload_some(struct futhark_context *ctx, int32_t *v0, double *v1, const struct futhark_opaque_payload *obj);
int futhark_variant_opaque_payload(struct futhark_context *ctx, const struct futhark_opaque_payload *v);
int futhark_new_opaque_row_wrap(struct futhark_context *ctx, struct futhark_opaque_row **out, const struct futhark_i32_1d *v0);
int futhark_destruct_opaque_row_wrap(struct futhark_context *ctx, struct futhark_i32_1d **v0, const struct futhark_opaque_row *obj);
int futhark_variant_opaque_row(struct futhark_context *ctx, const struct futhark_opaque_row *v);
