// Only in builds with -DFUT_FAIL_ALLOCATIONS, for tests: a chosen allocation fails, and memory that
// is never freed is counted. Other builds do not include this file.
//
// The environment variable FUTHARK_SYS_FAIL_ALLOCATION is `n`, and the n-th allocation of this
// library fails, or `n+`, and all later ones in the same call fail as well. Starting a thread counts
// as an allocation. The library writes to stderr when it happens, and when the process ends with
// allocations that were not freed.
//
// This file comes before all other code of ours, because the macros apply to it as well: the hooks
// of fut_hooks.h call them, and the generated code calls the hooks.

// Atomic: worker threads allocate.
static int64_t fut_allocations;  // attempted
static int64_t fut_allocated;    // and not freed
static int fut_no_more;          // 1: every allocation until the end of the call fails

// Read when the library is loaded.
static int64_t fut_failing;  // the number of the allocation that fails; 0: none
static bool fut_failing_lasts;

static __attribute__((constructor)) void fut_read_failing(void) {
  const char *text = getenv("FUTHARK_SYS_FAIL_ALLOCATION");
  char *end = NULL;
  fut_failing = text == NULL ? 0 : strtoll(text, &end, 10);
  fut_failing_lasts = end != NULL && *end == '+';
}

static __attribute__((destructor)) void fut_report_allocated(void) {
  int64_t n = __atomic_load_n(&fut_allocated, __ATOMIC_RELAXED);
  if (n != 0)
    fprintf(stderr, "futhark-sys: %lld allocations were never freed\n", (long long)n);
}

static bool fut_fails(const char *what) {
  int64_t number = __atomic_add_fetch(&fut_allocations, 1, __ATOMIC_RELAXED);
  if (number == fut_failing) {
    fprintf(stderr, "futhark-sys: %s fails, as requested\n", what);
    __atomic_store_n(&fut_no_more, fut_failing_lasts, __ATOMIC_RELAXED);
    return true;
  }
  return __atomic_load_n(&fut_no_more, __ATOMIC_RELAXED);
}

// The call ends. Afterwards there is memory again.
static void fut_call_ends(void) { __atomic_store_n(&fut_no_more, 0, __ATOMIC_RELAXED); }
#define FUT_CALL_ENDS() fut_call_ends()

static void *fut_counted(void *p) {
  if (p != NULL)
    __atomic_add_fetch(&fut_allocated, 1, __ATOMIC_RELAXED);
  return p;
}

static void *fut_failing_malloc(size_t n) { return fut_fails("malloc") ? NULL : fut_counted(malloc(n)); }

static void *fut_failing_calloc(size_t n, size_t size) {
  return fut_fails("calloc") ? NULL : fut_counted(calloc(n, size));
}

static void *fut_failing_realloc(void *p, size_t n) {
  if (fut_fails("realloc"))
    return NULL;
  return p == NULL ? fut_counted(malloc(n)) : realloc(p, n);
}

static char *fut_failing_strdup(const char *s) { return fut_fails("strdup") ? NULL : fut_counted(strdup(s)); }

static int fut_failing_vasprintf(char **text, const char *format, va_list args) {
  int n = fut_fails("vasprintf") ? -1 : vasprintf(text, format, args);
  if (n >= 0)
    fut_counted(*text);
  return n;
}

static int fut_failing_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument) {
  return fut_fails("pthread_create") ? EAGAIN : pthread_create(thread, attr, run, argument);
}

static void fut_counted_free(void *p) {
  if (p != NULL)
    __atomic_sub_fetch(&fut_allocated, 1, __ATOMIC_RELAXED);
  free(p);
}

#define malloc(n) fut_failing_malloc(n)
#define calloc(n, size) fut_failing_calloc(n, size)
#define realloc(p, n) fut_failing_realloc(p, n)
#define free(p) fut_counted_free(p)
#undef strdup
#define strdup(s) fut_failing_strdup(s)
#define vasprintf(text, format, args) fut_failing_vasprintf(text, format, args)
#define pthread_create(t, a, f, x) fut_failing_thread(t, a, f, x)
