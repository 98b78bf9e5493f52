// Found before the system's assert.h when generated code is compiled: a failed
// assertion of the runtime ends the call, not the process.
//
// No include guard: the standard lets <assert.h> be included again.
#undef assert
#define assert(condition) \
  ((condition) ? (void)0 : fut_assertion_failed(#condition, __FILE__, __LINE__))
_Noreturn static void fut_assertion_failed(const char *condition, const char *file, int line);
