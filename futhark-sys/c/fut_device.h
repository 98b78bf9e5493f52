// cuda and hip: which context or device is current on the calling thread.
//
// Both drivers keep that per thread, and other libraries rely on it. The generated code is
// careless: on cuda it leaves a new context current on the thread that made it, skips its
// pops when a call fails, and counts on being on that thread when it frees a context; on
// hip it never says which device it means. So every guarded call begins by making the
// context's own device current, and ends, by a jump too, with what was current before.
//
// This file comes after the pointers to the driver's functions and before the generated
// code, whose calls of those functions it counts.

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

// The driver takes a context that is destroyed off this thread's stack, if it is current.
static CUcontext fut_not_current(CUcontext gone) {
  CUcontext current = NULL;
  if (fut_driver_cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == gone)
    fut_pushed--;
  return gone;
}

#undef cuCtxCreate
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuCtxDestroy
#define cuCtxCreate(...) fut_has_pushed(fut_driver_cuCtxCreate(__VA_ARGS__))
#define cuCtxPushCurrent(...) fut_has_pushed(fut_driver_cuCtxPushCurrent(__VA_ARGS__))
#define cuCtxPopCurrent(...) fut_has_popped(fut_driver_cuCtxPopCurrent(__VA_ARGS__))
#define cuCtxDestroy(context) fut_driver_cuCtxDestroy(fut_not_current(context))

// What was there before: a depth.
static int fut_device_before(void) { return fut_pushed; }

static void fut_device_after(int before) {
  while (fut_pushed > before && fut_driver_cuCtxPopCurrent(NULL) == CUDA_SUCCESS)
    fut_pushed--;
  fut_pushed = before;
}

// If it cannot be made current, the first call of the generated code says so.
#define FUT_DEVICE_OF(c)                          \
  if ((c)->ctx != NULL && (c)->ctx->cu_ctx != NULL) \
    (void)fut_has_pushed(fut_driver_cuCtxPushCurrent((c)->ctx->cu_ctx));

#elif defined(FUT_BACKEND_hip)

// A context that is made looks at every device, and last at the one it is made for.
static hipError_t fut_device_get(hipDevice_t *device, int number) {
  hipError_t result = fut_driver_hipDeviceGet(device, number);
  return result == hipSuccess ? fut_driver_hipSetDevice(*device) : result;
}

#undef hipDeviceGet
#define hipDeviceGet fut_device_get

// What was there before: the number of a device, or -1 (no driver yet: the self-test).
static int fut_device_before(void) {
  int device = -1;
  bool known = fut_driver_hipGetDevice != NULL && fut_driver_hipGetDevice(&device) == hipSuccess;
  return known ? device : -1;
}

static void fut_device_after(int before) {
  if (before >= 0 && fut_device_before() != before)
    (void)fut_driver_hipSetDevice(before);
}

#define FUT_DEVICE_OF(c)                                                       \
  if ((c)->ctx != NULL && (c)->ctx->dev != fut_guard_here.device) \
    (void)fut_driver_hipSetDevice((c)->ctx->dev);

#else

#define FUT_DEVICE_OF(c)

#endif
