// HIP on NVIDIA: implements, on NVIDIA's driver and NVRTC, the HIP functions that Futhark's programs
// call.
//
// AMD's own headers for NVIDIA (hip/nvidia_detail) map the names by macros, so the compiled program
// would be a CUDA program. With this library, the program that was compiled for AMD runs
// unchanged: FUTHARK_LIBAMDHIP64 names this library instead of AMD's. Generated host code and kernels
// are those for an AMD card; only the layer below the API of HIP is NVIDIA's. The device name starts
// with "HIP on NVIDIA".
//
// Errors: those that HIP shares with CUDA's driver have the same numbers, so they are returned
// unchanged, with the driver's text. The same holds for hiprtc and NVRTC.
//
// Contexts: HIP has one per device, created on first use, and a current device per thread. This
// library has one context of the driver per device, and makes it current in each function that needs
// a context.

#define _GNU_SOURCE
#define __HIP_PLATFORM_AMD__ 1
#include <cuda.h>
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define NAME "HIP on NVIDIA: "
enum { MOST_DEVICES = 64, MOST_OPTIONS = 512 };

// --- The driver and NVRTC, loaded on first use ---------------------------------------------------

// cuda.h maps cuMemAlloc to cuMemAlloc_v2; QUOTE yields the mapped name.
#define DRIVER(X)                                                                                                     \
  X(cuInit) X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem)          \
  X(cuCtxCreate) X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuModuleLoadData) X(cuModuleUnload)       \
  X(cuModuleGetFunction) X(cuFuncGetAttribute) X(cuLaunchKernel) X(cuMemAlloc) X(cuMemAllocManaged) X(cuMemFree)       \
  X(cuMemcpy) X(cuMemcpyAsync) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync)               \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord)      \
  X(cuEventElapsedTime) X(cuGetErrorString) X(cuDriverGetVersion)
#define COMPILER(X)                                                                                                   \
  X(nvrtcCreateProgram) X(nvrtcDestroyProgram) X(nvrtcCompileProgram) X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog)  \
  X(nvrtcGetPTXSize) X(nvrtcGetPTX) X(nvrtcGetErrorString)

#define POINTER(name) static __typeof__(&name) p_##name;
DRIVER(POINTER)
COMPILER(POINTER)
// The supported architectures. Not every NVRTC has these functions.
static int (*p_nvrtcGetNumSupportedArchs)(int *);
static int (*p_nvrtcGetSupportedArchs)(int *);

static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char why_not[512] = "not loaded yet";  // the text of the error, while is_loaded is false

static void *open_library(const char *variable, const char *const *names) {
  const char *file = getenv(variable);
  void *library = NULL;
  if (file != NULL && *file != 0)
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  else
    for (; *names != NULL && library == NULL; names++)
      library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    snprintf(why_not, sizeof why_not, "%s; install NVIDIA's driver and NVRTC, or set %s to the path of the library", dlerror(), variable);
  return library;
}

static void *find(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL)
    snprintf(why_not, sizeof why_not, "NVIDIA's library has no function %s; install a newer version", name);
  return found;
}

#define QUOTE_(x) #x
#define QUOTE(x) QUOTE_(x)
#define FIND(name) && (*(void **)&p_##name = find(library, QUOTE(name))) != NULL

static void load(void) {
  void *library = open_library("FUTHARK_LIBCUDA", (const char *const[]){"libcuda.so.1", "libcuda.so", NULL});
  if (!(library != NULL DRIVER(FIND)))
    return;
  library = open_library("FUTHARK_LIBNVRTC", (const char *const[]){"libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so", NULL});
  if (!(library != NULL COMPILER(FIND)))
    return;
  *(void **)&p_nvrtcGetNumSupportedArchs = dlsym(library, "nvrtcGetNumSupportedArchs");
  *(void **)&p_nvrtcGetSupportedArchs = dlsym(library, "nvrtcGetSupportedArchs");
  is_loaded = true;
}

static bool ready(void) {
  pthread_once(&loaded, load);
  return is_loaded;
}

// --- Devices, contexts and error texts -----------------------------------------------------------

static pthread_mutex_t contexts_mutex = PTHREAD_MUTEX_INITIALIZER;
static CUcontext contexts[MOST_DEVICES];
static __thread int current_device;

static hipError_t status(CUresult result) { return (hipError_t)result; }

// Makes the context of this thread's device current. Called before each use of the driver that needs
// a context.
static CUresult enter(void) {
  if (!ready())
    return CUDA_ERROR_NOT_INITIALIZED;
  CUcontext before = NULL;
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&contexts_mutex);
  CUcontext *own = &contexts[current_device];
  if (*own == NULL) {
    CUdevice device;
    result = p_cuDeviceGet(&device, current_device);
    if (result == CUDA_SUCCESS)
      result = p_cuCtxCreate(own, 0, device);
  }
  CUcontext context = *own;
  pthread_mutex_unlock(&contexts_mutex);
  if (result != CUDA_SUCCESS)
    return result;
  result = p_cuCtxGetCurrent(&before);
  return result != CUDA_SUCCESS || before == context ? result : p_cuCtxSetCurrent(context);
}

#define IN_CONTEXT(call)          \
  do {                            \
    CUresult result_ = enter();   \
    if (result_ == CUDA_SUCCESS)  \
      result_ = (call);           \
    return status(result_);       \
  } while (0)

EXPORT hipError_t hipInit(unsigned flags) { return ready() ? status(p_cuInit(flags)) : hipErrorNoDevice; }

EXPORT hipError_t hipDriverGetVersion(int *version) {
  return ready() ? status(p_cuDriverGetVersion(version)) : hipErrorNoDevice;
}

EXPORT hipError_t hipGetDeviceCount(int *count) {
  *count = 0;
  hipError_t result = hipInit(0);
  if (result == hipSuccess)
    result = status(p_cuDeviceGetCount(count));
  if (*count > MOST_DEVICES)
    *count = MOST_DEVICES;
  return result == hipSuccess && *count == 0 ? hipErrorNoDevice : result;
}

EXPORT hipError_t hipDeviceGet(hipDevice_t *device, int number) {
  int count;
  hipError_t result = hipGetDeviceCount(&count);
  if (result != hipSuccess)
    return result;
  if (number < 0 || number >= count)
    return hipErrorInvalidDevice;
  *device = number;
  return hipSuccess;
}

EXPORT hipError_t hipSetDevice(int number) { return hipDeviceGet(&current_device, number); }

EXPORT hipError_t hipGetDevice(int *device) {
  *device = current_device;
  return hipSuccess;
}

static CUresult attribute(int *value, CUdevice_attribute which, int number) {
  CUdevice device;
  CUresult result = p_cuDeviceGet(&device, number);
  return result != CUDA_SUCCESS ? result : p_cuDeviceGetAttribute(value, which, device);
}

// The architecture of compiled kernels: the newest that NVRTC supports and the card can run.
static int architecture_of(int device) {
  int major = 0, minor = 0, count = 0, best = 0;
  if (attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) != CUDA_SUCCESS ||
      attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) != CUDA_SUCCESS)
    return 0;
  int own = 10 * major + minor;
  if (p_nvrtcGetNumSupportedArchs == NULL || p_nvrtcGetSupportedArchs == NULL || p_nvrtcGetNumSupportedArchs(&count) != 0 ||
      count <= 0)
    return own;
  int *all = calloc((size_t)count, sizeof *all);
  if (all != NULL && p_nvrtcGetSupportedArchs(all) == 0)
    for (int i = 0; i < count; i++)
      if (all[i] <= own && all[i] > best)
        best = all[i];
  free(all);
  return best != 0 ? best : own;
}

// hipDeviceProp_t as in HIP 5; HIP 6 changed it. Generated code reads only name and gcnArchName.
EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_t *record, int number) {
  hipDevice_t device;
  hipError_t result = hipDeviceGet(&device, number);
  CUdevice driver_device;
  if (result == hipSuccess)
    result = status(p_cuDeviceGet(&driver_device, number));
  if (result != hipSuccess)
    return result;
  memset(record, 0, sizeof *record);
  strcpy(record->name, NAME);
  result = status(p_cuDeviceGetName(record->name + strlen(NAME), (int)(sizeof record->name - strlen(NAME)), driver_device));
  if (result == hipSuccess)
    result = status(p_cuDeviceTotalMem(&record->totalGlobalMem, driver_device));
  snprintf(record->gcnArchName, sizeof record->gcnArchName, "compute_%d", architecture_of(number));
  return result;
}

EXPORT hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t which, int device) {
  static const struct {
    hipDeviceAttribute_t hip;
    CUdevice_attribute cuda;
  } known[] = {
      {hipDeviceAttributeL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
      {hipDeviceAttributeManagedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
      {hipDeviceAttributeMaxGridDimX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
      {hipDeviceAttributeMaxRegistersPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
      {hipDeviceAttributeMaxSharedMemoryPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
      {hipDeviceAttributeMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
      {hipDeviceAttributeMaxThreadsPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
      {hipDeviceAttributeMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
      {hipDeviceAttributePhysicalMultiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
      {hipDeviceAttributeWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
  };
  if (!ready())
    return hipErrorNotInitialized;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].hip == which)
      return status(attribute(value, known[i].cuda, device));
  return hipErrorInvalidValue;
}

EXPORT hipError_t hipDeviceSynchronize(void) { IN_CONTEXT(p_cuCtxSynchronize()); }

EXPORT const char *hipGetErrorString(hipError_t error) {
  const char *text = NULL;
  if (!ready())
    return why_not;
  return p_cuGetErrorString((CUresult)error, &text) == CUDA_SUCCESS && text != NULL ? text : "unknown error";
}

// --- Modules and kernels -------------------------------------------------------------------------

EXPORT hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  IN_CONTEXT(p_cuModuleLoadData((CUmodule *)module, image));
}
EXPORT hipError_t hipModuleUnload(hipModule_t module) { IN_CONTEXT(p_cuModuleUnload((CUmodule)module)); }
EXPORT hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  IN_CONTEXT(p_cuModuleGetFunction((CUfunction *)function, (CUmodule)module, name));
}
EXPORT hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute which, hipFunction_t function) {
  // The attributes have the same numbers in HIP and CUDA.
  IN_CONTEXT(p_cuFuncGetAttribute(value, (CUfunction_attribute)which, (CUfunction)function));
}
EXPORT hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                        unsigned bz, unsigned shared, hipStream_t stream, void **arguments, void **extra) {
  IN_CONTEXT(p_cuLaunchKernel((CUfunction)function, gx, gy, gz, bx, by, bz, shared, (CUstream)stream, arguments, extra));
}

// --- Memory, streams, events ----------------------------------------------------------------------

// hipMalloc of 0 bytes and hipFree(NULL) succeed; cuMemAlloc of 0 bytes fails.
EXPORT hipError_t hipMalloc(void **address, size_t size) { IN_CONTEXT(p_cuMemAlloc((CUdeviceptr *)address, size > 0 ? size : 1)); }
EXPORT hipError_t hipMallocManaged(void **address, size_t size, unsigned flags) {
  IN_CONTEXT(p_cuMemAllocManaged((CUdeviceptr *)address, size > 0 ? size : 1, flags));
}
EXPORT hipError_t hipFree(void *address) {
  if (address == NULL)
    return hipSuccess;
  IN_CONTEXT(p_cuMemFree((CUdeviceptr)address));
}

EXPORT hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from, size_t size) { IN_CONTEXT(p_cuMemcpyHtoD((CUdeviceptr)to, from, size)); }
EXPORT hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t size) { IN_CONTEXT(p_cuMemcpyDtoH(to, (CUdeviceptr)from, size)); }
EXPORT hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t size) {
  IN_CONTEXT(p_cuMemcpy((CUdeviceptr)to, (CUdeviceptr)from, size));
}
EXPORT hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t size, hipStream_t stream) {
  IN_CONTEXT(p_cuMemcpyHtoDAsync((CUdeviceptr)to, from, size, (CUstream)stream));
}
EXPORT hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t size, hipStream_t stream) {
  IN_CONTEXT(p_cuMemcpyDtoHAsync(to, (CUdeviceptr)from, size, (CUstream)stream));
}

// Programs use this for copies within the device. Like HIP, waits for the copy.
EXPORT hipError_t hipMemcpyWithStream(void *to, const void *from, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  if (kind != hipMemcpyDeviceToDevice)
    return hipErrorInvalidValue;
  CUresult result = enter();
  if (result == CUDA_SUCCESS)
    result = p_cuMemcpyAsync((CUdeviceptr)to, (CUdeviceptr)from, size, (CUstream)stream);
  if (result == CUDA_SUCCESS)
    result = p_cuStreamSynchronize((CUstream)stream);
  return status(result);
}

EXPORT hipError_t hipStreamCreate(hipStream_t *stream) { IN_CONTEXT(p_cuStreamCreate((CUstream *)stream, CU_STREAM_DEFAULT)); }
EXPORT hipError_t hipStreamDestroy(hipStream_t stream) { IN_CONTEXT(p_cuStreamDestroy((CUstream)stream)); }
EXPORT hipError_t hipStreamSynchronize(hipStream_t stream) { IN_CONTEXT(p_cuStreamSynchronize((CUstream)stream)); }
EXPORT hipError_t hipEventCreate(hipEvent_t *event) { IN_CONTEXT(p_cuEventCreate((CUevent *)event, CU_EVENT_DEFAULT)); }
EXPORT hipError_t hipEventDestroy(hipEvent_t event) { IN_CONTEXT(p_cuEventDestroy((CUevent)event)); }
EXPORT hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) { IN_CONTEXT(p_cuEventRecord((CUevent)event, (CUstream)stream)); }
EXPORT hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t from, hipEvent_t to) {
  IN_CONTEXT(p_cuEventElapsedTime(milliseconds, (CUevent)from, (CUevent)to));
}

// --- hiprtc, implemented with NVRTC (compiles to PTX) --------------------------------------------

static hiprtcResult compiled(nvrtcResult result) { return (hiprtcResult)result; }

EXPORT hiprtcResult hiprtcCreateProgram(hiprtcProgram *program, const char *source, const char *name, int count,
                                        const char **headers, const char **names) {
  if (!ready())
    return HIPRTC_ERROR_INTERNAL_ERROR;
  return compiled(p_nvrtcCreateProgram((nvrtcProgram *)program, source, name, count, (const char *const *)headers,
                                       (const char *const *)names));
}
EXPORT hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program) { return compiled(p_nvrtcDestroyProgram((nvrtcProgram *)program)); }

// Adds options that generated code passes to NVRTC on cuda: -default-device, for functions without an
// attribute, and if CUDA_HOME is set, -I with its headers, for f16. Replaces the option LOCKSTEP_WIDTH:
// on hip, generated code assumes that 32 threads run in lockstep, but the width depends on the device
// (1 on the emulated one).
EXPORT hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char **options) {
  static const char lockstep[] = "-DLOCKSTEP_WIDTH=";
  const char *all[MOST_OPTIONS], *home = getenv("CUDA_HOME");
  if (count > MOST_OPTIONS - 2)
    return HIPRTC_ERROR_INVALID_OPTION;
  char *include = NULL, own_lockstep[sizeof lockstep + 16];
  int width = 32;
  (void)attribute(&width, CU_DEVICE_ATTRIBUTE_WARP_SIZE, current_device);
  snprintf(own_lockstep, sizeof own_lockstep, "%s%d", lockstep, width);
  for (int i = 0; i < count; i++)
    all[i] = strncmp(options[i], lockstep, strlen(lockstep)) == 0 ? own_lockstep : options[i];
  all[count++] = "-default-device";
  if (home != NULL && asprintf(&include, "-I%s/include", home) >= 0)
    all[count++] = include;
  nvrtcResult result = p_nvrtcCompileProgram((nvrtcProgram)program, count, all);
  free(include);
  return compiled(result);
}
EXPORT hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t *size) {
  return compiled(p_nvrtcGetProgramLogSize((nvrtcProgram)program, size));
}
EXPORT hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char *log) {
  return compiled(p_nvrtcGetProgramLog((nvrtcProgram)program, log));
}
EXPORT hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t *size) {
  return compiled(p_nvrtcGetPTXSize((nvrtcProgram)program, size));
}
EXPORT hiprtcResult hiprtcGetCode(hiprtcProgram program, char *code) { return compiled(p_nvrtcGetPTX((nvrtcProgram)program, code)); }
EXPORT const char *hiprtcGetErrorString(hiprtcResult result) {
  return is_loaded ? p_nvrtcGetErrorString((nvrtcResult)result) : why_not;
}
