// GPU backends only: looks up the functions of the driver when a context is created.
//
// Therefore a binary links and starts on a machine without the driver, and the error names the
// missing library. FUT_SYMBOLS(X), which unit/driver.rs writes, lists the functions of the driver that
// the generated text calls. Each gets a pointer here, and macros after this file call the pointers.
//
// A header can map a name to another one (cuMemAlloc to cuMemAlloc_v2). The expanded name determines
// the type of the pointer and the symbol.

#include <dlfcn.h>

#define FUT_QUOTE_(x) #x
#define FUT_QUOTE(x) FUT_QUOTE_(x)

#define FUT_DECLARE(name) static __typeof__(&name) fut_driver_##name;
FUT_SYMBOLS(FUT_DECLARE)
#undef FUT_DECLARE

struct fut_driver_symbol {
  const char *name;
  void **place;
};

static const struct fut_driver_symbol fut_driver_symbols[] = {
#define FUT_ENTRY(name) {FUT_QUOTE(name), (void **)&fut_driver_##name},
    FUT_SYMBOLS(FUT_ENTRY)
#undef FUT_ENTRY
};

// A library: the variable that names its file, and otherwise its usual names. Each function is looked
// up in all libraries of a backend.
struct fut_driver_library {
  const char *variable;
  const char *names[6];
  const char *install;  // how to install it; NULL: optional
};

// The version of the CUDA headers selects the libraries: names and parameters of functions differ
// between versions (see fut_device.h).
#if defined(FUT_BACKEND_cuda) && CUDA_VERSION >= 13000
#define FUT_CUDA "13"
#else
#define FUT_CUDA "12"
#endif

static const struct fut_driver_library fut_driver_libraries[] = {
#if defined(FUT_BACKEND_opencl)
    {"FUTHARK_LIBOPENCL",
     {"libOpenCL.so.1", "libOpenCL.so", "/System/Library/Frameworks/OpenCL.framework/OpenCL"},
     "install an OpenCL loader (Debian: ocl-icd-libopencl1) and the driver of your device"},
#elif defined(FUT_BACKEND_cuda)
    {"FUTHARK_LIBCUDA", {"libcuda.so.1", "libcuda.so"}, "install NVIDIA's driver"},
    {"FUTHARK_LIBNVRTC", {"libnvrtc.so." FUT_CUDA, "libnvrtc.so"}, "install NVRTC of CUDA " FUT_CUDA},
    {"FUTHARK_LIBCUDART", {"libcudart.so." FUT_CUDA, "libcudart.so"}, "install the runtime of CUDA " FUT_CUDA},
#elif defined(FUT_BACKEND_hip)
    {"FUTHARK_LIBAMDHIP64",
     {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"},
     "install AMD's HIP runtime (Debian: libamdhip64-5)"},
    {"FUTHARK_LIBHIPRTC", {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so"}, NULL},
#endif
};

#define FUT_N_LIBRARIES (sizeof fut_driver_libraries / sizeof *fut_driver_libraries)

static pthread_mutex_t fut_driver_mutex = PTHREAD_MUTEX_INITIALIZER;
static int fut_driver_loaded;

// Whether the functions are loaded. Atomic, because another thread can be loading them.
static inline bool fut_driver_is_there(void) { return __atomic_load_n(&fut_driver_loaded, __ATOMIC_ACQUIRE) != 0; }

static char *fut_text(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = NULL;
  if (vasprintf(&text, format, args) < 0)
    text = NULL;
  va_end(args);
  return text;
}

// Loads a library. Returns NULL, or a malloc'ed message.
static char *fut_driver_open(const struct fut_driver_library *library, void **handle) {
  const char *file = getenv(library->variable);
  if (file != NULL && *file != 0) {
    // dlopen would block on a FIFO until another process writes to it.
    struct stat about;
    if (stat(file, &about) == 0 && !S_ISREG(about.st_mode))
      return fut_text("cannot load the library in %s: %s is not a regular file", library->variable, file);
    *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (*handle == NULL)
      return fut_text("cannot load the library in %s: %s", library->variable, dlerror());
    return NULL;
  }
  for (size_t i = 0; library->names[i] != NULL; i++) {
    *handle = dlopen(library->names[i], RTLD_NOW | RTLD_LOCAL);
    if (*handle != NULL)
      return NULL;
  }
  if (library->install == NULL)
    return NULL;
  return fut_text("cannot load %s; %s, or set %s to its path", library->names[0], library->install, library->variable);
}

static char *fut_driver_load_all(void) {
  void *handles[FUT_N_LIBRARIES] = {0};
  for (size_t i = 0; i < FUT_N_LIBRARIES; i++) {
    char *why = fut_driver_open(&fut_driver_libraries[i], &handles[i]);
    if (why != NULL)
      return why;
  }
  for (size_t s = 0; s < sizeof fut_driver_symbols / sizeof *fut_driver_symbols; s++) {
    void *found = NULL;
    for (size_t i = 0; i < FUT_N_LIBRARIES && found == NULL; i++)
      if (handles[i] != NULL)
        found = dlsym(handles[i], fut_driver_symbols[s].name);
    if (found == NULL)
      return fut_text("%s has no function %s; install a newer version", fut_driver_libraries[0].names[0], fut_driver_symbols[s].name);
    *fut_driver_symbols[s].place = found;
  }
  return NULL;
}

// Looks for a device, because the runtime would exit without one.
static char *fut_driver_probe(void) {
#if defined(FUT_BACKEND_opencl)
  cl_uint platforms = 0;
  cl_int err = fut_driver_clGetPlatformIDs(0, NULL, &platforms);
  if (err != CL_SUCCESS || platforms == 0)
    return fut_text("no OpenCL platform was found (clGetPlatformIDs returned %d); install the OpenCL driver of your device, "
                    "or a CPU implementation such as PoCL or Oclgrind", (int)err);
#elif defined(FUT_BACKEND_cuda)
  CUresult err = fut_driver_cuInit(0);
  const char *said = NULL;
  if (err != CUDA_SUCCESS && fut_driver_cuGetErrorString(err, &said) != CUDA_SUCCESS)
    said = NULL;
  if (err != CUDA_SUCCESS)
    return fut_text("no CUDA device can be used (cuInit returned %d: %s)", (int)err, said != NULL ? said : "unknown error");
#elif defined(FUT_BACKEND_hip)
  int devices = 0;
  hipError_t err = fut_driver_hipGetDeviceCount(&devices);
  if (err != hipSuccess || devices == 0)
    return fut_text("no HIP device was found (hipGetDeviceCount returned %d: %s)", (int)err, fut_driver_hipGetErrorString(err));
#endif
  return NULL;
}

// Loads the driver and looks for a device. Returns NULL, or a malloc'ed message.
static char *fut_driver_ready(void) {
  char *why = NULL;
  pthread_mutex_lock(&fut_driver_mutex);
  if (!fut_driver_loaded) {
    why = fut_driver_load_all();
    __atomic_store_n(&fut_driver_loaded, why == NULL, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&fut_driver_mutex);
  return why != NULL ? why : fut_driver_probe();
}
