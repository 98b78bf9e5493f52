// Elements that plain C rejects, too: elements.fut of futhark-safe/tests/newer, since only newer compilers write `new` and `set`.

#include "elements.h"

#include "client.h"

static struct futhark_opaque_row *new_row(int64_t length) {
  static const float numbers[3] = {1, 2, 3};
  struct futhark_opaque_row *row;
  OK(futhark_new_opaque_row(ctx, &row, 7, futhark_new_f32_1d(ctx, numbers, length)));
  return row;
}

static void rejected_elements(void) {
  new_context();
  struct futhark_opaque_row *rows[3] = {new_row(2), new_row(2), new_row(3)}, *row;
  struct futhark_opaque_arr1d_row *array = NULL;
  CHECK(FAILS(futhark_new_opaque_arr1d_row(ctx, &array, rows, 3)) == 1 && array == NULL);
  OK(futhark_new_opaque_arr1d_row(ctx, &array, rows, 2));
  CHECK(FAILS(futhark_set_opaque_arr1d_row(ctx, array, rows[2], 0)) == 1);
  CHECK(FAILS(futhark_set_opaque_arr1d_row(ctx, array, rows[0], 2)) == 1);
  OK(futhark_set_opaque_arr1d_row(ctx, array, rows[0], 1));
  OK(futhark_index_opaque_arr1d_row(ctx, &row, array, 1));
}

// Only the hardened library rejects these.
static void oversized_elements(void) {
  new_context();
  struct futhark_u8_2d *empty = futhark_new_u8_2d(ctx, NULL, 0, INT64_MAX / 2);
  struct futhark_opaque_block *blocks[3];
  struct futhark_opaque_arr1d_block *array = NULL;
  for (int i = 0; i < 3; i++)
    OK(futhark_new_opaque_block(ctx, &blocks[i], empty));
  CHECK(FAILS(futhark_new_opaque_arr1d_block(ctx, &array, blocks, 3)) == 2 && array == NULL);
  OK(futhark_new_opaque_arr1d_block(ctx, &array, blocks, 2));
}

CASES(BOTH(rejected_elements), HARDENED(oversized_elements))
