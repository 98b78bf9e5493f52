
// Added by tests/newer.
int futhark_new_opaque_arr1d_pt(struct futhark_context *ctx, struct futhark_opaque_arr1d_pt **out, struct futhark_opaque_pt **elems, int64_t dim0);
int futhark_set_opaque_arr1d_pt(struct futhark_context *ctx, struct futhark_opaque_arr1d_pt *arr, struct futhark_opaque_pt *elem, int64_t i0);
int futhark_new_opaque_arr2d_pt(struct futhark_context *ctx, struct futhark_opaque_arr2d_pt **out, struct futhark_opaque_pt **elems, int64_t dim0, int64_t dim1);
int futhark_set_opaque_arr2d_pt(struct futhark_context *ctx, struct futhark_opaque_arr2d_pt *arr, struct futhark_opaque_pt *elem, int64_t i0, int64_t i1);
int futhark_new_opaque_arr1d_row(struct futhark_context *ctx, struct futhark_opaque_arr1d_row **out, struct futhark_opaque_row **elems, int64_t dim0);
int futhark_set_opaque_arr1d_row(struct futhark_context *ctx, struct futhark_opaque_arr1d_row *arr, struct futhark_opaque_row *elem, int64_t i0);
int futhark_new_opaque_arr1d_block(struct futhark_context *ctx, struct futhark_opaque_arr1d_block **out, struct futhark_opaque_block **elems, int64_t dim0);
int futhark_set_opaque_arr1d_block(struct futhark_context *ctx, struct futhark_opaque_arr1d_block *arr, struct futhark_opaque_block *elem, int64_t i0);
int futhark_new_opaque_arr1d_shape(struct futhark_context *ctx, struct futhark_opaque_arr1d_shape **out, struct futhark_opaque_shape **elems, int64_t dim0);
int futhark_set_opaque_arr1d_shape(struct futhark_context *ctx, struct futhark_opaque_arr1d_shape *arr, struct futhark_opaque_shape *elem, int64_t i0);
