// What the test clients share. They are ordinary C programs for the functions of a library's header. Each case runs in a
// process of its own:
//
//   CLIENT          prints "EXPECTATION CASE" for each case
//   CLIENT CASE     exit code 0: the library behaves as expected; 1, and a line with "failed: ": it does not
//
// A client first includes the header of its program, and ends with its cases: CASES(BOTH(a), HARDENED(b)).

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct test_case {
  const char *expectation, *name;
  void (*run)(void);
};

// Passes with every library.
#define BOTH(f) {"both", #f, f}
// Passes with the hardened library, and must not pass with the plain one.
#define HARDENED(f) {"hardened", #f, f}
// As HARDENED; the plain library can pass by luck.
#define UNSAFE(f) {"unsafe", #f, f}
// The plain library fails only on this backend.
#ifdef FUTHARK_BACKEND_multicore
#define HARDENED_ON_MULTICORE(f) HARDENED(f)
#else
#define HARDENED_ON_MULTICORE(f) BOTH(f)
#endif

static void fail(const char *file, int line, const char *text) {
  printf("%s:%d: failed: %s\n", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line, text);
  fflush(stdout);
  _exit(1);
}

#define CHECK(condition) ((condition) ? (void)0 : fail(__FILE__, __LINE__, #condition))

// The context that most cases use.
static struct futhark_context *ctx;

// The start of the text that `take_error` got.
static __thread char last_error[1000];

static inline int take_error(void) {
  char *text = futhark_context_get_error(ctx);
  snprintf(last_error, sizeof last_error, "%s", text ? text : "");
  free(text);
  return text != NULL;
}

// The code is an error's, and has one text.
static inline int fails(int code, const char *file, int line, const char *call) {
  if (code < 1 || code > 3 || !take_error() || !*last_error || futhark_context_get_error(ctx) != NULL) {
    printf("code %d, text: %s\n", code, last_error);
    fail(file, line, call);
  }
  return code;
}

#define FAILS(call) fails(call, __FILE__, __LINE__, #call)
#define RETURNS_NULL(call) (CHECK((call) == NULL), FAILS(1))

// The call succeeds, and no text is pending.
static inline void succeeds(int code, const char *file, int line, const char *call) {
  if (code != 0 || take_error()) {
    printf("code %d, text: %s\n", code, last_error);
    fail(file, line, call);
  }
}

#define OK(call) succeeds(call, __FILE__, __LINE__, #call)

static inline struct futhark_context_config *new_config(void) {
  struct futhark_context_config *cfg = futhark_context_config_new();
  CHECK(cfg != NULL);
#ifdef FUTHARK_BACKEND_multicore
  futhark_context_config_set_num_threads(cfg, 4);
#endif
  return cfg;
}

// Makes `ctx` a new context. The plain library needs its configuration until the context is freed, so it is not freed.
static inline struct futhark_context *new_context(void) {
  ctx = futhark_context_new(new_config());
  CHECK(ctx != NULL);
  OK(0);
  return ctx;
}

static int run(int argc, char **argv, const struct test_case *cases, size_t n) {
  // Allocations that would exhaust the machine fail, and a crash writes no file.
  struct rlimit memory = {(rlim_t)6 << 30, (rlim_t)6 << 30}, core = {0, 0};
#if defined(FUTHARK_BACKEND_c) || defined(FUTHARK_BACKEND_multicore)
  setrlimit(RLIMIT_AS, &memory);  // drivers reserve more addresses
#else
  (void)memory;
#endif
  setrlimit(RLIMIT_CORE, &core);
  for (size_t i = 0; i < n; i++)
    if (argc < 2)
      printf("%s %s\n", cases[i].expectation, cases[i].name);
    else if (strcmp(argv[1], cases[i].name) == 0)
      return cases[i].run(), 0;
  return argc < 2 ? 0 : 2;
}

#define CASES(...)                                                 \
  int main(int argc, char **argv) {                                \
    static const struct test_case cases[] = {__VA_ARGS__};         \
    return run(argc, argv, cases, sizeof cases / sizeof cases[0]); \
  }
