// Two programs in one process: programs/bridges/everything.fut and failures.fut. With LINKED, this client is also linked
// with both libraries.

#include "everything.h"
#include "failures.h"

#include "client.h"

#include <dlfcn.h>

// A variable NAME_in for the function of the library.
#define FUNCTION(library, name) __typeof__(&name) name##_in = (__typeof__(&name))(intptr_t)dlsym(library, #name)

static struct futhark_context *context_in(void *library) {
  CHECK(library != NULL);
  FUNCTION(library, futhark_context_config_new);
  FUNCTION(library, futhark_context_new);
  FUNCTION(library, futhark_context_get_error);
  struct futhark_context *context = futhark_context_new_in(futhark_context_config_new_in());
  CHECK(context != NULL && futhark_context_get_error_in(context) == NULL);
  return context;
}

static void expect_in(void *library, struct futhark_context *context, struct futhark_i32_1d *xs, const int32_t *expected) {
  FUNCTION(library, futhark_values_i32_1d);
  FUNCTION(library, futhark_free_i32_1d);
  int32_t got[3];
  CHECK(futhark_values_i32_1d_in(context, xs, got) == 0 && memcmp(got, expected, sizeof got) == 0);
  CHECK(futhark_free_i32_1d_in(context, xs) == 0);
}

// Each program has its own constants, entry points and layout of a context.
static void use_both(int mode) {
  void *everything = dlopen(EVERYTHING, RTLD_NOW | mode), *failures = dlopen(FAILURES, RTLD_NOW | mode);
  struct futhark_context *first = context_in(everything), *second = context_in(failures);
  FUNCTION(everything, futhark_entry_table);
  FUNCTION(failures, futhark_entry_negative_size);
  for (int i = 0; i < 3; i++) {
    struct futhark_i32_1d *tens = NULL, *sevens = NULL;
    CHECK(futhark_entry_table_in(first, &tens, 0) == 0);
    CHECK(futhark_entry_negative_size_in(second, &sevens, 3, 7) == 0);
    expect_in(everything, first, tens, (int32_t[]){10, 20, 30});
    expect_in(failures, second, sevens, (int32_t[]){7, 7, 7});
  }
  FUNCTION(everything, futhark_context_free);
  futhark_context_free_in(first);
  dlclose(everything);
  // The other program does not depend on it.
  struct futhark_i32_1d *sevens = NULL;
  CHECK(futhark_entry_negative_size_in(second, &sevens, 3, 7) == 0);
  expect_in(failures, second, sevens, (int32_t[]){7, 7, 7});
}

#ifdef LINKED
static void linked(void) { use_both(RTLD_NOLOAD); }

// A name that both libraries have is bound to the first one, whose contexts are not contexts of the other.
static void context_of_another_library(void) {
  new_context();
  int32_t x = -777;
  int64_t y = -777;
  struct futhark_i32_1d *out = NULL;
  CHECK(futhark_entry_divide_down(ctx, &x, 4, 2) != 0 && x == -777);
  CHECK(futhark_entry_huge_size_in_map(ctx, &y, -1, 8, 1) != 0 && y == -777);
  CHECK(futhark_entry_joined(ctx, &out, 1, 2) != 0 && out == NULL);
  while (take_error())
    ;
  OK(futhark_entry_answer(ctx, &x));
  CHECK(x == 42);
}

CASES(BOTH(linked), HARDENED(context_of_another_library))
#else
static void loaded_locally(void) { use_both(RTLD_LOCAL); }
static void loaded_globally(void) { use_both(RTLD_GLOBAL); }

// The context is freed before a value, which is never freed.
static void closed_library(void) {
  void *everything = dlopen(EVERYTHING, RTLD_NOW);
  struct futhark_context *context = context_in(everything);
  struct futhark_i32_1d *table;
  FUNCTION(everything, futhark_entry_table);
  FUNCTION(everything, futhark_context_free);
  CHECK(futhark_entry_table_in(context, &table, 0) == 0);
  futhark_context_free_in(context);
  dlclose(everything);
  usleep(100000);
}

CASES(BOTH(loaded_locally), BOTH(loaded_globally), BOTH(closed_library))
#endif
