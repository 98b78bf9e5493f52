// What mingw-w64 lacks or does otherwise than Unix. The unit includes this file first, so that <windows.h> is read before
// the macros of fut_hooks.h.

#define WIN32_LEAN_AND_MEAN 1
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/time.h>
#include <windows.h>

// Without a frame, longjmp only restores registers. With one it unwinds frames, which have no tables for that.
#undef _setjmp
#define FUT_SETJMP(target) _setjmp(target, NULL)
#define _longjmp(target, value) longjmp(target, value)

// Opening does not block. Files of the runtime are binary, and their names UTF-8.
#define O_NONBLOCK O_BINARY
#define O_CLOEXEC O_NOINHERIT
#define open(name, flags, mode) fut_open_utf8(name, flags, mode)
static inline int fut_open_utf8(const char *name, int flags, int mode) {
  wchar_t wide[MAX_PATH];
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, wide, MAX_PATH) == 0) {
    errno = ENAMETOOLONG;
    return -1;
  }
  return _wopen(wide, flags, mode);
}

// Windows has no fork, so there is nothing to watch.
#define pthread_atfork(before, parent, child) 0

// Drivers are loaded at run time.
#define RTLD_NOW 0
#define RTLD_LOCAL 0
static inline void *dlopen(const char *file, int flags) { return (void)flags, (void *)LoadLibraryA(file); }
static inline void *dlsym(void *library, const char *name) { return (void *)GetProcAddress(library, name); }
static inline const char *dlerror(void) {
  static __thread char text[64];
  snprintf(text, sizeof text, "LoadLibrary failed with error %lu", GetLastError());
  return text;
}

// The scheduler's report of the time of its threads, which is off, declares one; there is nothing to fill it.
struct rusage {
  struct timeval ru_utime, ru_stime;
};
