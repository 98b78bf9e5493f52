// Hardened units: signed overflow and invalid divisions end the call.
//
// The arithmetic of programs uses unsigned types and wraps. Only two kinds of operations are signed:
// the sizes and offsets of the runtime, where an overflow would cause a write outside of an array,
// and divisions, where `i64.min / -1` raises a signal. The C compiler inserts calls of the handlers
// below, which have the names and parameters of the sanitizer's; no sanitizer library is linked.
//
// The handlers do not return, because a parallel body cannot report an error. The exception is
// negation: it is signed in the generated code and wraps, so its handler returns.

#if FUT_TRAPS

struct fut_trap_place {
  const char *file;
  uint32_t line;
  uint32_t column;
};

_Noreturn static void fut_trap(const char *what, const struct fut_trap_place *place) {
  char why[128];
  snprintf(why, sizeof why, "integer overflow in %s (line %u of the generated C)", what, place->line);
  fut_fatal(why);
}

#if defined(__clang__)
// clang declares these as external; the link hides them.
#define FUT_HANDLER __attribute__((used, visibility("hidden")))
#else
#define FUT_HANDLER __attribute__((used)) static
#endif

#define FUT_BINARY_HANDLER(name, what)                                              \
  FUT_HANDLER _Noreturn void __ubsan_handle_##name(void *place, unsigned long a, unsigned long b) { \
    (void)a;                                                                        \
    (void)b;                                                                        \
    fut_trap(what, place);                                                          \
  }

FUT_BINARY_HANDLER(add_overflow, "an addition")
FUT_BINARY_HANDLER(sub_overflow, "a subtraction")
FUT_BINARY_HANDLER(mul_overflow, "a multiplication")
FUT_BINARY_HANDLER(divrem_overflow, "a division")

FUT_HANDLER void __ubsan_handle_negate_overflow(void *place, unsigned long a) {
  (void)place;
  (void)a;
}

#endif
