// What the Rust interface checks and a library for C cannot, or does otherwise: the table in docs/library.md. The cases show what
// remains to the caller. programs/bridges/everything.fut.

#include "everything.h"

#include "client.h"

static const int32_t numbers[6] = {10, 20, 30, 40, 50, 60};

// The shape tells how many elements are read and written; the length of the memory is unknown.
static void lengths(void) {
  new_context();
  int32_t got[6] = {-7, -7, -7, -7, -7, -7};
  struct futhark_i32_1d *xs = futhark_new_i32_1d(ctx, numbers, 4);
  OK(futhark_values_i32_1d(ctx, xs, got));
  CHECK(memcmp(got, numbers, 4 * sizeof *got) == 0 && got[4] == -7 && got[5] == -7);
}

static void bytes_of_booleans(void) {
  new_context();
  unsigned char bytes[3] = {0, 1, 2}, got[3];
  struct futhark_bool_1d *xs = futhark_new_bool_1d(ctx, (const bool *)bytes, 3);
  OK(futhark_values_bool_1d(ctx, xs, (bool *)got));
  CHECK(memcmp(got, bytes, 3) == 0);
}

static void stored_bytes(void) {
  new_context();
  struct futhark_opaque_point *p, *q;
  unsigned char *bytes = NULL;
  size_t n;
  double x;
  OK(futhark_new_opaque_point(ctx, &p, 1.5, 2));
  OK(futhark_store_opaque_point(ctx, p, (void **)&bytes, &n));
  double changed = 7;
  for (size_t i = 0; i + 8 <= n; i++)
    if (memcmp(bytes + i, &(double){1.5}, 8) == 0)
      memcpy(bytes + i, &changed, 8);
  CHECK((q = futhark_restore_opaque_point(ctx, bytes)) != NULL);
  OK(futhark_project_opaque_point_x(ctx, &x, q));
  CHECK(x == 7);
}

// A pointer to a freed value is refused, until 64 other values have been freed.
static void reused_handle(void) {
  new_context();
  int32_t x;
  struct futhark_i32_1d *freed = futhark_new_i32_1d(ctx, numbers, 4), *next = NULL;
  OK(futhark_free_i32_1d(ctx, freed));
  int others = 0;
  while (next != freed) {
    FAILS(futhark_entry_at(ctx, &x, freed, 0));
    if (next != NULL)
      OK(futhark_free_i32_1d(ctx, next));
    CHECK((next = futhark_new_i32_1d(ctx, numbers + 1, 4)) != NULL && others++ < 1000);
  }
  CHECK(others > 64);
  OK(futhark_entry_at(ctx, &x, freed, 0));
  CHECK(x == 20);
}

static void functions_without_a_code(void) {
  new_context();
  struct futhark_i32_1d *xs = futhark_new_i32_1d(ctx, numbers, 4);
  CHECK(futhark_new_i32_1d(ctx, NULL, 4) == NULL && take_error());
  CHECK(futhark_shape_i32_1d(ctx, (void *)&xs) == NULL && take_error());
  CHECK(futhark_variant_opaque_shape(ctx, (void *)xs) == -1 && take_error());
}

CASES(BOTH(lengths), BOTH(bytes_of_booleans), BOTH(stored_bytes), HARDENED(reused_handle), HARDENED(functions_without_a_code))
