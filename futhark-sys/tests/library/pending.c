// Calls of a GPU backend whose work is pending when they return: programs/errors/parallel.fut.

#include "parallel.h"

#include "client.h"

static struct futhark_i32_1d *four;

// The call succeeds; on the device it fails if the index is not less than 4.
static struct futhark_i32_1d *start(int64_t index) {
  struct futhark_i32_1d *out = NULL;
  CHECK(futhark_entry_gather(ctx, &out, four, futhark_new_i64_1d(ctx, &index, 1)) == 0 && out != NULL);
  return out;
}

static void new_four(void) {
  new_context();
  four = futhark_new_i32_1d(ctx, (int32_t[]){1, 2, 3, 4}, 4);
}

// The text of an earlier error is not fetched. A wait reports its own failure, and nothing else.
static void wait_after_error(void) {
  int32_t x;
  new_four();
  CHECK(futhark_index_i32_1d(ctx, &x, four, 4) == 1);
  start(3);
  CHECK(futhark_context_sync(ctx) == 0);
  start(4);
  CHECK(futhark_context_sync(ctx) == FUTHARK_PROGRAM_ERROR && futhark_context_sync(ctx) == 0);
  CHECK(take_error() && !take_error());
  start(4);
  CHECK(FAILS(futhark_context_sync(ctx)) == FUTHARK_PROGRAM_ERROR);
  CHECK(strstr(last_error, "Index [4] out of bounds for array of shape [4]") != NULL);
}

// A call that fails on the host waits for what is pending, so a later failure leaves the results of calls before it as they are.
static void complete_before_failure(void) {
  int32_t x;
  new_four();
  struct futhark_i32_1d *early = start(2);
  CHECK(futhark_index_i32_1d(ctx, &x, four, 4) == 1);
  struct futhark_i32_1d *bad = start(4);
  CHECK(FAILS(futhark_values_i32_1d(ctx, bad, &x)) == FUTHARK_PROGRAM_ERROR);
  CHECK(FAILS(futhark_values_i32_1d(ctx, bad, &x)) == FUTHARK_PROGRAM_ERROR);
  CHECK(strstr(last_error, "was not written") != NULL);
  CHECK(futhark_values_i32_1d(ctx, early, &x) == 0 && x == 3);
}

CASES(HARDENED(wait_after_error), HARDENED(complete_before_failure))
