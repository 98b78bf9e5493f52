// The functions of the C API, used as its reference describes: programs/bridges/everything.fut.

#include "everything.h"

#include "client.h"

#define FREE(type, value) OK(futhark_free_##type(ctx, value))

static void configuration(void) {
  struct futhark_context_config *cfg = new_config();
  int32_t x;
  futhark_context_config_set_debugging(cfg, 0);
  futhark_context_config_set_cache_file(cfg, "unused-cache");
  CHECK(futhark_context_config_set_tuning_param(cfg, "no such parameter", 1) != 0);
  for (int i = 0; i < futhark_get_tuning_param_count(); i++)
    CHECK(futhark_context_config_set_tuning_param(cfg, futhark_get_tuning_param_name(i), 32) == 0);
  // A configuration can be used again after its context was freed.
  for (int i = 0; i < 3; i++) {
    ctx = futhark_context_new(cfg);
    OK(futhark_entry_answer(ctx, &x));
    CHECK(x == 42);
    futhark_context_free(ctx);
  }
  futhark_context_config_free(cfg);
}

static void scalars(void) {
  new_context();
  int8_t a; int16_t b; int32_t c; int64_t d; uint8_t e; uint16_t f; uint32_t g; uint64_t h;
  uint16_t i; float j; double k; bool l;
  OK(futhark_entry_scalars(ctx, &a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l, INT8_MAX, -2, 3, INT64_MAX, UINT8_MAX, 5,
                           UINT32_MAX, UINT64_MAX, 0x3800, 0.5f, -2.5, true));
  CHECK(a == INT8_MIN && b == -1 && c == 4 && d == INT64_MIN && e == 0 && f == 6 && g == 0 && h == 0);
  CHECK(i == 0x3e00 && j == 1.5f && k == -1.5 && !l);
}

// Every type of elements: its name, its type in C, two values. f16 has the bits of a NaN and of -0.
#define TYPES(X)                                                                                                      \
  X(i8, int8_t, INT8_MIN, 1) X(i16, int16_t, INT16_MIN, 2) X(i32, int32_t, INT32_MIN, 3) X(i64, int64_t, INT64_MIN, 4) \
  X(u8, uint8_t, UINT8_MAX, 5) X(u16, uint16_t, UINT16_MAX, 6) X(u32, uint32_t, UINT32_MAX, 7)                        \
  X(u64, uint64_t, UINT64_MAX, 8) X(f16, uint16_t, 0x7e01, 0x8000) X(f32, float, -0.5f, 9) X(f64, double, -0.25, 10)   \
  X(bool, bool, true, false)
#define CREATE(name, type, first, second)                                                             \
  const type data_##name[2] = {first, second};                                                        \
  struct futhark_##name##_1d *in_##name = futhark_new_##name##_1d(ctx, data_##name, 2), *out_##name;
#define COMPARE(name, type, first, second)                                                            \
  type got_##name[3];                                                                                 \
  CHECK(futhark_shape_##name##_1d(ctx, out_##name)[0] == 2);                                          \
  OK(futhark_values_##name##_1d(ctx, out_##name, got_##name));                                        \
  OK(futhark_index_##name##_1d(ctx, &got_##name[2], in_##name, 1));                                   \
  OK(futhark_context_sync(ctx));                                                                      \
  CHECK(got_##name[0] == second && got_##name[1] == first && got_##name[2] == second);                \
  FREE(name##_1d, in_##name);                                                                         \
  FREE(name##_1d, out_##name);

static void vectors(void) {
  new_context();
  TYPES(CREATE)
  OK(futhark_entry_vectors(ctx, &out_i8, &out_i16, &out_i32, &out_i64, &out_u8, &out_u16, &out_u32, &out_u64, &out_f16,
                           &out_f32, &out_f64, &out_bool, in_i8, in_i16, in_i32, in_i64, in_u8, in_u16, in_u32, in_u64,
                           in_f16, in_f32, in_f64, in_bool));
  TYPES(COMPARE)
  futhark_context_free(ctx);
}

static void ranks(void) {
  new_context();
  int32_t data[6] = {1, 2, 3, 4, 5, 6}, got[6], x;
  bool bits[6] = {true, false, false, true, true, true}, flipped[6];
  struct futhark_i32_2d *in = futhark_new_i32_2d(ctx, data, 2, 3), *empty = futhark_new_i32_2d(ctx, NULL, 2, 0), *out;
  struct futhark_bool_3d *b = futhark_new_bool_3d(ctx, bits, 1, 3, 2), *c;
  OK(futhark_entry_transposed(ctx, &out, in));
  CHECK(futhark_shape_i32_2d(ctx, out)[0] == 3 && futhark_shape_i32_2d(ctx, out)[1] == 2);
  OK(futhark_values_i32_2d(ctx, out, got));
  OK(futhark_index_i32_2d(ctx, &x, out, 2, 0));
  OK(futhark_entry_flipped(ctx, &c, b));
  CHECK(futhark_shape_bool_3d(ctx, c)[0] == 1 && futhark_shape_bool_3d(ctx, c)[2] == 2);
  OK(futhark_values_bool_3d(ctx, c, flipped) || futhark_context_sync(ctx));
  for (int i = 0; i < 6; i++)
    CHECK(got[i] == data[i / 2 + i % 2 * 3] && flipped[i] == !bits[i]);
  CHECK(x == 3);
  CHECK(FAILS(futhark_index_i32_2d(ctx, &x, out, 0, 2)) == 1);
  CHECK(FAILS(futhark_index_i32_2d(ctx, NULL, out, -1, 0)) == 1);
  FREE(i32_2d, out);
  OK(futhark_entry_transposed(ctx, &out, empty));
  CHECK(futhark_shape_i32_2d(ctx, out)[0] == 0 && futhark_shape_i32_2d(ctx, out)[1] == 2);
  OK(futhark_values_i32_2d(ctx, out, NULL));
}

static void raw_arrays(void) {
  new_context();
  int32_t *memory = calloc(4, sizeof *memory), x;
  memory[3] = 30;
  struct futhark_i32_1d *raw = futhark_new_raw_i32_1d(ctx, (unsigned char *)memory, 4), *same;
  CHECK(raw != NULL && futhark_shape_i32_1d(ctx, raw)[0] == 4);
  OK(futhark_entry_at(ctx, &x, raw, 3));
  OK(futhark_entry_same(ctx, &same, raw));
  CHECK(x == 30 && memcmp(futhark_values_raw_i32_1d(ctx, same), memory, 4 * sizeof *memory) == 0);
  FREE(i32_1d, same);
  FREE(i32_1d, raw);
  CHECK(memory[3] == 30);
  free(memory);
  futhark_context_free(ctx);
}

static void records(void) {
  new_context();
  struct futhark_opaque_point *from, *to, *end;
  struct futhark_opaque_segment *segment, *turned;
  struct futhark_opaque_tup2_bool_arr1d_i32 *pair;
  struct futhark_i32_1d *xs;
  double length, end_x;
  int32_t x, got[2];
  bool ok;
  OK(futhark_new_opaque_point(ctx, &from, 1, 2) || futhark_new_opaque_point(ctx, &to, 4, 6));
  OK(futhark_new_opaque_segment(ctx, &segment, from, to));
  FREE(opaque_point, from);
  OK(futhark_entry_segment_length(ctx, &length, segment));
  OK(futhark_entry_turned(ctx, &turned, segment));
  OK(futhark_project_opaque_segment_from(ctx, &end, turned) || futhark_project_opaque_point_x(ctx, &end_x, end));
  CHECK(length == 5 && end_x == 4);
  // Several results, one of which is a tuple.
  OK(futhark_entry_nested(ctx, &x, &pair, 7, true));
  OK(futhark_project_opaque_tup2_bool_arr1d_i32_0(ctx, &ok, pair));
  OK(futhark_project_opaque_tup2_bool_arr1d_i32_1(ctx, &xs, pair));
  OK(futhark_values_i32_1d(ctx, xs, got) || futhark_context_sync(ctx));
  CHECK(x == 7 && ok && got[0] == 7 && got[1] == -7);
}

static struct futhark_opaque_arr1d_point *new_points(void) {
  double xs[3] = {1, 2, 3}, ys[3] = {10, 20, 30};
  struct futhark_f64_1d *x = futhark_new_f64_1d(ctx, xs, 3), *y = futhark_new_f64_1d(ctx, ys, 3);
  struct futhark_opaque_arr1d_point *points = NULL;
  CHECK(FAILS(futhark_zip_opaque_arr1d_point(ctx, &points, futhark_new_f64_1d(ctx, xs, 2), y)) == 1);
  CHECK(points == NULL);
  OK(futhark_zip_opaque_arr1d_point(ctx, &points, x, y));
  FREE(f64_1d, x);
  return points;
}

static void arrays_of_records(void) {
  new_context();
  double x, xs[3];
  struct futhark_f64_1d *column;
  struct futhark_opaque_point *point = NULL;
  struct futhark_opaque_arr1d_point *points = new_points(), *mirrored;
  OK(futhark_entry_mirrored(ctx, &mirrored, points));
  CHECK(futhark_shape_opaque_arr1d_point(ctx, mirrored)[0] == 3);
  CHECK(FAILS(futhark_index_opaque_arr1d_point(ctx, NULL, points, 3)) == 1);
  OK(futhark_index_opaque_arr1d_point(ctx, &point, mirrored, 2));
  OK(futhark_project_opaque_point_x(ctx, &x, point));
  OK(futhark_project_opaque_arr1d_point_x(ctx, &column, mirrored));
  FREE(opaque_arr1d_point, mirrored);
  OK(futhark_values_f64_1d(ctx, column, xs) || futhark_context_sync(ctx));
  CHECK(x == 30 && xs[0] == 10 && xs[2] == 30);
}

static void sums(void) {
  new_context();
  struct futhark_opaque_shape *circle, *grown, *label, *path, *point;
  struct futhark_opaque_arr1d_light *lights, *next;
  struct futhark_opaque_light *light;
  double radius, size, data[2] = {1.5, 2}, got[2];
  int64_t n;
  bool flag;
  struct futhark_f64_1d *xs = futhark_new_f64_1d(ctx, data, 2), *ys;
  OK(futhark_new_opaque_shape_circle(ctx, &circle, 2) || futhark_new_opaque_shape_label(ctx, &label, -3, true));
  OK(futhark_new_opaque_shape_point(ctx, &point) || futhark_new_opaque_shape_path(ctx, &path, xs));
  // Variants are numbered in the order of their names.
  CHECK(futhark_variant_opaque_shape(ctx, circle) == 0 && futhark_variant_opaque_shape(ctx, label) == 1);
  CHECK(futhark_variant_opaque_shape(ctx, path) == 3 && futhark_variant_opaque_shape(ctx, point) == 4);
  OK(futhark_entry_grown(ctx, &grown, circle));
  OK(futhark_destruct_opaque_shape_circle(ctx, &radius, grown));
  OK(futhark_destruct_opaque_shape_label(ctx, &n, &flag, label));
  OK(futhark_destruct_opaque_shape_path(ctx, &ys, path));
  OK(futhark_destruct_opaque_shape_point(ctx, point));
  OK(futhark_values_f64_1d(ctx, ys, got));
  OK(futhark_entry_size(ctx, &size, path));
  CHECK(radius == 3 && n == -3 && flag && got[0] == 1.5 && got[1] == 2 && size == 3.5);
  FREE(opaque_shape, path);
  OK(futhark_entry_lights(ctx, &lights, 3));
  OK(futhark_entry_next_lights(ctx, &next, lights));
  CHECK(futhark_shape_opaque_arr1d_light(ctx, next)[0] == 3);
  CHECK(FAILS(futhark_index_opaque_arr1d_light(ctx, &light, next, -1)) == 1);
  OK(futhark_index_opaque_arr1d_light(ctx, &light, next, 1) || futhark_context_sync(ctx));
  CHECK(futhark_variant_opaque_light(ctx, light) == 2); // #green, then #yellow
}

static void stored_values(void) {
  new_context();
  int32_t name;
  float weights[2] = {0.5f, 0.25f}, got[2];
  struct futhark_f32_1d *restored;
  struct futhark_opaque_polygon *polygon, *copy;
  OK(futhark_new_opaque_polygon(ctx, &polygon, new_points(), 9, futhark_new_f32_1d(ctx, weights, 2)));
  // The library allocates if `*p` is NULL; without `p` it only returns the size.
  void *bytes = NULL;
  size_t n = 0, size = 0, again = 0;
  OK(futhark_store_opaque_polygon(ctx, polygon, NULL, &size));
  OK(futhark_store_opaque_polygon(ctx, polygon, &bytes, &n));
  CHECK(bytes != NULL && n > 2 * sizeof(float) + 6 * sizeof(double) && size == n);
  void *buffer = malloc(n), *given = buffer;
  OK(futhark_store_opaque_polygon(ctx, polygon, &given, &again) || futhark_context_sync(ctx));
  CHECK(given == buffer && again == n && memcmp(bytes, buffer, n) == 0);
  free(bytes);
  FREE(opaque_polygon, polygon);
  copy = futhark_restore_opaque_polygon(ctx, buffer);
  OK(copy == NULL || futhark_context_sync(ctx));
  memset(buffer, 0, n);
  CHECK(futhark_restore_opaque_polygon(ctx, buffer) == NULL);
  take_error(); // The plain library has none.
  OK(futhark_project_opaque_polygon_name(ctx, &name, copy));
  OK(futhark_project_opaque_polygon_weights(ctx, &restored, copy));
  OK(futhark_values_f32_1d(ctx, restored, got) || futhark_context_sync(ctx));
  CHECK(name == 9 && got[0] == 0.5f && got[1] == 0.25f);
}

static void errors(void) {
  new_context();
  int32_t data[3] = {1, 2, 3}, x = -777;
  double root = -777;
  struct futhark_i32_1d *xs = futhark_new_i32_1d(ctx, data, 3), *ys = futhark_new_i32_1d(ctx, data, 2);
  for (int i = 0; i < 1000; i++) {
    CHECK(FAILS(futhark_entry_at(ctx, &x, xs, 7)) == FUTHARK_PROGRAM_ERROR);
    CHECK(strstr(last_error, "Index [7] out of bounds for array of shape [3]") != NULL);
    CHECK(FAILS(futhark_entry_root(ctx, &root, -1)) == FUTHARK_PROGRAM_ERROR);
    CHECK(strstr(last_error, "Assertion is false") != NULL && x == -777 && root == -777);
  }
  FAILS(futhark_entry_divided(ctx, &x, 1, 0));
  CHECK(strstr(last_error, "division by zero") != NULL);
  CHECK(FAILS(futhark_entry_dot(ctx, &x, xs, ys)) == 1);
  CHECK(strstr(last_error, "invalid size") != NULL);
  // A wait does not report the error of an earlier call.
  CHECK(futhark_index_i32_1d(ctx, &x, xs, 3) == 1 && futhark_context_sync(ctx) == 0 && take_error());
  OK(futhark_entry_dot(ctx, &x, xs, xs));
  CHECK(x == 14);
}

static void reports(void) {
  struct futhark_context_config *cfg = new_config();
  futhark_context_config_set_profiling(cfg, 1);
  futhark_context_config_set_logging(cfg, 1);
  ctx = futhark_context_new(cfg);
  FILE *log = tmpfile();
  struct futhark_opaque_arr1d_light *lights;
  futhark_context_set_logging_file(ctx, log);
  futhark_context_pause_profiling(ctx);
  OK(futhark_entry_lights(ctx, &lights, 1000));
  futhark_context_unpause_profiling(ctx);
  OK(futhark_context_clear_caches(ctx));
  char *report = futhark_context_report(ctx);
  CHECK(report != NULL && report[0] == '{' && strstr(report, "memory") != NULL);
  free(report);
  futhark_context_free(ctx);
  fclose(log);
}

static void *use_from_thread(void *with_errors) {
  int32_t data[64], got[64], x;
  char index[16];
  for (int round = 0; round < 500; round++) {
    for (int i = 0; i < 64; i++)
      data[i] = round + i;
    struct futhark_i32_1d *xs = futhark_new_i32_1d(ctx, data, 64), *ys;
    CHECK(xs != NULL && futhark_entry_cleared(ctx, &ys, xs, 1) == 0);
    CHECK(futhark_values_i32_1d(ctx, ys, got) == 0 && futhark_context_sync(ctx) == 0);
    CHECK(got[0] == round && got[1] == 0 && got[63] == round + 63);
    if (with_errors) {
      snprintf(index, sizeof index, "[%d]", 1000 + round);
      CHECK(futhark_entry_at(ctx, &x, ys, 1000 + round) != 0 && take_error() && strstr(last_error, index) != NULL);
    }
    CHECK(futhark_free_i32_1d(ctx, xs) == 0 && futhark_free_i32_1d(ctx, ys) == 0);
  }
  return NULL;
}

static void run_threads(void *with_errors) {
  pthread_t all[4];
  new_context();
  for (int i = 0; i < 4; i++)
    CHECK(pthread_create(&all[i], NULL, use_from_thread, with_errors) == 0);
  for (int i = 0; i < 4; i++)
    pthread_join(all[i], NULL);
  OK(futhark_context_sync(ctx));
}

static void threads(void) { run_threads(NULL); }

// A thread gets the texts of its own failures.
static void threads_with_errors(void) { run_threads(&ctx); }

// More than have a place in the list of locks that nobody else uses (fut_workers.h).
static void many_contexts(void) {
  enum { N = 150 };
  struct futhark_context *all[N];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < N; i++)
      if (round == 0 || i % 3 == round) {
        struct futhark_context_config *cfg = futhark_context_config_new();
#ifdef FUTHARK_BACKEND_multicore
        futhark_context_config_set_num_threads(cfg, 1);
#endif
        all[i] = futhark_context_new(cfg);
      }
    for (int i = 0; i < N; i++) {
      int32_t x;
      ctx = all[i];
      OK(futhark_entry_answer(ctx, &x));
      CHECK(x == 42 && futhark_context_sync(ctx) == 0);
    }
    for (int i = 0; i < N; i++)
      if (round == 2 || i % 3 == round + 1)
        futhark_context_free(all[i]);
  }
}

CASES(BOTH(configuration), BOTH(scalars), BOTH(vectors), BOTH(ranks), BOTH(raw_arrays), BOTH(records),
      BOTH(arrays_of_records), BOTH(sums), BOTH(stored_values), BOTH(errors), BOTH(reports), BOTH(threads), BOTH(many_contexts),
      UNSAFE(threads_with_errors))
