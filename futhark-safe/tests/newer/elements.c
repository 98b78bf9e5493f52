// The functions of the arrays of elements.fut; see arrays.c.
NEWER(arr1d_pt, pt, 1,
      NEWER_MAKE_SCALAR(v0, dims, 1) NEWER_MAKE_SCALAR(v1, dims, 1),
      NEWER_WRITE_SCALAR(v0) NEWER_WRITE_SCALAR(v1))
NEWER(arr2d_pt, pt, 2,
      NEWER_MAKE_SCALAR(v0, dims, 2) NEWER_MAKE_SCALAR(v1, dims, 2),
      NEWER_WRITE_SCALAR(v0) NEWER_WRITE_SCALAR(v1))
NEWER(arr1d_row, row, 1,
      NEWER_MAKE_ARRAY(v1, dims, 1, 1, 4) NEWER_MAKE_SCALAR(v0, dims, 1),
      NEWER_WRITE_ARRAY(v1, 1, 1, 4) NEWER_WRITE_SCALAR(v0))
NEWER(arr1d_block, block, 1,
      NEWER_MAKE_ARRAY(v0, dims, 1, 2, 1),
      NEWER_WRITE_ARRAY(v0, 1, 2, 1))
NEWER(arr1d_shape, shape, 1,
      NEWER_MAKE_ARRAY(v1, dims, 1, 1, 4) NEWER_MAKE_SCALAR(v0, dims, 1) NEWER_MAKE_SCALAR(v2, dims, 1),
      NEWER_WRITE_ARRAY(v1, 1, 1, 4) NEWER_WRITE_SCALAR(v0) NEWER_WRITE_SCALAR(v2))
