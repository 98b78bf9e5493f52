// Takes precedence over the system's assert.h in generated code: a failed assertion of the runtime
// ends the call instead of the process.
//
// No include guard: <assert.h> may be included several times.
#undef assert
#define assert(condition) \
  ((condition) ? (void)0 : fut_assertion_failed(#condition, __FILE__, __LINE__))
_Noreturn static void fut_assertion_failed(const char *condition, const char *file, int line);
