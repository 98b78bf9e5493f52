// The hardened compile: signed overflow and impossible divisions end the call.
//
// Futhark's own arithmetic wraps by going through unsigned types; what is left
// signed are the runtime's sizes and offsets, where an overflow would become a
// write outside of an array, and `i64.min / -1`, which the processor answers with
// a signal. The compiler is told to call the handlers below (their names and
// parameters are the sanitizer's) and no sanitizer library is linked.
//
// They do not return: inside a parallel body there is nothing to return to. One does:
// Futhark's own negation is written as a signed one and wraps, as its other arithmetic.

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
// clang declares these itself and wants them external; the link keeps them inside.
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
