// Mistakes of callers, which the hardened library reports as errors: programs/bridges/everything.fut.

#include "everything.h"

#include "client.h"

typedef struct futhark_i32_1d *i32s;

static const int32_t numbers[4] = {10, 20, 30, 40};

static i32s new_numbers(void) {
  i32s xs = futhark_new_i32_1d(ctx, numbers, 4);
  CHECK(xs != NULL);
  return xs;
}

// The value still has the numbers, and is then freed.
static void unchanged(i32s xs) {
  int32_t got[4];
  OK(futhark_values_i32_1d(ctx, xs, got));
  CHECK(futhark_shape_i32_1d(ctx, xs)[0] == 4 && memcmp(got, numbers, sizeof got) == 0);
  OK(futhark_free_i32_1d(ctx, xs));
}

static int32_t at(i32s xs, int64_t i) {
  int32_t x;
  OK(futhark_entry_at(ctx, &x, xs, i));
  return x;
}

// Frees the context.
static void usable(struct futhark_context *context) {
  ctx = context;
  i32s xs = new_numbers();
  CHECK(at(xs, 2) == 30);
  unchanged(xs);
  futhark_context_free(ctx);
}

// Every function refuses the handle.
static void refused(i32s xs) {
  int32_t x = -777, got[4] = {-777, -777, -777, -777};
  i32s out = NULL;
  FAILS(futhark_values_i32_1d(ctx, xs, got));
  FAILS(futhark_index_i32_1d(ctx, &x, xs, 0));
  FAILS(futhark_entry_at(ctx, &x, xs, 0));
  FAILS(futhark_entry_same(ctx, &out, xs));
  FAILS(futhark_entry_cleared(ctx, &out, xs, 0));
  RETURNS_NULL(futhark_shape_i32_1d(ctx, xs));
  RETURNS_NULL(futhark_values_raw_i32_1d(ctx, xs));
  CHECK(out == NULL && x == -777 && got[0] == -777 && got[3] == -777);
}

static void use_after_consumption(void) {
  new_context();
  i32s xs = new_numbers(), ys = NULL, zs = new_numbers();
  OK(futhark_entry_cleared(ctx, &ys, xs, 1));
  refused(xs);
  OK(futhark_free_i32_1d(ctx, xs) || futhark_free_i32_1d(ctx, ys));
  // A call that fails after it has started consumes its argument, too.
  FAILS(futhark_entry_cleared(ctx, &ys, zs, 4));
  refused(zs);
  OK(futhark_free_i32_1d(ctx, zs));
  usable(ctx);
}

static void alias_consumed(void) {
  new_context();
  i32s xs = new_numbers(), same, cleared;
  OK(futhark_entry_same(ctx, &same, xs) || futhark_entry_cleared(ctx, &cleared, xs, 0));
  CHECK(at(cleared, 0) == 0);
  unchanged(same);
  OK(futhark_free_i32_1d(ctx, xs) || futhark_free_i32_1d(ctx, cleared));
  usable(ctx);
}

static void constant_consumed(void) {
  new_context();
  i32s table, again, cleared;
  OK(futhark_entry_table(ctx, &table, 0) || futhark_entry_cleared(ctx, &cleared, table, 2));
  OK(futhark_entry_table(ctx, &again, 0));
  CHECK(at(cleared, 2) == 0 && at(again, 2) == 30);
}

static void use_after_free(void) {
  new_context();
  struct futhark_opaque_shape *circle;
  double r = -777;
  i32s xs = new_numbers();
  OK(futhark_new_opaque_shape_circle(ctx, &circle, 2));
  OK(futhark_free_i32_1d(ctx, xs) || futhark_free_opaque_shape(ctx, circle));
  refused(xs);
  FAILS(futhark_destruct_opaque_shape_circle(ctx, &r, circle));
  CHECK(futhark_variant_opaque_shape(ctx, circle) == -1 && r == -777);
  FAILS(1);
  usable(ctx);
}

static void double_free(void) {
  new_context();
  struct futhark_opaque_point *point;
  i32s xs = new_numbers();
  OK(futhark_new_opaque_point(ctx, &point, 1, 2));
  OK(futhark_free_i32_1d(ctx, xs) || futhark_free_opaque_point(ctx, point));
  FAILS(futhark_free_i32_1d(ctx, xs));
  FAILS(futhark_free_opaque_point(ctx, point));
  usable(ctx);
}

static void value_of_another_context(void) {
  struct futhark_context *first = new_context();
  i32s xs = new_numbers();
  struct futhark_context *second = new_context();
  refused(xs);
  FAILS(futhark_free_i32_1d(ctx, xs));
  ctx = first;
  unchanged(xs);
  usable(second);
}

static void value_of_another_type(void) {
  new_context();
  double x = -777;
  struct futhark_opaque_point *point;
  i32s xs = new_numbers();
  OK(futhark_new_opaque_point(ctx, &point, 1, 2));
  refused((i32s)point);
  FAILS(futhark_free_i32_1d(ctx, (i32s)point));
  FAILS(futhark_project_opaque_point_x(ctx, &x, (struct futhark_opaque_point *)xs));
  unchanged(xs);
  CHECK(x == -777);
  OK(futhark_project_opaque_point_x(ctx, &x, point));
}

static void null_handles(void) {
  new_context();
  struct futhark_opaque_polygon *polygon = NULL;
  struct futhark_opaque_arr1d_point *points = NULL;
  struct futhark_opaque_point *point = NULL;
  double x = -777;
  void *bytes = NULL;
  size_t n;
  refused(NULL);
  OK(futhark_free_i32_1d(ctx, NULL) || futhark_free_opaque_point(ctx, NULL));
  FAILS(futhark_new_opaque_polygon(ctx, &polygon, NULL, 1, NULL));
  FAILS(futhark_zip_opaque_arr1d_point(ctx, &points, NULL, NULL));
  FAILS(futhark_index_opaque_arr1d_point(ctx, &point, NULL, 0));
  FAILS(futhark_project_opaque_point_x(ctx, &x, NULL));
  FAILS(futhark_store_opaque_point(ctx, NULL, &bytes, &n));
  FAILS(futhark_destruct_opaque_shape_circle(ctx, &x, NULL));
  CHECK(futhark_variant_opaque_shape(ctx, NULL) == -1);
  FAILS(1);
  RETURNS_NULL(futhark_shape_opaque_arr1d_point(ctx, NULL));
  CHECK(FAILS(futhark_index_i32_1d(ctx, NULL, new_numbers(), 3)) == FUTHARK_PROGRAM_ERROR);
  CHECK(FAILS(futhark_entry_answer(ctx, NULL)) == FUTHARK_PROGRAM_ERROR);
  CHECK(!polygon && !points && !point && x == -777 && !bytes);
  usable(ctx);
}

static void null_context(void) {
  int32_t x = -777;
  CHECK(futhark_new_i32_1d(NULL, numbers, 4) == NULL && futhark_context_report(NULL) == NULL);
  CHECK(futhark_entry_answer(NULL, &x) != 0 && x == -777 && futhark_context_sync(NULL) != 0);
  futhark_context_free(NULL);
  futhark_context_config_free(NULL);
}

static void context_freed_first(void) {
  struct futhark_context *freed = new_context();
  int32_t x = -777;
  i32s xs = new_numbers(), ys = new_numbers();
  futhark_context_free(freed);
  CHECK(futhark_entry_at(freed, &x, xs, 0) != 0 && x == -777 && futhark_new_i32_1d(freed, numbers, 4) == NULL);
  CHECK(futhark_free_i32_1d(freed, xs) == 0 && futhark_context_sync(freed) != 0);
  CHECK(futhark_free_i32_1d(freed, ys) == 0);
  usable(new_context());
}

static void configuration_of_several_contexts(void) {
  struct futhark_context_config *cfg = new_config();
  struct futhark_context *a = futhark_context_new(cfg), *b = futhark_context_new(cfg);
  futhark_context_config_free(cfg);
  usable(a);
  usable(b);
}

static void invalid_dimensions(void) {
  new_context();
  RETURNS_NULL(futhark_new_i32_1d(ctx, numbers, -1));
  RETURNS_NULL(futhark_new_i32_1d(ctx, numbers, (int64_t)1 << 62));
  RETURNS_NULL(futhark_new_i32_2d(ctx, numbers, -2, -2));
  RETURNS_NULL(futhark_new_i32_2d(ctx, numbers, 0, -2));
  RETURNS_NULL(futhark_new_i32_2d(ctx, numbers, (int64_t)1 << 33, (int64_t)1 << 31));
  RETURNS_NULL(futhark_new_raw_i32_1d(ctx, (unsigned char *)numbers, -1));
  usable(ctx);
}

static void out_of_memory(void) {
  new_context();
  struct futhark_opaque_arr1d_light *lights = NULL;
#if defined(FUTHARK_BACKEND_c) || defined(FUTHARK_BACKEND_multicore)
  RETURNS_NULL(futhark_new_i32_1d(ctx, numbers, (int64_t)1 << 44));  // fails before it reads; a driver reads first
#endif
  CHECK(FAILS(futhark_entry_lights(ctx, &lights, (int64_t)1 << 44)) == FUTHARK_OUT_OF_MEMORY && lights == NULL);
  usable(ctx);
}

static void wrong_variant(void) {
  new_context();
  struct futhark_opaque_shape *circle;
  struct futhark_f64_1d *path = NULL;
  int64_t n = -777;
  double r;
  bool flag;
  OK(futhark_new_opaque_shape_circle(ctx, &circle, 2));
  CHECK(FAILS(futhark_destruct_opaque_shape_label(ctx, &n, &flag, circle)) == FUTHARK_PROGRAM_ERROR);
  FAILS(futhark_destruct_opaque_shape_path(ctx, &path, circle));
  OK(futhark_destruct_opaque_shape_circle(ctx, &r, circle));
  CHECK(n == -777 && path == NULL && r == 2);
}

// A text that is not fetched neither makes later calls fail nor gets lost.
static void error_not_fetched(void) {
  new_context();
  int32_t x;
  i32s xs = new_numbers();
  struct futhark_opaque_arr1d_light *lights;
  CHECK(futhark_entry_at(ctx, &x, xs, 11) != 0 && futhark_context_sync(ctx) == 0);
  CHECK(futhark_entry_lights(ctx, &lights, 5) == 0 && futhark_free_opaque_arr1d_light(ctx, lights) == 0);
  CHECK(futhark_entry_at(ctx, &x, xs, 12) != 0);
  CHECK(take_error() && strstr(last_error, "[11]") != NULL);
  while (take_error())
    ;
  usable(ctx);
}

static void *fail_in_thread(void *xs) {
  int32_t x;
  CHECK(futhark_entry_at(ctx, &x, xs, 12) != 0 && take_error() && strstr(last_error, "[12]") != NULL);
  CHECK(futhark_entry_at(ctx, &x, xs, 13) != 0);
  return NULL;
}

// A thread gets the text of its own failure. One that has ended without fetching a text affects no other.
static void error_of_another_thread(void) {
  new_context();
  int32_t x;
  i32s xs = new_numbers();
  pthread_t thread;
  CHECK(futhark_entry_at(ctx, &x, xs, 11) != 0);
  CHECK(pthread_create(&thread, NULL, fail_in_thread, xs) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(take_error() && strstr(last_error, "[11]") != NULL);
  while (take_error())
    ;
  usable(ctx);
}

// A forked child has no worker threads: its calls fail or work, but do not hang. The parent's context remains usable.
static void forked_child(void) {
  new_context();
  struct futhark_opaque_arr1d_light *lights, *next;
  OK(futhark_entry_lights(ctx, &lights, 100000));
  int status;
  pid_t child = fork();
  if (child == 0) {
    CHECK(futhark_entry_next_lights(ctx, &next, lights) == 0 || take_error());
    while (take_error())
      ;
    futhark_context_free(ctx);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(futhark_entry_next_lights(ctx, &next, lights));
  usable(ctx);
}

// More threads than the address space of this process can have: `new` works with fewer, or fails.
static void missing_threads(void) {
#ifdef FUTHARK_BACKEND_multicore
  struct futhark_context_config *cfg = futhark_context_config_new();
  futhark_context_config_set_num_threads(cfg, 100000);
  ctx = futhark_context_new(cfg);
  CHECK(ctx != NULL);
  if (take_error())
    FAILS(futhark_entry_answer(ctx, &(int32_t){0}));
  else
    OK(futhark_entry_answer(ctx, &(int32_t){0}));
  futhark_context_free(ctx);
#endif
  usable(new_context());
}

CASES(HARDENED(use_after_consumption), HARDENED(alias_consumed), HARDENED(constant_consumed), HARDENED(use_after_free),
      HARDENED(double_free), HARDENED(value_of_another_context), HARDENED(value_of_another_type),
      HARDENED(null_handles), HARDENED(null_context), HARDENED(context_freed_first),
      HARDENED(configuration_of_several_contexts), HARDENED(invalid_dimensions), HARDENED(out_of_memory),
      HARDENED(wrong_variant), HARDENED(error_not_fetched), HARDENED(error_of_another_thread),
      HARDENED_ON_MULTICORE(forked_child), HARDENED_ON_MULTICORE(missing_threads))
