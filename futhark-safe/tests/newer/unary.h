// The types and functions of unary.c whose declarations futhark.sh cannot read there.
struct futhark_opaque_single;
int futhark_new_opaque_arr1d_payload(struct futhark_context *ctx, struct futhark_opaque_arr1d_payload **out, struct futhark_opaque_payload **elems, int64_t dim0);
int futhark_set_opaque_arr1d_payload(struct futhark_context *ctx, struct futhark_opaque_arr1d_payload *arr, struct futhark_opaque_payload *elem, int64_t i0);
