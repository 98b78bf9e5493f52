// cuda and hip: the current context or device of the calling thread.
//
// Both drivers have this state per thread, and other libraries rely on it. The generated code does
// not maintain it: on cuda, it leaves a new context current on the thread that created it, skips
// pops when a call fails, and frees a context on the assumption that it is current; on hip, it never
// selects a device. Therefore every guarded call makes the device of its context current, and
// restores the previous state at its end, after a jump as well. If the device cannot be made current,
// the call fails, because its work would run on another device.
//
// This file comes after the pointers to the functions of the driver, and before the generated code,
// because it counts the calls of these functions in that code.

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
