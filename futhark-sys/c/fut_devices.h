// Devices. The unit includes this file three times: with the list FUT_SYMBOLS before the macros that call its pointers, on GPU
// backends; after these macros (FUT_HAS_POINTERS) and before the generated code; and after that (FUT_AFTER_PROGRAM).

#if !defined(FUT_HAS_POINTERS)

// --- The functions of the driver ---------------------------------------------------------------
// GPU backends only: looks up the functions of the driver when a context is created. FUT_SYMBOLS(X), which unit/file.rs
// writes, lists those that the generated text calls. Each gets a pointer here, and macros after this file call the pointers.
//
// A header can map a name to another one (cuMemAlloc to cuMemAlloc_v2). The expanded name determines
// the type of the pointer and the symbol.

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

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
// between versions (see below).
#if defined(FUT_BACKEND_cuda) && CUDA_VERSION >= 13000
#define FUT_CUDA "13"
#else
#define FUT_CUDA "12"
#endif

static const struct fut_driver_library fut_driver_libraries[] = {
#if defined(FUT_BACKEND_opencl)
    {"FUTHARK_LIBOPENCL",
     {"libOpenCL.so.1", "libOpenCL.so", "/System/Library/Frameworks/OpenCL.framework/OpenCL", "OpenCL.dll"},
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

#elif !defined(FUT_AFTER_PROGRAM)

// --- The current device of a thread --------------------------------------------------------------
// The drivers of cuda and hip have this state per thread, and other libraries rely on it. The generated code does
// not maintain it: on cuda, it leaves a new context current on the thread that created it, skips
// pops when a call fails, and frees a context on the assumption that it is current; on hip, it never
// selects a device. Therefore every guarded call makes the device of its context current, and
// restores the previous state at its end, after a jump as well. If the device cannot be made current,
// the call fails, because its work would run on another device.

#if FUT_HAS_CURRENT
// Ends the call, because the generated code would use another device.
_Noreturn static void fut_not_current(const char *what, int code) {
  char why[96];
  snprintf(why, sizeof why, "cannot make %s current: the driver returned %d", what, code);
  fut_fatal(why);
}
#endif

#if FUT_HAS_CURRENT
// With profiling, the generated code creates events without checking the result, and would pass an
// uninitialised event to the driver.
static inline void fut_event_made(int code) {
  if (code == 0)
    return;
  char why[96];
  snprintf(why, sizeof why, "cannot create an event for profiling: the driver returned %d", code);
  fut_fatal(why);
}

#undef cudaEventCreate
#define cudaEventCreate(event) fut_event_made((int)fut_driver_cudaEventCreate(event))
#undef hipEventCreate
#define hipEventCreate(event) fut_event_made((int)fut_driver_hipEventCreate(event))
#endif

#if defined(FUT_BACKEND_cuda)

// The number of contexts on this thread's stack that we and the generated code have pushed.
static __thread int fut_pushed;

static CUresult fut_has_pushed(CUresult result) {
  if (result == CUDA_SUCCESS)
    fut_pushed++;
  return result;
}

static CUresult fut_has_popped(CUresult result) {
  if (result == CUDA_SUCCESS)
    fut_pushed--;
  return result;
}

static CUcontext fut_current_context(void) {
  CUcontext context = NULL;
  // The self-test runs without a driver.
  if (!fut_driver_is_there() || fut_driver_cuCtxGetCurrent(&context) != CUDA_SUCCESS)
    return NULL;
  return context;
}

// The driver pops a destroyed context from this thread's stack, if it is current.
static CUresult fut_destroy(CUcontext context) {
  bool current = fut_current_context() == context;
  CUresult result = fut_driver_cuCtxDestroy(context);
  if (current && result == CUDA_SUCCESS)
    fut_pushed--;
  return result;
}

// In CUDA 13, cuCtxCreate is cuCtxCreate_v4, which has one more parameter. Code for CUDA 13 passes
// all four arguments.
#define FUT_FIFTH(a, b, c, d, fifth, ...) fifth
#define FUT_CREATE(...) FUT_FIFTH(__VA_ARGS__, fut_driver_cuCtxCreate, FUT_CREATE_OF_THREE, )(__VA_ARGS__)
#if CUDA_VERSION >= 13000
#define FUT_CREATE_OF_THREE(context, flags, device) fut_driver_cuCtxCreate(context, NULL, flags, device)
#else
#define FUT_CREATE_OF_THREE fut_driver_cuCtxCreate
#endif

#undef cuCtxCreate
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuCtxDestroy
#define cuCtxCreate(...) fut_has_pushed(FUT_CREATE(__VA_ARGS__))
#define cuCtxPushCurrent(...) fut_has_pushed(fut_driver_cuCtxPushCurrent(__VA_ARGS__))
#define cuCtxPopCurrent(...) fut_has_popped(fut_driver_cuCtxPopCurrent(__VA_ARGS__))
#define cuCtxDestroy(context) fut_destroy(context)

static struct fut_current fut_device_before(void) {
  return (struct fut_current){.pushed = fut_pushed, .context = fut_current_context()};
}

// Pops contexts until only `pushed` of ours are on the stack.
static void fut_device_trim(int pushed) {
  while (fut_pushed > pushed && fut_driver_cuCtxPopCurrent(NULL) == CUDA_SUCCESS)
    fut_pushed--;
}

static void fut_device_after(struct fut_current before) {
  fut_device_trim(before.pushed);
  fut_pushed = before.pushed;
  // The count is wrong if other code modified the stack.
  if (fut_current_context() != before.context)
    (void)fut_driver_cuCtxSetCurrent(before.context);
}

static void fut_make_current(CUcontext context) {
  CUresult result = fut_has_pushed(fut_driver_cuCtxPushCurrent(context));
  if (result != CUDA_SUCCESS)
    fut_not_current("the context of the driver", (int)result);
}

#define FUT_DEVICE_OF(c)                              \
  if ((c)->ctx != NULL && (c)->ctx->cu_ctx != NULL)   \
    fut_make_current((c)->ctx->cu_ctx);

// Used in a guarded call before its context is destroyed or lent: leaves one entry of the context on
// the stack. If the generated code skipped a pop, there are more, which would refer to a destroyed
// context.
#define FUT_DEVICE_ONCE() fut_device_trim(fut_self.guard->current.pushed + 1);

#elif defined(FUT_BACKEND_hip)

// The generated code calls this once, for the device of a new context.
static hipError_t fut_device_get(hipDevice_t *device, int number) {
  hipError_t result = fut_driver_hipDeviceGet(device, number);
  return result == hipSuccess ? fut_driver_hipSetDevice(*device) : result;
}

#undef hipDeviceGet
#define hipDeviceGet fut_device_get

static struct fut_current fut_device_before(void) {
  int device = -1;
  // The self-test runs without a driver.
  bool known = fut_driver_is_there() && fut_driver_hipGetDevice(&device) == hipSuccess;
  return (struct fut_current){.device = known ? device : -1};
}

static void fut_device_after(struct fut_current before) {
  if (before.device >= 0 && fut_device_before().device != before.device)
    (void)fut_driver_hipSetDevice(before.device);
}

static void fut_make_current(hipDevice_t device) {
  hipError_t result = fut_driver_hipSetDevice(device);
  if (result != hipSuccess)
    fut_not_current("the context's device", (int)result);
}

#define FUT_DEVICE_OF(c)                                                      \
  if ((c)->ctx != NULL && (c)->ctx->dev != fut_guard_here.current.device)     \
    fut_make_current((c)->ctx->dev);

#define FUT_DEVICE_ONCE()

#else

#define FUT_DEVICE_OF(c)
#define FUT_DEVICE_ONCE()

#endif

#if FUT_HAS_CURRENT

// Direct calls have no guard, so the device that fut_lend makes current stays current until
// fut_take_back.
#define FUT_DEVICE_STAYS(c)                      \
  (c)->before_lending = fut_self.guard->current; \
  FUT_DEVICE_ONCE()                              \
  fut_self.guard->current = fut_device_before();
#define FUT_DEVICE_BACK(c) fut_device_after((c)->before_lending);

#else

#define FUT_DEVICE_STAYS(c)
#define FUT_DEVICE_BACK(c)

#endif

#else

// --- Devices --------------------------------------------------------------------------------

#if FUT_GPU_BACKEND
// Adds the lines of one device to `text`, which `futhark_table.h` documents. Takes ownership of `text`.
// Returns NULL if memory is missing.
static char *fut_add_device(char *text, const char *platform, const char *version, const char *name, const char *driver,
                            uint64_t memory) {
  const char *fields[] = {platform, version, name, driver};
  char *copies[4];
  for (int i = 0; i < 4; i++) {
    copies[i] = fut_text("%s", fields[i]);
    for (char *at = copies[i]; at != NULL && *at != 0; at++)
      if (*at == '\n' || *at == '\r')
        *at = ' ';
  }
  char *all = NULL;
  if (copies[0] != NULL && copies[1] != NULL && copies[2] != NULL && copies[3] != NULL)
    all = fut_text("%s%s\n%s\n%s\n%s\n%llu\n", text == NULL ? "" : text, copies[0], copies[1], copies[2], copies[3],
                   (unsigned long long)memory);
  for (int i = 0; i < 4; i++)
    fut_drop(copies[i]);
  fut_drop(text);
  return all;
}

#if defined(FUT_BACKEND_opencl)
static char *fut_add_this_device(char *text, cl_device_id device) {
  cl_platform_id platform;
  OPENCL_SUCCEED_FATAL(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL));
  cl_ulong memory = 0;
  OPENCL_SUCCEED_FATAL(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL));
  char *platform_name = opencl_platform_info(platform, CL_PLATFORM_NAME);
  char *version = opencl_platform_info(platform, CL_PLATFORM_VERSION);
  char *name = opencl_device_info(device, CL_DEVICE_NAME);
  char *driver = opencl_device_info(device, CL_DRIVER_VERSION);
  text = fut_add_device(text, platform_name, version, name, driver, memory);
  free(platform_name);
  free(version);
  free(name);
  free(driver);
  return text;
}

static char *fut_add_all_devices(void) {
  struct opencl_device_option *devices;
  size_t n;
  opencl_all_device_options(&devices, &n);
  char *text = fut_text("");
  for (size_t i = 0; i < n; i++) {
    if (text != NULL)
      text = fut_add_this_device(text, devices[i].device);
    free(devices[i].platform_name);
    free(devices[i].device_name);
  }
  free(devices);
  return text;
}

#define FUT_DEVICE_OF_CONTEXT(ctx) (ctx)->device

#elif defined(FUT_BACKEND_cuda)
static char *fut_add_this_device(char *text, CUdevice device) {
  int version = 0;
  CUDA_SUCCEED_FATAL(cuDriverGetVersion(&version));
  char name[256] = "";
  CUDA_SUCCEED_FATAL(cuDeviceGetName(name, sizeof name, device));
  size_t memory = 0;
  CUDA_SUCCEED_FATAL(cuDeviceTotalMem(&memory, device));
  char driver[32];
  snprintf(driver, sizeof driver, "%d.%d", version / 1000, version % 1000 / 10);
  return fut_add_device(text, "CUDA", driver, name, driver, memory);
}

static char *fut_add_all_devices(void) {
  int n = 0;
  CUDA_SUCCEED_FATAL(cuDeviceGetCount(&n));
  char *text = fut_text("");
  for (int i = 0; i < n && text != NULL; i++) {
    CUdevice device;
    CUDA_SUCCEED_FATAL(cuDeviceGet(&device, i));
    text = fut_add_this_device(text, device);
  }
  return text;
}

#define FUT_DEVICE_OF_CONTEXT(ctx) (ctx)->dev

#elif defined(FUT_BACKEND_hip)
static char *fut_add_this_device(char *text, hipDevice_t device) {
  int version = 0;
  HIP_SUCCEED_FATAL(hipDriverGetVersion(&version));
  hipDeviceProp_t properties;
  HIP_SUCCEED_FATAL(hipGetDeviceProperties(&properties, device));
  char driver[32];
  snprintf(driver, sizeof driver, "%d", version);
  return fut_add_device(text, "HIP", driver, properties.name, driver, properties.totalGlobalMem);
}

static char *fut_add_all_devices(void) {
  int n = 0;
  HIP_SUCCEED_FATAL(hipGetDeviceCount(&n));
  char *text = fut_text("");
  for (int i = 0; i < n && text != NULL; i++) {
    hipDevice_t device;
    HIP_SUCCEED_FATAL(hipDeviceGet(&device, i));
    text = fut_add_this_device(text, device);
  }
  return text;
}

#define FUT_DEVICE_OF_CONTEXT(ctx) (ctx)->dev
#endif

static int32_t fut_list_devices(struct fut_context *c, char **text) {
  FUT_ENTER(c)
  *text = fut_add_all_devices();
  fut_pop_guard(&fut_guard_here);
  return FUT_OK;
}

static int32_t fut_devices(char **text) {
  *text = fut_driver_ready();
  if (*text != NULL)
    return FUT_UNAVAILABLE;
  struct fut_context *c = fut_make_context();
  if (c == NULL)
    return FUT_MEMORY;
  int32_t status = fut_list_devices(c, text);
  if (status == FUT_OK && *text == NULL)
    status = FUT_MEMORY;
  else if (status != FUT_OK)
    *text = fut_text("%s%s", c->failures[0].words == NULL ? "" : c->failures[0].words,
                     c->failures[0].text == NULL ? "" : c->failures[0].text);
  fut_release_context(c);
  return status;
}

FUT_WRAPPER(fut_context_device) {
  (void)in;
  FUT_IDLE(c)
  *(char **)out[0] = fut_add_this_device(NULL, FUT_DEVICE_OF_CONTEXT(c->ctx));
  return FUT_OK;
}
#else
#define fut_devices NULL
#define fut_context_device NULL
#endif

#if defined(FUT_BACKEND_opencl)
// Selects the device with the same generated function as context_new, and describes it in `text`.
static int32_t fut_choose_device(struct fut_context *c, const struct fut_setting *settings, uint32_t n, char **text) {
  FUT_ENTER(c)
  c->cfg = futhark_context_config_new();
  char *refused = NULL;
  for (uint32_t i = 0; i < n && refused == NULL; i++)
    refused = fut_apply(c->cfg, &settings[i]);
  // The function writes only the field `error`.
  struct futhark_context *ctx = calloc(1, sizeof *ctx);
  if (refused == NULL && c->cfg->queue_set) {
    cl_device_id device;
    OPENCL_SUCCEED_FATAL(clGetCommandQueueInfo(c->cfg->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL));
    *text = fut_add_this_device(NULL, device);
  } else if (refused == NULL) {
    struct opencl_device_option device = get_preferred_device(ctx, c->cfg);
    if (ctx->error == NULL) {
      *text = fut_add_this_device(NULL, device.device);
      free(device.platform_name);
      free(device.device_name);
    }
  }
  free(refused);
  free(ctx->error);
  free(ctx);
  futhark_context_config_free(c->cfg);
  fut_pop_guard(&fut_guard_here);
  return FUT_OK;
}

static char *fut_device(const struct fut_setting *settings, uint32_t n) {
  char *why = fut_driver_ready();
  fut_drop(why);
  struct fut_context *c = why == NULL ? fut_make_context() : NULL;
  if (c == NULL)
    return NULL;
  char *text = NULL;
  (void)fut_choose_device(c, settings, n, &text);
  fut_release_context(c);
  return text;
}

FUT_WRAPPER(fut_command_queue) {
  (void)in;
  FUT_IDLE(c)
  *(cl_command_queue *)out[0] = futhark_context_get_command_queue(c->ctx);
  return FUT_OK;
}
#else
#define fut_device NULL
#define fut_command_queue NULL
#endif

// --- Device code ----------------------------------------------------------------------------

#ifdef FUT_HAS_get_program
static int32_t fut_copy_source(struct fut_context *c, char **text) {
  FUT_ENTER(c)
  c->cfg = futhark_context_config_new();
  *text = fut_text("%s", futhark_context_config_get_program(c->cfg));
  futhark_context_config_free(c->cfg);
  fut_pop_guard(&fut_guard_here);
  return FUT_OK;
}

static char *fut_device_source(void) {
  struct fut_context *c = fut_make_context();
  if (c == NULL)
    return NULL;
  char *text = NULL;
  (void)fut_copy_source(c, &text);
  fut_release_context(c);
  return text;
}
#else
#define fut_device_source NULL
#endif

#endif
