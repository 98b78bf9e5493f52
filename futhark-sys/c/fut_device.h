// cuda and hip: which context or device is current on the calling thread.
//
// Both drivers keep that per thread, and other libraries rely on it. The generated code is
// careless: on cuda it leaves a new context current on the thread that made it, skips its
// pops when a call fails, and counts on being on that thread when it frees a context; on
// hip it never says which device it means. So every guarded call begins by making the
// context's own device current, and ends, by a jump too, with what was current before. If it
// cannot be made current, the call ends: its work would go to another device.
//
// This file comes after the pointers to the driver's functions and before the generated
// code, whose calls of those functions it counts.

#if FUT_HAS_CURRENT
// Ends the call: whatever the generated code did now would be done elsewhere.
_Noreturn static void fut_not_current(const char *what, int code) {
  char why[96];
  snprintf(why, sizeof why, "%s cannot be made current: the driver answers %d", what, code);
  fut_fatal(why);
}
#endif

#if FUT_HAS_CURRENT
// With profiling the generated code makes events and does not look whether it has got them:
// the driver would be handed one that nobody has written.
static inline void fut_event_made(int code) {
  if (code == 0)
    return;
  char why[96];
  snprintf(why, sizeof why, "an event for profiling cannot be made: the driver answers %d", code);
  fut_fatal(why);
}

#undef cudaEventCreate
#define cudaEventCreate(event) fut_event_made((int)fut_driver_cudaEventCreate(event))
#undef hipEventCreate
#define hipEventCreate(event) fut_event_made((int)fut_driver_hipEventCreate(event))
#endif

#if defined(FUT_BACKEND_cuda)

// How many contexts lie on this thread's stack because of us or the generated code.
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
  // Without a driver there is none (the self-test).
  if (!fut_driver_is_there() || fut_driver_cuCtxGetCurrent(&context) != CUDA_SUCCESS)
    return NULL;
  return context;
}

// The driver takes a context that is destroyed off this thread's stack, if it is current.
static CUresult fut_destroy(CUcontext context) {
  bool current = fut_current_context() == context;
  CUresult result = fut_driver_cuCtxDestroy(context);
  if (current && result == CUDA_SUCCESS)
    fut_pushed--;
  return result;
}

// CUDA 13 calls it cuCtxCreate_v4, which takes one parameter more. Code that knows passes four.
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

// Takes contexts of ours off the stack until only so many are left.
static void fut_device_trim(int pushed) {
  while (fut_pushed > pushed && fut_driver_cuCtxPopCurrent(NULL) == CUDA_SUCCESS)
    fut_pushed--;
}

static void fut_device_after(struct fut_current before) {
  fut_device_trim(before.pushed);
  fut_pushed = before.pushed;
  // The count is right unless the stack was changed behind our back.
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

// In a guarded call, before its context is destroyed or lent: it lies on the stack once.
// What was skipped would stay there when it is gone.
#define FUT_DEVICE_ONCE() fut_device_trim(fut_self.guard->current.pushed + 1);

#elif defined(FUT_BACKEND_hip)

// The generated code asks for a device once, when it has chosen that of a new context.
static hipError_t fut_device_get(hipDevice_t *device, int number) {
  hipError_t result = fut_driver_hipDeviceGet(device, number);
  return result == hipSuccess ? fut_driver_hipSetDevice(*device) : result;
}

#undef hipDeviceGet
#define hipDeviceGet fut_device_get

static struct fut_current fut_device_before(void) {
  int device = -1;
  // Without a driver there is none (the self-test).
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

// Plain calls have no guard: what the guarded call that lends a context has made current
// stays so until the context is taken back.
#define FUT_DEVICE_STAYS(c)                      \
  (c)->before_lending = fut_self.guard->current; \
  FUT_DEVICE_ONCE()                              \
  fut_self.guard->current = fut_device_before();
#define FUT_DEVICE_BACK(c) fut_device_after((c)->before_lending);

#else

#define FUT_DEVICE_STAYS(c)
#define FUT_DEVICE_BACK(c)

#endif
