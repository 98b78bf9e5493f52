// Failures that end a process with the plain library: failures.fut, which has the entry points of programs/kills.

#include "failures.h"

#include "client.h"

// A scalar, or the sum of an array's elements and of 1000 for each element of its shape.
static int64_t result;

// Defines a function that calls the entry point of its name, and leaves the result in `result`.
#define SCALAR(f, type, parameters, ...)                             \
  static int f parameters {                                          \
    type x = -777;                                                   \
    int code = futhark_entry_##f(ctx, &x, __VA_ARGS__);              \
    CHECK(code == 0 || x == -777);                                   \
    result = x;                                                      \
    return code;                                                     \
  }
#define ARRAY(f, array, type, rank, parameters, ...)                 \
  static int f parameters {                                          \
    struct futhark_##array *out = NULL;                              \
    int code = futhark_entry_##f(ctx, &out, __VA_ARGS__);            \
    CHECK((code == 0) == (out != NULL));                             \
    if (code != 0)                                                   \
      return code;                                                   \
    const int64_t *shape = futhark_shape_##array(ctx, out);          \
    type values[100];                                                \
    int64_t size = 1;                                                \
    result = 0;                                                      \
    for (int i = 0; i < rank; i++) {                                 \
      CHECK(0 <= shape[i] && shape[i] <= 10);                        \
      size *= shape[i];                                              \
      result += 1000 * shape[i];                                     \
    }                                                                \
    OK(futhark_values_##array(ctx, out, values));                    \
    OK(futhark_context_sync(ctx));                                   \
    for (int64_t i = 0; i < size; i++)                               \
      result += values[i];                                           \
    return futhark_free_##array(ctx, out);                           \
  }

typedef const struct futhark_i64_1d *i64s;
typedef const struct futhark_i32_1d *i32s;

SCALAR(huge_scatter, int32_t, (int64_t n, i64s is, i32s vs), n, is, vs)
ARRAY(huge_size, i32_1d, int32_t, 1, (int64_t n), n, 7)
ARRAY(huge_size_2d, i64_2d, int64_t, 2, (int64_t n, int64_t m), n, m)
SCALAR(huge_size_in_map, int64_t, (int64_t bad, int64_t size), 4000, bad, size)
ARRAY(rest_of_three, i64_1d, int64_t, 1, (int64_t x), x)
ARRAY(rest_of_five, i64_1d, int64_t, 1, (int64_t x), x)
SCALAR(kept_of_few, int64_t, (int64_t least), least)
SCALAR(divide, int64_t, (int64_t a, int64_t b), a, b)
SCALAR(divide_down, int32_t, (int32_t a, int32_t b), a, b)
SCALAR(remainder_down, int32_t, (int32_t a, int32_t b), a, b)
SCALAR(min_by_minus_one_in_map, int64_t, (i64s xs, i64s ys, int64_t bad), 20000, xs, ys, bad)
ARRAY(negative_size, i32_1d, int32_t, 1, (int64_t n), n, 7)
SCALAR(negative_start, int64_t, (int64_t i), i, 7)
SCALAR(negative_size_in_map, int64_t, (int64_t bad, int64_t size), 4000, bad, size)
ARRAY(make, i32_2d, int32_t, 2, (int64_t n, int64_t m), n, m)
SCALAR(used, int32_t, (int64_t n, int64_t m), n, m)
ARRAY(joined, i32_1d, int32_t, 1, (int64_t n, int64_t m), n, m)
ARRAY(negative_units, i32_2d, int32_t, 2, (int64_t n), n)
ARRAY(out_of_memory, i64_1d, int64_t, 1, (int64_t n), n, 7)
SCALAR(out_of_memory_in_map, int64_t, (int64_t bad, int64_t size), 4000, bad, size)
SCALAR(sizes_in_function, int64_t, (int64_t bad, int64_t size), 4000, bad, size)
SCALAR(at_index, int32_t, (i32s xs, int64_t n, int64_t m, int64_t i, int64_t j), xs, n, m, i, j)
ARRAY(rotated_slice, i64_1d, int64_t, 1, (i64s xs, int64_t k), xs, k)
ARRAY(backwards, i32_1d, int32_t, 1, (i32s xs, int64_t i, int64_t j), xs, i, j)

static const int32_t four[4] = {1, 2, 3, 4};

// Values of the present context.
static struct futhark_i32_1d *new_four(void) {
  return futhark_new_i32_1d(ctx, four, 4);
}

static i64s pair(int64_t a, int64_t b) {
  return futhark_new_i64_1d(ctx, (int64_t[]){a, b}, 2);
}

// After a failure the context is usable, or it is lost: then every call fails. Its values can be freed, and a new context
// is usable.
#define KILLS(bad, good, expected)                  \
  do {                                              \
    new_context();                                  \
    struct futhark_i32_1d *kept = new_four();       \
    OK(good);                                       \
    CHECK(result == expected);                      \
    FAILS(bad);                                     \
    int code = good;                                \
    CHECK((code != 0) == take_error());          \
    CHECK(code != 0 || result == expected);         \
    CHECK(futhark_free_i32_1d(ctx, kept) == 0);     \
    futhark_context_free(ctx);                      \
    new_context();                                  \
    OK(good);                                       \
    CHECK(result == expected);                      \
    futhark_context_free(ctx);                      \
  } while (0)
#define POWER(n) ((int64_t)1 << (n))

static const int64_t inside = 2, beyond = 1000;
static const int32_t nine = 9;
#define SCATTER(n, i) huge_scatter(n, futhark_new_i64_1d(ctx, &i, 1), futhark_new_i32_1d(ctx, &nine, 1))
static void kills_huge_scatter(void) { KILLS(SCATTER(POWER(62) + 1, beyond), SCATTER(4, inside), 9); }

static void kills_huge_size(void) {
  KILLS(huge_size(POWER(62)), huge_size(2), 2014);
  KILLS(huge_size(INT64_MAX), huge_size(2), 2014);
}

static void kills_huge_size_2d(void) {
  KILLS(huge_size_2d(POWER(33), POWER(31)), huge_size_2d(2, 2), 4001);
  KILLS(huge_size_2d(-3, 2), huge_size_2d(2, 2), 4001);
}

static void kills_huge_size_in_map(void) {
  KILLS(huge_size_in_map(0, POWER(62)), huge_size_in_map(-1, 8), 8002000);
  KILLS(huge_size_in_map(3999, INT64_MAX), huge_size_in_map(-1, 8), 8002000);
}

static void kills_known_sizes(void) {
  KILLS(rest_of_three(1), rest_of_five(1), 1001);
  KILLS(kept_of_few(1), rest_of_five(1), 1001);
}

static void kills_min_by_minus_one(void) {
  KILLS(divide(INT64_MIN, -1), divide(INT64_MIN + 1, -1), INT64_MAX);
  KILLS(divide_down(INT32_MIN, -1), divide_down(INT32_MIN, 3), -715827883);
  KILLS(remainder_down(INT32_MIN, -1), remainder_down(INT32_MIN, 3), -2);
}

#define QUOTIENTS(a, b, bad) min_by_minus_one_in_map(pair(6, a), pair(2, b), bad)
static void kills_min_by_minus_one_in_map(void) {
  KILLS(QUOTIENTS(INT64_MIN, -1, 19999), QUOTIENTS(9, 3, 77), 60000);
  KILLS(QUOTIENTS(INT64_MIN, -1, 1), QUOTIENTS(9, 3, 77), 60000);
}

static void kills_negative_size(void) {
  KILLS(negative_size(-5), negative_size(3), 3021);
  KILLS(negative_size(INT64_MIN), negative_size(0), 0);
}

static void kills_negative_size_in_map(void) {
  KILLS(negative_size_in_map(0, -5), negative_size_in_map(-1, 8), 8002000);
  KILLS(negative_size_in_map(3999, -5), negative_size_in_map(-1, 8), 8002000);
}

static void kills_negative_sizes(void) {
  KILLS(make(-5, -3), make(2, 3), 5042);
  KILLS(make(-5000, -5000), make(0, 3), 3000);
  KILLS(used(-5, -3), used(2, 3), 42);
  KILLS(joined(-3, 5), joined(1, 2), 3023);
  KILLS(joined(5, -3), joined(0, 1), 1008);
}

static void kills_negative_start(void) { KILLS(negative_start(0), negative_start(16), 7); }

static void kills_negative_units(void) { KILLS(negative_units(-2), negative_units(2), 4004); }

static void kills_out_of_memory(void) {
  KILLS(out_of_memory(POWER(46)), out_of_memory(2), 2014);
  new_context();
  CHECK(FAILS(out_of_memory(POWER(50))) == FUTHARK_OUT_OF_MEMORY);
  OK(out_of_memory(2)); // The context remains usable.
}

static void kills_out_of_memory_in_map(void) {
  KILLS(out_of_memory_in_map(0, POWER(46)), out_of_memory_in_map(-1, 8), 8002000);
  KILLS(out_of_memory_in_map(3999, POWER(50)), out_of_memory_in_map(-1, 8), 8002000);
}

static i64s rotated_numbers(int64_t n) {
  static const int64_t all[6] = {1, 2, 3, 4, 5, 6};
  return futhark_new_i64_1d(ctx, all, n);
}
static void kills_rotated_slice(void) {
  KILLS(rotated_slice(rotated_numbers(0), 256), rotated_slice(rotated_numbers(6), 1), 6021);
  new_context();
  CHECK(FAILS(rotated_slice(rotated_numbers(0), 256)) == FUTHARK_PROGRAM_ERROR);
  OK(futhark_context_sync(ctx));
}

static void kills_sizes_in_function(void) {
  KILLS(sizes_in_function(0, -5), sizes_in_function(-1, 8), 26233440000);
  KILLS(sizes_in_function(3999, POWER(62)), sizes_in_function(-1, 8), 26233440000);
  KILLS(sizes_in_function(2100, POWER(46)), sizes_in_function(-1, 8), 26233440000);
}

static void kills_wrapping_size(void) {
  KILLS(at_index(new_four(), POWER(62) + 1, 4, 2, 1), at_index(new_four(), 2, 2, 1, 0), 3);
  KILLS(backwards(new_four(), 9, 0), backwards(new_four(), 3, 0), 3009);
}

// A lost context fails every wait, also before the text of the loss was fetched.
static void wait_of_lost_context(void) {
  new_context();
  CHECK(divide(INT64_MIN, -1) == 1 && futhark_context_sync(ctx) == 1);
  CHECK(take_error() && strstr(last_error, "division") != NULL);
  FAILS(futhark_context_sync(ctx));
}

// A failed parallel loop leaves the context usable.
static void parallel_failure(void) {
  enum { N = 20000 }; // Enough for several workers.
  static int64_t indices[N];
  new_context();
  for (int i = 0; i < 3; i++) {
    int32_t x;
    struct futhark_i32_1d *out = NULL;
    indices[N - 1] = 4;
    CHECK(FAILS(futhark_entry_gather(ctx, &out, new_four(), futhark_new_i64_1d(ctx, indices, N))) == 2);
    CHECK(out == NULL && strstr(last_error, "Index [4] out of bounds for array of shape [4]") != NULL);
    indices[N - 1] = 3;
    OK(futhark_entry_gather(ctx, &out, new_four(), futhark_new_i64_1d(ctx, indices, N)));
    OK(futhark_index_i32_1d(ctx, &x, out, N - 1) || futhark_context_sync(ctx));
    CHECK(x == 4);
  }
}

// Frees the array.
static int equals(struct futhark_i32_1d *xs, const int32_t *expected) {
  int32_t got[4];
  OK(futhark_values_i32_1d(ctx, xs, got));
  OK(futhark_context_sync(ctx));
  OK(futhark_free_i32_1d(ctx, xs));
  return memcmp(got, expected, sizeof got) == 0;
}

static struct futhark_i32_1d *plus_one(struct futhark_i32_1d *xs) {
  static const int32_t one = 1;
  struct futhark_i32_1d *sum = NULL;
  OK(futhark_entry_add(ctx, &sum, xs, futhark_new_i32_1d(ctx, &one, 1)));
  OK(futhark_free_i32_1d(ctx, xs));
  return sum;
}

// One value as the consumed and as another argument. Two unique results have memory of their own.
static void one_value_twice(void) {
  new_context();
  struct futhark_i32_1d *xs = new_four(), *sum, *a, *b;
  OK(futhark_entry_add_sized(ctx, &sum, xs, xs));
  CHECK(equals(sum, (int32_t[]){2, 4, 6, 8}));
  OK(futhark_free_i32_1d(ctx, xs));
  xs = new_four();
  OK(futhark_entry_swap(ctx, &a, &b, xs, xs));
  CHECK(equals(plus_one(a), (int32_t[]){2, 3, 4, 5}) && equals(b, four));
}

// Consuming a record or an array does not change what the record was created from, or what the array was stored in.
static void part_consumed(void) {
  new_context();
  struct futhark_i32_1d *xs = new_four(), *inner;
  struct futhark_opaque_holder *holder, *added;
  struct futhark_opaque_slot *slot;
  OK(futhark_new_opaque_holder(ctx, &holder, 7, xs));
  OK(futhark_new_opaque_slot_full(ctx, &slot, xs));
  OK(futhark_entry_add_to_holder(ctx, &added, holder, 100));
  CHECK(equals(plus_one(xs), (int32_t[]){2, 3, 4, 5}));
  OK(futhark_destruct_opaque_slot_full(ctx, &inner, slot));
  CHECK(equals(inner, four));
}

// A call that is refused because of its arguments consumes nothing.
static void refused_call_consumes_nothing(void) {
  new_context();
  struct futhark_i32_1d *xs = new_four(), *three = futhark_new_i32_1d(ctx, four, 3), *out = NULL;
  FAILS(futhark_entry_add_sized(ctx, &out, xs, three));
  FAILS(futhark_entry_given(ctx, &out, -4, xs));
  CHECK(out == NULL && equals(xs, four) && futhark_free_i32_1d(ctx, three) == 0);
}

CASES(HARDENED(kills_huge_scatter), HARDENED(kills_huge_size), HARDENED(kills_huge_size_2d),
      HARDENED(kills_huge_size_in_map), HARDENED(kills_known_sizes),
      HARDENED(kills_min_by_minus_one), HARDENED(kills_min_by_minus_one_in_map),
      HARDENED(kills_negative_size), HARDENED_ON_MULTICORE(kills_negative_size_in_map), HARDENED(kills_negative_sizes),
      HARDENED(kills_negative_start), HARDENED(kills_negative_units), HARDENED(kills_out_of_memory),
      HARDENED_ON_MULTICORE(kills_out_of_memory_in_map), HARDENED(kills_rotated_slice), HARDENED(kills_sizes_in_function),
      HARDENED(kills_wrapping_size), HARDENED(wait_of_lost_context), HARDENED_ON_MULTICORE(parallel_failure), HARDENED(one_value_twice),
      HARDENED(part_consumed), BOTH(refused_call_consumes_nothing))
